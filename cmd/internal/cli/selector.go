package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/ctxt-dev/ctxt/bench/eval"
	"github.com/ctxt-dev/ctxt/index/git"
)

// newSelector ranks by words of the title that are in the path. The commits are those that it will
// be asked about.
func newSelector(_ context.Context, repo *git.Repo, _ []git.Hash) (eval.Selector, error) {
	return func(ctx context.Context, base git.Hash, title, body string) (eval.Selection, error) {
		tree, err := repo.Tree(ctx, base)
		if err != nil {
			return eval.Selection{}, err
		}
		words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return r < '0' || r > 'z' })
		type hit struct {
			path string
			n    int
		}
		var hits []hit
		for _, e := range tree.Entries {
			n, low := 0, strings.ToLower(e.Path)
			for _, w := range words {
				if len(w) > 2 && strings.Contains(low, w) {
					n++
				}
			}
			if n > 0 {
				hits = append(hits, hit{e.Path, n})
			}
		}
		slices.SortStableFunc(hits, func(a, b hit) int { return b.n - a.n })
		var s eval.Selection
		for i, h := range hits {
			s.Ranked = append(s.Ranked, h.path)
			if i < 25 {
				s.Files = append(s.Files, eval.SelectedFile{Path: h.path, Regions: [][2]int{{1, 1 << 30}}})
			}
		}
		return s, nil
	}, nil
}

// activateEngine answers a query by the selection on the checked-out commit.
func activateEngine(ctx context.Context, root string) (ask eval.Engine, exists func(string) bool, err error) {
	repo, err := git.Open(root, git.Options{})
	if err != nil {
		return nil, nil, err
	}
	head, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return nil, nil, err
	}
	tree, err := repo.Tree(ctx, head)
	if err != nil {
		return nil, nil, err
	}
	paths := make(map[string]bool, len(tree.Entries))
	for _, e := range tree.Entries {
		paths[e.Path] = true
	}
	sel, err := newSelector(ctx, repo, []git.Hash{head})
	if err != nil {
		return nil, nil, err
	}
	ask = func(ctx context.Context, query string) (eval.Selection, error) { return sel(ctx, head, query, "") }
	return ask, func(p string) bool { return paths[p] }, nil
}
