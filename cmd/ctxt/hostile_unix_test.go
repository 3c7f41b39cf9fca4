//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

func init() {
	// ctxt, which writes the most memory that it had resident to the file of CTXT_TEST_PEAK, in KiB. What
	// its parent is told of a process counts the parent's own memory at the start.
	moreCommands["ctxt-measured"] = func() {
		code := run(os.Args[1:])
		if os.Args[1] != parseArgument {
			if err := os.WriteFile(os.Getenv("CTXT_TEST_PEAK"), []byte(strconv.FormatInt(peak(), 10)), 0o600); err != nil {
				code = 99
			}
		}
		os.Exit(code)
	}
}

// peak is the most memory that this process, or one of its children, had resident, in KiB.
func peak() int64 {
	var self, children syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &self) != nil || syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children) != nil {
		return math.MaxInt64
	}
	if runtime.GOOS == "darwin" { // bytes there
		self.Maxrss, children.Maxrss = self.Maxrss>>10, children.Maxrss>>10
	}
	own := int64(self.Maxrss)
	status, _ := os.ReadFile("/proc/self/status") // there is one on Linux
	if _, rest, ok := strings.Cut(string(status), "\nVmHWM:"); ok {
		if kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64); err == nil {
			own = kb
		}
	}
	return max(own, int64(children.Maxrss))
}

// measured runs ctxt in a repository, which must end with an exit code and hold at most so many MiB of
// memory, where the race detector does not multiply them, and returns its outputs.
func measured(t *testing.T, dir string, code int, limit int64, args ...string) (stdout, stderr string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "peak")
	cmd := exec.Command("ctxt-measured", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+t.TempDir(), "CTXT_TEST_PEAK="+file)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // its exit code is looked at
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("%v: exit code %d, want %d\n%.2000s\n%.2000s", args, got, code, errs.String(), out.String())
	}
	kb, err := strconv.ParseInt(read(t, file), 10, 64)
	if err != nil || kb > limit<<10 && !raceDetector {
		t.Errorf("%v: %d MiB at most, want %d (%v)", args, kb>>10, limit, err)
	}
	t.Logf("%v: %d MiB at most", args, kb>>10)
	return out.String(), errs.String()
}

