package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/bench/cases"
	"github.com/ctxt-dev/ctxt/bench/eval"
)

// benchReplayOptions are the flags of ctxt bench replay.
type benchReplayOptions struct {
	Pairs     []string // FILE.jsonl:REPO
	ReplayDir string
	Repos     string
	Jobs      int
	JSON      bool
	Results   bool
}

func newBenchReplay(app *App) *cobra.Command {
	var o benchReplayOptions
	cmd := &cobra.Command{
		Use:   "replay [FILE.jsonl:REPO…]",
		Short: "Replay the past changes of several repositories and print one table with its mean",
		Long: `Replay the past changes of several repositories and print one table with its mean.

Name pairs of a replay file and its repository, or two folders: every NAME.jsonl of --replay-dir is
measured in the repository NAME/repo, NAME or NAME.git of --repos, where NAME is often OWNER+NAME.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Pairs = args
			return runBenchReplay(cmd.Context(), app, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.ReplayDir, "replay-dir", "", "folder of replay files, NAME.jsonl each")
	f.StringVar(&o.Repos, "repos", "", "folder of repositories: NAME/repo, NAME or NAME.git each")
	f.IntVarP(&o.Jobs, "jobs", "j", 0, "cases at once (0: one a processor); results do not depend on it")
	f.BoolVar(&o.JSON, "json", false, "write JSON, version 2")
	f.BoolVar(&o.Results, "results", false, "with --json, keep every case's result")
	return cmd
}

// replayPair is one replay file and its repository.
type replayPair struct{ Name, File, Repo string }

func runBenchReplay(ctx context.Context, app *App, o benchReplayOptions) error {
	pairs, err := replayPairs(o)
	if err != nil {
		return err
	}
	var table bench.ReplayTable
	var fault error
	for _, p := range pairs {
		cs, err := cases.OpenReplay(p.File)
		if err != nil {
			return err
		}
		start := time.Now()
		res, err := replay(ctx, app, p.Repo, cs, eval.Options{Jobs: o.Jobs})
		if err != nil {
			return fmt.Errorf("replay %s: %w", p.Name, err)
		}
		if !app.Quiet {
			fmt.Fprintf(app.Err, "%s: %d cases in %.1f s\n", oneLine(p.Name), res.Cases, time.Since(start).Seconds())
		}
		table.Add(p.Name, res, o.Results)
		if err := measured(res.Cases, res.Skipped, res.Failed); err != nil && fault == nil {
			fault = fmt.Errorf("replay %s: %w", p.Name, err)
		}
	}
	if err := writeReplayTable(app, &table, o.JSON); err != nil {
		return err
	}
	return fault
}

// replayPairs lists what to measure: the arguments in their order, or the folders' pairs by name.
func replayPairs(o benchReplayOptions) ([]replayPair, error) {
	if (o.ReplayDir == "") != (o.Repos == "") || (o.ReplayDir == "") == (len(o.Pairs) == 0) {
		return nil, errors.New("name FILE.jsonl:REPO pairs, or both --replay-dir and --repos")
	}
	var out []replayPair
	for _, arg := range o.Pairs {
		name, repo, ok := strings.Cut(arg, ".jsonl:")
		if !ok || repo == "" {
			return nil, fmt.Errorf("argument %q: want FILE.jsonl:REPO", arg)
		}
		file := name + ".jsonl"
		out = append(out, replayPair{replayName(file), file, repo})
	}
	if o.ReplayDir == "" {
		return out, nil
	}
	files, err := filepath.Glob(filepath.Join(o.ReplayDir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no replay files (NAME.jsonl) in %s", o.ReplayDir)
	}
	slices.Sort(files)
	for _, file := range files {
		name := replayName(file)
		repo, err := findRepo(o.Repos, name)
		if err != nil {
			return nil, fmt.Errorf("replay %s: %w", file, err)
		}
		out = append(out, replayPair{name, file, repo})
	}
	return out, nil
}

func replayName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".jsonl") }

// findRepo finds the repository called OWNER+NAME, or NAME alone, under dir.
func findRepo(dir, name string) (string, error) {
	names := []string{name}
	if _, short, ok := strings.Cut(name, "+"); ok {
		names = append(names, short)
	}
	for _, n := range names {
		for _, p := range []string{filepath.Join(n, "repo"), n, n + ".git"} {
			p = filepath.Join(dir, p)
			for _, mark := range []string{"HEAD", ".git"} {
				if _, err := os.Lstat(filepath.Join(p, mark)); err == nil {
					return p, nil
				}
			}
		}
	}
	return "", fmt.Errorf("no repository %s/repo, %s or %s.git in %s", name, name, name, dir)
}

func writeReplayTable(app *App, t *bench.ReplayTable, asJSON bool) error {
	if asJSON {
		b, err := bench.Encode(t)
		if err != nil {
			return err
		}
		_, err = app.Out.Write(b)
		return err
	}
	var b strings.Builder
	row := func(name string, cases int, m bench.Metrics) {
		fmt.Fprintf(&b, "%-26s %5d", name, cases)
		for _, s := range m.Scores() {
			format := " %6.3f"
			if !slices.Contains(bench.Quality, s.Name) { // a count
				format = " %6.0f"
			}
			fmt.Fprintf(&b, format, s.Value)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%-26s %5s", "", "cases")
	for _, h := range []string{"hit@1", "hit@5", "hit@10", "mrr", "rec@10", "rec@25", "all@10", "b.rec", "b.all", "hunks", "tokens", "files"} {
		fmt.Fprintf(&b, " %6s", h)
	}
	b.WriteByte('\n')
	total := 0
	for _, f := range t.Files {
		row(oneLine(f.Name), f.Cases, f.Metrics)
		total += f.Cases
	}
	row("mean", total, t.Mean)
	_, err := app.Out.Write([]byte(b.String()))
	return err
}
