package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

var backends = []string{"git", "go-git"}

// sample is a repository of two commits on main.
func sample(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	r.Write("a.txt", "one\ntwo\n")
	r.Write("dir/b.txt", "b\n")
	r.Commit("first")
	r.Write("a.txt", "one\ntwo\nthree\n")
	r.Commit("second")
	return r
}

// reads checks that the whole of a sample can be read.
func reads(t *testing.T, dir, wantRoot string) {
	t.Helper()
	ctx := context.Background()
	for _, b := range backends {
		r := open(t, dir, b)
		if wantRoot != "-" && r.Root() != wantRoot {
			t.Errorf("%s: root %q, want %q", b, r.Root(), wantRoot)
		}
		h := resolve(t, r, "HEAD")
		tree, err := r.Tree(ctx, h)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if len(tree.Entries) != 2 || len(tree.Skipped) != 0 {
			t.Errorf("%s: tree %+v", b, tree)
		}
		data, err := r.FileAt(ctx, h, "dir/b.txt", 100)
		if err != nil || string(data) != "b\n" {
			t.Errorf("%s: FileAt: %q, %v", b, data, err)
		}
		if all, _ := history(t, r, HistoryOptions{}, h); len(all) != 2 {
			t.Errorf("%s: %d commits", b, len(all))
		}
	}
}

func TestOpenKinds(t *testing.T) {
	src := sample(t)
	t.Run("folder of the work tree", func(t *testing.T) { reads(t, filepath.Join(src.Dir, "dir"), src.Dir) })
	t.Run("git directory", func(t *testing.T) { reads(t, filepath.Join(src.Dir, ".git"), src.Dir) })
	t.Run("bare", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "bare")
		run(t, src.Dir, nil, "clone", "-q", "--bare", ".", dir)
		reads(t, dir, "")
		reads(t, filepath.Join(dir, "objects"), "")
	})
	t.Run("without a config file", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "bare")
		run(t, src.Dir, nil, "clone", "-q", "--bare", ".", dir)
		if err := os.Remove(filepath.Join(dir, "config")); err != nil {
			t.Fatal(err)
		}
		reads(t, dir, "")
	})
	t.Run("linked work tree", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "linked")
		run(t, src.Dir, nil, "worktree", "add", "-q", "--detach", dir)
		reads(t, dir, dir)
	})
	t.Run("alternates", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "shared")
		again := filepath.Join(t.TempDir(), "again")
		run(t, src.Dir, nil, "clone", "-q", "--shared", ".", dir)
		run(t, src.Dir, nil, "clone", "-q", "--shared", dir, again)
		reads(t, dir, dir)
		reads(t, again, again)
	})
	t.Run("sparse checkout with worktreeConfig", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "sparse")
		run(t, src.Dir, nil, "clone", "-q", ".", dir)
		run(t, dir, nil, "sparse-checkout", "set", "--cone", "other")
		if got := run(t, dir, nil, "config", "extensions.worktreeConfig"); strings.TrimSpace(got) != "true" {
			t.Fatalf("worktreeConfig is %q", got)
		}
		reads(t, dir, dir)
		for _, b := range backends {
			if w, err := open(t, dir, b).Worktree(context.Background()); err != nil || len(w) != 0 {
				t.Errorf("%s: work tree %v, %v", b, w, err)
			}
		}
	})
	t.Run("packed references", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "packed")
		run(t, src.Dir, nil, "clone", "-q", ".", dir)
		run(t, dir, nil, "pack-refs", "--all")
		run(t, dir, nil, "gc", "-q")
		reads(t, dir, dir)
	})
	t.Run("grafts and replacements are not followed", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "graft")
		run(t, src.Dir, nil, "clone", "-q", ".", dir)
		head, first := strings.TrimSpace(run(t, dir, nil, "rev-parse", "HEAD")), strings.TrimSpace(run(t, dir, nil, "rev-parse", "HEAD~1"))
		run(t, dir, nil, "replace", head, first)
		if err := os.WriteFile(filepath.Join(dir, ".git", "info", "grafts"), []byte(head+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		reads(t, dir, dir)
	})
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	sha256 := filepath.Join(dir, "sha256")
	run(t, dir, nil, "init", "-q", "--object-format=sha256", sha256)
	file := filepath.Join(dir, "file")
	broken := filepath.Join(dir, "broken")
	for name, content := range map[string]string{file: "", filepath.Join(broken, ".git"): "gitdir: /nowhere/at/all\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		dir  string
		o    Options
		is   error
		text string
	}{
		{dir, Options{}, ErrNotRepository, "git init"},
		{sha256, Options{}, ErrUnsupported, "object format sha256"},
		{sha256, Options{Backend: "go-git"}, ErrUnsupported, "object format sha256"},
		{file, Options{}, nil, "not a folder"},
		{filepath.Join(dir, "absent"), Options{}, os.ErrNotExist, "absent"},
		{broken, Options{}, ErrNotRepository, "git worktree repair"},
		{dir, Options{Backend: "svn"}, nil, ""},
	} {
		_, err := Open(c.dir, c.o)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Open(%s): %v", c.dir, err)
		}
	}
}

