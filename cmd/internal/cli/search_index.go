package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/bench/eval"
	"github.com/ctxt-dev/ctxt/index/store"
)

// searchFlags are the flags of the ranked search that eval and bench share.
type searchFlags struct {
	Limit    int
	MinScore float64
}

func (s *searchFlags) add(f *pflag.FlagSet) {
	f.IntVar(&s.Limit, "limit", 10, "most paths of an answer")
	f.Float64Var(&s.MinScore, "min-score", 0, "leave out results of the ranked search below this score")
}

// searchIndex is a loaded index, ready to answer.
type searchIndex struct {
	searchFlags
	root  string
	index *search.Index
	paths map[string]bool
	files []string // in the order of the index
}

// loadSearch reads the index of a project: the given file, else the configured one.
func (app *App) loadSearch(root, file string, f searchFlags) (*searchIndex, error) {
	if f.Limit < 1 || f.Limit > search.MaxLimit {
		return nil, fmt.Errorf("flag --limit: got %d, want 1 to %d", f.Limit, search.MaxLimit)
	}
	p, err := app.openProject(root)
	if err != nil {
		return nil, err
	}
	x, err := store.Load(p.path(file, p.Config.Common.Output))
	if err != nil {
		if store.IsNotExist(err) {
			return nil, fmt.Errorf("%w; make the index with: ctxt init .", err)
		}
		return nil, err
	}
	s := &searchIndex{searchFlags: f, root: p.Root, index: search.Prepare(x), paths: map[string]bool{}}
	x.Walk(func(n *store.Node) {
		s.paths[n.FullPath] = true
		if !n.IsDir() {
			s.files = append(s.files, n.FullPath)
		}
	})
	return s, nil
}

func (s *searchIndex) exists(path string) bool { return s.paths[path] }

// engine answers a query by the ranked search, files only.
func (s *searchIndex) engine(ctx context.Context, query string) (eval.Selection, error) {
	paths, err := s.search(ctx, query, s.Limit)
	return eval.Selection{Ranked: paths}, err
}

func (s *searchIndex) search(ctx context.Context, query string, limit int) ([]string, error) {
	return s.ask(query, limit, nil)
}

// hybrid adds the files whose content matches, as search-hints --hybrid does; larger files than
// maxBytes are left out.
func (s *searchIndex) hybrid(maxBytes int64) func(ctx context.Context, query string, limit int) ([]string, error) {
	return func(ctx context.Context, query string, limit int) ([]string, error) {
		found, _, err := s.index.Content(ctx, s.root, query, hybridScore)
		if err != nil {
			return nil, err
		}
		kept := found[:0]
		for _, r := range found {
			st, err := os.Lstat(filepath.Join(s.root, filepath.FromSlash(r.Path)))
			if err == nil && st.Mode().IsRegular() && (maxBytes == 0 || st.Size() <= maxBytes) {
				kept = append(kept, r)
			}
		}
		return s.ask(query, limit, kept)
	}
}

// hybridScore is what a match of content alone is worth, as in search-hints.
const hybridScore = 1

func (s *searchIndex) ask(query string, limit int, more []search.Result) ([]string, error) {
	r, err := s.index.SearchWith(search.Request{Query: query, Limit: limit, Type: search.Files, MinScore: s.MinScore}, more)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, hit := range r.Results {
		out = append(out, hit.Path)
	}
	return out, nil
}