// TestHostileTree analyses a repository that is as hostile as a repository can be: the run ends, within
// bounded memory, and the rest of it is still found.
func TestHostileTree(t *testing.T) {
	repo := gittest.New(t)
	var many strings.Builder
	for i := range 2_000_000 {
		fmt.Fprintf(&many, "class C%d\n", i)
	}
	repo.Write("many.rb", many.String())
	repo.Write("capped.rb", many.String()[:900_000])
	repo.Write("line.js", "x = \""+strings.Repeat("a", 50<<20)+"\"\n")
	repo.Write("deep.js", strings.Repeat("(", 100_000)+strings.Repeat(")", 100_000))
	repo.Write("deep.json", strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000))
	repo.Write("pointer.py", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("0", 64)+"\nsize 12345\n")
	for _, name := range []string{"new\nline.go", "tab\t.go", "quo\"te.go", "esc\x1b[2J.go", "-rf.go", "con.go", "a b .go", "..go", "rtl\u202e.go", strings.Repeat("n", 250) + ".go"} {
		repo.Write("odd/"+name, "package odd\n\nfunc Kept() {}\n")
	}
	if err := os.WriteFile(filepath.Join(repo.Dir, "odd", "inv\xffalid.go"), []byte("package odd\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// A path of nearly 4,096 bytes.
	deep := filepath.Join(repo.Dir, "far")
	for len(deep) < 3900 {
		deep = filepath.Join(deep, strings.Repeat("d", 180))
	}
	if err := os.MkdirAll(deep, 0o755); err == nil {
		if err := os.WriteFile(filepath.Join(deep, "f.go"), []byte("package far\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"passwd.go": "/etc/passwd", "up": "..", "loop": ".", "dot": ".git", "self": "self", "a": "b", "b": "a"} {
		if err := os.Symlink(to, filepath.Join(repo.Dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	repo.Write("store/store.go", "package store\n\n// Entries lists what the store holds.\nfunc Entries() []string { return nil }\n")
	repo.Commit("everything")
	repo.Git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("a", 40)+",module")
	repo.Git("commit", "-q", "-m", "a submodule that is not there")
	repo.Write("store/store.go", "package store\n\n// Entries lists what the store holds, sorted.\nfunc Entries() []string { return nil }\n")
	repo.Git("add", "store")
	repo.Git("commit", "-q", "-m", "store: entries are sorted")
	if err := syscall.Mkfifo(filepath.Join(repo.Dir, "pipe.go"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"init", ".", "--offline", "--no-config-prompt"}, "indexed "},
		{[]string{"search-hints", "store entries"}, "store/store.go"},
		{[]string{"activate", "--task", "sort the entries of the store"}, "store/store.go"},
		{[]string{"pr", "--base", "HEAD~1", "--head", "HEAD", "--title", "sort the entries of the store"}, "store/store.go"},
		{[]string{"companions"}, ""},
		{[]string{"status"}, ""},
	} {
		out, errs := measured(t, repo.Dir, 0, 700, c.args...)
		if !strings.Contains(out, c.want) {
			t.Fatalf("%v:\n%.2000s\n%.2000s", c.args, errs, out)
		}
		for name, text := range map[string]string{"stdout": out, "stderr": errs} {
			if strings.Contains(text, "root:") || strings.ContainsAny(text, "\x1b\u202e") || strings.Contains(text, "new\nline") {
				t.Errorf("%v: %s holds what it must not: %.2000q", c.args, name, text)
			}
		}
	}
}

// TestHugeBlob reads a repository with a blob of a gigabyte of zeros, which is a megabyte in its pack:
// its size is looked at before its content.
func TestHugeBlob(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("store/store.go", "package store\n\nfunc Entries() []string { return nil }\n")
	zeros, err := os.Create(filepath.Join(repo.Dir, "zeros.go"))
	if err != nil {
		t.Fatal(err)
	}
	if err := zeros.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	zeros.Close()
	repo.Git("config", "core.compression", "1")
	repo.Commit("a gigabyte")
	repo.Write("store/store.go", "package store\n\nfunc Entries() []string { return []string{} }\n")
	repo.Git("commit", "-q", "-m", "store: never nil", "store/store.go")
	for _, args := range [][]string{
		{"init", ".", "--offline", "--no-config-prompt"},
		{"activate", "--task", "entries of the store"},
		{"pr", "--base", "HEAD~1", "--head", "HEAD", "--title", "entries of the store"},
	} {
		measured(t, repo.Dir, 0, 512, args...)
	}
}

// TestGitBomb reads a commit of a dozen small trees that name each other, ten thousand million paths: a
// comparison and a look at the checkout end, within git's memory and little more, and say why. A branch
// beside it is read as ever.
func TestGitBomb(t *testing.T) {
	repo := sampleRepository(t)
	tree := repo.Git("rev-parse", "HEAD:store")
	for range 10 {
		tree = tenTimes(t, repo, tree)
	}
	repo.Git("update-ref", "refs/heads/bomb", repo.Git("commit-tree", "-p", "HEAD", "-m", "store: entries and more", tree))
	title := []string{"--title", "keep the entries of the store sorted"}
	if _, errs := measured(t, repo.Dir, 2, 540, append([]string{"pr", "--base", "sorted", "--head", "bomb"}, title...)...); strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "more than 500000 changed paths") || !strings.Contains(errs, "compare commits that lie closer") {
		t.Errorf("pr says %s", errs)
	}
	if out, _ := measured(t, repo.Dir, 0, 512, append([]string{"pr", "--base", "main", "--head", "sorted"}, title...)...); !strings.Contains(out, "store/store.go") {
		t.Errorf("pr beside it says %s", out)
	}
	if runtime.GOOS != "linux" {
		return // nothing bounds a git's memory there
	}
	repo.Git("symbolic-ref", "HEAD", "refs/heads/bomb")
	if _, errs := measured(t, repo.Dir, 2, 540, "activate", "--task", "keep the entries of the store sorted"); strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "more memory needed than allowed") || !strings.Contains(errs, "git ls-tree") {
		t.Errorf("activate says %s", errs)
	}
}

// tenTimes makes a tree that holds another one ten times.
func tenTimes(t *testing.T, repo *gittest.Repo, tree string) string {
	t.Helper()
	var entries strings.Builder
	for i := range 10 {
		fmt.Fprintf(&entries, "040000 tree %s\t%d\n", tree, i)
	}
	cmd := exec.Command("git", "mktree")
	cmd.Dir, cmd.Stdin = repo.Dir, strings.NewReader(entries.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
