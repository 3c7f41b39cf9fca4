package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// build builds the program as a user does and returns its path.
func build(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ctxt")
	if out, err := exec.Command("go", "build", "-o", file, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return file
}

// children lists the parsers that a process has started.
func children(pid int) (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		data, _ := os.ReadFile(list) // of a thread that may have ended
		for _, f := range strings.Fields(string(data)) {
			line, _ := os.ReadFile("/proc/" + f + "/cmdline")
			if child, err := strconv.Atoi(f); err == nil && strings.HasSuffix(string(line), "\x00"+parseArgument+"\x00") {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// TestBuiltProgramSurvivesItsParsers builds the program, indexes a project with it, and ends a parser
// while it works, by SIGKILL and by the signal that a fault in C ends with: the file is tried again, and
// every declaration is found that an undisturbed run finds. Where each parser is ended, the run comes to
// its end all the same. A parser has none of the environment.
func TestBuiltProgramSurvivesItsParsers(t *testing.T) {
	if !symbols.HasTreeSitter() {
		return // nothing is parsed in a child
	}
	ctxt := build(t)
	repo := gittest.New(t)
	var methods strings.Builder
	for i := range 800 {
		fmt.Fprintf(&methods, "    int value%d(int a, int b) { if (a > b) { return a * %d; } return b; }\n", i, i)
	}
	const files = 40
	for i := range files {
		repo.Write(fmt.Sprintf("src/Part%d.java", i), fmt.Sprintf("class Part%d {\n%s}\n", i, methods.String()))
	}
	run := func(disturb func(pid int) bool) map[string]string {
		os.RemoveAll(filepath.Join(repo.Dir, ".ctxt"))
		var out bytes.Buffer
		cmd := exec.Command(ctxt, "init", ".", "--offline", "--no-config-prompt")
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = repo.Dir, append(os.Environ(), "HOME="+t.TempDir(), "CTXT_CANARY=x"), &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for again := true; again; {
			select {
			case err := <-ended:
				if err != nil {
					t.Fatalf("%v\n%s", err, out.String())
				}
				again = false
			case <-time.After(time.Millisecond):
				if disturb != nil && !disturb(cmd.Process.Pid) {
					disturb = nil
				}
			}
		}
		x, err := store.Load(filepath.Join(repo.Dir, filepath.FromSlash(store.IndexFile)))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		x.Walk(func(n *store.Node) {
			if !n.IsDir() {
				found[n.FullPath] = strings.TrimSpace(fmt.Sprint(len(n.Symbols), " symbols ", n.Fault))
			}
		})
		return found
	}
	want := run(nil)
	if len(want) != files || want["src/Part0.java"] != "801 symbols" {
		t.Fatalf("%d files; src/Part0.java: %s", len(want), want["src/Part0.java"])
	}
	// ending ends as many parsers as are allowed, each once.
	ending := func(sig syscall.Signal, allowed int) (killed map[int]bool, got map[string]string) {
		killed = map[int]bool{}
		return killed, run(func(pid int) bool {
			for _, child := range children(pid) {
				if env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", child)); bytes.Contains(env, []byte("CANARY")) {
					t.Error("a parser has the environment")
				}
				if !killed[child] && len(killed) < allowed && syscall.Kill(child, sig) == nil {
					killed[child] = true
				}
			}
			return len(killed) < allowed
		})
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV} {
		killed, got := ending(sig, 1)
		if len(killed) == 0 {
			t.Errorf("%v: no parser was there to be ended", sig)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%v: an undisturbed run finds something else:\n%s", sig, d)
		}
	}
	killed, got := ending(syscall.SIGKILL, math.MaxInt)
	crashed := 0
	for path, found := range got {
		if found != want[path] {
			crashed++
		}
		if found != want[path] && !strings.HasSuffix(found, " symbols the grammar crashed") && !strings.HasSuffix(found, " symbols the grammars crashed too often") {
			t.Errorf("%s: %s", path, found)
		}
	}
	if len(killed) < 2 || len(got) != files || crashed == 0 {
		t.Errorf("%d parsers were ended: %d files, %d of them without a grammar", len(killed), len(got), crashed)
	}
}
