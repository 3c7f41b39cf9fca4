package risk

import (
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git"
)

// FuzzPathsInCommands checks that a path, whatever it holds, stays one shell word without control characters.
func FuzzPathsInCommands(f *testing.F) {
	for _, s := range []string{"a/b.go", "it's", "$(x)", "a\nb", "\u202eexe", ":(top)x", "", "-rf", "`id`", "a\\'b", "\xff\xfe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		out := pathArgs(p)
		if hasControl(out) {
			t.Fatalf("%q gives %q", p, out)
		}
		word := strings.TrimPrefix(strings.TrimPrefix(out, "--"), " ")
		if word == "" {
			return
		}
		if !strings.HasPrefix(word, "'") {
			if strings.ContainsAny(word, " '\"$`\\;&|<>()*?[]{}!#~\t") {
				t.Fatalf("%q gives the bare word %q", p, word)
			}
			return
		}
		if rest := strings.ReplaceAll(word[1:len(word)-1], `'\''`, ""); strings.Contains(rest, "'") {
			t.Fatalf("%q gives %q, which ends early", p, word)
		}
	})
}

// FuzzAssess checks that no changed path or author makes the assessment fail or its fields empty.
func FuzzAssess(f *testing.F) {
	f.Add("a.go", "A. Author", "title", 3, 4)
	f.Add(".github/workflows/x.yml", "dependabot[bot]", "", -1, 0)
	f.Add("go.sum", "", "fix: \x00", 1<<30, 1<<30)
	f.Add("\x00/[", "\n", "\xff", 0, 0)
	f.Fuzz(func(t *testing.T, path, author, title string, added, commits int) {
		in := Input{Title: title, Change: Change{Author: author, Commits: commits, ByOthers: commits, OnOthers: commits,
			Files: []git.FileDiff{{Path: path, Status: git.Modified, Added: max(0, added)}}}, Unscoped: []string{path}}
		a := mustAssess(t, in, Options{Sensitive: []string{path}, ControlPlane: []string{path, "**"}})
		if a.Score < 0 || a.Score > 1 || a.Band == "" || a.Worth == "" {
			t.Fatalf("%+v", a)
		}
		for _, s := range a.Signals {
			if s.Why == "" || hasControl(s.Command) {
				t.Fatalf("%+v", s)
			}
		}
	})
}
