//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDamagedRepository damages each kind of file that git keeps, and runs a command on the checkout and
// one on a change, by the git program and without one: they work, or end with exit code 2 and one line
// that says what cannot be read and what to do. Nothing half written is left.
func TestDamagedRepository(t *testing.T) {
	for _, file := range []string{"index", "HEAD", "config", "packed-refs", "objects/pack/*.pack", "objects/pack/*.idx", "objects/info/commit-graph"} {
		for _, backend := range []string{"git", "go-git"} {
			t.Run(strings.Trim(filepath.Base(file), "*.")+"/"+backend, func(t *testing.T) {
				t.Parallel()
				repo := sampleRepository(t)
				repo.Git("repack", "-q", "-a", "-d", "-f")
				repo.Git("pack-refs", "--all")
				repo.Git("commit-graph", "write", "--reachable")
				files, err := filepath.Glob(filepath.Join(repo.Dir, ".git", filepath.FromSlash(file)))
				if err != nil || len(files) == 0 {
					t.Fatalf("no %s (%v)", file, err)
				}
				whole, err := os.ReadFile(files[0])
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(files[0], 0o644); err != nil {
					t.Fatal(err)
				}
				path := pathOf(t, backend == "git", false)
				for name, damage := range damages {
					if err := os.WriteFile(files[0], damage(whole), 0o644); err != nil {
						t.Fatal(err)
					}
					for _, args := range [][]string{
						{"activate", "--task", "keep the entries of the store sorted", "--no-cache"},
						{"pr", "--base", "main", "--head", "sorted", "--title", "keep the entries of the store sorted", "--no-cache"},
					} {
						cmd := exec.Command(filepath.Join(path, "ctxt"), args...)
						cmd.Dir, cmd.Env = repo.Dir, bareEnvironment(t, path)
						var out, errs bytes.Buffer
						cmd.Stdout, cmd.Stderr = &out, &errs
						_ = cmd.Run() // its exit code is looked at
						code, said := cmd.ProcessState.ExitCode(), errs.String()
						t.Logf("%s, %s: %d %q", name, args[0], code, said)
						if code == 0 && strings.Contains(out.String(), "store/store.go") {
							continue
						}
						if code != 2 || strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "ctxt: ") || !mendsGit.MatchString(said) {
							t.Errorf("%s, %s: exit code %d\n%s%s", name, args[0], code, said, out.String())
						}
						if _, err := os.Lstat(filepath.Join(repo.Dir, ".ctxt", "active-bundle.md")); err == nil && args[0] == "activate" {
							t.Errorf("%s, %s: there is a bundle all the same", name, args[0])
						}
					}
					os.RemoveAll(filepath.Join(repo.Dir, ".ctxt"))
				}
			})
		}
	}
}

// mendsGit is how a next step on a damaged repository reads.
var mendsGit = regexp.MustCompile(`git fsck |git reset|git branch -a|git add \. && git commit|git init|see what git status prints`)
