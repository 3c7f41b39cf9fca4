package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/bench/cases"
	"github.com/ctxt-dev/ctxt/bench/eval"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index/git"
)

// evalOptions are the flags of ctxt eval.
type evalOptions struct {
	Cases  string // case file
	Engine string
	Root   string
	Index  string
	Base   string // revision that the measured change began at
	Search searchFlags

	Replay  string // replay file
	History int    // changes to mine
	Rev     string // that mining begins at
	Repo    string

	Jobs   int
	Shard  string
	JSON   bool
	Misses int // cases to show in the text output
	Gate   gateOptions
}

// defaultCases is the case file that is measured when nothing else is named.
const defaultCases = ".ctxt/cases.json"

func newEval(app *App) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure how well search and selection find what they should",
		Long: `Measure how well search and selection find what they should.

A case file holds queries and the paths that answer them, by category. A replay file, or the
repository's own history, holds past changes: given a change's title and body and the tree before
it, which files did it touch? Exit codes: 0 fine; 1 a bar is missed; 2 it could not be measured;
3 worse than the baseline beyond the tolerance.`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&o.Cases, "cases", "", "case file, version 2 (default "+defaultCases+")")
	f.StringVar(&o.Engine, "engine", bench.EngineSearch, "what answers the queries of a case file: search or activate")
	f.StringVar(&o.Root, "root", "", "project folder of --cases (default: the nearest one upwards with a .ctxt folder)")
	f.StringVar(&o.Index, "index", "", "index file of --engine search (default common.output)")
	f.StringVar(&o.Base, "base", "", "revision that the measured change began at: expected paths that were renamed since count under their new name")
	o.Search.add(f)
	f.StringVar(&o.Replay, "replay", "", "replay the past changes of this file: JSON lines with repo, sha, base, title, body, gold")
	f.IntVar(&o.History, "from-history", 0, "replay the newest `N` fitting changes of the repository's own history")
	f.StringVar(&o.Rev, "rev", "HEAD", "revision that --from-history begins at")
	f.StringVar(&o.Repo, "repo", ".", "repository of --replay and --from-history; it may be bare")
	f.IntVarP(&o.Jobs, "jobs", "j", 0, "cases at once (0: one a processor); results do not depend on it")
	f.StringVar(&o.Shard, "shard", "", "measure part `i/n` only; ctxt report merge joins the parts")
	f.BoolVar(&o.JSON, "json", false, "write JSON, version 2")
	f.IntVar(&o.Misses, "misses", 10, "badly answered cases to show, each with what was returned instead")
	gate := gateFlags(cmd, evalBars)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.Gate = gate()
		if err := o.check(cmd); err != nil {
			return err
		}
		return runEval(cmd.Context(), app, o)
	}
	cmd.AddCommand(newEvalCompanions(app), newEvalIntent(app), newEvalRisk(app))
	return cmd
}

var errPartJudged = errors.New("a part of a run cannot be judged: join the parts with ctxt report merge and give the gate's flags there")

// check refuses flags that contradict each other.
func (o *evalOptions) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	n := 0
	for _, name := range []string{"cases", "replay", "from-history"} {
		if given(name) {
			n++
		}
	}
	switch {
	case n > 1:
		return errors.New("name only one of --cases, --replay and --from-history")
	case o.Engine != bench.EngineSearch && o.Engine != bench.EngineActivate:
		return fmt.Errorf("flag --engine: got %q, want search or activate", o.Engine)
	case (given("replay") || given("from-history")) && given("engine") && o.Engine != bench.EngineActivate:
		return errors.New("a replay measures the selection: leave --engine out, or name activate")
	case given("from-history") && o.History < 1:
		return fmt.Errorf("flag --from-history: got %d, want 1 or more", o.History)
	case o.Shard != "" && o.Gate.active():
		return errPartJudged
	}
	return nil
}

// caseFile is the named case file, else the project's own.
func caseFile(named, root string) string {
	if named != "" {
		return named
	}
	return filepath.Join(root, filepath.FromSlash(defaultCases))
}

func runEval(ctx context.Context, app *App, o evalOptions) error {
	var run eval.Options
	if o.Shard != "" {
		var err error
		if run.Shard, err = bench.ParseShard(o.Shard); err != nil {
			return fmt.Errorf("flag --shard: %w", err)
		}
	}
	run.Jobs = o.Jobs
	g, err := o.Gate.open()
	if err != nil {
		return err
	}
	if o.Replay != "" || o.History > 0 {
		return evalReplay(ctx, app, o, run, g)
	}
	return evalCases(ctx, app, o, run, g)
}

