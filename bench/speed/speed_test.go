package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The generated repository is the same every time, and git takes it whole.
func TestMonorepo(t *testing.T) {
	m := monorepo{Seed: 1, Files: 300, Commits: 60}
	var one, two bytes.Buffer
	for _, b := range []*bytes.Buffer{&one, &two} {
		if err := m.write(b); err != nil {
			t.Fatal(err)
		}
	}
	if sha256.Sum256(one.Bytes()) != sha256.Sum256(two.Bytes()) {
		t.Fatal("two runs give two repositories")
	}
	m.Seed = 2
	two.Reset()
	if err := m.write(&two); err != nil || bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Fatal("another seed gives the same repository", err)
	}
	dir := filepath.Join(t.TempDir(), "mono")
	m.Seed = 1
	if err := m.make(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	count := func(args ...string) int {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(out), "\n")
	}
	if files, commits, dirty := count("ls-files"), count("log", "--format=%H"), count("status", "--porcelain"); files != 301 || commits != 60 || dirty != 0 {
		t.Errorf("%d files, %d commits, %d changes; want 301, 60, none", files, commits, dirty)
	}
	if changed := count("log", "-1", "--name-only", "--format="); changed < 1 || changed > 4 {
		t.Errorf("the last commit changed %d files", changed)
	}
}

func TestMedians(t *testing.T) {
	got := medians([]cost{{wall: 5 * time.Second, peak: 3}, {wall: time.Second, peak: 9}, {wall: 2 * time.Second, peak: 1}})
	if want := (cost{wall: 2 * time.Second, peak: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := medians([]cost{{wall: 1}, {wall: 3}}); got.wall != 2 {
		t.Errorf("of two: %v", got.wall)
	}
	if got := fmt.Sprintf("%.2f", exponent(10, 100, int64(1), int64(10))); got != "1.00" {
		t.Errorf("exponent %s, want 1.00", got)
	}
}

// A row's runs alternate, and its ratio is that of the medians.
func TestPair(t *testing.T) {
	var order strings.Builder
	fake := func(name string, wall time.Duration) measured {
		return func(context.Context) (cost, error) {
			order.WriteString(name)
			return cost{wall: wall}, nil
		}
	}
	b := bench{runs: 3}
	var rows []row
	if err := b.pair(context.Background(), "x", "y", 4, fake("o", 3*time.Second), fake("r", 2*time.Second), &rows); err != nil {
		t.Fatal(err)
	}
	if order.String() != "rororo" || len(rows) != 1 || rows[0].ratio() != 1.5 || !strings.Contains(rows[0].String(), "| 1.50 | at most 4 |") {
		t.Errorf("%s %v", order.String(), rows)
	}
}

func TestWrongUse(t *testing.T) {
	for _, args := range [][]string{{}, {"-ctxt", "x"}, {"-ctxt", "x", "-repo", "a", "-mono", "b"}, {"-ctxt", "x", "-mono", t.TempDir(), "-files", "ten"}} {
		if err := run(context.Background(), args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// A program that ends at a signal is measured; one that leaves a file unfinished is an error.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	b := bench{ctxt: "sleep", dir: dir, cache: filepath.Join(dir, "cache")}
	if d, err := b.interrupt(context.Background(), os.Interrupt, 0, "60"); err != nil || d <= 0 {
		t.Errorf("%v, %v", d, err)
	}
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.cache, ".a.seg.1.tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.interrupt(context.Background(), os.Interrupt, 0, "60"); err == nil || !strings.Contains(err.Error(), ".a.seg.1.tmp") {
		t.Errorf("an unfinished file: %v", err)
	}
}
