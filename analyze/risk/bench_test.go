package risk_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/history"
)

// BenchmarkCoChange learns from 60 changes what usually changes together.
//
//	go test -bench CoChange -run '^$' ./analyze/risk
func BenchmarkCoChange(b *testing.B) {
	r := gittest.New(b)
	for n := range 60 {
		for k := range 3 {
			r.Write(fmt.Sprintf("d%d/f%d.go", n%7, (n/7+k)%5), fmt.Sprintf("package d // %d\n", n))
		}
		r.Commit(fmt.Sprintf("fix: the step %d of a retry", n))
	}
	repo, err := git.Open(r.Dir, git.Options{})
	if err != nil {
		b.Fatal(err)
	}
	tip, err := repo.Resolve(context.Background(), "HEAD")
	if err != nil {
		b.Fatal(err)
	}
	h, err := history.Build(context.Background(), repo, tip, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := risk.NewCompanions(context.Background(), h); err != nil {
			b.Fatal(err)
		}
	}
}
