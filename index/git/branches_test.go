package git_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

func TestBranches(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "1\n")
	first := r.Commit("first")
	r.Git("branch", "topic/x")
	r.Write("a", "2\n")
	second := r.Commit("second")
	r.Git("update-ref", "refs/remotes/origin/main", first)
	r.Git("update-ref", "refs/remotes/origin/topic/x", second)
	r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	r.Git("pack-refs", "--all")
	r.Git("branch", "loose")
	hash := func(s string) git.Hash {
		h, err := git.ParseHash(s)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	want := []git.Branch{
		{Name: "loose", Tip: hash(second)}, {Name: "main", Tip: hash(second)}, {Name: "topic/x", Tip: hash(first)},
		{Name: "main", Remote: "origin", Tip: hash(first)}, {Name: "topic/x", Remote: "origin", Tip: hash(second)},
	}
	for _, backend := range []string{"git", "go-git"} {
		repo, err := git.Open(r.Dir, git.Options{Backend: backend})
		if err != nil {
			t.Fatal(err)
		}
		got, err := repo.Branches(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", backend, d)
		}
	}
}
