package cases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

// history builds one change for every rule and three that fit.
func history(t *testing.T) (*git.Repo, git.Hash, map[string]string) {
	r := gittest.New(t)
	sha := map[string]string{}
	n := 0
	touch := func(paths ...string) {
		n++
		for _, p := range paths {
			r.Write(p, fmt.Sprintln("package p //", n))
		}
	}
	var many, sources []string
	for i := range 21 {
		many = append(many, fmt.Sprintf("docs/%d.md", i))
	}
	for i := range 11 {
		sources = append(sources, fmt.Sprintf("s/%d.go", i))
	}
	touch(append(append([]string{"a.go", "b.go", "a_test.go", "README.md"}, many...), sources...)...)
	r.Commit("the very first commit")

	touch("a.go", "a_test.go", "README.md")
	r.Write("new.go", "package p\n")
	sha["squash"] = r.Commit("Handle the empty query well (#12)\n\nIt was lost.\n\nSigned-off-by: A <a@example.com>\nCo-authored-by: B <b@example.com>")

	touch("b.go")
	r.CommitAs("dependabot[bot] <support@example.com>", "keep all of this fresh")
	touch("b.go")
	r.Commit("chore: move things around a bit")
	touch("b.go")
	r.Commit("Fix it")
	touch(many...)
	r.Commit("rewrite all of the documents")
	touch("README.md", "a_test.go")
	r.Commit("explain the thing much better")
	touch(sources...)
	r.Commit("change all of the sources")

	r.Git("checkout", "-q", "-b", "feature")
	touch("b.go")
	r.Commit("wip one two three")
	r.Git("checkout", "-q", "main")
	r.Git("merge", "-q", "--no-ff", "feature", "-m", "Merge pull request #7 from someone/feature\n\nAdd a cache for parsed blobs\n\nBody text.")
	sha["merge"] = r.Git("rev-parse", "HEAD")
	r.Advance(86400)

	r.Git("checkout", "-q", "-b", "other")
	touch("b.go")
	r.Commit("more wip on this")
	r.Git("checkout", "-q", "main")
	r.Git("merge", "-q", "--no-ff", "other", "-m", "Merge branch 'other'")
	r.Advance(86400)

	r.Git("mv", "b.go", "c.go")
	r.Remove("a.go")
	sha["rename"] = r.Commit("Rename b to c everywhere")

	repo, err := git.Open(r.Dir, git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tip, err := repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return repo, tip, sha
}

func TestMine(t *testing.T) {
	repo, tip, sha := history(t)
	got, m, err := Mine(t.Context(), repo, tip, 10)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if len(got[i].Base) != 40 {
			t.Errorf("base %q", got[i].Base)
		}
		got[i].Base = ""
	}
	want := []Replay{
		{SHA: sha["rename"], Title: "Rename b to c everywhere", Gold: []string{"a.go", "b.go"}},
		{SHA: sha["merge"], Title: "Add a cache for parsed blobs", Body: "Body text.", Gold: []string{"b.go"}},
		{SHA: sha["squash"], Title: "Handle the empty query well", Body: "It was lost.", Gold: []string{"a.go", "a_test.go"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if m.Read != 11 || m.Usable != 3 || m.Tip != tip.String() || m.Shallow {
		t.Errorf("mining %+v", m)
	}
	for i, r := range m.Rules {
		if r.LeftOut != 1 {
			t.Errorf("rule %d, %s, left out %d, want 1", i, r.Rule, r.LeftOut)
		}
	}
}

func TestMineStopsAndRefuses(t *testing.T) {
	repo, tip, sha := history(t)
	got, m, err := Mine(t.Context(), repo, tip, 1)
	if err != nil || len(got) != 1 || got[0].SHA != sha["rename"] || m.Read != 1 {
		t.Errorf("%v %+v %v", got, m, err)
	}
	for _, n := range []int{0, MaxMined + 1} {
		if _, _, err := Mine(t.Context(), repo, tip, n); err == nil {
			t.Errorf("%d cases are accepted", n)
		}
	}
	first, err := repo.Resolve(t.Context(), sha["squash"]+"^")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Mine(t.Context(), repo, first, 1); err == nil || !strings.Contains(err.Error(), "none of the 1 changes") {
		t.Errorf("error %v", err)
	}
}

func TestTitleRules(t *testing.T) {
	leave := []string{"chore: x", "docs(api): y", "Doc fixes for z", "Bump a from 1 to 2", "bumps a", "Revert \"x\"", "v1.2.3", "1.2 release",
		"Release 2.0", "release: 2.0", "Update dependencies again", "update deps now", "typo in x", "Fix typo in y", "fix lint errors", "[skip ci] x", "ci: x", "style: y", "Merge x into y"}
	keep := []string{"Update the parser for maps", "city lookup is wrong", "Building the index is lazy", "Document-level locks are held", "Building blocks of x", "fix(router): keep trailing slash", "Versioned caches are dropped", "Stylesheet order is kept"}
	for _, s := range leave {
		if !chore().MatchString(s) {
			t.Errorf("%q is kept", s)
		}
	}
	for _, s := range keep {
		if chore().MatchString(s) {
			t.Errorf("%q is left out", s)
		}
	}
	for who, want := range map[string]bool{"dependabot[bot]": true, "renovate": true, "my-bot": true, "ci bot": true, "Abbot": false, "Robot Smith": false, "x-bot@example.com": true} {
		if isBot(who) != want {
			t.Errorf("bot %q: %v", who, !want)
		}
	}
}

func TestSourcesAndTests(t *testing.T) {
	for p, want := range map[string][2]bool{
		"a.go": {true, false}, "a_test.go": {true, true}, "tests/a.rs": {true, true}, "x/test_a.py": {true, true}, "x/latest_a.py": {true, false},
		"src/a.spec.ts": {true, true}, "ATest.kt": {true, true}, "a.md": {false, false}, ".go": {false, false}, "Makefile": {false, false}, "contest/a.go": {true, false},
	} {
		if isSource(p) != want[0] || test().MatchString(p) != want[1] {
			t.Errorf("%s: source %v, test %v", p, isSource(p), test().MatchString(p))
		}
	}
}
