package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	interrupts  = 40
	interruptIn = 200 * time.Millisecond
)

// interrupted ends runs of four commands at moments drawn from a seed, by SIGINT and SIGTERM in turn,
// and measures how long they take to go. What a run leaves unfinished is an error.
func (b *bench) interrupted(ctx context.Context) error {
	if b.skip["interrupted"] {
		return nil
	}
	works := []struct {
		prepare func() error
		args    []string
	}{
		{b.dropCache, []string{"activate", "--task", b.task, "--stdout", "--cache-dir", b.cache}},
		{b.touch, []string{"activate", "--task", b.task, "--stdout", "--cache-dir", b.cache}},
		{b.dropCache, []string{"pr", "--base", "HEAD~1", "--head", "HEAD", "--title", b.task, "--cache-dir", b.cache, "--json"}},
		{func() error { return nil }, []string{"init", ".", "--offline", "--no-config-prompt", "-q"}},
	}
	rnd := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- moments of a measurement
	var took []time.Duration
	for k, w := range works {
		if err := w.prepare(); err != nil {
			return err
		}
		whole, err := b.own(w.args...)(ctx)
		if err != nil {
			return err
		}
		for i := range interrupts / len(works) {
			if err := w.prepare(); err != nil {
				return err
			}
			signal := os.Signal(os.Interrupt)
			if (i+k)%2 == 1 {
				signal = syscall.SIGTERM
			}
			d, err := b.interrupt(ctx, signal, time.Duration(rnd.Float64()*float64(whole.wall)), w.args...)
			if err != nil {
				return err
			}
			took = append(took, d)
		}
	}
	slices.Sort(took)
	within, _ := slices.BinarySearch(took, interruptIn+1)
	fmt.Printf("| interrupted at %d moments | – | median %s s, slowest %s s | – | %d of %d within %s s | all |\n",
		len(took), seconds(took[len(took)/2]), seconds(took[len(took)-1]), within, len(took), seconds(interruptIn))
	return nil
}

// interrupt sends a signal to a run some time after its start, and returns how long it lived on; nothing,
// when it had ended by itself.
func (b *bench) interrupt(ctx context.Context, signal os.Signal, after time.Duration, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, b.ctxt, args...) // #nosec G204 -- the measured program
	cmd.Dir = b.dir
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	time.Sleep(after)
	start := time.Now()
	err := cmd.Process.Signal(signal)
	ended := errors.Is(err, os.ErrProcessDone)
	_ = cmd.Wait() // it fails: it was interrupted
	took := time.Since(start)
	if ended {
		took = 0
	}
	for _, dir := range []string{b.cache, filepath.Join(b.dir, ".ctxt")} {
		if left := unfinished(dir); left != "" {
			return took, fmt.Errorf("ctxt %s, interrupted after %s s, left %s", args[0], seconds(after), left)
		}
	}
	return took, ctx.Err()
}

// unfinished names a file under a folder, which need not exist, that a write did not finish.
func unfinished(dir string) (name string) {
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".tmp") {
			name = path
		}
		return nil
	})
	return name
}
