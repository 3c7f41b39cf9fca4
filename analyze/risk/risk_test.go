package risk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/history"
)

// built is a small history and the change that its tip makes.
type built struct {
	repo *git.Repo
	hist *history.History // up to the base
	in   Input
}

// build reads a repository: its tip is the change, its tip's parent the base.
func build(t *testing.T, r *gittest.Repo) built {
	t.Helper()
	ctx := context.Background()
	repo, err := git.Open(r.Dir, git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	base, err := repo.Resolve(ctx, "HEAD~1")
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Build(ctx, repo, base, 0)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := repo.Diff(ctx, base, head)
	if err != nil {
		t.Fatal(err)
	}
	return built{repo, h, Input{Change: Change{Base: base, Head: head, Author: "A. Author", Email: "author@example.com", Files: diff, Commits: 1},
		Title: r.Git("log", "-1", "--format=%s"), History: h}}
}

// paired makes a history of n changes: lock.go always with lock_test.go, and other files alone. One
// git process imports them all.
func paired(t *testing.T, n int) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	var b strings.Builder
	for i := range n {
		var files []string
		switch i % 3 {
		case 0:
			files = []string{"store/lock.go", "store/lock_test.go"}
		case 1:
			files = []string{"web/page.go", fmt.Sprintf("web/style%d.css", i%5)}
		default:
			files = []string{fmt.Sprintf("docs/page%d.md", i%7)}
		}
		imported(&b, i, "A. Author <author@example.com>", fmt.Sprintf("change %d", i), files)
	}
	importAll(t, r, &b, n)
	return r
}

// imported writes one commit, a day after the one before, for git fast-import.
func imported(b *strings.Builder, i int, author, message string, files []string) {
	fmt.Fprintf(b, "commit refs/heads/main\ncommitter %s %d +0000\ndata %d\n%s\n", author, 1704067200+i*day, len(message), message)
	for _, f := range files {
		content := lines(path.Base(f), i)
		fmt.Fprintf(b, "M 100644 inline %s\ndata %d\n%s\n", f, len(content), content)
	}
}

// importAll adds n written commits and moves the clock past them.
func importAll(t *testing.T, r *gittest.Repo, b *strings.Builder, n int) {
	t.Helper()
	cmd := exec.Command("git", "-C", r.Dir, "fast-import", "--quiet", "--force")
	cmd.Env = append(os.Environ(), "HOME="+r.Dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	cmd.Stdin = strings.NewReader(b.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	r.Git("reset", "-q", "--hard", "main")
	r.Advance(int64(n) * day)
}

func lines(word string, n int) string {
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, "%s %d %d\n", word, i, n)
	}
	return b.String()
}

