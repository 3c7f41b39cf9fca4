// Package engines asks several search engines the same queries over the same files and the same
// limit: the product's own search, and the programs find, fd, grep and rg.
//
//  1. A query becomes words; a file matches a program when any of them is in its name (find, fd)
//     or in its content (grep, rg), as plain text, without regard to case.
//  2. A program's answer is cut down to the indexed files, sorted by path, and cut at the limit.
//     The product's own engines rank.
//  3. A query never reaches a shell, and never a place where it could be read as an option.
package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// The engines.
const (
	Ctxt     = "ctxt"     // the ranked search of the index
	Hybrid   = "hybrid"   // that, with files whose content matches behind it
	Find     = "find"     // names
	FD       = "fd"       // names; the program is also called fdfind
	Grep     = "grep"     // contents
	RG       = "rg"       // contents
	Combined = "combined" // the union of find and grep
)

// Names lists the engines; Default are those that every system has.
var (
	Names   = []string{Ctxt, Find, Grep, FD, RG, Hybrid, Combined}
	Default = []string{Ctxt, Find, Grep}
)

// Search is a ranked search: at most limit paths, best first.
type Search func(ctx context.Context, query string, limit int) ([]string, error)

// Options are the same for every engine.
type Options struct {
	Root         string   // folder that the programs run in; may be empty when there are none
	Files        []string // indexed files, relative to Root, with forward slashes
	Limit        int      // most paths of an answer, at least 1
	GrepMaxBytes int64    // larger files are not searched by content; 0 for no limit
	Ctxt, Hybrid Search
	// LookPath finds a program; nil for exec.LookPath.
	LookPath func(string) (string, error)
}

// Engine answers queries.
type Engine struct {
	Name  string
	fault error // why it cannot answer anything
	ask   func(ctx context.Context, query string) ([]string, error)
}

// Ask returns at most the limit of paths. An engine whose program is missing returns that as the
// error of every query.
func (e *Engine) Ask(ctx context.Context, query string) ([]string, error) {
	if e.fault != nil {
		return nil, e.fault
	}
	return e.ask(ctx, query)
}

// New makes engines by name. A name that is unknown or doubled is an error; a program that is
// missing is not, it shows in Ask.
func New(names []string, o Options) ([]*Engine, error) {
	if len(names) == 0 {
		return nil, errors.New("no engine: want some of " + strings.Join(Names, ", "))
	}
	if o.Limit < 1 {
		return nil, fmt.Errorf("limit %d: want at least 1", o.Limit)
	}
	if o.GrepMaxBytes < 0 {
		return nil, fmt.Errorf("largest file to search by content, %d bytes: want 0 or more", o.GrepMaxBytes)
	}
	set, err := newFileSet(o)
	if err != nil {
		return nil, err
	}
	var out []*Engine
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("engine %q is named twice", name)
		}
		e, err := set.engine(name)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// fileSet is what all engines search.
type fileSet struct {
	Options
	indexed map[string]bool
	small   []string // that are searched by content: regular files up to GrepMaxBytes, sorted
}

func newFileSet(o Options) (*fileSet, error) {
	s := &fileSet{Options: o, indexed: make(map[string]bool, len(o.Files))}
	if o.Root == "" {
		for _, f := range o.Files {
			s.indexed[f] = true
		}
		return s, nil
	}
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return nil, fmt.Errorf("open project root: %w", err)
	}
	defer root.Close()
	for _, f := range o.Files {
		s.indexed[f] = true
		st, err := root.Lstat(filepath.FromSlash(f))
		if err != nil || !st.Mode().IsRegular() || o.GrepMaxBytes > 0 && st.Size() > o.GrepMaxBytes {
			continue // gone since it was indexed, a link, or too large
		}
		s.small = append(s.small, f)
	}
	slices.Sort(s.small)
	return s, nil
}

func (s *fileSet) engine(name string) (*Engine, error) {
	ranked := func(search Search) *Engine {
		e := &Engine{Name: name}
		if search == nil {
			e.fault = fmt.Errorf("engine %s is not available here", name)
		}
		e.ask = func(ctx context.Context, q string) ([]string, error) { return s.ranked(ctx, search, q) }
		return e
	}
	switch name {
	case Ctxt:
		return ranked(s.Ctxt), nil
	case Hybrid:
		return ranked(s.Hybrid), nil
	case Find:
		return s.program(name, findCommand, "find"), nil
	case FD:
		return s.program(name, fdCommand, "fd", "fdfind"), nil
	case Grep:
		return s.program(name, grepCommand, "grep"), nil
	case RG:
		return s.program(name, rgCommand, "rg"), nil
	case Combined:
		return s.combined(), nil
	}
	return nil, fmt.Errorf("unknown engine %q: want some of %s", name, strings.Join(Names, ", "))
}

// ranked keeps a search's order; only indexed files count, each once.
func (s *fileSet) ranked(ctx context.Context, search Search, query string) ([]string, error) {
	paths, err := search(ctx, query, s.Limit)
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, p := range paths {
		if s.indexed[p] && !slices.Contains(out, p) && len(out) < s.Limit {
			out = append(out, p)
		}
	}
	return out, nil
}

// listed sorts paths and keeps the indexed ones, each once, up to the limit.
func (s *fileSet) listed(paths []string) []string {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !s.indexed[p] })
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return append([]string{}, paths[:min(len(paths), s.Limit)]...)
}

// combined is the union of find and grep before either is cut at the limit.
func (s *fileSet) combined() *Engine {
	find, grep := s.command(findCommand, "find"), s.command(grepCommand, "grep")
	e := &Engine{Name: Combined, fault: errors.Join(find.fault, grep.fault)}
	e.ask = func(ctx context.Context, q string) ([]string, error) {
		a, err := find.run(ctx, q)
		if err != nil {
			return nil, err
		}
		b, err := grep.run(ctx, q)
		if err != nil {
			return nil, err
		}
		return s.listed(append(a, b...)), nil
	}
	return e
}

func (s *fileSet) program(name string, args argsFunc, programs ...string) *Engine {
	c := s.command(args, programs...)
	return &Engine{Name: name, fault: c.fault, ask: func(ctx context.Context, q string) ([]string, error) {
		paths, err := c.run(ctx, q)
		if err != nil {
			return nil, err
		}
		return s.listed(paths), nil
	}}
}

// stopWords carry no signal for a program that knows nothing but text.
var stopWords = strings.Fields(`a an and are as at be by can do does for from has have how i in is it its not of on
	or our so that the this to use used uses was we what when where which who why will with you your`)

// maxWords caps the words of one query.
const maxWords = 64

// Words are the words of a query that a program looks for: split at white space, punctuation at
// their ends removed, lower case, each once. Stop words and words of one byte are left out, unless
// nothing else is there.
func Words(query string) []string {
	var all, good []string
	for _, w := range strings.Fields(strings.ToLower(query)) {
		w = strings.TrimFunc(w, func(r rune) bool { return unicode.IsPunct(r) && r != '_' && r != '-' && r != '.' || r == '`' })
		w = strings.TrimRight(w, ".")
		if w == "" || slices.Contains(all, w) || len(all) == maxWords || strings.ContainsRune(w, 0) {
			continue
		}
		all = append(all, w)
		if len(w) > 1 && !slices.Contains(stopWords, w) {
			good = append(good, w)
		}
	}
	if len(good) > 0 {
		return good
	}
	return all
}
