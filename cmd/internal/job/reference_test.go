package job

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/bench/eval"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

// TestReference ranks by each of the simple methods: bm25 by rare words of title and description, words by
// how many title words the content holds, paths by the path alone; bundles hold whole files that fit.
func TestReference(t *testing.T) {
	r := gittest.New(t)
	r.Write("lock/lease.go", "package lock\n\nfunc Keep() {}\n")
	r.Write("other/a.go", "package other\n\n// lock and lease, twice: lock and lease\nfunc A() {}\n")
	r.Write("other/b.go", "package other\n\n// quagga zebra okapi\nfunc B() {}\n")
	r.Write("big.txt", strings.Repeat("lock number\n", 3000))
	r.Write("none.txt", "nothing of it\n")
	r.Commit("first")
	repo, err := git.Open(r.Dir, git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEngine(t.Context(), repo, EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]string{
		MethodPaths: "lock/lease.go",
		MethodWords: "other/a.go big.txt lock/lease.go",
		MethodBM25:  "other/b.go",
	} {
		got, err := e.Reference(t.Context(), method, head, "lock: lease renewal", "see quagga, zebra and okapi")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(strings.Join(got.Ranked, " "), want) || slices.Contains(got.Ranked, "none.txt") {
			t.Errorf("%s ranks %v, want %s first", method, got.Ranked, want)
		}
		held := slices.ContainsFunc(got.Files, func(f eval.SelectedFile) bool { return f.Path == "big.txt" })
		if held || len(got.Files) == 0 || got.Tokens < 1 || got.Tokens > 8000 {
			t.Errorf("%s packs %v, %d tokens", method, got.Files, got.Tokens)
		}
		again, err := e.Reference(t.Context(), method, head, "lock: lease renewal", "see quagga, zebra and okapi")
		if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("%s: %v, then %v (%v)", method, got, again, err)
		}
	}
}
