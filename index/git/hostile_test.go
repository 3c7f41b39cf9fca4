package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

func bytesOf(s string) *bytes.Buffer { return bytes.NewBufferString(s) }

// object writes any bytes as an object, without a check.
func object(t *testing.T, dir, kind string, data []byte) Hash {
	t.Helper()
	out := run(t, dir, bytes.NewBuffer(data), "hash-object", "-w", "-t", kind, "--literally", "--stdin")
	h, err := ParseHash(strings.TrimSpace(out))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func treeOf(entries ...treeEntry) []byte {
	var b bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&b, "%o %s\x00%s", e.mode, e.name, e.hash[:])
	}
	return b.Bytes()
}

func commitOf(t *testing.T, dir string, tree Hash, parents ...Hash) Hash {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author A <a@x> 1600000000 +0000\ncommitter A <a@x> 1600000000 +0000\n\nx\n")
	return object(t, dir, "commit", b.Bytes())
}

func bareDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, nil, "init", "-q", "--bare", ".")
	return dir
}

// A few small trees that name each other describe ten thousand million paths.
func TestGitBombEndsAndCostsOnlyItself(t *testing.T) {
	dir := bareDir(t)
	blob := object(t, dir, "blob", []byte("x\n"))
	level := treeEntry{name: "leaf", mode: ModeFile, hash: blob}
	for range 10 {
		var entries []treeEntry
		for i := range 10 {
			e := level
			e.name = fmt.Sprintf("%d", i)
			entries = append(entries, e)
		}
		level = treeEntry{mode: ModeDir, hash: object(t, dir, "tree", treeOf(entries...))}
	}
	// The same with folders that hold no file at all.
	hollow := treeEntry{mode: ModeDir, hash: object(t, dir, "tree", nil)}
	for range 10 {
		var entries []treeEntry
		for i := range 10 {
			e := hollow
			e.name = fmt.Sprintf("%d", i)
			entries = append(entries, e)
		}
		hollow = treeEntry{mode: ModeDir, hash: object(t, dir, "tree", treeOf(entries...))}
	}
	level.name, hollow.name = "bomb", "hollow"
	good := treeEntry{name: "src", mode: ModeDir, hash: object(t, dir, "tree", treeOf(treeEntry{"main.go", ModeFile, blob}))}
	root := object(t, dir, "tree", treeOf(level, hollow, good))
	empty := commitOf(t, dir, object(t, dir, "tree", nil))
	c := commitOf(t, dir, root, empty)
	for _, b := range backends {
		r := open(t, dir, b)
		start := time.Now()
		tree, err := r.Tree(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if len(tree.Entries) != 1 || tree.Entries[0].Path != "src/main.go" || len(tree.Skipped) != 2 ||
			tree.Skipped[0].Path != "bomb" || !strings.Contains(tree.Skipped[0].Reason, "2000000") {
			t.Errorf("%s: %d entries, skipped %v", b, len(tree.Entries), tree.Skipped)
		}
		if _, err := r.Diff(context.Background(), empty, c); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: Diff: %v", b, err)
		}
		r.stall = time.Minute
		if r.program != nil {
			if r.program.memory = 64 << 20; runtime.GOOS != "linux" {
				r.stall = 100 * time.Millisecond
			}
		}
		all, _ := history(t, r, HistoryOptions{}, commitOf(t, dir, good.hash, c))
		if len(all) != 3 || !all[1].Oversize || len(all[1].Changes) != 0 || len(all[2].Changes) != 0 || !all[0].Oversize {
			t.Errorf("%s: history %+v", b, all)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		t.Logf("%s: %v, %d MiB of heap", b, time.Since(start), m.HeapSys>>20)
	}
}

func TestTreeIsolatesOddEntries(t *testing.T) {
	dir := bareDir(t)
	blob := object(t, dir, "blob", []byte("x\n"))
	long := strings.Repeat("n", 255)
	deep := object(t, dir, "tree", treeOf(treeEntry{"bottom", ModeFile, blob}))
	for range 300 {
		deep = object(t, dir, "tree", treeOf(treeEntry{"d", ModeDir, deep}))
	}
	wide := object(t, dir, "tree", treeOf(treeEntry{"f", ModeFile, blob}))
	for range 20 {
		wide = object(t, dir, "tree", treeOf(treeEntry{long, ModeDir, wide}))
	}
	broken := object(t, dir, "tree", []byte("100644 cut"))
	good := []string{"-dash", "CON", "a\tb", "a\nb", "esc\x1b[31m", "quote\"", "sp ace", "rtl\u202e", long}
	var entries []treeEntry
	for _, n := range good {
		entries = append(entries, treeEntry{n, ModeFile, blob})
	}
	entries = append(entries, treeEntry{"..", ModeFile, blob}, treeEntry{".", ModeDir, wide}, treeEntry{".GIT", ModeFile, blob}, treeEntry{"", ModeFile, blob},
		treeEntry{"a/b", ModeFile, blob}, treeEntry{"bad\xff", ModeFile, blob}, treeEntry{"deep", ModeDir, deep}, treeEntry{"wide", ModeDir, wide},
		treeEntry{"broken", ModeDir, broken}, treeEntry{"absent", ModeDir, Hash{1}}, treeEntry{"notree", ModeDir, blob},
		treeEntry{"link", ModeSymlink, blob}, treeEntry{"mod", ModeSubmodule, Hash{2}}, treeEntry{"twice", ModeFile, blob}, treeEntry{"twice", ModeExec, blob})
	c := commitOf(t, dir, object(t, dir, "tree", treeOf(entries...)))
	var first *Tree
	for _, b := range backends {
		tree, err := open(t, dir, b).Tree(context.Background(), c)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		names := map[string]Mode{}
		for _, e := range tree.Entries {
			names[e.Path] = e.Mode
		}
		for _, n := range good {
			if names[n] != ModeFile {
				t.Errorf("%s: %q is not listed", b, n)
			}
		}
		if names["link"] != ModeSymlink || names["mod"] != ModeSubmodule || names["twice"] != ModeFile || len(names) != len(good)+3 {
			t.Errorf("%s: %v", b, names)
		}
		if len(tree.Skipped) != 12 {
			t.Errorf("%s: skipped %q", b, tree.Skipped)
		}
		if first == nil {
			first = tree
		} else if d := cmp.Diff(first, tree); d != "" {
			t.Errorf("git and go-git differ:\n%s", d)
		}
	}
}

func TestBlobsInOrderWithFaults(t *testing.T) {
	dir := bareDir(t)
	var hashes []Hash
	var want []string
	for i := range 1200 { // enough for several processes
		text := strings.Repeat(fmt.Sprintf("blob %d\n", i), i%50)
		hashes, want = append(hashes, HashBlob([]byte(text))), append(want, text)
	}
	var s strings.Builder
	for _, w := range want {
		fmt.Fprintf(&s, "blob\ndata %d\n%s\n", len(w), w)
	}
	run(t, dir, bytesOf(s.String()), "fast-import", "--quiet")
	tree := object(t, dir, "tree", nil)
	hashes[100], hashes[200], hashes[300] = Hash{9}, tree, object(t, dir, "blob", bytes.Repeat([]byte("big"), 1000))
	for _, b := range backends {
		for _, n := range []int{0, 1, 310, 1200} {
			next := 0
			err := open(t, dir, b).Blobs(context.Background(), hashes[:n], 2000, func(i int, data []byte, err error) {
				if i != next {
					t.Fatalf("%s: element %d came when %d was due", b, i, next)
				}
				next++
				expect := map[int]error{100: ErrAbsent, 200: ErrUnreadable, 300: ErrTooLarge}[i]
				if !errors.Is(err, expect) || expect != nil && data != nil || expect == nil && string(data) != want[i] {
					t.Errorf("%s: element %d: %d bytes, %v", b, i, len(data), err)
				}
			})
			if err != nil || next != n {
				t.Errorf("%s: %d of %d, %v", b, next, n, err)
			}
		}
	}
}

// A damaged object ends git cat-file; those after it are still read.
func TestDamagedObjectsAreIsolated(t *testing.T) {
	r := gittest.New(t)
	var hashes []Hash
	for i := range 9 {
		text := numbered(i*100, i*100+50)
		r.Write(fmt.Sprintf("f%d", i), text)
		hashes = append(hashes, HashBlob([]byte(text)))
	}
	r.Commit("first")
	for n, i := range []int{2, 3, 7} {
		name := hashes[i].String()
		file := filepath.Join(r.Dir, ".git", "objects", name[:2], name[2:])
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		switch n {
		case 0:
			b = b[:len(b)/2] // cut short
		case 1:
			b[len(b)/2] ^= 0xff // a flipped byte
		default:
			b = nil
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range backends {
		bad := ""
		err := open(t, r.Dir, b).Blobs(context.Background(), hashes, 1<<20, func(i int, data []byte, err error) {
			if err != nil {
				bad += fmt.Sprint(i, " ")
				if !errors.Is(err, ErrUnreadable) && !errors.Is(err, ErrAbsent) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v", b, err)
				}
			} else if HashBlob(data) != hashes[i] {
				t.Errorf("%s: element %d is wrong", b, i)
			}
		})
		if err != nil || bad != "2 3 7 " {
			t.Errorf("%s: bad: %s, %v", b, bad, err)
		}
	}
}

// In a partial clone nothing is fetched: absent blobs are named, and the rest works.
func TestPartialCloneIsNotFetched(t *testing.T) {
	src := sample(t)
	src.Git("config", "uploadpack.allowFilter", "true")
	dir := filepath.Join(t.TempDir(), "partial")
	run(t, src.Dir, nil, "clone", "-q", "--bare", "--filter=blob:none", "file://"+src.Dir, dir)
	treeless := filepath.Join(t.TempDir(), "treeless")
	run(t, src.Dir, nil, "clone", "-q", "--bare", "--filter=tree:0", "file://"+src.Dir, treeless)
	before, before2 := snapshot(t, dir), snapshot(t, treeless)
	for _, b := range backends {
		r := open(t, dir, b)
		h := resolve(t, r, "HEAD")
		if all, _ := history(t, r, HistoryOptions{}, h); len(all) != 2 || len(all[0].Changes) != 1 {
			t.Errorf("%s: %+v", b, all)
		}
		tree, err := r.Tree(context.Background(), h)
		if err != nil || len(tree.Entries) != 2 {
			t.Fatal(tree, err)
		}
		err = r.Blobs(context.Background(), []Hash{tree.Entries[0].Hash}, 100, func(_ int, _ []byte, err error) {
			if !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "partial clone") {
				t.Errorf("%s: %v", b, err)
			}
		})
		if err != nil {
			t.Error(err)
		}
		d, err := r.Diff(context.Background(), resolve(t, r, "HEAD~1"), h)
		if err != nil || len(d) != 1 || !d[0].Binary {
			t.Errorf("%s: %+v %v", b, d, err)
		}
		less := open(t, treeless, b)
		if _, err := less.Tree(context.Background(), h); !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "partial clone") {
			t.Errorf("%s: treeless: %v", b, err)
		}
		_, err = less.History(context.Background(), []Hash{h}, HistoryOptions{}, func(*Commit) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "partial clone") {
			t.Errorf("%s: treeless history: %v", b, err)
		}
	}
	if d := cmp.Diff(before, snapshot(t, dir)) + cmp.Diff(before2, snapshot(t, treeless)); d != "" {
		t.Errorf("something was fetched:\n%s", d)
	}
}

