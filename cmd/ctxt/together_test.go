package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestTogether runs eight activate, two watch and a sync at once on one project: every activate gives
// the same bytes, one writer at a time is let in and the others are told whose turn it is, and what is
// on disk afterwards is whole.
func TestTogether(t *testing.T) {
	p := newCrashProject(t)
	p.env = append(p.env, "LLM_API_KEY=key-for-the-test")
	p.must("init", ".", "--offline")
	task := []string{"activate", "--task", "keep the entries of the store sorted", "--format", "json", "-q"}
	want := p.must(task...)
	if err := os.RemoveAll(p.repo.Dir + "/.ctxt/cache"); err != nil {
		t.Fatal(err)
	}

	type result struct {
		args           []string
		stdout, stderr string
		err            error
	}
	results := make(chan result, 16)
	var running sync.WaitGroup
	start := func(args ...string) *exec.Cmd {
		cmd := p.command(args...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			err := cmd.Wait()
			results <- result{args, out.String(), errs.String(), err}
		})
		return cmd
	}
	watches := []*exec.Cmd{start("watch", "."), start("watch", ".")}
	start("sync", ".")
	for range 8 {
		start(task...)
	}
	ended := map[string]int{}
	handle := func(r result) {
		refused := strings.Contains(r.stderr, "ctxt: ctxt process ") && strings.Contains(r.stderr, " is writing this project's index (")
		switch {
		case r.args[0] == "activate" && (r.err != nil || r.stdout != want):
			t.Errorf("activate: %v\n%s\nit prints\n%s\nalone it printed\n%s", r.err, r.stderr, r.stdout, want)
		case r.args[0] != "activate" && r.err != nil && !refused:
			t.Errorf("%s: %v\n%s", r.args[0], r.err, r.stderr)
		}
		ended[r.args[0]]++
	}
	deadline := time.After(2 * time.Minute)
	for ended["activate"] < 8 || ended["sync"] < 1 {
		select {
		case r := <-results:
			handle(r)
		case <-deadline:
			t.Fatalf("ended so far: %v", ended)
		}
	}
	for _, w := range watches {
		_ = w.Process.Signal(os.Interrupt) // one of them, or both, ended already
	}
	running.Wait()
	close(results)
	for r := range results {
		handle(r)
	}
	if ended["watch"] != 2 {
		t.Errorf("ended: %v", ended)
	}
	p.index()
	p.synonyms()
	p.must("init", ".", "--offline", "-q")
	if got := p.must(task...); got != want {
		t.Error("the task gives another selection afterwards")
	}
}
