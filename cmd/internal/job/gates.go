package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/bench/cases"
	"github.com/ctxt-dev/ctxt/bench/eval"
	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
	"github.com/ctxt-dev/ctxt/report"
)

// maxCases caps a case file, in bytes.
const maxCases = 4 << 20

// gates judges the change by the base's evidence gates. A gate that the base's configuration does not
// name is off: what it would find, the risk signals say. Cases that are there are measured all the same.
func (r *run) gates(ctx context.Context) error {
	g := r.config.Gates
	if !r.config.IsSet("gates.intent") {
		g.Intent.Mode = ""
	}
	if !r.config.IsSet("gates.companions") {
		g.Companions.Mode = ""
	}
	if !r.config.IsSet("gates.control_plane") {
		g.ControlPlane.Mode = ""
	}
	if !r.config.IsSet("gates.bench") {
		g.Bench.Mode = ""
	}
	in := risk.GateInput{Change: r.subject, Assessment: r.assessment, ConfigErr: r.configErr}
	if r.selected != nil {
		in.Intent = r.selected.Intent.Score
	} else {
		in.IntentErr = errors.New("the selection failed")
	}
	if in.ConfigErr == nil {
		in.Eval = r.measured(ctx, &g.Eval)
		in.Bench = r.measured(ctx, &g.Bench)
	}
	for _, o := range risk.Gates(gateOptions(g), in) {
		r.out.Gates = append(r.out.Gates, report.Gate{Name: o.Name, Mode: o.Mode, State: o.State, Metric: o.Metric, Value: o.Value,
			BaseValue: o.BaseValue, Bar: o.Bar, Tolerance: o.Tolerance, Detail: o.Detail, Command: o.Command})
	}
	return ctx.Err()
}

func gateOptions(g config.Gates) risk.GateOptions {
	o := risk.GateOptions{
		Intent:       risk.IntentGate{Mode: string(g.Intent.Mode), MinScore: g.Intent.MinScore},
		Companions:   risk.CompanionsGate{Mode: string(g.Companions.Mode), MinJoint: g.Companions.MinJoint, MinConfidence: g.Companions.MinConfidence},
		Eval:         risk.MeasureGate{Mode: string(g.Eval.Mode), Tolerance: g.Eval.Tolerance, Min: g.Eval.Min},
		Bench:        risk.MeasureGate{Mode: string(g.Bench.Mode), Tolerance: g.Bench.Tolerance, Min: g.Bench.Min},
		ControlPlane: risk.ControlPlaneGate{Mode: string(g.ControlPlane.Mode), Paths: g.ControlPlane.Paths},
	}
	for _, t := range g.Tests {
		o.Tests = append(o.Tests, risk.TestsGate{Mode: string(t.Mode), Paths: t.Paths, Tests: t.Tests})
	}
	return o
}

// measured measures for a gate; nil, and the gate off, where the base holds no cases and asks for
// none. What cannot be measured is an error in the result: the gate fails closed.
func (r *run) measured(ctx context.Context, g *config.EvalGate) *risk.Measured {
	if g.Mode == "" {
		return nil
	}
	m, err := r.measure(ctx, g)
	if err != nil {
		m = &risk.Measured{Err: err}
	}
	if m == nil {
		g.Mode, g.Min = "", nil
		return nil
	}
	cases, baseline := r.measureFiles(g)
	m.Command = "ctxt eval --cases " + cases
	if len(m.Baseline) > 0 && plainArg().MatchString(baseline) {
		m.Command += " --baseline " + baseline
	}
	if !plainArg().MatchString(cases) {
		m.Command = ""
	}
	return m
}

// measureFiles are the files of the base that a gate measures by.
func (r *run) measureFiles(g *config.EvalGate) (cases, baseline string) {
	d := config.Default().Gates.Eval
	return cmp.Or(r.o.CasesFile, g.Cases, d.Cases), cmp.Or(r.o.BaselineFile, g.Baseline, d.Baseline)
}

// wanted reports whether somebody counts on a gate's measurement: a named file, a bar, or a mode that
// blocks. The defaults alone want nothing of a repository that holds no cases.
func (r *run) wanted(g *config.EvalGate) bool {
	d := config.Default().Gates.Eval
	return r.o.CasesFile != "" || r.o.BaselineFile != "" || g.Cases != d.Cases || g.Baseline != d.Baseline || len(g.Min) > 0 || g.Mode == config.Block
}

// measure runs the base's cases on the head and on the base; nil where there are none and none are wanted.
func (r *run) measure(ctx context.Context, g *config.EvalGate) (*risk.Measured, error) {
	name, baselineName := r.measureFiles(g)
	data, err := r.baseFile(ctx, name, maxCases)
	if err != nil {
		return nil, fmt.Errorf("cases of the base commit: %w", err)
	}
	baseline, err := r.baseline(ctx, baselineName)
	if err != nil {
		return nil, err
	}
	if data == nil {
		if baseline != nil || r.wanted(g) {
			return nil, fmt.Errorf("cases %s are not in the base commit %s", name, r.fork.Short())
		}
		return nil, nil
	}
	file, err := cases.Parse(name, data)
	if err != nil {
		return nil, err
	}
	m := &risk.Measured{}
	if m.Head, m.Cases, err = r.measureTree(ctx, r.after, file); err != nil {
		return nil, err
	}
	// The accepted measurement goes before the base's own: a decline in small steps must show.
	if baseline != nil {
		m.BaseCases, m.Baseline = baseline.Cases, map[string]float64{}
		for _, s := range baseline.Metrics {
			m.Baseline[baseline.Engine+" "+s.Name] = s.Value
		}
	} else {
		if r.before == nil {
			if r.before, err = r.engine.Snapshot(ctx, index.Tree(r.repo, r.fork)); err != nil {
				return nil, err
			}
		}
		own, n, err := r.measureTree(ctx, r.before, file)
		if err != nil {
			return nil, err
		}
		m.BaseCases, m.Baseline = n, map[string]float64{}
		for _, k := range headlines {
			m.Baseline[k] = own[k]
		}
	}
	g.Min = qualified(g.Min, m.Head, baseline)
	return m, nil
}

