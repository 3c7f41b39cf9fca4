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
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index/git"
)

// benchReplayOptions are the flags of ctxt bench replay.
type benchReplayOptions struct {
	Pairs     []string // FILE.jsonl:REPO
	ReplayDir string
	Repos     string
	Jobs      int
	Method    string
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
measured in the repository NAME/repo, NAME or NAME.git of --repos, where NAME is often OWNER+NAME.

The methods besides ctxt are there to compare with: bm25 (BM25 of title and description over content
and path), words (how many of the title's words the content holds) and paths (how many the path
holds). Their bundle is whole files, best first, those left out that do not fit into the budget.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Pairs = args
			return runBenchReplay(cmd.Context(), app, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.ReplayDir, "replay-dir", "", "folder of replay files, NAME.jsonl each")
	f.StringVar(&o.Repos, "repos", "", "folder of repositories: NAME/repo, NAME or NAME.git each")
	f.IntVarP(&o.Jobs, "jobs", "j", 0, "cases at once (0: one a processor); results do not depend on it")
	f.StringVar(&o.Method, "method", job.MethodCtxt, "one of "+strings.Join(job.Methods, ", "))
	f.BoolVar(&o.JSON, "json", false, "write JSON, version 2")
	f.BoolVar(&o.Results, "results", false, "with --json, keep every case's result")
	complete(cmd, "method", job.Methods...)
	return cmd
}

// replayPair is one replay file and its repository.
type replayPair struct{ Name, File, Repo string }

func runBenchReplay(ctx context.Context, app *App, o benchReplayOptions) error {
	if !slices.Contains(job.Methods, o.Method) {
		return fmt.Errorf("flag --method: got %q, want one of %s", o.Method, strings.Join(job.Methods, ", "))
	}
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
		repo, err := git.Open(p.Repo, git.Options{})
		if err != nil {
			return fmt.Errorf("replay %s: %w", p.Name, err)
		}
		res, err := replay(ctx, app, repo, cs, o.Method, eval.Options{Jobs: o.Jobs})
		if err != nil {
			return fmt.Errorf("replay %s: %w", p.Name, err)
		}
		if !app.Quiet {
			fmt.Fprintf(app.Err, "%s: %d cases in %.1f s\n", visible(p.Name), res.Cases, time.Since(start).Seconds())
		}
		table.Add(p.Name, res, o.Results)
		if err := measured(nil, res.Cases, res.Skipped, res.Failed); err != nil && fault == nil {
			fault = fmt.Errorf("replay %s: %w", p.Name, err)
		}
	}
	if err := app.print(&table, o.JSON, func() string { return replayTableText(&table) }); err != nil {
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

func replayTableText(t *bench.ReplayTable) string {
	var b strings.Builder
	rows := metricTable{b: &b, width: len("mean")}
	for _, f := range t.Files {
		rows.width = max(rows.width, len(visible(f.Name)))
	}
	total := 0
	for _, f := range t.Files {
		rows.row(f.Name, f.Cases, f.Metrics.Scores())
		total += f.Cases
	}
	rows.row("mean", total, t.Mean.Scores())
	return b.String()
}
