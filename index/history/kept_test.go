package history_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxt-dev/ctxt/index/cache"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/history"
)

func files(t testing.TB) *cache.Files {
	return &cache.Files{Dir: filepath.Join(t.TempDir(), "history"), Suffix: ".past", MaxFiles: 4, MaxBytes: 8 << 20}
}

func kept(t *testing.T, repo *git.Repo, tip git.Hash, limit int, f *cache.Files) *history.History {
	t.Helper()
	h, notKept, err := history.Kept(context.Background(), repo, tip, limit, f)
	if err != nil || notKept != nil {
		t.Fatal(err, notKept)
	}
	return h
}

func build(t *testing.T, repo *git.Repo, tip git.Hash, limit int) *history.History {
	t.Helper()
	h, err := history.Build(context.Background(), repo, tip, limit)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Whatever was read before, in whatever order, the result is that of a reading of its own.
func TestKeptIsBuild(t *testing.T) {
	for seed := range uint64(3) {
		r := tangled(t, seed)
		program, library := open(t, r.Dir, "git"), open(t, r.Dir, "go-git")
		for _, limit := range []int{0, 7, 1} {
			one, other := files(t), files(t)
			for _, rev := range []string{"main~9", "main~7", "main", "main", "main^2", "main~1", "main"} {
				tip := resolve(t, program, rev)
				want := build(t, program, tip, limit)
				name := fmt.Sprintf("seed %d, %s, limit %d", seed, rev, limit)
				same(t, name+", git", want, kept(t, program, tip, limit, one))
				same(t, name+", go-git", want, kept(t, library, tip, limit, other))
				same(t, name+", what the other wrote", want, kept(t, library, tip, limit, one))
			}
		}
	}
}

// A branch that was rewritten shares only what it still has.
func TestKeptSeesRewrittenBranches(t *testing.T) {
	r := tangled(t, 1)
	repo, f := open(t, r.Dir, "git"), files(t)
	kept(t, repo, resolve(t, repo, "main"), 12, f)
	r.Git("reset", "-q", "--hard", "main~4")
	r.Write("f1.go", "package rewritten\n")
	r.Commit("rewritten")
	tip := resolve(t, repo, "main")
	same(t, "rewritten", build(t, repo, tip, 12), kept(t, repo, tip, 12, f))
}

// Going on from what is known reads the new commits alone: the trees of the old ones may be gone.
func TestKeptGoesOn(t *testing.T) {
	for _, backend := range []string{"git", "go-git"} {
		r := gittest.New(t)
		var old []string
		for i := range 12 {
			r.Write(fmt.Sprintf("d%d/f.go", i%4), fmt.Sprintf("package d // %d\n", i))
			c := r.Commit(fmt.Sprintf("feat: step %d", i))
			if i < 11 {
				old = append(old, strings.TrimSpace(r.Git("rev-parse", c+"^{tree}")))
			}
		}
		repo, f := open(t, r.Dir, backend), files(t)
		kept(t, repo, resolve(t, repo, "main"), 0, f)
		r.Write("d1/f.go", "package d // new\n")
		r.Commit("fix: one more")
		tip := resolve(t, repo, "main")
		want := build(t, repo, tip, 0)
		for _, tree := range old {
			if err := os.Remove(filepath.Join(r.Dir, ".git/objects", tree[:2], tree[2:])); err != nil {
				t.Fatal(err)
			}
		}
		repo = open(t, r.Dir, backend)
		if _, err := history.Build(context.Background(), repo, tip, 0); err == nil {
			t.Fatal("the whole history can still be read")
		}
		same(t, backend, want, kept(t, repo, tip, 0, f))
	}
}

// A shallow clone that is deepened is read anew where it ended.
func TestKeptInShallowClones(t *testing.T) {
	r := tangled(t, 1)
	dir := filepath.Join(t.TempDir(), "clone")
	r.Git("clone", "-q", "--depth", "4", "--single-branch", "-b", "main", "file://"+r.Dir, dir)
	f := files(t)
	for _, deepen := range []string{"", "--depth=9", "--unshallow", "--depth=3"} {
		if deepen != "" {
			r.Git("-C", dir, "fetch", "-q", deepen, "origin", "main")
		}
		repo := open(t, dir, "git")
		tip := resolve(t, repo, "main")
		same(t, "after "+deepen, build(t, repo, tip, 0), kept(t, repo, tip, 0, f))
		same(t, "again after "+deepen, build(t, repo, tip, 0), kept(t, repo, tip, 0, f))
	}
}

// Damaged files cost time only.
func TestDamagedFilesCostTimeOnly(t *testing.T) {
	r := tangled(t, 2)
	repo, f := open(t, r.Dir, "git"), files(t)
	before, tip := resolve(t, repo, "main~3"), resolve(t, repo, "main")
	kept(t, repo, before, 20, f)
	kept(t, repo, tip, 20, f)
	want := build(t, repo, tip, 20)
	names, err := filepath.Glob(filepath.Join(f.Dir, "*.past"))
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	whole := map[string][]byte{}
	for _, n := range names {
		if whole[n], err = os.ReadFile(n); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		for n, data := range whole {
			b := append([]byte(nil), data...)
			for range rapid.IntRange(0, 3).Draw(rt, "flips") {
				b[rapid.IntRange(0, len(b)-1).Draw(rt, "at")] ^= byte(rapid.IntRange(1, 255).Draw(rt, "bits"))
			}
			b = b[:rapid.IntRange(0, len(b)).Draw(rt, "cut")]
			if err := os.WriteFile(n, b, 0o600); err != nil {
				rt.Fatal(err)
			}
		}
		same(t, "damaged", want, kept(t, repo, tip, 20, f))
	})
}

// Processes that read and write at once all get the result.
func TestKeptIsShared(t *testing.T) {
	r := tangled(t, 4)
	repo, f := open(t, r.Dir, "git"), files(t)
	var wg sync.WaitGroup
	for i := range 8 {
		tip := resolve(t, repo, fmt.Sprintf("main~%d", i%5))
		want := build(t, repo, tip, 0)
		wg.Go(func() {
			own := *f
			for range 3 {
				h, notKept, err := history.Kept(context.Background(), repo, tip, 0, &own)
				if err != nil || notKept != nil {
					t.Error(err, notKept)
					return
				}
				if len(h.Commits) != len(want.Commits) || h.Tip != want.Tip {
					t.Errorf("%d commits of %s, want %d", len(h.Commits), h.Tip, len(want.Commits))
				}
			}
		})
	}
	wg.Wait()
	if names, _ := filepath.Glob(filepath.Join(f.Dir, "*.past")); len(names) > f.MaxFiles {
		t.Errorf("%d files, want at most %d", len(names), f.MaxFiles)
	}
}
