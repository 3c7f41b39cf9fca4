package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/bench/cases"
	"github.com/ctxt-dev/ctxt/bench/eval"
	"github.com/ctxt-dev/ctxt/index/git"
)

// evalOptions are the flags of ctxt eval.
type evalOptions struct {
	Replay string // replay file
	Repo   string
	Jobs   int
	Shard  string
	JSON   bool
	Misses int // cases to show in the text output
}

func newEval(app *App) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure how well search and selection find what they should",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runEval(cmd.Context(), app, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Replay, "replay", "", "measure the past changes of this file: JSON lines with repo, sha, base, title, body, gold")
	f.StringVar(&o.Repo, "repo", ".", "repository that holds the replayed commits; it may be bare")
	f.IntVarP(&o.Jobs, "jobs", "j", 0, "cases at once (0: one a processor); results do not depend on it")
	f.StringVar(&o.Shard, "shard", "", "measure part i/n only; ctxt report merge joins the parts")
	f.BoolVar(&o.JSON, "json", false, "write JSON, version 2")
	f.IntVar(&o.Misses, "misses", 10, "badly answered cases to show with what was returned instead")
	return cmd
}

func runEval(ctx context.Context, app *App, o evalOptions) error {
	var shard bench.Shard
	if o.Shard != "" {
		var err error
		if shard, err = bench.ParseShard(o.Shard); err != nil {
			return fmt.Errorf("flag --shard: %w", err)
		}
	}
	if o.Replay == "" {
		return errors.New("nothing to measure: name --replay FILE")
	}
	cs, err := cases.OpenReplay(o.Replay)
	if err != nil {
		return err
	}
	res, err := replay(ctx, app, o.Repo, cs, eval.Options{Jobs: o.Jobs, Shard: shard})
	if err != nil {
		return err
	}
	if err := writeReplay(app, res, o); err != nil {
		return err
	}
	return measured(res.Cases, res.Skipped, res.Failed)
}

// replay measures cases in the repository at dir with the product's own ranking and selection.
func replay(ctx context.Context, app *App, dir string, cs []cases.Replay, o eval.Options) (*bench.ReplayResult, error) {
	repo, err := git.Open(dir, git.Options{})
	if err != nil {
		return nil, err
	}
	sel, err := newSelector(ctx, repo)
	if err != nil {
		return nil, err
	}
	return eval.Replay(ctx, repo, cs, sel, o)
}

func writeReplay(app *App, res *bench.ReplayResult, o evalOptions) error {
	if o.JSON {
		b, err := bench.Encode(res)
		if err != nil {
			return err
		}
		_, err = app.Out.Write(b)
		return err
	}
	fmt.Fprintf(app.Out, "%d cases, %d skipped, %d failed\n", res.Cases, res.Skipped, res.Failed)
	for _, s := range res.Metrics.Scores() {
		fmt.Fprintf(app.Out, "%-20s %8.3f\n", s.Name, s.Value)
	}
	return nil
}

// measured is the error of a run that measured nothing, or that measured failures as misses.
func measured(done, skipped, failed int) error {
	switch {
	case done == 0:
		return fmt.Errorf("no case could be measured: %d skipped", skipped)
	case failed > 0:
		return fmt.Errorf("%d of %d cases failed and count as misses; --json gives the reasons", failed, done)
	}
	return nil
}
