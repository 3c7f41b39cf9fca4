//go:build unix

package symbols

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// measureArgument starts the test program as one that reads the worst inputs in one language, by one
// extractor: measureArgument LANGUAGE MODE.
const measureArgument = "a-measurement-of-the-tests"

// peakLimit bounds what one file may cost in memory, in KiB, where the race detector does not multiply it.
const peakLimit = 200 << 10

func init() {
	if len(os.Args) == 4 && os.Args[1] == measureArgument {
		measure(os.Args[2], Mode(os.Args[3]))
		os.Exit(0)
	}
}

// worst are the inputs whose cost is bounded, in order.
func worst() []struct{ name, text string } {
	deep := func(n int) string { return strings.Repeat("(", n) + strings.Repeat(")", n) }
	rng := rand.New(rand.NewPCG(3, 4))
	random := make([]byte, 1<<20)
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	// Without NUL bytes and with line ends random bytes are not kept from a grammar as binary or as one long line.
	lines := make([]byte, 500<<10)
	for i := range lines {
		if lines[i] = byte(1 + rng.IntN(255)); i%80 == 79 {
			lines[i] = '\n'
		}
	}
	return []struct{ name, text string }{
		{"80 KB of {{", strings.Repeat("{{", 40_000)},
		{"20,000 parentheses", deep(20_000)},
		{"200,000 parentheses", deep(200_000)},
		{"20,000 parentheses on lines of their own", strings.Repeat("(\n", 20_000) + strings.Repeat(")\n", 20_000)},
		{"a line of 1 MB", "x = \"" + strings.Repeat("a", 1<<20-10) + "\""},
		{"random bytes", string(random)},
		{"random lines", string(lines)},
	}
}

// measure reads each of the worst inputs, prints what was made of it, and the most memory that this
// process had resident, in KiB.
func measure(lang string, mode Mode) {
	for _, in := range worst() {
		r := Extract(lang, []byte(in.text), mode)
		fmt.Printf("%s: %s %q %d\n", in.name, r.By, r.Fault, len(r.Symbols))
	}
	fmt.Println("peak:", peakOf(os.Getpid()))
}

// peakOf is the most memory that a process had resident since it began its program, in KiB.
func peakOf(pid int) int {
	if f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			if kb, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
				n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kb), " kB"))
				return n
			}
		}
	}
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int(use.Maxrss >> 10)
	}
	return int(use.Maxrss)
}

// TestWorstInputsAreBounded reads what is known to exhaust parsers in every language: by its grammar in
// a child such as the program starts, or go/parser, and by the regular expressions. A process that read
// all of them held less than 200 MB, none dies, and only the random lines need a grammar's time limit:
// the checks of the bytes that come before it keep the others away.
func TestWorstInputsAreBounded(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range extractors() {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			for _, mode := range []Mode{Auto, Regex} {
				cmd := exec.Command(exe, measureArgument, lang, string(mode))
				cmd.Env = []string{"GOMAXPROCS=1", "GOGC=800"}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%.2000s", mode, err, out)
				}
				_, peak, _ := strings.Cut(string(out), "peak: ")
				kb, err := strconv.Atoi(strings.TrimSpace(peak))
				if err != nil || kb > peakLimit && !raceDetector {
					t.Errorf("%s: %d KiB at most, %v\n%s", mode, kb, err, out)
				}
				lines := strings.Split(string(out), "\n")
				for i, in := range worst() {
					if !strings.HasPrefix(lines[i], in.name+": ") || strings.Contains(lines[i], "time limit") && in.name != "random lines" {
						t.Errorf("%s: %s", mode, lines[i])
					}
				}
				t.Logf("%s: %d MiB at most, %v of a processor for %d files", mode, kb>>10, cmd.ProcessState.UserTime(), len(worst()))
			}
		})
	}
}
