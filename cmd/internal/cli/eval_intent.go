package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/bench/cases"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index/git"
)

// evalIntentOptions are the flags of ctxt eval intent.
type evalIntentOptions struct {
	ReplayDir, Repos string
	Cases            int
}

func newEvalIntent(app *App) *cobra.Command {
	var o evalIntentOptions
	cmd := &cobra.Command{
		Use:   "intent [FILE.jsonl:REPO…]",
		Short: "Measure how well the intent check tells real texts from vague and contradictory ones",
		Long: `Measure how well the intent check tells real texts from vague and contradictory ones.

The real texts are those of past changes, each checked against its base. For each there is a made
one: a text that says nothing ("Various improvements"), or one that asks for two opposite things of
what the real title ends with. Printed are the area under the curve, the share of the real texts
that would be warned about, and the share of the made ones that are caught.`,
		RunE: func(cmd *cobra.Command, args []string) error { return runEvalIntent(cmd.Context(), app, o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.ReplayDir, "replay-dir", "", "folder of replay files, NAME.jsonl each")
	f.StringVar(&o.Repos, "repos", "", "folder of repositories: NAME/repo, NAME or NAME.git each")
	f.IntVar(&o.Cases, "cases", 20, "the first `N` cases of each file")
	return cmd
}

func runEvalIntent(ctx context.Context, app *App, o evalIntentOptions, args []string) error {
	if o.Cases < 1 {
		return fmt.Errorf("flag --cases: got %d, want 1 or more", o.Cases)
	}
	pairs, err := replayPairs(benchReplayOptions{Pairs: args, ReplayDir: o.ReplayDir, Repos: o.Repos})
	if err != nil {
		return err
	}
	var f job.IntentFigures
	for _, p := range pairs {
		cs, err := cases.OpenReplay(p.File)
		if err != nil {
			return err
		}
		repo, err := git.Open(p.Repo, git.Options{})
		if err != nil {
			return fmt.Errorf("intent %s: %w", p.Name, err)
		}
		if err := f.Add(ctx, repo, cs[:min(len(cs), o.Cases)]); err != nil {
			return fmt.Errorf("intent %s: %w", p.Name, err)
		}
	}
	fmt.Fprintf(app.Out, "%d real texts, %d made ones: area under the curve %.3f; warned about %.1f%% of the real ones, caught %.1f%% of the made ones\n",
		f.Real, f.Made, f.AUC, 100*f.Warned, 100*f.Caught)
	real, made := f.Warnings()
	for _, l := range []struct {
		head string
		list []string
	}{{"real texts that are not sufficient", real}, {"made texts that are", made}} {
		if len(l.list) > 0 {
			fmt.Fprintf(app.Out, "\n%s:\n", l.head)
		}
		for _, s := range l.list {
			fmt.Fprintf(app.Out, "  %s\n", visible(s))
		}
	}
	return nil
}
