package task

import (
	"regexp"
	"sync"
)

// expr is a regular expression that is compiled when it is first needed: compiling all of them takes
// a quarter of the start of the program, and most commands need none.
type expr struct {
	get func() *regexp.Regexp
}

// exprs are all of the package, for Warm. It is filled in while the package's variables are set.
var exprs []expr

func lazily(source string) expr {
	e := expr{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })}
	exprs = append(exprs, e)
	return e
}

// Warm compiles what Parse needs, so that it can be done while something else is waited for.
func Warm() {
	for _, e := range exprs {
		e.get()
	}
}

func (e expr) MatchString(s string) bool { return e.get().MatchString(s) }

func (e expr) FindString(s string) string { return e.get().FindString(s) }

func (e expr) FindStringSubmatch(s string) []string { return e.get().FindStringSubmatch(s) }

func (e expr) FindAllString(s string, n int) []string { return e.get().FindAllString(s, n) }

func (e expr) FindAllStringSubmatch(s string, n int) [][]string {
	return e.get().FindAllStringSubmatch(s, n)
}

func (e expr) ReplaceAllString(s, by string) string { return e.get().ReplaceAllString(s, by) }

func (e expr) Split(s string, n int) []string { return e.get().Split(s, n) }