// headlines are the metrics that are compared with the base where no baseline says which.
var headlines = []string{bench.EngineSearch + " hit_at_5", bench.EngineActivate + " recall_at_10"}

// qualified puts the engine before the names of bars: that of the baseline, else the search, which is
// what ctxt eval measures, else the one that has such a metric.
func qualified(bars, measured map[string]float64, baseline *bench.Baseline) map[string]float64 {
	engines := []string{bench.EngineSearch, bench.EngineActivate}
	if baseline != nil {
		engines = append([]string{baseline.Engine}, engines...)
	}
	out := make(map[string]float64, len(bars))
	for name, bar := range bars {
		full := name
		for _, e := range engines {
			if _, ok := measured[e+" "+name]; ok {
				full = e + " " + name
				break
			}
		}
		out[full] = bar
	}
	return out
}

// baseline reads the accepted measurement of the base; nil when there is none.
func (r *run) baseline(ctx context.Context, name string) (*bench.Baseline, error) {
	data, err := r.baseFile(ctx, name, bench.MaxBaseline)
	switch {
	case err != nil:
		return nil, fmt.Errorf("baseline of the base commit: %w", err)
	case data == nil && r.o.BaselineFile != "":
		return nil, fmt.Errorf("baseline %s is not in the base commit %s", name, r.fork.Short())
	case data == nil:
		return nil, nil
	}
	b, err := bench.ParseBaseline(name, data)
	if err != nil {
		return nil, err
	}
	if b.Kind != "eval" {
		return nil, fmt.Errorf("baseline %s is of %s, and the gate measures a case file; write one with ctxt eval --update-baseline", name, b.Kind)
	}
	return b, nil
}

// measureTree runs the cases on one tree, by the ranked search and by the selection.
func (r *run) measureTree(ctx context.Context, s *index.Snapshot, file *cases.File) (map[string]float64, int, error) {
	into := map[string]float64{}
	exists := func(p string) bool { _, ok := s.Find(p); return ok }
	o := eval.CaseOptions{Exists: exists}
	for _, d := range r.diff {
		if d.Status == git.Renamed && s == r.after {
			o.Renames = append(o.Renames, bench.Rename{From: d.OldPath, To: d.Path})
		}
	}
	prepared := search.Prepare(searchIndex(s))
	engines := []struct {
		name string
		ask  eval.Engine
	}{
		{bench.EngineSearch, func(_ context.Context, query string) (eval.Selection, error) {
			res, err := prepared.Search(search.Request{Query: query, Type: search.Files, Limit: 10})
			if err != nil {
				return eval.Selection{}, err
			}
			var out eval.Selection
			for _, x := range res.Results {
				out.Ranked = append(out.Ranked, x.Path)
			}
			return out, nil
		}},
		{bench.EngineActivate, func(ctx context.Context, query string) (eval.Selection, error) {
			q := queryOf(r.config, r.pick())
			q.Title = query
			sel, err := r.engine.Select(ctx, s, r.past, q)
			if err != nil {
				return eval.Selection{}, err
			}
			return Selection(sel), nil
		}},
	}
	n := 0
	for _, e := range engines {
		res, err := eval.Cases(ctx, file, e.name, e.ask, o)
		if err != nil {
			return nil, 0, err
		}
		n = res.Cases
		for _, m := range res.Metrics {
			if slices.Contains(bench.Quality, m.Name) {
				into[e.name+" "+m.Name] = m.Value
			}
		}
	}
	return into, n, nil
}

// rankedKept is how much of a ranking a measurement reads.
const rankedKept = 100

// Selection reduces a selection to what the measurements read.
func Selection(s *Selected) eval.Selection {
	out := eval.Selection{Tokens: s.Bundle.Used.Tokens}
	for _, i := range s.Ranking.Order[:min(len(s.Ranking.Order), rankedKept)] {
		out.Ranked = append(out.Ranked, s.Snapshot.Files[i].Path)
	}
	for _, f := range s.Bundle.Files {
		file := eval.SelectedFile{Path: f.Path}
		for _, r := range f.Regions {
			file.Regions = append(file.Regions, [2]int{r.Start, r.End})
		}
		out.Files = append(out.Files, file)
	}
	return out
}

// searchIndex is the index that init would make of the tree, without synonyms.
func searchIndex(s *index.Snapshot) *store.Index {
	x := store.New("", time.Unix(0, 0).UTC())
	for i := range s.Files {
		f := &s.Files[i]
		n := &store.Node{FullPath: f.Path, Type: store.TypeFile, Size: f.Size}
		seen := make(map[string]bool, len(f.Doc.Symbols))
		for _, sym := range f.Doc.Symbols {
			if sym.Kind != symbols.Property && !seen[sym.Name] {
				seen[sym.Name] = true
				n.Symbols = append(n.Symbols, sym.Name)
			}
		}
		x.Put(n)
	}
	return x
}
