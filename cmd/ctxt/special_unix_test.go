//go:build unix

package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestSpecialFiles puts a pipe, a socket and, where the system lets it, a character and a block device
// into a tree, under names of source files: no command opens one, each is counted as skipped, and the
// rest is analysed.
func TestSpecialFiles(t *testing.T) {
	repo := sampleRepository(t)
	at := func(name string) string { return filepath.Join(repo.Dir, "store", name) }
	special := []string{"pipe.go", "socket.go"}
	if err := syscall.Mkfifo(at("pipe.go"), 0o644); err != nil {
		t.Fatal(err)
	}
	// The path of a socket may be no longer than some 100 bytes.
	t.Chdir(filepath.Join(repo.Dir, "store"))
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: "socket.go", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for name, mode := range map[string]uint32{"zero.go": syscall.S_IFCHR, "disk.go": syscall.S_IFBLK} {
		switch err := mknod(at(name), mode|0o644, 1, 5); {
		case err == nil:
			special = append(special, name)
		case !errors.Is(err, syscall.EPERM): // only root may, and not in every container
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"init", ".", "--offline", "--no-config-prompt"}, ", " + strconv.Itoa(len(special)) + " skipped in "},
		{[]string{"sync", ".", "--offline"}, ""},
		{[]string{"search-hints", "store entries"}, "store/store.go"},
		{[]string{"activate", "--task", "sort the entries of the store", "--stdout"}, "store/store.go"},
		{[]string{"pr", "--base", "main", "--head", "HEAD", "--title", "sort the entries of the store"}, "store/store.go"},
		{[]string{"scan"}, ""},
		{[]string{"status"}, ""},
		{[]string{"doctor"}, ""},
	} {
		cmd := exec.Command("ctxt", c.args...)
		cmd.Dir, cmd.Env = repo.Dir, append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%v: %v\n%.2000s\n%.2000s", c.args, err, errs.String(), out.String())
		}
		for _, name := range special {
			if strings.Contains(out.String(), name) {
				t.Errorf("%v names %s:\n%s", c.args, name, out.String())
			}
			if c.args[0] == "init" && !strings.Contains(errs.String(), name+": not a regular file") {
				t.Errorf("init does not say why %s is skipped:\n%s", name, errs.String())
			}
		}
	}
}
