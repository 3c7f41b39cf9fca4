package history_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/history"
)

// tangled makes a history with merges, renames, a second root, empty commits, equal times and
// clocks that go back.
func tangled(t *testing.T, seed uint64) *gittest.Repo {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 7))
	r := gittest.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("first")
	for i := range 30 {
		switch rnd.IntN(10) {
		case 0:
			r.Commit("empty")
		case 1:
			r.Git("switch", "-q", "-c", fmt.Sprintf("side%d", i), "HEAD~"+fmt.Sprint(rnd.IntN(2)))
			r.Write(fmt.Sprintf("side/%d.go", i), fmt.Sprintf("package side // %d\n", i))
			r.CommitAs("B. Author <B@Example.com>", fmt.Sprintf("side: add %d\n\nWith a body.", i))
			r.Git("switch", "-q", "main")
			r.Advance(int64(rnd.IntN(3)-1) * 86400)
			r.Git("merge", "-q", "--no-ff", "-m", fmt.Sprintf("Merge side%d", i), fmt.Sprintf("side%d", i))
		case 2:
			files := strings.Split(r.Git("ls-files"), "\n")
			from := files[rnd.IntN(len(files))]
			r.Git("mv", from, fmt.Sprintf("moved%d-%s", i, strings.ReplaceAll(from, "/", "-")))
			r.Commit("refactor: move a file")
		case 3:
			r.Advance(-2 * 86400) // the next commit is older than its parent
			fallthrough
		default:
			r.Write(fmt.Sprintf("f%d.go", rnd.IntN(6)), fmt.Sprintf("package f // %d\n", i))
			r.Write(fmt.Sprintf("g%d.go", rnd.IntN(3)), fmt.Sprintf("package g // %d\n", i))
			r.Commit(fmt.Sprintf("fix: step %d", i))
		}
	}
	r.Git("switch", "-q", "--orphan", "other")
	r.Write("root.txt", "second root\n")
	r.Commit("another beginning")
	r.Git("switch", "-q", "main")
	r.Git("merge", "-q", "--allow-unrelated-histories", "-m", "Merge another root", "other")
	return r
}

func open(t *testing.T, dir, backend string) *git.Repo {
	t.Helper()
	repo, err := git.Open(dir, git.Options{Backend: backend})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func resolve(t *testing.T, repo *git.Repo, rev string) git.Hash {
	t.Helper()
	h, err := repo.Resolve(context.Background(), rev)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// same compares two histories, the lookups by path too.
func same(t *testing.T, name string, want, got *history.History) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(history.History{}), cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s (-want +got)\n%s", name, d)
	}
	for _, p := range want.Paths {
		if a, b := want.CommitsOf(p), got.CommitsOf(p); !slices.Equal(a, b) {
			t.Fatalf("%s: commits of %s are %v, want %v", name, p, b, a)
		}
	}
}

func TestBackendsAndLogAgree(t *testing.T) {
	for seed := range uint64(3) {
		r := tangled(t, seed)
		program, library := open(t, r.Dir, "git"), open(t, r.Dir, "go-git")
		var tips []git.Hash
		for _, rev := range []string{"main", "main~7", "main^2"} {
			tips = append(tips, resolve(t, program, rev))
		}
		for _, repo := range []*git.Repo{program, library} {
			for _, limit := range []int{0, 1, 2, 5, 11, 29} {
				log, err := history.ReadLog(context.Background(), repo, tips, limit)
				if err != nil {
					t.Fatal(err)
				}
				for _, tip := range tips {
					name := fmt.Sprintf("seed %d, %s, tip %s, limit %d", seed, repo.Backend(), tip.Short(), limit)
					want, err := history.Build(context.Background(), program, tip, limit)
					if err != nil {
						t.Fatal(err)
					}
					check(t, name, want, limit)
					built, err := history.Build(context.Background(), repo, tip, limit)
					if err != nil {
						t.Fatal(err)
					}
					same(t, name+": built", want, built)
					at, err := log.At(tip, limit)
					if err != nil {
						t.Fatal(err)
					}
					same(t, name+": from the log", want, at)
				}
			}
		}
	}
}

