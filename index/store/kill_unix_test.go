//go:build unix

package store

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain turns the test program into one of the children below.
func TestMain(m *testing.M) {
	switch os.Getenv("STORE_TEST_CHILD") {
	case "write": // write two versions in turn until killed
		for i := 0; ; i++ {
			if err := WriteFile(os.Getenv("STORE_TEST_FILE"), content(byte('a'+i%2)), 0o644); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			fmt.Println("written")
		}
	case "full": // write with no room
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 1000, Max: 1000}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Print(WriteFile(os.Getenv("STORE_TEST_FILE"), content('b'), 0o644))
		os.Exit(0)
	case "step": // write until a step, and be killed there
		killedAt(os.Getenv("STORE_TEST_FILE"), os.Getenv("STORE_TEST_STEP"))
	case "lock": // hold the lock until killed
		if _, err := Lock(os.Getenv("STORE_TEST_FILE")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("locked")
		select {}
	}
	os.Exit(m.Run())
}

func content(c byte) []byte { return bytes.Repeat([]byte{c}, 1<<20) }

func child(t *testing.T, kind, file string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_CHILD="+kind, "STORE_TEST_FILE="+file)
	return cmd
}

// TestKilledWhileWriting kills a writer at some moment: the file holds one whole version.
func TestKilledWhileWriting(t *testing.T) {
	for i := range 5 {
		file := filepath.Join(t.TempDir(), "f")
		cmd := child(t, "write", file)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range i + 1 {
			if _, err := out.Read(make([]byte, 8)); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
		data, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(data, content('a')) && !bytes.Equal(data, content('b')) {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	}
}

// TestNoRoom fails a write half way: the old file stays, nothing else does.
func TestNoRoom(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	os.WriteFile(file, []byte("old"), 0o644)
	out, err := child(t, "full", file).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "write "+file+": ") {
		t.Fatalf("%s %v", out, err)
	}
	data, _ := os.ReadFile(file)
	entries, _ := os.ReadDir(dir)
	if string(data) != "old" || len(entries) != 1 {
		t.Errorf("content %q, %d files", data, len(entries))
	}
}

// TestKilledHolder kills a lock's holder: the lock is free, and its former owner known.
func TestKilledHolder(t *testing.T) {
	root := t.TempDir()
	cmd := child(t, "lock", root)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	_, err = Lock(root)
	if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("ctxt process %d is writing", cmd.Process.Pid)) {
		t.Errorf("live holder: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	w, err := Lock(root)
	if err != nil || w.Stale != cmd.Process.Pid {
		t.Fatalf("dead holder: %+v %v", w, err)
	}
	w.Unlock()
}
