//go:build unix

package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

// kind is one form of a repository: how it is made from a plain one, and what a command on the checkout
// and one on a change say where they cannot work. They work where that is empty.
type kind struct {
	name         string
	make         func(t *testing.T, src *gittest.Repo, dir string)
	activate, pr string
	base         string // of the change; origin/main where it is empty
	note         string // in the standard output of a pr that works
}

var kinds = []kind{
	{name: "plain", make: func(t *testing.T, src *gittest.Repo, dir string) {
		src.Git("clone", "-q", "--branch", "sorted", "file://"+src.Dir, dir)
	}},
	{name: "shallow, with the base", note: "fetch-depth: 0", base: "HEAD~1", make: func(t *testing.T, src *gittest.Repo, dir string) {
		src.Git("clone", "-q", "--depth", "3", "--branch", "sorted", "file://"+src.Dir, dir)
	}},
	{name: "shallow, without the base", pr: "fetch with depth 0", base: "HEAD~1", make: func(t *testing.T, src *gittest.Repo, dir string) {
		src.Git("clone", "-q", "--depth", "1", "--branch", "sorted", "file://"+src.Dir, dir)
	}},
	{name: "sparse", make: func(t *testing.T, src *gittest.Repo, dir string) {
		src.Git("clone", "-q", "--branch", "sorted", "file://"+src.Dir, dir)
		src.Git("-C", dir, "sparse-checkout", "set", "--cone", "store")
	}},
	{name: "partial, without trees", activate: "clone without --filter", pr: "clone without --filter", make: func(t *testing.T, src *gittest.Repo, dir string) {
		src.Git("config", "uploadpack.allowFilter", "true")
		src.Git("clone", "-q", "--filter=tree:0", "--branch", "sorted", "file://"+src.Dir, dir)
	}},
	{name: "partial, without blobs", make: func(t *testing.T, src *gittest.Repo, dir string) {
		src.Git("config", "uploadpack.allowFilter", "true")
		src.Git("clone", "-q", "--filter=blob:none", "--branch", "sorted", "file://"+src.Dir, dir)
	}},
	{name: "SHA-256", activate: "ctxt reads SHA-1 repositories only", pr: "ctxt reads SHA-1 repositories only", base: "main", make: func(t *testing.T, src *gittest.Repo, dir string) {
		src.Git("init", "-q", "--object-format=sha256", "-b", "main", dir)
		src.Git("-C", dir, "fetch", "-q", "--no-tags", "--depth", "1", "file://"+sha256Twin(t, src))
		src.Git("-C", dir, "checkout", "-q", "-b", "sorted", "FETCH_HEAD")
	}},
	{name: "alternates", make: func(t *testing.T, src *gittest.Repo, dir string) {
		src.Git("clone", "-q", "--shared", "--branch", "sorted", src.Dir, dir)
	}},
	{name: "linked worktree", base: "main", make: func(t *testing.T, src *gittest.Repo, dir string) {
		src.Git("worktree", "add", "-q", "--detach", dir, "sorted")
	}},
	{name: "another user's", make: func(t *testing.T, src *gittest.Repo, dir string) {
		src.Git("clone", "-q", "--branch", "sorted", "file://"+src.Dir, dir)
		if os.Getuid() != 0 {
			return // pathOf tells git so all the same
		}
		err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
			if err == nil {
				err = os.Lchown(name, 65534, 65534)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}},
}

// sha256Twin makes a SHA-256 repository of the files of another one.
func sha256Twin(t *testing.T, src *gittest.Repo) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "twin")
	src.Git("init", "-q", "--object-format=sha256", "-b", "main", dir)
	src.Git("--git-dir="+filepath.Join(dir, ".git"), "--work-tree="+src.Dir, "add", "go.mod", "main.go", "store")
	src.Git("--git-dir="+filepath.Join(dir, ".git"), "commit", "-q", "-m", "everything")
	return dir
}

// pathOf makes a folder for PATH with ctxt, and with a git that takes every repository for another
// user's where one is wanted.
func pathOf(t *testing.T, git, stranger bool) string {
	t.Helper()
	dir := t.TempDir()
	find := func(name string) string {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	if err := os.Symlink(find("ctxt"), filepath.Join(dir, "ctxt")); err != nil {
		t.Fatal(err)
	}
	if git {
		owner := ""
		if stranger {
			owner = "GIT_TEST_ASSUME_DIFFERENT_OWNER=1 "
		}
		if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+owner+"exec "+find("git")+" \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// bareEnvironment has a search path, an empty home, and how the race detector is to end.
func bareEnvironment(t *testing.T, path string) []string {
	t.Helper()
	return []string{"PATH=" + path, "HOME=" + t.TempDir(), "GORACE=" + os.Getenv("GORACE")}
}

// TestRepositoryKinds runs a command on the checkout and one on a change in each kind of repository, by
// the git program and without one: they work, or say in one line what is missing and how to get it.
func TestRepositoryKinds(t *testing.T) {
	for _, k := range kinds {
		for _, backend := range []string{"git", "go-git"} {
			t.Run(k.name+"/"+backend, func(t *testing.T) {
				t.Parallel()
				src := sampleRepository(t)
				src.Git("checkout", "-q", "main")
				dir := filepath.Join(t.TempDir(), "r")
				k.make(t, src, dir)
				path := pathOf(t, backend == "git", k.name == "another user's")
				ctxt := func(args ...string) (int, string, string) {
					cmd := exec.Command(filepath.Join(path, "ctxt"), args...)
					cmd.Dir, cmd.Env = dir, bareEnvironment(t, path)
					var out, errs bytes.Buffer
					cmd.Stdout, cmd.Stderr = &out, &errs
					_ = cmd.Run() // its exit code is looked at
					return cmd.ProcessState.ExitCode(), out.String(), errs.String()
				}
				base := k.base
				if base == "" {
					base = "origin/main"
				}
				check := func(missing, note string, args ...string) {
					code, out, errs := ctxt(args...)
					switch {
					case missing != "":
						if code != 2 || !strings.Contains(errs, missing) || strings.Count(errs, "\n") != 1 || out != "" {
							t.Errorf("%s: exit code %d\n%s%s", args[0], code, out, errs)
						}
					case code != 0, !strings.Contains(out, "store/store.go"), !strings.Contains(out, note):
						t.Errorf("%s: exit code %d\n%s%s", args[0], code, out, errs)
					}
				}
				check(k.activate, "", "activate", "--task", "keep the entries of the store sorted", "--stdout")
				check(k.pr, k.note, "pr", "--base", base, "--head", "HEAD", "--title", "keep the entries of the store sorted")
			})
		}
	}
}
