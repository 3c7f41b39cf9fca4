//go:build unix

package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

// countingGit is a git program that notes each of its starts in a file.
func countingGit(t *testing.T) (program string, starts func() int) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, notes := filepath.Join(dir, "git"), filepath.Join(dir, "starts")
	script := "#!/bin/sh\necho start >>'" + notes + "'\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, func() int {
		b, _ := os.ReadFile(notes)
		return strings.Count(string(b), "start")
	}
}

// Kept readers give what others give, start two processes in all, and outlive a reading that was stopped.
func TestKeepReaders(t *testing.T) {
	r := gittest.New(t)
	for _, name := range []string{"a/one.txt", "a/two.txt", "b/three.txt"} {
		r.Write(name, "text of "+name+"\n")
		r.Commit("add " + name)
	}
	program, starts := countingGit(t)
	repo, err := Open(r.Dir, Options{GitProgram: program})
	if err != nil {
		t.Fatal(err)
	}
	var commits []Hash
	for _, rev := range []string{"HEAD", "HEAD~1", "HEAD~2"} {
		h, err := repo.Resolve(context.Background(), rev)
		if err != nil {
			t.Fatal(err)
		}
		commits = append(commits, h)
	}
	before := starts()
	read := func(ctx context.Context) (paths, texts []string, err error) {
		for _, h := range commits {
			tree, err := repo.Tree(ctx, h)
			if err != nil {
				return nil, nil, err
			}
			var hashes []Hash
			for _, e := range tree.Entries {
				paths, hashes = append(paths, e.Path), append(hashes, e.Hash)
			}
			if err := repo.Blobs(ctx, hashes, 1<<20, func(_ int, data []byte, err error) {
				if err != nil {
					t.Error(err)
				}
				texts = append(texts, string(data))
			}); err != nil {
				return nil, nil, err
			}
		}
		return paths, texts, nil
	}
	paths, texts, err := read(context.Background())
	if err != nil || len(texts) != 6 {
		t.Fatal(texts, err)
	}
	alone := starts() - before
	stop := repo.KeepReaders(context.Background())
	defer stop()
	for range 3 {
		p, x, err := read(context.Background())
		if err != nil || strings.Join(p, " ") != strings.Join(paths, " ") || strings.Join(x, "") != strings.Join(texts, "") {
			t.Fatal(p, x, err)
		}
	}
	if n := starts() - before - alone; n != 2 || alone < 6 {
		t.Errorf("%d processes for three rounds, want 2; %d for one without keeping them, want 6 or more", n, alone)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := read(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a reading whose context has ended: %v", err)
	}
	if _, x, err := read(context.Background()); err != nil || len(x) != 6 {
		t.Errorf("after a reading that was stopped: %v %v", x, err)
	}
	stop()
	if _, _, err := read(context.Background()); !errors.Is(err, context.Canceled) {
		t.Errorf("after stop: %v", err)
	}
}
