package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
)

// pastOptions are the flags of the measurements of a repository's own past.
type pastOptions struct {
	History int // changes to measure
	Of      int // changes of history to read
	Rev     string
	Repo    string
	JSON    bool
}

func (o *pastOptions) add(cmd *cobra.Command, history, of int) {
	f := cmd.Flags()
	f.IntVar(&o.History, "from-history", history, "measure the newest `N` changes")
	f.IntVar(&o.Of, "history-commits", of, "changes of history to read, merges left out (0: as many as the measurement needs)")
	f.StringVar(&o.Rev, "rev", "HEAD", "revision that the history ends at")
	f.StringVar(&o.Repo, "repo", ".", "repository; it may be bare")
	f.BoolVar(&o.JSON, "json", false, "write JSON, version 1")
}

// open reads the history, at least need changes of it.
func (o *pastOptions) open(ctx context.Context, need int) (*git.Repo, *history.History, error) {
	if o.History < 1 {
		return nil, nil, fmt.Errorf("flag --from-history: got %d, want 1 or more", o.History)
	}
	if o.Of < 0 {
		return nil, nil, fmt.Errorf("flag --history-commits: got %d, want 0 or more", o.Of)
	}
	repo, err := git.Open(o.Repo, git.Options{})
	if err != nil {
		return nil, nil, err
	}
	tip, err := repo.Resolve(ctx, o.Rev)
	if err != nil {
		return nil, nil, err
	}
	h, err := history.Build(ctx, repo, tip, max(o.Of, need))
	if err != nil {
		return nil, nil, err
	}
	if len(h.Commits) == 0 {
		return nil, nil, fmt.Errorf("no change to measure: %s reaches no commit that is not a merge", o.Rev)
	}
	return repo, h, nil
}

// fewCases is how many cases, or later fixed changes, a figure wants to say much.
const fewCases = 50

// riskSample is how many changes before a measured one its percentile is taken among.
const riskSample = 600

func newEvalRisk(app *App) *cobra.Command {
	var o pastOptions
	cmd := &cobra.Command{
		Use:   "risk",
		Short: "Measure how well the risk band ranks the changes that were later fixed or reverted",
		Long: `Measure how well the risk band ranks the changes that were later fixed or reverted.

A change counts as later fixed when a later message reverts it by name, or when within 180 days a
change whose message says that it repairs something rewrites lines that this one wrote: lines of
source files, of code (source and tests), or of any file that is not generated. The baselines rank by
lines added alone, and by source lines added alone.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runEvalRisk(cmd.Context(), app, o) },
	}
	o.add(cmd, 2500, 0)
	return cmd
}

// riskReport is the JSON form of eval risk, version 1 (docs/schema/eval-risk.json).
type riskReport struct {
	Version int    `json:"version"`
	Tip     string `json:"tip"`
	*risk.BandFigures
}

func runEvalRisk(ctx context.Context, app *App, o pastOptions) error {
	repo, h, err := o.open(ctx, o.History+riskSample)
	if err != nil {
		return err
	}
	done := app.working("reading what past changes wrote and rewrote")
	past, err := risk.ReadPast(ctx, repo, h, o.History+riskSample)
	done()
	if err != nil {
		return err
	}
	f := risk.EvalBand(past, o.History)
	if f.Changes == 0 {
		return fmt.Errorf("no change could be measured: the contents of the newest %d are absent, binary or too large", len(past.Changes))
	}
	if o.JSON {
		return app.printJSON(riskReport{1, h.Tip.String(), f})
	}
	if f.AnyLines.Fixed < fewCases {
		app.note("%d of %s later fixed: too few for figures that say much", f.AnyLines.Fixed, plural(f.Changes, "change"))
	}
	fmt.Fprintf(app.Out, "%d changes to %s; %.1f%% were in the high band when they came, and were later fixed %.2f times as often as the average\n\n",
		f.Changes, h.Tip.Short(), 100*f.HighShare, f.HighLift)
	fmt.Fprintf(app.Out, "%-14s %-12s %8s %8s %12s %10s\n", "later fixed", "ranked by", "changes", "AUC", "AUC by size", "high lift")
	for _, l := range []struct {
		name string
		f    risk.LabelFigures
	}{{"source lines", f.Source}, {"code lines", f.Code}, {"any lines", f.AnyLines}} {
		for _, r := range []struct {
			name string
			r    risk.Ranking
		}{{"band score", l.f.Score}, {"lines added", l.f.LinesAdded}, {"source added", l.f.Source}} {
			fmt.Fprintf(app.Out, "%-14s %-12s %8d %8.3f %12.3f %10.2f\n", l.name, r.name, l.f.Fixed, r.r.AUC, r.r.Within, r.r.Lift)
		}
	}
	return nil
}

func newEvalCompanions(app *App) *cobra.Command {
	var o pastOptions
	cmd := &cobra.Command{
		Use:   "companions",
		Short: "Measure how well missing companions are found, by leaving out each file of past changes",
		Long: `Measure how well missing companions are found, by leaving out each file of past changes.

Each file of each measured change that existed before is left out once; changes of more than 15 files
are passed over. What is learned and the bar of a change come from older changes only. A warning on
the complete change is a false alarm.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runEvalCompanions(cmd.Context(), app, o) },
	}
	o.add(cmd, 700, 4000)
	return cmd
}

// companionsReport is the JSON form of eval companions, version 1 (docs/schema/eval-companions.json).
type companionsReport struct {
	Version int    `json:"version"`
	Tip     string `json:"tip"`
	*risk.CompanionFigures
}

func runEvalCompanions(ctx context.Context, app *App, o pastOptions) error {
	_, h, err := o.open(ctx, o.History)
	if err != nil {
		return err
	}
	done := app.working("leaving out the files of past changes")
	f, err := risk.EvalCompanions(ctx, h, o.History)
	done()
	if err != nil {
		return err
	}
	if o.JSON {
		return app.printJSON(companionsReport{1, h.Tip.String(), f})
	}
	if f.Cases == 0 {
		return fmt.Errorf("nothing to leave out: of %s of history none touched two files or more that existed before", plural(f.Commits, "change"))
	}
	if f.Cases < fewCases {
		app.note("%s of %d changes of history: too few for figures that say much", plural(f.Cases, "case"), f.Commits)
	}
	fmt.Fprintf(app.Out, "%d files left out of %d changes to %s, of %d changes of history\n\n", f.Cases, f.Changes, h.Tip.Short(), f.Commits)
	for _, r := range []struct {
		name  string
		value float64
	}{
		{"warned, of the cases", f.Warned},
		{"right among the three named, of the warned", f.Right},
		{"found, of the cases", f.Found},
		{"false alarms, of the complete changes of two or more files", f.FalseAlarms},
		{"false alarms, of all complete changes", f.FalseAll},
	} {
		fmt.Fprintf(app.Out, "%-60s %6.3f\n", r.name, r.value)
	}
	return nil
}
