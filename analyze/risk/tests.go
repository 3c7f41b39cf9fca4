package risk

import (
	"fmt"

	"github.com/ctxt-dev/ctxt/index"
)

// fewestSourceLines is how many changed source lines a missing test is mentioned from.
const fewestSourceLines = 10

// tests says that source changed and no test did. With size controlled that says little about later
// faults, so it is information only.
func (a *assessor) tests() {
	var source []string
	lines := 0
	for _, f := range a.in.Change.Files {
		switch index.RoleOf(f.Path) {
		case index.Test:
			return
		case index.Source:
			source = append(source, f.Path)
			lines += f.Added + f.Deleted
		}
	}
	if len(source) == 0 || lines < fewestSourceLines || a.in.Head == nil {
		return
	}
	have := 0
	near := ""
	stems := map[string]bool{}
	for _, p := range source {
		if w := index.Stem(p); !customary[w] {
			stems[w] = true
		}
	}
	for i := range a.in.Head.Files {
		f := &a.in.Head.Files[i]
		if f.Role != index.Test {
			continue
		}
		have++
		if near == "" && stems[index.Stem(f.Path)] {
			near = f.Path
		}
	}
	if have == 0 {
		return
	}
	g := Signal{Name: "tests", Title: "Tests", Level: Info, Files: source, Command: "git diff --stat " + a.revisions(),
		Numbers: []Number{{"source lines changed", float64(lines), "lines"}, {"source files", float64(len(source)), "files"}, {"tests changed", 0, "files"}},
		Why:     fmt.Sprintf("%d source lines changed in %s and no test did", lines, count(len(source), "file"))}
	if near != "" {
		g.Why += fmt.Sprintf("; nearest by name: `%s`", near)
	}
	a.add(g)
}
