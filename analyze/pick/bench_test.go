package pick_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/score"
	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/history"
)

const benchTask = "retry the upload of a large part when the session of the storage is interrupted"

// benchInput is a repository of 240 files and 40 commits.
func benchInput(b *testing.B) (*index.Snapshot, *history.History, *task.Task) {
	b.Helper()
	r := gittest.New(b)
	words := strings.Fields("retry upload part session storage client token stream backoff limit queue report")
	put := func(i, state int) {
		var text strings.Builder
		fmt.Fprintf(&text, "// Package p%d does the %s.\npackage p%d\n", i/8, words[i%len(words)], i/8)
		for n := range 12 {
			fmt.Fprintf(&text, "\n// %s%d makes the %s of a %s, state %d.\nfunc %s%d(%s string) error {\n\treturn %s.%s(%s)\n}\n", words[(i+n)%12], n, words[n], words[(i*n)%12], state, words[(i+n)%12], n, words[n], words[(n+5)%12], words[(n+3)%12], words[n])
		}
		r.Write(fmt.Sprintf("p%d/%s%d.go", i/8, words[i%len(words)], i), text.String())
	}
	for i := range 240 {
		put(i, 0)
	}
	r.Commit("first version")
	for n := range 40 {
		for k := range 3 {
			put((n*7+k)%240, n+1)
		}
		r.Commit(fmt.Sprintf("fix(%s): the %s of a %s", words[n%12], words[(n+1)%12], words[(n+2)%12]))
	}
	repo, err := git.Open(r.Dir, git.Options{})
	if err != nil {
		b.Fatal(err)
	}
	head, err := repo.Resolve(context.Background(), "HEAD")
	if err != nil {
		b.Fatal(err)
	}
	s, err := index.Build(context.Background(), index.Tree(repo, head), index.Options{})
	if err != nil {
		b.Fatal(err)
	}
	h, err := history.Build(context.Background(), repo, head, 0)
	if err != nil {
		b.Fatal(err)
	}
	return s, h, task.Parse(benchTask, "", task.Auto)
}

// BenchmarkScore ranks, BenchmarkPack packs what was ranked, BenchmarkCountTokens
// counts with the real tokenizer.
//
//	go test -bench . -run '^$' ./analyze/pick
func BenchmarkScore(b *testing.B) {
	s, h, t := benchInput(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := score.Rank(context.Background(), score.Input{Snapshot: s, History: h, Task: t}, score.Weights{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPack(b *testing.B) {
	s, h, t := benchInput(b)
	r, err := score.Rank(context.Background(), score.Input{Snapshot: s, History: h, Task: t}, score.Weights{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pick.Build(context.Background(), pick.Input{Snapshot: s, History: h, Ranking: r, Task: benchTask}, pick.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCountTokens(b *testing.B) {
	text := strings.Repeat("func (s *Server) handleRequest(ctx context.Context, req *http.Request) error {\n\treturn s.writeResponse(ctx, req.URL.Path)\n}\n", 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pick.CountTokens(text); err != nil {
			b.Fatal(err)
		}
	}
}
