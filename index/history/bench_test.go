package history_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/history"
)

// BenchmarkHistory reads a history, from the repository and from what an earlier reading kept.
//
//	go test -bench . -run '^$' ./index/history
func BenchmarkHistory(b *testing.B) {
	r := gittest.New(b)
	for n := range 60 {
		for k := range 4 {
			r.Write(fmt.Sprintf("d%d/f%d.go", n%5, k), fmt.Sprintf("package d // %d\n", n))
		}
		r.Commit(fmt.Sprintf("fix: the step %d of a retry\n\nIt was late.", n))
	}
	repo, err := git.Open(r.Dir, git.Options{})
	if err != nil {
		b.Fatal(err)
	}
	tip, err := repo.Resolve(context.Background(), "HEAD")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := history.Build(context.Background(), repo, tip, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("kept", func(b *testing.B) {
		f := files(b)
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := history.Kept(context.Background(), repo, tip, 0, f); err != nil {
				b.Fatal(err)
			}
		}
	})
}