// evalReplay measures past changes.
func evalReplay(ctx context.Context, app *App, o evalOptions, run eval.Options, g *gate) error {
	repo, err := git.Open(o.Repo, git.Options{})
	if err != nil {
		return err
	}
	var cs []cases.Replay
	var mining *bench.Mining
	if o.Replay != "" {
		cs, err = cases.OpenReplay(o.Replay)
	} else {
		cs, mining, err = mine(ctx, repo, o.Rev, o.History)
	}
	if err != nil {
		return err
	}
	res, err := replay(ctx, app, repo, cs, job.MethodCtxt, run)
	if err != nil {
		return err
	}
	res.Source.Mining = mining
	fault := measured(res.Shard, res.Cases, res.Skipped, res.Failed)
	if fault == nil {
		if res.Gate, err = g.judge(res.Baseline()); err != nil {
			return err
		}
	}
	if err := app.print(res, o.JSON, func() string { return replayText(res, o.Misses) }); err != nil {
		return err
	}
	if fault != nil {
		return fault
	}
	return app.exit(res.Gate)
}

func mine(ctx context.Context, repo *git.Repo, rev string, n int) ([]cases.Replay, *bench.Mining, error) {
	tip, err := repo.Resolve(ctx, rev)
	if err != nil {
		return nil, nil, err
	}
	return cases.Mine(ctx, repo, tip, n)
}

// replay measures cases with the product's own ranking and selection, or with a method to compare with.
func replay(ctx context.Context, app *App, repo *git.Repo, cs []cases.Replay, method string, o eval.Options) (*bench.ReplayResult, error) {
	open := func() (eval.Selector, func() error, error) {
		return newSelector(ctx, repo, eval.Bases(ctx, repo, cs), "")
	}
	if method != job.MethodCtxt {
		open = func() (eval.Selector, func() error, error) { return referenceSelector(ctx, repo, method) }
	}
	sel, keep, err := open()
	if err != nil {
		return nil, err
	}
	defer keep()
	var done func()
	o.Progress, done = app.progressBar("replay")
	defer done()
	return eval.Replay(ctx, repo, cs, sel, o)
}

// evalCases measures a case file.
func evalCases(ctx context.Context, app *App, o evalOptions, run eval.Options, g *gate) error {
	root, err := findRoot(o.Root)
	if err != nil {
		return err
	}
	g.root = root
	f, err := cases.Open(caseFile(o.Cases, root))
	if err != nil {
		return err
	}
	co := eval.CaseOptions{Options: run}
	var ask eval.Engine
	if o.Engine == bench.EngineSearch {
		x, err := app.loadSearch(root, o.Index, o.Search)
		if err != nil {
			return err
		}
		ask, co.Exists = x.engine, x.exists
	} else if ask, co.Exists, err = app.activateEngine(ctx, root); err != nil {
		return err
	}
	if o.Base != "" {
		if co.Renames, err = renamesSince(ctx, root, o.Base); err != nil {
			return err
		}
	}
	var done func()
	co.Progress, done = app.progressBar("eval")
	res, err := eval.Cases(ctx, f, o.Engine, ask, co)
	done()
	if err != nil {
		return err
	}
	fault := measured(res.Shard, res.Cases, 0, res.Failed)
	if fault == nil {
		if res.Gate, err = g.judge(res.Baseline()); err != nil {
			return err
		}
	}
	if err := app.print(res, o.JSON, func() string { return evalText(res, o.Misses) }); err != nil {
		return err
	}
	if fault != nil {
		return fault
	}
	return app.exit(res.Gate)
}

// renamesSince lists what was renamed between a revision and the checked-out commit.
func renamesSince(ctx context.Context, dir, base string) ([]bench.Rename, error) {
	repo, err := git.Open(dir, git.Options{})
	if err != nil {
		return nil, err
	}
	old, err := repo.Resolve(ctx, base)
	if err != nil {
		return nil, err
	}
	head, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	diffs, err := repo.Diff(ctx, old, head)
	if err != nil {
		return nil, fmt.Errorf("find renames since %s: %w", base, err)
	}
	var out []bench.Rename
	for _, d := range diffs {
		if d.Status == git.Renamed {
			out = append(out, bench.Rename{From: d.OldPath, To: d.Path})
		}
	}
	return out, nil
}

// measured is the error of a run that measured nothing, or that measured failures as misses. A part
// of a run may be empty.
func measured(shard *bench.ShardInfo, done, skipped, failed int) error {
	switch {
	case done == 0 && shard != nil:
		return nil
	case done == 0 && skipped > 0:
		return fmt.Errorf("no case could be measured: %d skipped; --json gives the reasons", skipped)
	case done == 0:
		return errors.New("no case was measured")
	case failed > 0:
		return fmt.Errorf("%d of %d cases failed and count as misses; --json gives the reasons", failed, done)
	}
	return nil
}
