//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// steps are those of one write, in order.
var steps = []string{"make folder", "create", "write", "chmod", "sync", "close", "rename", "sync folder"}

// TestFaultAtEveryStep fails each step of a write by a full and by a broken disk: the file is the old
// or the new one, no temporary file is left, and one line names the file and the cause.
func TestFaultAtEveryStep(t *testing.T) {
	defer func() { fault = nil }()
	for _, step := range steps {
		for _, cause := range []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EACCES} {
			root := t.TempDir()
			file := filepath.Join(root, Dir, "f.json")
			if err := WriteFile(file, []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
			reached := 0
			fault = func(s string) error {
				if s != step {
					return nil
				}
				reached++
				return &fs.PathError{Op: "op", Path: "/temporary", Err: cause}
			}
			err := WriteFile(file, []byte("new"), 0o644)
			fault = nil
			if reached != 1 {
				t.Fatalf("the step %q was reached %d times", step, reached)
			}
			want := "old"
			if step == "sync folder" {
				want = "new"
			}
			data, _ := os.ReadFile(file)
			left, _ := os.ReadDir(filepath.Dir(file))
			if string(data) != want || len(left) != 1 {
				t.Errorf("%s, %v: the file holds %q, the folder %v", step, cause, data, left)
			}
			if step == "sync folder" && cause == syscall.EACCES && err == nil {
				continue // a folder that cannot be synced is left as it is
			}
			if !errors.Is(err, cause) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), filepath.Dir(file)) {
				t.Errorf("%s, %v: %v", step, cause, err)
			}
			if cause == syscall.ENOSPC && step != "sync folder" && !strings.HasSuffix(err.Error(), ": no space left on device; free some space and run it again") {
				t.Errorf("%s: %v", step, err)
			}
		}
	}
}

// TestKilledAtEveryStep kills a writer before each step: the file is the old or the new one, and the
// next writer removes what was left.
func TestKilledAtEveryStep(t *testing.T) {
	for _, step := range steps {
		root := t.TempDir()
		file := filepath.Join(root, filepath.FromSlash(IndexFile))
		if err := WriteFile(file, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := child(t, "step", root)
		cmd.Env = append(cmd.Env, "STORE_TEST_STEP="+step)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
			t.Fatalf("%s: the child was not killed: %v\n%s", step, err, out)
		}
		want := "old"
		if step == "sync folder" {
			want = "new"
		}
		if data, err := os.ReadFile(file); string(data) != want {
			t.Errorf("%s: %q, %v", step, data, err)
		}
		w, err := Lock(root)
		if err != nil || w.Stale != cmd.Process.Pid {
			t.Fatalf("%s: %+v, %v", step, w, err)
		}
		if err := errors.Join(WriteFile(file, []byte("next"), 0o644), w.Unlock()); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
			t.Errorf("%s: left: %v", step, left)
		}
	}
}

// killedAt is the child of TestKilledAtEveryStep.
func killedAt(root, step string) {
	if _, err := Lock(root); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fault = func(s string) error {
		if s == step {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	fmt.Println(WriteFile(filepath.Join(root, filepath.FromSlash(IndexFile)), []byte("new"), 0o644))
	os.Exit(1)
}

// TestReadOnlyFolder writes and locks where nothing can be written: one line, with what to do. Where
// the tests' user may write everywhere, a file in the folder's place stands for it.
func TestReadOnlyFolder(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "f"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(root, "f"), "/proc/self/fdinfo"} {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		if err := WriteFile(filepath.Join(dir, "sub", "x"), []byte("x"), 0o644); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), dir) {
			t.Errorf("write below %s: %v", dir, err)
		}
		if _, err := Lock(dir); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), dir) {
			t.Errorf("lock %s: %v", dir, err)
		}
	}
}
