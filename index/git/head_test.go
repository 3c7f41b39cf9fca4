package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

// HEAD is read without git where that is safe, and means what it means to git.
func TestHead(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "a\n")
	r.Commit("first")
	r.Write("a", "b\n")
	r.Commit("second")
	steps := []struct {
		name   string
		do     func()
		direct bool
	}{
		{"a branch", func() {}, true},
		{"packed", func() { r.Git("pack-refs", "--all") }, true},
		{"packed, then moved", func() { r.Git("reset", "-q", "--hard", "HEAD~1") }, true},
		{"detached", func() { r.Git("checkout", "-q", "--detach", "main") }, true},
		{"a folder of branches", func() { r.Git("switch", "-q", "-c", "a/b/c") }, true},
		{"packed among others", func() { r.Git("branch", "a/b/cc"); r.Git("branch", "b/c"); r.Git("pack-refs", "--all") }, true},
		{"a reference that is none of the branches", func() { r.Git("update-ref", "refs/other/x", "main"); r.Git("symbolic-ref", "HEAD", "refs/other/x") }, false},
	}
	for _, s := range steps {
		s.do()
		repo := open(t, r.Dir, "git")
		want := r.Git("rev-parse", "HEAD")
		h, ok := repo.head()
		if ok != s.direct || ok && h.String() != want {
			t.Errorf("%s: %s %v, want %s", s.name, h, ok, want)
		}
		if h, err := repo.Resolve(context.Background(), "HEAD"); err != nil || h.String() != want {
			t.Errorf("%s: %s, want %s (%v)", s.name, h, want, err)
		}
	}
	r.Git("symbolic-ref", "HEAD", "refs/heads/none")
	if h, ok := open(t, r.Dir, "git").head(); ok {
		t.Errorf("no branch: %s", h)
	}
	if err := os.WriteFile(filepath.Join(r.Dir, ".git/HEAD"), []byte("ref: refs/heads/../../secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, ok := open(t, r.Dir, "git").head(); ok {
		t.Errorf("outside: %s", h)
	}
}

// A linked work tree has a HEAD of its own and the branches of all.
func TestHeadOfLinkedWorkTree(t *testing.T) {
	r := gittest.New(t)
	r.Write("a", "a\n")
	r.Commit("first")
	dir := filepath.Join(t.TempDir(), "linked")
	r.Git("worktree", "add", "-q", "-b", "side", dir)
	r.Write("a", "b\n")
	r.Commit("second")
	want := r.Git("rev-parse", "side")
	if h, ok := open(t, dir, "git").head(); !ok || h.String() != want {
		t.Errorf("%s %v, want %s", h, ok, want)
	}
}

// A filter is switched off wherever it is configured.
func TestFiltersAreFound(t *testing.T) {
	for _, args := range [][]string{
		{"config", "filter.x.clean", "false"},
		{"config", "include.path", "more"},
		{"config", "extensions.worktreeConfig", "true"},
	} {
		r := gittest.New(t)
		if open(t, r.Dir, "git").config.mayFilter {
			t.Fatal("a fresh repository may filter")
		}
		r.Git(args...)
		if !open(t, r.Dir, "git").config.mayFilter {
			t.Errorf("%v is not seen", args)
		}
	}
}
