package git

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

func open(t testing.TB, dir, backend string) *Repo {
	t.Helper()
	r, err := Open(dir, Options{Backend: backend})
	if err != nil {
		t.Fatal(err)
	}
	if r.Backend() != backend {
		t.Fatalf("backend is %s, want %s", r.Backend(), backend)
	}
	return r
}

func both(t testing.TB, dir string) (program, library *Repo) {
	t.Helper()
	return open(t, dir, "git"), open(t, dir, "go-git")
}

func resolve(t testing.TB, r *Repo, rev string) Hash {
	t.Helper()
	h, err := r.Resolve(context.Background(), rev)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func history(t testing.TB, r *Repo, o HistoryOptions, tips ...Hash) ([]Commit, Extent) {
	t.Helper()
	var all []Commit
	x, err := r.History(context.Background(), tips, o, func(c *Commit) error {
		all = append(all, *c)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", r.Backend(), err)
	}
	return all, x
}

// generated writes a repository through git fast-import, so that any bytes can be in names and
// messages,
// with clocks that go back if skewed.
func generated(t testing.TB, dir string, seed uint64, commits int, skewed bool) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	var s bytes.Buffer
	names := []string{"a.go", "b.go", "dir/a.go", "dir/sub/c.txt", "dir", "sp ace", "tab\tname", "new\nline", "caf\xc3\xa9",
		"bad\xff\xfe", "quo\"te", "-dash", "z/y/x/w/v/u", "a", "a-b", "a/b", "CON", "back\\slash"}
	messages := []string{"fix: a thing", "subject\n\nbody line\n", "", "\n\nleading\n\n", "latin \xe9\xff bytes", "trail  \n\n\n",
		"many\nlines\nin\nsubject", "nul-free \x01 control", "ünïcode"}
	idents := []string{"A. Author <Author@Example.com>", "B <b@x.org>", " <nobody>", "O'Neil \xe9 <o@n>", "sp  ace < s@p >"}
	date := int64(1_600_000_000)
	for i := 1; i <= commits; i++ {
		branch := fmt.Sprintf("refs/heads/b%d", rnd.IntN(3))
		if rnd.IntN(3) > 0 {
			date += int64(rnd.IntN(3)) // many equal dates
		} else if skewed {
			date += int64(rnd.IntN(2000)) - 1000 // clocks that go back
		}
		message := messages[rnd.IntN(len(messages))]
		who := idents[rnd.IntN(len(idents))]
		fmt.Fprintf(&s, "commit %s\nmark :%d\nauthor %s %d +0100\ncommitter %s %d +0000\n", branch, i, who, date, who, date)
		if rnd.IntN(8) == 0 {
			fmt.Fprintf(&s, "encoding ISO-8859-1\n")
		}
		fmt.Fprintf(&s, "data %d\n%s\n", len(message), message)
		if i > 1 && rnd.IntN(12) > 0 { // else a root commit
			fmt.Fprintf(&s, "from :%d\n", max(1, i-1-rnd.IntN(min(i-1, 5))))
			for range rnd.IntN(5) / 3 {
				fmt.Fprintf(&s, "merge :%d\n", 1+rnd.IntN(i-1))
			}
		}
		for range rnd.IntN(4) { // none: an empty commit
			name := names[rnd.IntN(len(names))]
			quoted := quotePath(name)
			switch rnd.IntN(8) {
			case 0:
				fmt.Fprintf(&s, "D %s\n", quoted)
			case 1:
				fmt.Fprintf(&s, "M 120000 inline %s\ndata 6\ntarget\n", quoted)
			case 2:
				fmt.Fprintf(&s, "M 160000 %040x %s\n", rnd.Uint64(), quoted)
			case 3:
				fmt.Fprintf(&s, "M 100755 inline %s\ndata 2\n%d\n", quoted, 10+rnd.IntN(3))
			default:
				text := strings.Repeat(fmt.Sprintf("line %d\n", rnd.IntN(4)), rnd.IntN(5))
				fmt.Fprintf(&s, "M 100644 inline %s\ndata %d\n%s\n", quoted, len(text), text)
			}
		}
		fmt.Fprintln(&s)
	}
	run(t, dir, nil, "init", "-q", "--bare", ".")
	run(t, dir, &s, "fast-import", "--quiet", "--force", "--date-format=raw-permissive")
	run(t, dir, nil, "symbolic-ref", "HEAD", "refs/heads/b0")
}

func quotePath(p string) string {
	r := strings.NewReplacer("\\", `\\`, "\"", `\"`, "\n", `\n`, "\t", `\t`)
	return `"` + r.Replace(p) + `"`
}

func run(t testing.TB, dir string, in *bytes.Buffer, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	if in != nil {
		cmd.Stdin = in
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, errs.String())
	}
	return out.String()
}

