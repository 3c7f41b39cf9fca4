package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/bench/cases"
	"github.com/ctxt-dev/ctxt/bench/engines"
)

// benchOptions are the flags of ctxt bench.
type benchOptions struct {
	Cases        string
	Engines      []string
	ByCategory   bool
	JSON         bool
	Search       searchFlags
	Root         string
	Index        string
	GrepMaxBytes int64
	Runs         int
	Warmup       int
	Shard        string
	Gate         gateOptions
}

// maxGrepBytes is the most that --grep-max-bytes takes: the hybrid search reads no larger files.
const maxGrepBytes = 4 << 20

func newBench(app *App) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Compare search engines on the same queries and files",
		Long: `Compare search engines on the same queries and files.

The engines are ctxt, find, grep, fd, rg, hybrid (ctxt and content matches by rg) and combined (find
and grep). All answer from the indexed files of the project, with the same limit. A missing program
or a failed command is exit code 2; the other engines are still measured.`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&o.Cases, "cases", "", "case file, version 2 (default "+defaultCases+")")
	f.StringSliceVar(&o.Engines, "engines", engines.Default, "some of "+strings.Join(engines.Names, ","))
	f.BoolVar(&o.ByCategory, "by-category", false, "group the text output by category")
	f.BoolVar(&o.JSON, "json", false, "write JSON, version 2")
	o.Search.add(f)
	f.StringVar(&o.Root, "root", "", "project folder (default: the nearest one upwards with a .ctxt folder)")
	f.StringVar(&o.Index, "index", "", "index file (default common.output)")
	f.Int64Var(&o.GrepMaxBytes, "grep-max-bytes", 1<<20, "largest file, in bytes, that grep, rg, hybrid and combined search by content")
	f.IntVar(&o.Runs, "runs", 5, "measured runs of each query and engine")
	f.IntVar(&o.Warmup, "warmup", 1, "unmeasured runs of each query and engine before those")
	f.StringVar(&o.Shard, "shard", "", "measure part `i/n` only; ctxt report merge joins the parts")
	gate := gateFlags(cmd, benchBars)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.Gate = gate(); o.Gate.active() && o.Shard != "" {
			return errPartJudged
		}
		return runBench(cmd.Context(), app, o)
	}
	cmd.AddCommand(newBenchReplay(app))
	return cmd
}

func runBench(ctx context.Context, app *App, o benchOptions) error {
	run := engines.RunOptions{Runs: o.Runs, Warmup: o.Warmup, MinScore: o.Search.MinScore}
	if o.Shard != "" {
		var err error
		if run.Shard, err = bench.ParseShard(o.Shard); err != nil {
			return fmt.Errorf("flag --shard: %w", err)
		}
	}
	if o.GrepMaxBytes < 1 || o.GrepMaxBytes > maxGrepBytes {
		return fmt.Errorf("flag --grep-max-bytes: got %d, want 1 to %d", o.GrepMaxBytes, maxGrepBytes)
	}
	g, err := o.Gate.open()
	if err != nil {
		return err
	}
	root, err := findRoot(o.Root)
	if err != nil {
		return err
	}
	g.root = root
	f, err := cases.Open(caseFile(o.Cases, root))
	if err != nil {
		return err
	}
	x, err := app.loadSearch(root, o.Index, o.Search)
	if err != nil {
		return err
	}
	set := engines.Options{Root: root, Files: x.files, Limit: o.Search.Limit, GrepMaxBytes: o.GrepMaxBytes,
		Ctxt: x.search, Hybrid: x.hybrid(o.GrepMaxBytes)}
	es, err := engines.New(o.Engines, set)
	if err != nil {
		return err
	}
	var done func()
	run.Progress, done = app.progressBar("bench")
	res, err := engines.Run(ctx, f, es, set, run)
	done()
	if err != nil {
		return err
	}
	if len(res.Errors) == 0 {
		if res.Gate, err = g.judge(res.Baseline()); err != nil {
			return err
		}
	}
	if err := app.print(res, o.JSON, func() string { return benchText(res, o.ByCategory) }); err != nil {
		return err
	}
	if err := failedEngines(res); err != nil {
		return err
	}
	return app.exit(res.Gate)
}

// failedEngines is the error of a run in which an engine could not answer something.
func failedEngines(res *bench.BenchResult) error {
	if n := len(res.Errors); n > 0 {
		e := res.Errors[0]
		more := ""
		if n > 1 {
			more = fmt.Sprintf(" (and %d more kinds of failure)", n-1)
		}
		return fmt.Errorf("engine %s failed on %d queries, the first is %q: %s%s", e.Engine, e.Queries, e.First, e.Message, more)
	}
	return nil
}

func benchText(r *bench.BenchResult, byCategory bool) string {
	var b strings.Builder
	s := r.Settings
	fmt.Fprintf(&b, "%d queries, %d indexed files, limit %d, %d runs after %d warm-ups\n", len(r.Results), s.Files, s.Limit, s.Runs, s.Warmup)
	if byCategory {
		for _, c := range r.Categories {
			fmt.Fprintf(&b, "\n%s\n", visible(c.Name))
			engineTable(&b, c.Engines)
		}
		b.WriteString("\nall\n")
	}
	engineTable(&b, r.Engines)
	for _, e := range r.Errors {
		fmt.Fprintf(&b, "failed: %s on %d queries, first %q: %s\n", visible(e.Engine), e.Queries, visible(e.First), visible(e.Message))
	}
	gateText(&b, r.Gate)
	return b.String()
}

func engineTable(b *strings.Builder, rows []bench.EngineScores) {
	fmt.Fprintf(b, "%-9s %7s %7s %8s %7s %7s %6s %7s %10s %10s\n", "engine", "queries", "failed", "success", "recall", "mrr", "paths", "tokens", "median", "p95")
	for _, e := range rows {
		fmt.Fprintf(b, "%-9s %7d %7d %8.3f %7.3f %7.3f %6.1f %7.1f %10s %10s\n", visible(e.Engine), e.Queries, e.Errors, e.Success, e.Recall, e.MRR,
			e.Returns, e.Tokens, milliseconds(e.Time.Median), milliseconds(e.Time.P95))
	}
}

func milliseconds(ns int64) string {
	return fmt.Sprintf("%.2f ms", float64(ns)/float64(time.Millisecond))
}