func TestResolve(t *testing.T) {
	r := sample(t)
	r.Git("checkout", "-q", "-b", "topic/x", "HEAD~1")
	r.Write("c.txt", "c\n")
	r.Commit("on topic")
	r.Git("tag", "light")
	r.Git("tag", "-a", "-m", "annotated", "v1.0")
	r.Git("tag", "-a", "-m", "nested", "v2.0", "v1.0")
	r.Git("checkout", "-q", "main")
	r.Git("merge", "-q", "--no-ff", "-m", "merge", "topic/x")
	r.Git("update-ref", "refs/remotes/origin/dev", "HEAD~1")
	r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/dev")
	r.Git("config", "branch.main.remote", ".")
	full := r.Git("rev-parse", "HEAD")
	for _, b := range backends {
		repo := open(t, r.Dir, b)
		for _, rev := range []string{"HEAD", "@", "main", "heads/main", "refs/heads/main", "topic/x", "light", "v1.0", "v2.0",
			"tags/v1.0", "v1.0^{}", "v1.0^{commit}", "HEAD~1", "HEAD^", "HEAD^2", "HEAD^2~1", "HEAD~", "HEAD^0", "main~2", "HEAD^^",
			"origin/dev", "origin", "refs/remotes/origin/dev", full, full[:7], full[:12], full[:9] + "^2", strings.ToUpper(full[:10])} {
			got, err := repo.Resolve(context.Background(), rev)
			if err != nil {
				t.Errorf("%s: %s: %v", b, rev, err)
				continue
			}
			if want := r.Git("rev-parse", rev+"^{commit}"); got.String() != want {
				t.Errorf("%s: %s is %s, want %s", b, rev, got, want)
			}
		}
		for _, rev := range []string{"", "-x", "--help", "a\nb", "nope", "HEAD~99", "HEAD^3", "main..topic/x", "0000000", strings.Repeat("f", 40),
			"HEAD:a.txt", "../../etc/passwd", "refs/../HEAD", strings.Repeat("a", 5000), "x\x00y", "HEAD~99999999999999999999", "config", "index"} {
			got, err := repo.Resolve(context.Background(), rev)
			if err == nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
				t.Errorf("%s: %.20q gives %s, %v", b, rev, got, err)
			}
		}
	}
}

func TestResolveInAnEmptyRepository(t *testing.T) {
	r := gittest.New(t)
	for _, b := range backends {
		_, err := open(t, r.Dir, b).Resolve(context.Background(), "HEAD")
		if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "no commit yet") {
			t.Errorf("%s: %v", b, err)
		}
	}
}

// A repository's own configuration names programs: none of them may run.
func TestConfiguredProgramsDoNotRun(t *testing.T) {
	r := sample(t)
	mark := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+mark+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "pager.log", "pager.status", "diff.external", "core.sshCommand", "gpg.program",
		"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command", "core.alternateRefsCommand",
		"core.editor", "credential.helper", "uploadpack.packObjectsHook", "alias.log", "alias.status"} {
		r.Git("config", key, script)
	}
	for key, value := range map[string]string{"filter.evil.required": "true", "log.showSignature": "true", "color.ui": "always", "log.decorate": "full",
		"diff.renames": "copies", "diff.orderFile": "/nonexistent", "log.showRoot": "false", "status.renames": "copies", "diff.noprefix": "true",
		"diff.relative": "true", "format.pretty": "oneline", "log.date": "relative", "diff.ignoreSubmodules": "all", "core.hooksPath": filepath.Dir(script),
		"log.diffMerges": "off", "core.abbrev": "4", "notes.displayRef": "*", "log.follow": "true", "i18n.logOutputEncoding": "UTF-16",
		"status.showUntrackedFiles": "no", "status.short": "true", "status.branch": "true", "core.quotePath": "true", "log.mailmap": "true"} {
		r.Git("config", key, value)
	}
	if err := os.WriteFile(filepath.Join(r.Dir, ".git", "info", "attributes"), []byte("* filter=evil diff=evil\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction"} {
		if err := os.WriteFile(filepath.Join(r.Dir, ".git", "hooks", hook), []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.Write("a.txt", "changed\n")
	r.Write("new.txt", "n\n")
	before := snapshot(t, filepath.Join(r.Dir, ".git"))
	p, l := both(t, r.Dir)
	var got [2][]Commit
	for i, repo := range []*Repo{p, l} {
		h := resolve(t, repo, "HEAD")
		got[i], _ = history(t, repo, HistoryOptions{Merges: true}, h)
		if len(got[i]) != 2 || len(got[i][1].Changes) != 2 {
			t.Errorf("%s: %+v", repo.Backend(), got[i])
		}
		if _, err := repo.Diff(context.Background(), got[i][1].Hash, h); err != nil {
			t.Error(err)
		}
		w, err := repo.Worktree(context.Background())
		want := []WorktreeChange{{"a.txt", Modified, false}, {"new.txt", Added, true}}
		if d := cmp.Diff(want, w); d != "" || err != nil {
			t.Errorf("%s: %v %s", repo.Backend(), err, d)
		}
	}
	if d := cmp.Diff(got[0], got[1]); d != "" {
		t.Error(d)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a configured program ran")
	}
	if d := cmp.Diff(before, snapshot(t, filepath.Join(r.Dir, ".git"))); d != "" {
		t.Errorf("the git directory was written to:\n%s", d)
	}
}

// snapshot maps each file under dir to its content and time.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(p)
		all[p] = fmt.Sprint(st.ModTime().UnixNano(), " ", HashBlob(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Variables such as GIT_DIR reach a hook or an action from outside.
func TestOutsideEnvironmentIsIgnored(t *testing.T) {
	r, other := sample(t), gittest.New(t)
	for name, value := range map[string]string{"GIT_DIR": filepath.Join(other.Dir, ".git"), "GIT_WORK_TREE": other.Dir, "GIT_INDEX_FILE": "/nonexistent",
		"GIT_OBJECT_DIRECTORY": "/nonexistent", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true",
		"GIT_CONFIG_PARAMETERS": "'core.bare=true'", "GIT_TRACE": "1", "GIT_CEILING_DIRECTORIES": "/", "HOME": other.Dir, "LC_ALL": "de_DE.UTF-8", "GIT_PAGER": "false"} {
		t.Setenv(name, value)
	}
	reads(t, r.Dir, r.Dir)
}