// check holds what is true of every history.
func check(t *testing.T, name string, h *history.History, limit int) {
	t.Helper()
	if limit > 0 && len(h.Commits) > limit || h.Extent.Commits != len(h.Commits) || !sort.StringsAreSorted(h.Paths) {
		t.Fatalf("%s: %d commits, extent %+v, paths %q", name, len(h.Commits), h.Extent, h.Paths)
	}
	for i, c := range h.Commits {
		if !slices.IsSorted(c.Files) || len(slices.Compact(slices.Clone(c.Files))) != len(c.Files) || len(c.Files) > len(c.Changes) {
			t.Fatalf("%s: commit %d has files %v of %v", name, i, c.Files, c.Changes)
		}
		for _, f := range c.Files {
			if !slices.Contains(h.CommitsOfID(f), int32(i)) {
				t.Fatalf("%s: %s does not know commit %d", name, h.Paths[f], i)
			}
		}
		if strings.HasPrefix(c.Subject, "Merge ") {
			t.Fatalf("%s: a merge is among the commits", name)
		}
	}
}

func TestBuild(t *testing.T) {
	r := gittest.New(t)
	r.Write("old/name.go", "package old\n\nfunc A() {}\n")
	r.Write("other.go", "package p\n")
	r.CommitAs("A. Author <Author@Example.com>", "feat: begin")
	r.Write("old/name.go", "package old\n\nfunc B() {}\n")
	r.CommitAs("Another Name <author@example.com>", "fix(old): crash on start\n\nThe lease was gone.")
	r.Git("mv", "old/name.go", "old/fresh.go")
	r.Commit("move")
	tip := r.Commit("empty")
	repo := open(t, r.Dir, "git")
	h, err := history.Build(context.Background(), repo, resolve(t, repo, tip), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Commits) != 4 || h.Now != h.Commits[0].Time || h.Now != 1704067200+3*86400 || h.Extent.Limited || h.Extent.Shallow {
		t.Errorf("%d commits, now %d, %+v", len(h.Commits), h.Now, h.Extent)
	}
	if got := h.CommitsOf("old/fresh.go"); !slices.Equal(got, []int32{1, 2, 3}) {
		t.Errorf("a renamed file has commits %v, want those of its old name, too", got)
	}
	if h.CommitsOf("nowhere") != nil {
		t.Error("an unknown path has commits")
	}
	fix := h.Commits[2]
	if !fix.Fix || fix.Subject != "fix(old): crash on start" || fix.Body != "The lease was gone." || fix.InTitle == 0 || fix.InTitle >= len(fix.Terms) || h.Commits[3].Fix {
		t.Errorf("%+v", fix)
	}
	if fix.Author != h.Commits[3].Author || len(h.Authors) != 1 {
		t.Errorf("one address is %d authors: %q", len(h.Authors), h.Authors)
	}
}

func TestShallowAndLimited(t *testing.T) {
	r := tangled(t, 9)
	at := t.TempDir()
	r.Git("clone", "-q", "--depth", "3", "file://"+r.Dir, at)
	var all []*history.History
	for _, backend := range []string{"git", "go-git"} {
		repo := open(t, at, backend)
		tip := resolve(t, repo, "HEAD")
		h, err := history.Build(context.Background(), repo, tip, 0)
		if err != nil {
			t.Fatal(err)
		}
		log, err := history.ReadLog(context.Background(), repo, []git.Hash{tip}, 0)
		if err != nil {
			t.Fatal(err)
		}
		from, err := log.At(tip, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h, from)
	}
	for _, h := range all {
		if !h.Extent.Shallow {
			t.Errorf("%+v does not say that the clone is shallow", h.Extent)
		}
		same(t, "shallow", all[0], h)
	}
	repo := open(t, r.Dir, "git")
	tip := resolve(t, repo, "HEAD")
	h, err := history.Build(context.Background(), repo, tip, 4)
	if err != nil || !h.Extent.Limited || h.Extent.Shallow || len(h.Commits) != 4 {
		t.Errorf("%+v, %v", h.Extent, err)
	}
	log, err := history.ReadLog(context.Background(), repo, []git.Hash{resolve(t, repo, "HEAD~3")}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.At(tip, 0); err == nil {
		t.Error("a tip that was not read gave a history")
	}
	if _, err := history.Build(context.Background(), repo, git.Hash{1}, 0); err == nil {
		t.Error("a commit that is not there gave a history")
	}
}
