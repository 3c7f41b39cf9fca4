//go:build unix

package ignore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestWalkPipe checks that a pipe is left out, and not opened: opening it would wait for ever.
func TestWalkPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	skips, err := New(Options{}).Walk(context.Background(), root, func(e Entry) error {
		t.Errorf("listed %q", e.Path)
		return nil
	})
	if want := []Skip{{"pipe", "not a regular file"}}; err != nil || !slices.Equal(skips, want) {
		t.Errorf("skips %q, error %v", skips, err)
	}
}
