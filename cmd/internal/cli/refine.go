package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// refineOptions are the flags of refine.
type refineOptions struct {
	Root        string
	LearnedFile string
	JSON        bool
	DryRun      bool
	CacheDir    string
	NoCache     bool
	job.RefineOptions
}

func newRefine(app *App) *cobra.Command {
	var o refineOptions
	cmd := &cobra.Command{
		Use:   "refine --learned TEXT",
		Short: "Select again with what was learned since activate",
		Long: `Select again with what was learned since activate.

Reads .ctxt/active-bundle.json, appends what was learned to its task, ranks the work tree as it is now,
prints the difference and writes the new bundle. Scope, budget and the other choices of activate hold
on; what was dropped stays out of later refinements, too.`,
		Example: `  ctxt refine --learned "the timeout comes from the connection pool"
  ctxt refine --add-keywords pool,idle --drop docs/uploads.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runRefine(cmd.Context(), app, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Root, "root", "", "project folder (default: the nearest one upwards with a .ctxt folder)")
	f.StringVar(&o.Learned, "learned", "", "what is known now, in plain words")
	f.StringVar(&o.LearnedFile, "learned-file", "", "read it from a file; - reads standard input")
	f.StringSliceVar(&o.Keywords, "add-keywords", nil, "words that weigh as much as those of the task's title")
	f.StringSliceVar(&o.Drop, "drop", nil, "files to leave out from now on, as the bundle names them")
	f.BoolVar(&o.DryRun, "dry-run", false, "print the difference, and write nothing")
	f.BoolVar(&o.JSON, "json", false, "print the difference as JSON (docs/schema/refine.json)")
	f.IntVar(&o.HistoryCommits, "history-commits", 0, "newest commits to read (default 3000)")
	f.StringVar((*string)(&o.Extractor), "symbol-extractor", string(symbols.Auto), "auto, treesitter or regex")
	f.StringVar(&o.CacheDir, "cache-dir", "", "folder of the cache (default .ctxt/cache)")
	f.BoolVar(&o.NoCache, "no-cache", false, "read and write no cache")
	return cmd
}

func runRefine(ctx context.Context, app *App, o refineOptions) error {
	p, err := app.findProject(o.Root)
	if err != nil {
		return err
	}
	o.Dir, o.Config = p.Root, p.Config
	o.ActivateOptions.CacheDir = p.cacheDir(o.CacheDir, o.NoCache)
	if err := checkExtractor(o.Extractor); err != nil {
		return err
	}
	if o.LearnedFile != "" {
		if o.Learned != "" {
			return errors.New("give --learned or --learned-file, not both")
		}
		if o.Learned, err = readTask(app.In, "", o.LearnedFile); err != nil {
			return err
		}
	}
	if o.Bundle, err = loadActive(p); err != nil {
		return err
	}
	s, err := job.Refine(ctx, o.RefineOptions)
	if err != nil {
		return err
	}
	app.warnings(s.Selected)
	if !o.DryRun {
		if err := keepActive(p.Root, s.Bundle); err != nil {
			return err
		}
	}
	if o.JSON {
		return app.printJSON(s.Difference)
	}
	return printDifference(app.Out, s, o.DryRun)
}

func printDifference(w io.Writer, s *job.Refined, dry bool) error {
	var b strings.Builder
	d := &s.Difference
	title, _, _ := strings.Cut(d.Task, "\n")
	fmt.Fprintf(&b, "%s\n%d of %d files, %d of %d tokens", visible(title), d.Files, s.Bundle.Budget.Files, d.Tokens, s.Bundle.Budget.Tokens)
	if !dry {
		fmt.Fprintf(&b, " → %s", filepath.Join(store.Dir, "active-bundle.md"))
	}
	fmt.Fprintf(&b, "\n%d added, %d removed, %d moved, %d unchanged\n", len(d.Added), len(d.Removed), len(d.Moved), d.Unchanged)
	for _, f := range d.Added {
		fmt.Fprintf(&b, "+ %3d  %s\n", f.Rank, visible(f.Path))
		if why := wholeReason(s.Selected, f.Path, f.Reason); why != "" {
			fmt.Fprintf(&b, "       %s\n", visible(why))
		}
	}
	for _, f := range d.Removed {
		fmt.Fprintf(&b, "- %3d  %s (%s)\n", f.Rank, visible(f.Path), f.Why)
	}
	for _, f := range d.Moved {
		fmt.Fprintf(&b, "  %3d  %s (was %d)\n", f.To, visible(f.Path), f.From)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
