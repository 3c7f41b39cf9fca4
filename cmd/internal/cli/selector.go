package cli

import (
	"context"

	"github.com/ctxt-dev/ctxt/bench/eval"
	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index/git"
)

// newSelector selects as activate does with the default settings, so that a measurement measures the
// product. The commits are those that it will be asked about; their histories are read in one pass.
func newSelector(ctx context.Context, repo *git.Repo, commits []git.Hash, cacheDir string) (eval.Selector, func() error, error) {
	e, err := job.NewEngine(ctx, repo, job.EngineOptions{CacheDir: cacheDir})
	if err != nil {
		return nil, nil, err
	}
	if err := e.Preload(ctx, commits); err != nil {
		_ = e.Close() // the history says what is wrong
		return nil, nil, err
	}
	sel := func(ctx context.Context, base git.Hash, title, body string) (eval.Selection, error) {
		q := job.DefaultQuery(config.Default())
		q.Title, q.Body = title, body
		s, err := e.SelectAt(ctx, base, q)
		if err != nil {
			return eval.Selection{}, err
		}
		return job.Selection(s), nil
	}
	return sel, e.Close, nil
}

// referenceSelector selects by a simple method, for comparison.
func referenceSelector(ctx context.Context, repo *git.Repo, method string) (eval.Selector, func() error, error) {
	e, err := job.NewEngine(ctx, repo, job.EngineOptions{})
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, base git.Hash, title, body string) (eval.Selection, error) {
		return e.Reference(ctx, method, base, title, body)
	}, e.Close, nil
}

// activateEngine answers a query as activate does in the project at root: by its configuration, on the
// checked-out commit with its uncommitted changes.
func (app *App) activateEngine(ctx context.Context, root string) (ask eval.Engine, exists func(string) bool, err error) {
	p, err := app.openProject(root)
	if err != nil {
		return nil, nil, err
	}
	repo, err := git.Open(root, git.Options{})
	if err != nil {
		return nil, nil, err
	}
	e, err := job.NewEngine(ctx, repo, job.EngineOptions{})
	if err != nil {
		return nil, nil, err
	}
	snapshot, past, err := e.WorkTree(ctx, job.ActivateOptions{Dir: root, Config: p.Config})
	if err != nil {
		return nil, nil, err
	}
	ask = func(ctx context.Context, query string) (eval.Selection, error) {
		q := job.DefaultQuery(p.Config)
		q.Title = query
		s, err := e.Select(ctx, snapshot, past, q)
		if err != nil {
			return eval.Selection{}, err
		}
		return job.Selection(s), nil
	}
	exists = func(p string) bool {
		_, ok := snapshot.Find(p)
		return ok
	}
	return ask, exists, nil
}
