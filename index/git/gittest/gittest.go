// Package gittest builds small repositories for tests, deterministically and away from the host's
// git configuration.
package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repo is a repository with a work tree in a temporary folder.
type Repo struct {
	t    testing.TB
	Dir  string
	time int64 // of the next commit, Unix seconds
}

// New makes an empty repository on branch main whose first commit is dated 2024-01-01 UTC and each
// further one a day later.
func New(t testing.TB) *Repo {
	t.Helper()
	r := &Repo{t: t, Dir: t.TempDir(), time: 1704067200}
	r.Git("init", "-q", "-b", "main")
	return r
}

// Git runs git in the repository and returns its trimmed standard output.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	return r.git("A. Author <author@example.com>", args...)
}

func (r *Repo) git(author string, args ...string) string {
	r.t.Helper()
	name, mail, _ := strings.Cut(strings.TrimSuffix(author, ">"), " <")
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Dir
	date := fmt.Sprintf("%d +0000", r.time)
	cmd.Env = append(os.Environ(), "HOME="+r.Dir, "XDG_CONFIG_HOME="+r.Dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME="+name, "GIT_AUTHOR_EMAIL="+mail,
		"GIT_COMMITTER_NAME="+name, "GIT_COMMITTER_EMAIL="+mail, "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_DATE="+date, "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Write makes a file, and its folders.
func (r *Repo) Write(path, content string) {
	r.t.Helper()
	p := filepath.Join(r.Dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// Remove deletes a file.
func (r *Repo) Remove(path string) {
	r.t.Helper()
	if err := os.Remove(filepath.Join(r.Dir, filepath.FromSlash(path))); err != nil {
		r.t.Fatal(err)
	}
}

// Commit commits everything in the work tree and returns the commit's name.
func (r *Repo) Commit(message string) string {
	r.t.Helper()
	return r.CommitAs("A. Author <author@example.com>", message)
}

// CommitAs is Commit by another author, written "Name <mail>".
func (r *Repo) CommitAs(author, message string) string {
	r.t.Helper()
	r.git(author, "add", "-A")
	r.git(author, "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
	r.time += 86400
	return r.git(author, "rev-parse", "HEAD")
}

// Advance moves the clock of the next commit by a number of seconds.
func (r *Repo) Advance(seconds int64) { r.time += seconds }
