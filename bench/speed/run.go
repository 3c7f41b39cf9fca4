package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cost is what one run took.
type cost struct {
	wall, cpu time.Duration
	peak      int64 // bytes of memory, the largest of its processes
}

// program runs one and throws its output away.
func program(ctx context.Context, dir, name string, args ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, name, args...) // #nosec G204 -- a measurement: the programs and flags are this package's own
	cmd.Dir = dir
	var said strings.Builder
	cmd.Stderr = &said
	start := time.Now()
	err := cmd.Run()
	c := cost{wall: time.Since(start)}
	if s := cmd.ProcessState; s != nil {
		c.cpu, c.peak = s.UserTime()+s.SystemTime(), peak(s)
	}
	if err != nil {
		return c, fmt.Errorf("%s %s: %w: %.300s", name, strings.Join(args, " "), err, said.String())
	}
	return c, nil
}

// input is program with a standard input.
func input(ctx context.Context, dir string, write func(io.Writer) error, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) // #nosec G204 -- as above
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	werr := write(in)
	in.Close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %.300s", name, err, said.String())
	}
	return werr
}

// medians are those of several runs.
func medians(all []cost) cost {
	mid := func(of func(cost) int64) int64 {
		v := make([]int64, len(all))
		for i, c := range all {
			v[i] = of(c)
		}
		slices.Sort(v)
		if n := len(v); n%2 == 0 {
			return (v[n/2-1] + v[n/2]) / 2
		}
		return v[len(v)/2]
	}
	if len(all) == 0 {
		return cost{}
	}
	return cost{
		wall: time.Duration(mid(func(c cost) int64 { return int64(c.wall) })),
		cpu:  time.Duration(mid(func(c cost) int64 { return int64(c.cpu) })),
		peak: mid(func(c cost) int64 { return c.peak }),
	}
}

// make makes the repository of m in a folder, checked out; one that is there already is kept.
func (m monorepo) make(ctx context.Context, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := program(ctx, dir, "git", "init", "-q", "-b", "main", "."); err != nil {
		return err
	}
	if err := input(ctx, dir, m.write, "git", "fast-import", "--quiet", "--done"); err != nil {
		return err
	}
	_, err := program(ctx, dir, "git", "reset", "-q", "--hard", "main")
	return err
}
