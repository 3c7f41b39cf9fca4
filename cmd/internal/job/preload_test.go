package job

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

// What is read once for many commits gives each of them what it gives alone.
func TestPreloadChangesNothing(t *testing.T) {
	r := gittest.New(t)
	for _, name := range []string{"one", "two", "three", "two", "one"} {
		r.Write("pkg/"+name+".go", "package pkg\n\n// "+name+" retries.\nfunc "+name+"() {}\n")
		r.Write("notes/"+name+".md", name+" after "+r.Git("rev-list", "--all", "--count"))
		r.Commit("fix: " + name + " retries")
	}
	repo, err := git.Open(r.Dir, git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	var tips []git.Hash
	for _, rev := range []string{"HEAD", "HEAD~1", "HEAD~3"} {
		h, err := repo.Resolve(ctx, rev)
		if err != nil {
			t.Fatal(err)
		}
		tips = append(tips, h)
	}
	var answers [2][]string
	for k := range answers {
		e, err := NewEngine(ctx, repo, EngineOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if k == 1 {
			if err := e.Preload(ctx, tips); err != nil {
				t.Fatal(err)
			}
		}
		for _, tip := range tips {
			s, err := e.SelectAt(ctx, tip, Query{Title: "one retries"})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range s.Bundle.Files {
				for _, g := range f.Regions {
					answers[k] = append(answers[k], f.Path+" "+f.Reason+" "+g.Text)
				}
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(answers[0], answers[1]); d != "" || len(answers[0]) == 0 {
		t.Errorf("%d answers (-alone +preloaded)\n%s", len(answers[0]), d)
	}
}