func branches(t *testing.T, r *Repo, dir string) []Hash {
	t.Helper()
	var tips []Hash
	for _, name := range strings.Fields(run(t, dir, nil, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes")) {
		tips = append(tips, resolve(t, r, name))
	}
	return tips
}

func TestBackendsAgreeOnGeneratedHistories(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			skewed := seed%2 == 1
			generated(t, dir, seed, 120, skewed)
			p, l := both(t, dir)
			tips := branches(t, p, dir)
			for _, o := range []HistoryOptions{{}, {Merges: true}, {FirstParent: true}, {Merges: true, FirstParent: true}, {Limit: 7}} {
				a, ax := history(t, p, o, tips...)
				b, bx := history(t, l, o, tips...)
				if d := cmp.Diff(a, b); d != "" {
					t.Fatalf("%+v: git and go-git differ (-git +go-git):\n%s", o, d)
				}
				if ax != bx {
					t.Errorf("%+v: extents differ: %+v and %+v", o, ax, bx)
				}
			}
			all, _ := history(t, p, HistoryOptions{Merges: true}, tips...)
			agreeOnTrees(t, p, l, all)
			if !skewed { // git itself counts wrong where clocks go back far
				agreeOnAncestry(t, p, l, all, rand.New(rand.NewPCG(seed, 2)))
			}
		})
	}
}

func agreeOnTrees(t *testing.T, p, l *Repo, all []Commit) {
	t.Helper()
	ctx := context.Background()
	for i, c := range all {
		if i%4 != 0 {
			continue
		}
		a, err := p.Tree(ctx, c.Hash)
		if err != nil {
			t.Fatal(err)
		}
		b, err := l.Tree(ctx, c.Hash)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(a, b); d != "" {
			t.Fatalf("trees of %s differ:\n%s", c.Hash, d)
		}
		x, err := p.CommitInfo(ctx, c.Hash)
		if err != nil {
			t.Fatal(err)
		}
		c.Changes = nil
		if d := cmp.Diff(x, c); d != "" {
			t.Fatalf("CommitInfo and History differ:\n%s", d)
		}
		if i > 0 {
			da, err := p.Diff(ctx, c.Hash, all[i-1].Hash)
			if err != nil {
				t.Fatal(err)
			}
			db, err := l.Diff(ctx, c.Hash, all[i-1].Hash)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(da, db); d != "" {
				t.Fatalf("diffs of %s differ:\n%s", c.Hash, d)
			}
		}
	}
}

func agreeOnAncestry(t *testing.T, p, l *Repo, all []Commit, rnd *rand.Rand) {
	t.Helper()
	ctx := context.Background()
	type facts struct {
		Base     Hash
		Found    bool
		Ancestor bool
		Count    int
		Between  []Commit
	}
	for range 15 {
		a, b := all[rnd.IntN(len(all))].Hash, all[rnd.IntN(len(all))].Hash
		var got [2]facts
		for i, r := range []*Repo{p, l} {
			var err error
			f := &got[i]
			if f.Base, f.Found, err = r.MergeBase(ctx, a, b); err != nil {
				t.Fatal(err)
			}
			if f.Ancestor, err = r.IsAncestor(ctx, a, b); err != nil {
				t.Fatal(err)
			}
			if f.Count, err = r.CountBetween(ctx, a, b); err != nil {
				t.Fatal(err)
			}
			if f.Between, err = r.Between(ctx, a, b, 10); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(got[0], got[1]); d != "" {
			t.Fatalf("%s and %s: git and go-git differ:\n%s", a, b, d)
		}
	}
}

func TestShallowCloneStopsAtItsBoundary(t *testing.T) {
	src := gittest.New(t)
	for i := range 6 {
		src.Write("f.txt", strings.Repeat("x\n", i+1))
		src.Commit(fmt.Sprintf("change %d", i))
	}
	dir := filepath.Join(t.TempDir(), "clone")
	run(t, src.Dir, nil, "clone", "-q", "--depth=3", "file://"+src.Dir, dir)
	p, l := both(t, dir)
	for _, r := range []*Repo{p, l} {
		all, x := history(t, r, HistoryOptions{}, resolve(t, r, "HEAD"))
		if len(all) != 3 || !x.Shallow || x.Limited || !r.Shallow() {
			t.Errorf("%s: %d commits, %+v", r.Backend(), len(all), x)
		}
		last := all[len(all)-1]
		if !last.Boundary || len(last.Changes) != 0 || len(last.Parents) != 0 {
			t.Errorf("%s: boundary commit %+v", r.Backend(), last)
		}
		_, err := r.Resolve(context.Background(), "HEAD~4")
		if err == nil || !strings.Contains(err.Error(), "fetch with depth 0") {
			t.Errorf("%s: HEAD~4: %v", r.Backend(), err)
		}
	}
}
