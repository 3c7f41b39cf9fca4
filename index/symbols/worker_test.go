package symbols

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// childArgument starts the test program as a child.
const childArgument = "a-child-of-the-tests"

// misbehave does what the source of a test asks a grammar to do.
func misbehave(src []byte) {
	switch {
	case bytes.Contains(src, []byte("CRASH")):
		crash()
	case bytes.Contains(src, []byte("EXHAUST")):
		exhaust()
	case bytes.Contains(src, []byte("DIE")):
		os.Exit(1)
	case bytes.Contains(src, []byte("HANG")):
		for {
			time.Sleep(time.Hour)
		}
	}
}

// inChildren runs grammars in children for one test.
func inChildren(t *testing.T) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	useWorkers(exe, []string{exe, childArgument})
	t.Cleanup(StopWorkers)
}

// TestChildrenFindTheSame reads every sample in children, from many goroutines, and in this process.
func TestChildrenFindTheSame(t *testing.T) {
	want := map[string]Result{}
	for _, file := range samples(t) {
		want[file] = Extract(Language(file), read(t, file), Auto)
	}
	inChildren(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for file, r := range want {
				if d := cmp.Diff(r, Extract(Language(file), read(t, file), Auto)); d != "" {
					t.Errorf("%s: %s", file, d)
				}
			}
		})
	}
	wg.Wait()
	for name, text := range hostile() {
		check(t, name, []byte(text), Extract("javascript", []byte(text), Auto))
	}
	if w := workers.Load(); w.crashes.Load() > 0 || w.broken.Load() {
		t.Errorf("%d children died; broken: %v", w.crashes.Load(), w.broken.Load())
	}
}

// TestExpectedChildIsUsed says what will come again and again: one child starts, and reads the file that
// comes; and one that is never used ends with the others.
func TestExpectedChildIsUsed(t *testing.T) {
	if !HasTreeSitter() {
		return // nothing is read by a child
	}
	const lang = "python"
	for _, used := range []bool{true, false} {
		inChildren(t)
		for range 20 {
			Expect(lang)
		}
		p := workers.Load()
		if used {
			if r := Extract(lang, []byte("def wait():\n    pass\n"), Auto); r.By != TreeSitter || len(r.Symbols) != 1 {
				t.Errorf("read as %+v", r)
			}
		}
		StopWorkers()
		if n := p.started.Load(); n != 1 {
			t.Errorf("used %v: %d children, want one", used, n)
		}
	}
}

// TestCrashCostsItsFileOnly has a grammar crash in C, run out of memory and never end: that file is
// read by the regular expressions and says why, and those before, beside and after it are read as ever.
func TestCrashCostsItsFileOnly(t *testing.T) {
	if !HasTreeSitter() {
		return // there is no grammar to crash
	}
	defer func(d time.Duration) { workerPatience = d }(workerPatience)
	for _, c := range []struct{ what, fault string }{
		{"CRASH", faultCrash},
		{"EXHAUST", faultCrash},
		{"HANG", "tree-sitter: stopped at the time limit"},
	} {
		if c.what == "EXHAUST" && runtime.GOOS != "linux" {
			continue // nothing bounds a child's memory there
		}
		t.Run(c.what, func(t *testing.T) {
			if workerPatience = time.Minute; c.what == "HANG" {
				workerPatience = 500 * time.Millisecond
			}
			inChildren(t)
			var wg sync.WaitGroup
			for i := range 24 {
				wg.Go(func() {
					src := fmt.Sprintf("class Good%d {}\n", i)
					want, by := "", TreeSitter
					if i == 11 {
						src += "// " + c.what + "\n"
						want, by = c.fault, Regex
					}
					r := extract("java", []byte(src), Auto, 100*time.Millisecond)
					if r.Fault != want || r.By != by || len(r.Symbols) != 1 || r.Symbols[0].Name != fmt.Sprint("Good", i) {
						t.Errorf("file %d: %+v", i, r)
					}
				})
			}
			wg.Wait()
			if r := Extract("java", []byte("class After {}\n"), Auto); r.By != TreeSitter || r.Fault != "" {
				t.Errorf("afterwards: %+v", r)
			}
		})
	}
}

// TestManyCrashes gives the grammars up when one child after the other dies, and goes on without them.
func TestManyCrashes(t *testing.T) {
	if !HasTreeSitter() {
		return
	}
	inChildren(t)
	given := 0
	for i := range maxCrashes {
		r := Extract("java", fmt.Appendf(nil, "class C%d {} // DIE\n", i), Auto)
		if !Crashed(r.Fault) || r.By != Regex || len(r.Symbols) != 1 {
			t.Fatalf("%+v", r)
		}
		if r.Fault == faultGiveUp {
			given++
		}
	}
	if given == 0 {
		t.Error("the grammars were never given up")
	}
}

// TestNoChild: where none can be started, this process parses.
func TestNoChild(t *testing.T) {
	useWorkers("/nonexistent/program", []string{"x"})
	t.Cleanup(StopWorkers)
	for range 3 {
		if r := Extract("java", []byte("class A {}\n"), Auto); len(r.Symbols) != 1 || r.Fault != "" && HasTreeSitter() {
			t.Fatalf("%+v", r)
		}
	}
}

// TestStoppedWhileInUse stops the children under calls: each call still has its result.
func TestStoppedWhileInUse(t *testing.T) {
	for range 5 {
		inChildren(t)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for k := range 20 {
					if r := Extract("java", fmt.Appendf(nil, "class C%dOf%d {}\n", i, k), Auto); len(r.Symbols) != 1 || r.Fault != "" && HasTreeSitter() {
						t.Errorf("%+v", r)
					}
				}
			})
		}
		time.Sleep(5 * time.Millisecond)
		StopWorkers()
		wg.Wait()
	}
}

// FuzzWork feeds a child any bytes as requests.
func FuzzWork(f *testing.F) {
	one := frame{b: make([]byte, 4)}
	one.number(1)
	one.text("java")
	one.number(1000)
	one.text("class A {}")
	var b bytes.Buffer
	if err := one.write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte{5, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Add([]byte(strings.Repeat("\xff", 12)))
	f.Add([]byte("000\x00")) // a length and nothing behind it
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		if err := work(bytes.NewReader(data), &out); err == nil && len(data) > 0 && out.Len() == 0 {
			t.Fatal("a request without an answer")
		}
	})
}
