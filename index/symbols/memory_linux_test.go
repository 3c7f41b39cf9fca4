package symbols

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestChildMemoryIsBounded looks at the limit of a running child. That a child which reaches it costs
// one file is in TestCrashCostsItsFileOnly, which a system that ends greedy programs would satisfy, too.
func TestChildMemoryIsBounded(t *testing.T) {
	if !HasTreeSitter() {
		return
	}
	inChildren(t)
	w, err := workers.Load().start()
	if err != nil {
		t.Fatal(err)
	}
	defer w.stop()
	b := builder{limit: maxTime}
	c := &call{lang: "java", src: []byte("class A {}\n"), b: &b, done: make(chan string, 1)}
	if err := w.ask([]*call{c}); err != nil || len(b.symbols) != 1 { // from here on it is in Work
		t.Fatal(err, b.symbols)
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", w.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(limits)) {
		if f := strings.Fields(line); strings.HasPrefix(line, "Max data size") && f[3] == fmt.Sprint(workerMemory) && f[4] == f[3] {
			return
		}
	}
	t.Errorf("a child may take more than %d bytes:\n%s", workerMemory, limits)
}
