package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/index/store"
)

// defaultBaseline is where --update-baseline writes when --baseline names no other file.
const defaultBaseline = ".ctxt/baseline.json"

// gateOptions are the flags of a gate over measurements.
type gateOptions struct {
	Baseline  string
	Update    bool
	Tolerance float64
	Mode      string
	Min       bench.Scores // bars that were given
}

// bar is a flag --min-… and its metric.
type bar struct{ flag, metric string }

// The bars of bench, and those of eval and report merge.
var (
	benchBars = []bar{{"min-success", "query_success"}, {"min-recall", "document_recall"}, {"min-mrr", "mrr"}}
	mergeBars = append(evalBars[:len(evalBars):len(evalBars)], benchBars[:2]...)
)

var evalBars = []bar{
	{"min-hit1", "hit_at_1"}, {"min-hit3", "hit_at_3"}, {"min-hit5", "hit_at_5"}, {"min-hit10", "hit_at_10"},
	{"min-mrr", "mrr"}, {"min-recall10", "recall_at_10"}, {"min-recall25", "recall_at_25"}, {"min-all10", "all_at_10"},
	{"min-bundle-recall", "bundle_recall"}, {"min-bundle-all", "bundle_all"}, {"min-hunk-recall", "hunk_recall"},
}

// gateFlags adds the flags of a gate; the returned function gives their values once they are parsed.
func gateFlags(cmd *cobra.Command, bars []bar) func() gateOptions {
	var o gateOptions
	f := cmd.Flags()
	f.StringVar(&o.Baseline, "baseline", "", "compare with this accepted measurement; exit code 3 when a metric is worse")
	f.BoolVar(&o.Update, "update-baseline", false, "write the measurement to --baseline (default "+defaultBaseline+") instead of comparing with it")
	f.Float64Var(&o.Tolerance, "tolerance", 0, "how much lower than the baseline a metric may be, as a difference in [0,1]")
	f.StringVar(&o.Mode, "mode", string(bench.Block), "observe, warn or block; observe and warn turn the exit codes 1 and 3 into 0, never 2")
	values := make([]float64, len(bars))
	for i, b := range bars {
		f.Float64Var(&values[i], b.flag, 0, "bar for "+b.metric+" in [0,1]; exit code 1 below it")
	}
	return func() gateOptions {
		for i, b := range bars {
			if f.Changed(b.flag) {
				o.Min = append(o.Min, bench.Score{Name: b.metric, Value: values[i]})
			}
		}
		return o
	}
}

// active reports whether anything is to be judged.
func (o gateOptions) active() bool { return o.Baseline != "" || o.Update || len(o.Min) > 0 }

// gate is an opened gate: its baseline is read before anything is measured.
type gate struct {
	gateOptions
	mode bench.Mode
	base *bench.Baseline // nil without a comparison
	root string          // folder of the default baseline
}

func (o gateOptions) open() (*gate, error) {
	mode, err := bench.ParseMode(o.Mode)
	if err != nil {
		return nil, fmt.Errorf("flag --mode: %w", err)
	}
	g := &gate{gateOptions: o, mode: mode}
	if o.Baseline == "" || o.Update {
		return g, nil
	}
	data, err := store.ReadFile(o.Baseline, bench.MaxBaseline)
	if err != nil {
		return nil, fmt.Errorf("baseline: %w; write one with --update-baseline", err)
	}
	if g.base, err = bench.ParseBaseline(o.Baseline, data); err != nil {
		return nil, err
	}
	return g, nil
}

// judge compares a measurement and, with --update-baseline, accepts it. It returns nil when nothing
// was asked for.
func (g *gate) judge(current *bench.Baseline) (*bench.Verdict, error) {
	if !g.active() {
		return nil, nil
	}
	v := bench.Compare(g.base, current, bench.GateOptions{Tolerance: g.Tolerance, Min: g.Min, Mode: g.mode})
	if !g.Update || v.State == bench.Failed {
		return &v, nil
	}
	file := g.Baseline
	if file == "" {
		file = filepath.Join(g.root, filepath.FromSlash(defaultBaseline))
	}
	data, err := bench.Encode(current)
	if err != nil {
		return nil, err
	}
	if err := store.WriteFile(file, data, 0o644); err != nil {
		return nil, err
	}
	v.Notes = append(v.Notes, "the measurement is the new baseline")
	return &v, nil
}

// exit is the error that carries a verdict's exit code; nil for 0. A gate in the mode warn says on
// standard error what it would have blocked.
func (app *App) exit(v *bench.Verdict) error {
	if v == nil || v.State == bench.Pass {
		return nil
	}
	if code := v.ExitCode(); code != 0 {
		return &ExitCode{Code: code, Msg: "gate: " + v.Reason}
	}
	if v.Mode == bench.Warn {
		fmt.Fprintln(app.Err, "ctxt: warning: gate: "+visible(v.Reason))
	}
	return nil
}

// gateText renders a verdict for people.
func gateText(b *strings.Builder, v *bench.Verdict) {
	if v == nil {
		return
	}
	fmt.Fprintf(b, "\ngate (%s): %s: %s\n", v.Mode, v.State, visible(v.Reason))
	number := func(p *float64) string {
		if p == nil {
			return "-"
		}
		return fmt.Sprintf("%.3f", *p)
	}
	head := false
	for _, d := range v.Metrics {
		if d.Base == nil && d.Bar == nil {
			continue
		}
		if !head {
			head = true
			fmt.Fprintf(b, "  %-16s %8s %8s %8s\n", "", "now", "baseline", "bar")
		}
		fmt.Fprintf(b, "  %-16s %8.3f %8s %8s  %s\n", visible(d.Name), d.Value, number(d.Base), number(d.Bar), d.State)
	}
	rank := func(p *int) string {
		if p == nil {
			return "not found"
		}
		return fmt.Sprintf("rank %d", *p)
	}
	for i, m := range v.Fell {
		if i == maxFell {
			fmt.Fprintf(b, "  … and %d more\n", len(v.Fell)-i)
			break
		}
		fmt.Fprintf(b, "  fell: %s: %s, was %s\n", visible(m.Case), rank(m.To), rank(m.From))
	}
	for _, n := range v.Notes {
		fmt.Fprintf(b, "  note: %s\n", visible(n))
	}
}

// maxFell caps the fallen cases that the text form lists; the JSON form has all.
const maxFell = 20
