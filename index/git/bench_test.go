package git

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// benchDir writes a packed repository of a few hundred files and the given number of commits.
func benchDir(b *testing.B, commits int) string {
	b.Helper()
	dir := b.TempDir()
	rnd := rand.New(rand.NewPCG(7, 7))
	var s bytes.Buffer
	for i := range commits {
		fmt.Fprintf(&s, "commit refs/heads/main\nmark :%d\ncommitter A <a@x> %d +0000\ndata 12\nchange %05d\n", i+1, 1_600_000_000+i*60, i)
		if i > 0 {
			fmt.Fprintf(&s, "from :%d\n", i)
		}
		for range 1 + rnd.IntN(5) {
			text := strings.Repeat(fmt.Sprintf("line %d\n", rnd.Uint64()), 40)
			fmt.Fprintf(&s, "M 100644 inline pkg%d/sub%d/f%d.go\ndata %d\n%s\n", rnd.IntN(12), rnd.IntN(6), rnd.IntN(9), len(text), text)
		}
		fmt.Fprintln(&s)
	}
	run(b, dir, nil, "init", "-q", "--bare", ".")
	run(b, dir, &s, "fast-import", "--quiet", "--date-format=raw")
	run(b, dir, nil, "symbolic-ref", "HEAD", "refs/heads/main")
	run(b, dir, nil, "repack", "-adfq")
	return dir
}

// BenchmarkHistory reads 3,000 commits with their changes; plain is the git program alone.
func BenchmarkHistory(b *testing.B) {
	dir := benchDir(b, 3000)
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("git", "log", "--raw", "--no-renames", "--no-merges")
			cmd.Dir = dir
			if _, err := cmd.Output(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, backend := range []string{"git", "go-git"} {
		b.Run(backend, func(b *testing.B) {
			for b.Loop() {
				r := open(b, dir, backend)
				_, err := r.History(context.Background(), []Hash{resolve(b, r, "HEAD")}, HistoryOptions{}, func(*Commit) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBlobs reads every blob of a tree.
func BenchmarkBlobs(b *testing.B) {
	dir := benchDir(b, 2000)
	for _, backend := range []string{"git", "go-git"} {
		b.Run(backend, func(b *testing.B) {
			r := open(b, dir, backend)
			t, err := r.Tree(context.Background(), resolve(b, r, "HEAD"))
			if err != nil {
				b.Fatal(err)
			}
			var hashes []Hash
			for _, e := range t.Entries {
				hashes = append(hashes, e.Hash)
			}
			for b.Loop() {
				size := 0
				err := r.Blobs(context.Background(), hashes, 1<<20, func(_ int, data []byte, err error) { size += len(data) })
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(size))
			}
			b.ReportMetric(float64(len(hashes))*float64(b.N)/b.Elapsed().Seconds(), "blobs/s")
		})
	}
}

// BenchmarkLineDiff compares a 2,000-line file with a version that differs in every twentieth line.
func BenchmarkLineDiff(b *testing.B) {
	var old, new bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&old, "line %d of the file\n", i)
		if i%20 == 0 {
			fmt.Fprintf(&new, "changed %d\n", i)
		} else {
			fmt.Fprintf(&new, "line %d of the file\n", i)
		}
	}
	b.SetBytes(int64(old.Len() + new.Len()))
	for b.Loop() {
		LineDiff(old.Bytes(), new.Bytes())
	}
}
