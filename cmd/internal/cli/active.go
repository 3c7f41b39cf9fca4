package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// findProject opens the project of a reading command.
func (app *App) findProject(root string) (*project, error) {
	dir, err := findRoot(root)
	if err != nil {
		return nil, err
	}
	return app.openProject(dir)
}

// cacheDir is the folder of the cache by the flags; empty for none.
func (p *project) cacheDir(given string, none bool) string {
	switch {
	case none:
		return ""
	case given != "":
		return given
	}
	return filepath.Join(p.Root, store.Dir, "cache")
}

func checkExtractor(m symbols.Mode) error {
	switch m {
	case symbols.Auto, symbols.TreeSitter, symbols.Regex:
		return nil
	}
	return fmt.Errorf("flag --symbol-extractor: got %q, want auto, treesitter or regex", m)
}

// loadActive reads the project's active bundle.
func loadActive(p *project) (*pick.Bundle, error) {
	return job.LoadBundle(filepath.Join(p.Root, store.Dir, job.ActiveBundle))
}

// keepActive writes the active bundle and, for one of a session, notes in the session what it holds.
func keepActive(root string, b *pick.Bundle) error {
	if err := keepBundle(root, b); err != nil {
		return err
	}
	if b.Asked == nil || b.Asked.Session == "" {
		return nil
	}
	return job.RecordBundle(root, b.Asked.Session, b)
}

// warnings prints what a selection's reader should know, on standard error.
func (app *App) warnings(s *job.Selected) {
	if s.Intent.Level != task.Sufficient && len(s.Snapshot.Files) > 0 {
		fmt.Fprintf(app.Err, "ctxt: warning: the task text is %s (%.2f): %s\n", s.Intent.Level, s.Intent.Score, visible(strings.Join(s.Intent.Reasons, "; ")))
		fmt.Fprintln(app.Err, "ctxt: say with --learned or --add-keywords which part of the program it is about")
	}
	for _, w := range s.Bundle.Warnings {
		fmt.Fprintln(app.Err, "ctxt: warning: "+visible(w))
	}
}