func assess(t *testing.T, b built) *Assessment {
	t.Helper()
	past, err := ReadPast(context.Background(), b.repo, b.hist, PastChanges)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Assess(context.Background(), b.in, Options{Past: past})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func signal(a *Assessment, name string) *Signal {
	for i := range a.Signals {
		if a.Signals[i].Name == name {
			return &a.Signals[i]
		}
	}
	return nil
}

func TestMissingCompanionIsNamed(t *testing.T) {
	r := paired(t, 60)
	r.Write("store/lock.go", "another lock\n")
	r.Commit("lock: wait less")
	a := assess(t, build(t, r))
	if len(a.Companions) != 1 || a.Companions[0].Path != "store/lock_test.go" {
		t.Fatalf("companions %+v, want store/lock_test.go alone", a.Companions)
	}
	c := a.Companions[0]
	if c.Partner != "store/lock.go" || c.Joint != 20 || c.Of != 20 || c.Confidence != 1 || len(c.LastCommit) != 40 || c.LastTime == 0 {
		t.Errorf("evidence %+v, want 20 of 20 with store/lock.go", c)
	}
	g := signal(a, "companions")
	if g == nil || g.Level != Medium || !strings.Contains(g.Why, "20 of the last 20 changes of `store/lock.go` (100%)") {
		t.Errorf("signal %+v", g)
	}
	if a.Headline != g.Why {
		t.Errorf("headline %q, want the companion", a.Headline)
	}
}

func TestOnlyATestChanged(t *testing.T) {
	r := paired(t, 60)
	r.Write("store/lock_test.go", "another test\n")
	r.Commit("lock: test more")
	a := assess(t, build(t, r))
	if g := signal(a, "companions"); g == nil || g.Level != Low || !strings.Contains(g.Why, "only tests changed") {
		t.Errorf("signal %+v, want a low one that says that only tests changed", g)
	}
	if strings.Contains(a.Headline, "lock.go") {
		t.Errorf("headline %q", a.Headline)
	}
}

func TestNothingIsMissing(t *testing.T) {
	for name, change := range map[string][]string{
		"the pair":         {"store/lock.go", "store/lock_test.go"},
		"a file by itself": {"docs/page3.md"},
		"a new file":       {"fresh/new.go"},
	} {
		t.Run(name, func(t *testing.T) {
			r := paired(t, 60)
			for _, p := range change {
				r.Write(p, "changed once more\n")
			}
			r.Commit("one more change")
			if a := assess(t, build(t, r)); len(a.Companions) > 0 {
				t.Errorf("companions %+v, want none", a.Companions)
			}
		})
	}
}

func TestDeletedCompanionIsNotNamed(t *testing.T) {
	r := paired(t, 60)
	r.Remove("store/lock_test.go")
	r.Commit("drop the test")
	r.Write("store/lock.go", "another lock\n")
	r.Commit("lock: wait less")
	if a := assess(t, build(t, r)); len(a.Companions) > 0 {
		t.Errorf("companions %+v, want none: the file is gone", a.Companions)
	}
}

func TestLaterFixed(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.go", "package a\n\nfunc A() int { return 1 }\n")
	r.Write("b.go", "package a\n\nfunc B() int { return 1 }\n")
	r.Write("notes.md", "one\n")
	r.Commit("begin") // 5
	r.Write("a.go", "package a\n\nfunc A() int { return 1 }\n\nfunc Wrong() int { return 2 }\n")
	r.Commit("add Wrong") // 4
	reverted := func() string {
		r.Write("b.go", "package a\n\nfunc B() int { return 3 }\n")
		return r.Commit("change B") // 3
	}()
	r.Write("notes.md", "two\n")
	r.Commit("notes") // 2
	r.Write("a.go", "package a\n\nfunc A() int { return 1 }\n\nfunc Wrong() int { return 4 }\n")
	r.Write("notes.md", "three\n")
	r.Commit("fix Wrong") // 1
	r.Write("b.go", "package a\n\nfunc B() int { return 1 }\n")
	r.Commit("Undo B\n\nThis reverts commit " + reverted + ".") // 0
	r.Commit("the change")
	b := build(t, r)
	p, err := ReadPast(context.Background(), b.repo, b.hist, 0)
	if err != nil {
		t.Fatal(err)
	}
	var fixed, redone []int
	for _, c := range p.Changes {
		fixed, redone = append(fixed, c.FixedBy[FixedSource]), append(redone, c.FixedBy[FixedAny])
	}
	if want := []int{-1, -1, -1, 0, 1, -1}; !slices.Equal(fixed, want) {
		t.Errorf("fixed by %v, want %v", fixed, want)
	}
	if want := []int{-1, -1, 1, 0, 1, -1}; !slices.Equal(redone, want) {
		t.Errorf("redone by %v, want %v", redone, want)
	}
	if l := p.Changes[4].Lines; len(l) != 1 || l[0].Added != 2 || l[0].Deleted != 0 {
		t.Errorf("lines of the second change: %+v, want 2 added", l)
	}
}

func TestFixAfterHalfAYearDoesNotCount(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.go", "package a\n\nvar x = 1\n")
	r.Commit("begin")
	r.Advance(181 * day)
	r.Write("a.go", "package a\n\nvar x = 2\n")
	r.Commit("fix x")
	r.Commit("the change")
	b := build(t, r)
	p, err := ReadPast(context.Background(), b.repo, b.hist, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.Changes[1].FixedBy[FixedAny] != -1 {
		t.Error("a fix after 181 days counted")
	}
}

func TestLinesFollowARenameAndASideBranch(t *testing.T) {
	r := gittest.New(t)
	r.Write("old/a.go", "package a\n\nvar kept = 1\nvar wrong = 2\n")
	r.Commit("begin")
	r.Write("new/a.go", "package a\n\nvar kept = 1\nvar wrong = 2\n")
	r.Remove("old/a.go")
	r.Commit("move")
	r.Git("checkout", "-q", "-b", "side")
	r.Write("new/a.go", "package a\n\nvar kept = 1\nvar wrong = 2\n\nvar side = 1\n")
	r.Commit("side")
	r.Git("checkout", "-q", "main")
	r.Write("new/a.go", "package b\n\nvar kept = 1\nvar wrong = 2\n")
	r.Commit("rename the package")
	r.Git("merge", "-q", "--no-edit", "side")
	r.Write("new/a.go", "package b\n\nvar kept = 1\nvar right = 2\n\nvar side = 2\n")
	r.Commit("fix both")
	r.Commit("the change")
	b := build(t, r)
	p, err := ReadPast(context.Background(), b.repo, b.hist, 0)
	if err != nil {
		t.Fatal(err)
	}
	var fixed []string
	for i, c := range p.Changes {
		if c.FixedBy[FixedSource] >= 0 {
			fixed = append(fixed, b.hist.Commits[i].Subject)
		}
	}
	if want := []string{"side", "begin"}; !slices.Equal(fixed, want) {
		t.Errorf("later fixed: %v, want %v", fixed, want)
	}
}

func TestBandComesFromTheOwnPast(t *testing.T) {
	for _, c := range []struct {
		lines int
		want  Level
	}{{1, Low}, {40, High}} {
		r := paired(t, 60)
		r.Write("web/other.go", strings.Repeat("x := 1\n", c.lines))
		r.Commit("one more")
		a := assess(t, build(t, r))
		if !a.Assessed || a.Band != c.want {
			t.Errorf("%d lines: band %s (%.2f, assessed %v), want %s", c.lines, a.Band, a.Score, a.Assessed, c.want)
		}
		if g := signal(a, "size"); g == nil || g.Level != c.want || !strings.Contains(g.Why, "this repository's last 60 changes") {
			t.Errorf("%d lines: size %+v", c.lines, g)
		}
	}
}

func TestShortHistoryHasNoBand(t *testing.T) {
	r := paired(t, 9)
	r.Write("web/page.go", "x\n")
	r.Commit("one more")
	a := assess(t, build(t, r))
	if a.Assessed || a.Band != Info || a.Score != 0 || !strings.Contains(a.Worth, "only 9 past changes") {
		t.Errorf("assessed %v, band %s, worth %q", a.Assessed, a.Band, a.Worth)
	}
	empty, err := Assess(context.Background(), Input{}, Options{})
	if err != nil || empty.Assessed {
		t.Errorf("an empty input: %+v, %v", empty, err)
	}
}

func TestSameInputSameBytes(t *testing.T) {
	r := paired(t, 90)
	r.Write("store/lock.go", "another lock\n")
	r.Write("go.mod", "module x\n")
	r.Commit("lock: wait less")
	var first []byte
	for range 3 {
		got, err := json.Marshal(assess(t, build(t, r)))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if !bytes.Equal(first, got) {
			t.Fatalf("two runs differ:\n%s\n%s", first, got)
		}
	}
	b := build(t, r)
	slices.Reverse(b.in.Change.Files)
	b.in.Change.Files[0], b.in.Change.Files[len(b.in.Change.Files)-1] = b.in.Change.Files[len(b.in.Change.Files)-1], b.in.Change.Files[0]
	if got, _ := json.Marshal(assess(t, b)); !bytes.Equal(first, got) {
		t.Errorf("the order of the files matters:\n%s\n%s", first, got)
	}
}

func TestEvalCompanions(t *testing.T) {
	b := build(t, paired(t, 150))
	f, err := EvalCompanions(context.Background(), b.hist, 60)
	if err != nil {
		t.Fatal(err)
	}
	if f.AllChanges != 60 || f.Changes != 40 || f.Cases != 80 {
		t.Errorf("%+v, want 60 changes, 40 of two files, 80 cases", f)
	}
	if f.Right < 0.9 || f.Found < 0.4 || f.FalseAlarms > 0.05 {
		t.Errorf("%+v: the pair is found in every second case, without false alarms", f)
	}
}

func TestCancelledWorkStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := build(t, paired(t, 12))
	cancel()
	if _, err := NewCompanions(ctx, b.hist); err == nil {
		t.Error("NewCompanions finished")
	}
	if _, err := EvalCompanions(ctx, b.hist, 10); err == nil {
		t.Error("EvalCompanions finished")
	}
	if _, err := ReadPast(ctx, b.repo, b.hist, 0); err == nil {
		t.Error("ReadPast finished")
	}
}
