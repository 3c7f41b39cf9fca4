package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxt-dev/ctxt/cmd/internal/cli"
	"github.com/ctxt-dev/ctxt/index/store"
)

func init() {
	// ctxt on a disk that takes files of CTXT_TEST_ROOM bytes.
	moreCommands["ctxt-little-room"] = func() {
		signal.Ignore(syscall.SIGXFSZ)
		room, err := strconv.ParseUint(os.Getenv("CTXT_TEST_ROOM"), 10, 64)
		if err == nil {
			err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: room, Max: room})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.LookupEnv))
	}
	// ctxt without the right to write where permissions forbid it, which root has.
	moreCommands["ctxt-plain-user"] = func() {
		runtime.LockOSThread()
		if os.Getuid() == 0 {
			for _, c := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
				if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(99)
				}
			}
		}
		ctxt, err := exec.LookPath("ctxt")
		if err == nil {
			err = syscall.Exec(ctxt, append([]string{"ctxt"}, os.Args[1:]...), os.Environ())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}

// whole checks that every file under .ctxt that a command reads is whole.
func (p *crashProject) whole() {
	p.t.Helper()
	p.index()
	p.synonyms()
	for _, name := range []string{".ctxt/baseline.json", ".ctxt/active-bundle.json"} {
		if data := p.read(name); !json.Valid(data) {
			p.t.Errorf("%s is broken: %s", name, data)
		}
	}
}

// writers are the commands that write under .ctxt. A session of the name is there once.
func writers(session string) [][]string {
	return [][]string{
		{"init", ".", "-q"},
		{"sync", ".", "--force", "-q"},
		{"activate", "--task", "keep the entries of the store sorted", "-q"},
		{"refine", "--learned", "they are sorted by name", "-q"},
		{"eval", "--cases", ".ctxt/cases.json", "--update-baseline"},
		{"scan", "-q"},
		{"session", "init", session},
		{"config", "init", "--output", ".ctxt/other.toml"},
	}
}

// lastLine is the last line of a text.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// TestLittleRoom runs the writing commands where the disk is full after so many bytes of a file: each
// works or says in one line that there is no room; what was there is whole, and with room again the next
// run works.
func TestLittleRoom(t *testing.T) {
	p := newCrashProject(t)
	for _, c := range writers("first") {
		p.must(c...)
	}
	before := p.synonyms()
	failed := map[string]bool{}
	for _, room := range []int{10, 100, 1500, 4000, 100_000} {
		os.RemoveAll(filepath.Join(p.repo.Dir, ".ctxt", "cache"))
		p.repo.Write(fmt.Sprintf("room/of%d.go", room), fmt.Sprintf("package room\n\nfunc Of%d() {}\n", room))
		for _, c := range writers(fmt.Sprint("room", room)) {
			code, _, stderr := p.as("ctxt-little-room", []string{"CTXT_TEST_ROOM=" + strconv.Itoa(room)}, c...)
			switch {
			case code == 0:
			case code == 2 && strings.HasSuffix(lastLine(stderr), ": file too large; free some space and run it again") && strings.Contains(stderr, ".ctxt"):
				failed[c[0]] = true
			default:
				t.Errorf("%v with %d bytes: exit code %d\n%s", c, room, code, stderr)
			}
			p.whole()
		}
		after := p.synonyms()
		for path := range before {
			if !after[path] {
				t.Errorf("%d bytes: the answer for %s is lost", room, path)
			}
		}
		left, err := filepath.Glob(filepath.Join(p.repo.Dir, ".ctxt", ".*.tmp"))
		if err != nil || len(left) > 0 {
			t.Errorf("%d bytes: left %v, %v", room, left, err)
		}
	}
	for _, c := range writers("again") {
		if !failed[c[0]] && c[0] != "scan" {
			t.Errorf("%v never ran out of room", c)
		}
		p.must(c...)
	}
	if p.index().Find("room/of10.go") == nil {
		t.Error("the index with room again lacks a file")
	}
}

// TestFullDisk does the same on a real small file system, where this user may mount one; the limit of
// TestLittleRoom stands for it elsewhere.
func TestFullDisk(t *testing.T) {
	p := newCrashProject(t)
	disk := t.TempDir()
	script := `mount -t tmpfs -o size=48k none "$1" || exit 77
cp -r "$2/store" "$2/part0" "$1" && cd "$1" && ctxt init . --offline -q --no-config-prompt || exit 78
cp .ctxt/ctx_index.json "$2/before" && dd if=/dev/zero of=fill bs=1k 2>/dev/null
i=0; while [ $i -lt 40 ]; do : >"part0/x$i.go" 2>/dev/null; i=$((i+1)); done
ctxt init . --offline -q --no-config-prompt; code=$?
cmp .ctxt/ctx_index.json "$2/before" || exit 79
rm fill && ctxt init . --offline -q --no-config-prompt || exit 80
cmp -s .ctxt/ctx_index.json "$2/before" && exit 81
exit $code`
	cmd := exec.Command("sh", "-c", script, "sh", disk, p.repo.Dir)
	cmd.Env = p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err := cmd.Run()
	out := errs.String()
	switch code := cmd.ProcessState.ExitCode(); {
	case cmd.ProcessState == nil || code == 77:
		t.Logf("no file system can be mounted here: %v %s", err, out)
	case code != 2 || !strings.HasSuffix(strings.TrimSpace(out), ": no space left on device; free some space and run it again"):
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestReadOnlyProject: commands that only read work, and those that write say in one line why not.
func TestReadOnlyProject(t *testing.T) {
	p := newCrashProject(t)
	for _, c := range writers("first") {
		p.must(c...)
	}
	p.repo.Git("add", "-A")
	var folders []string
	err := filepath.WalkDir(p.repo.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mode := func(m os.FileMode) {
		for _, f := range folders {
			if err := os.Chmod(f, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	mode(0o555)
	defer mode(0o755)
	before := p.read(store.IndexFile)
	for _, c := range [][]string{
		{"search-hints", "entries store"}, {"status"}, {"doctor"}, {"companions"}, {"eval", "--cases", ".ctxt/cases.json"},
		{"pr", "--base", "HEAD~1", "--head", "HEAD", "--title", "more units"}, {"report", "--help"}, {"scan"},
	} {
		if code, _, stderr := p.as("ctxt-plain-user", nil, c...); code != 0 {
			t.Errorf("%v: exit code %d\n%s", c, code, stderr)
		}
	}
	for _, c := range writers("second") {
		code, _, stderr := p.as("ctxt-plain-user", nil, c...)
		if c[0] == "scan" && code == 0 {
			continue // its cache is for speed only
		}
		if code != 2 || !strings.HasSuffix(lastLine(stderr), "permission denied; make the folder writable, or give another place") {
			t.Errorf("%v: exit code %d\n%s", c, code, stderr)
		}
	}
	if !bytes.Equal(before, p.read(store.IndexFile)) {
		t.Error("the index was written")
	}
}