func TestErrorsAndCancellation(t *testing.T) {
	r := sample(t)
	for _, b := range backends {
		repo := open(t, r.Dir, b)
		h := resolve(t, repo, "HEAD")
		stop := errors.New("stop")
		_, err := repo.History(context.Background(), []Hash{h}, HistoryOptions{}, func(*Commit) error { return stop })
		if !errors.Is(err, stop) {
			t.Errorf("%s: %v", b, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		calls := map[string]func() error{
			"History": func() error {
				_, err := repo.History(ctx, []Hash{h}, HistoryOptions{}, func(*Commit) error { return nil })
				return err
			},
			"Tree":     func() error { _, err := repo.Tree(ctx, h); return err },
			"Blobs":    func() error { return repo.Blobs(ctx, []Hash{h}, 1, func(int, []byte, error) {}) },
			"Diff":     func() error { _, err := repo.Diff(ctx, h, h); return err },
			"Resolve":  func() error { _, err := repo.Resolve(ctx, "HEAD"); return err },
			"Worktree": func() error { _, err := repo.Worktree(ctx); return err },
			"Between":  func() error { _, err := repo.Between(ctx, h, h, 1); return err },
		}
		for name, call := range calls {
			if err := call(); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %s after the end of its context: %v", b, name, err)
			}
		}
		for name, want := range map[string]error{"nope": ErrNotFound, "a.txt/x": ErrNotFound, "dir": ErrNotFound, "": ErrNotFound, "../a": ErrNotFound} {
			if _, err := repo.FileAt(context.Background(), h, name, 10); !errors.Is(err, want) {
				t.Errorf("%s: FileAt(%q): %v", b, name, err)
			}
		}
		if _, err := repo.FileAt(context.Background(), h, "a.txt", 3); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", b, err)
		}
		if _, err := repo.Tree(context.Background(), Hash{1}); !errors.Is(err, ErrAbsent) {
			t.Errorf("%s: %v", b, err)
		}
		if x, err := repo.History(context.Background(), nil, HistoryOptions{}, nil); err != nil || x.Commits != 0 {
			t.Errorf("%s: no tips: %v %v", b, x, err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	r := sample(t)
	for _, b := range backends {
		repo := open(t, r.Dir, b)
		h := resolve(t, repo, "HEAD")
		done := make(chan error)
		for range 8 {
			go func() {
				_, err := repo.Tree(context.Background(), h)
				if err == nil {
					_, err = repo.Diff(context.Background(), h, h)
				}
				if err == nil {
					_, err = repo.History(context.Background(), []Hash{h}, HistoryOptions{}, func(*Commit) error { return nil })
				}
				done <- err
			}()
		}
		for range 8 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
}

func FuzzRawLog(f *testing.F) {
	h, p := strings.Repeat("a1", 20), strings.Repeat("b2", 20)
	head := h + "\x00" + p + "\x00A. Author\x00a@x\x001600000000\x00subject\n\nbody\n\x00"
	f.Add([]byte(head + "\x00\n:100644 100755 " + h + " " + p + " M\x00a.go\x00:000000 120000 " + h + " " + p + " A\x00b\nc\x00\x00" + head))
	f.Add([]byte(head + "\x00\n:100644 160000 " + h + " " + p + " T\x00:odd\x00"))
	f.Add([]byte(head[:60]))
	f.Add([]byte(":100644"))
	f.Add([]byte("\x00\x00\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := newLogParser(bufio.NewReaderSize(bytes.NewReader(data), 16))
		for {
			c, err := p.next()
			if err != nil {
				if c != nil || err != io.EOF && strings.Contains(err.Error(), "\n") {
					t.Fatalf("%v with %v", err, c)
				}
				return
			}
			if c.Time < 0 || !isClean(c.Message) || !isClean(c.Author) {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func isClean(s string) bool { return strings.ToValidUTF8(s, "") == s }

func FuzzTreeObject(f *testing.F) {
	f.Add(treeOf(treeEntry{"a", ModeFile, Hash{1}}, treeEntry{"b", ModeDir, Hash{2}}))
	f.Add([]byte("100644 a"))
	f.Add([]byte("7777777 \x00" + strings.Repeat("x", 20)))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(Hash{}, data)
		if err != nil {
			return
		}
		n := 0
		for _, e := range entries {
			n += len(e.name) + 22
		}
		if n > len(data) {
			t.Fatalf("%d entries of %d bytes", len(entries), len(data))
		}
	})
}

func FuzzCommitObject(f *testing.F) {
	h := strings.Repeat("0", 40)
	f.Add([]byte("tree " + h + "\nparent " + h + "\nauthor A <a@x> 1 +0000\ncommitter B <b@x> 99999999999999999999 +0000\nencoding latin1\n\nm\xe9\n"))
	f.Add([]byte("tree " + h + "\nauthor >< 1\ncommitter <>\nencoding UTF-16\n\n\xff\xfe"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCommit(Hash{}, data)
		if err == nil && (!isClean(c.message) || !isClean(c.author) || !isClean(c.email) || clampTime(c.date) < 0) {
			t.Fatalf("%+v", c)
		}
	})
}
