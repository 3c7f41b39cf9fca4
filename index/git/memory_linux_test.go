package git

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestProgramsMemoryIsBounded looks at the limit of a running git.
func TestProgramsMemoryIsBounded(t *testing.T) {
	p := open(t, sample(t).Dir, "git").program
	cmd, _ := p.command(context.Background(), "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.start(cmd); err != nil {
		t.Fatal(err)
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", cmd.Process.Pid))
	in.Close()
	_ = cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(limits)) {
		if f := strings.Fields(line); strings.HasPrefix(line, "Max data size") && f[3] == fmt.Sprint(512<<20) {
			return
		}
	}
	t.Errorf("git may take more than 512 MiB:\n%s", limits)
}
