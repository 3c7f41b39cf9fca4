package job

import (
	"cmp"
	"context"
	"fmt"
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

// The files that gates read from the base commit unless the configuration names others.
const (
	casesFile    = ".ctxt/cases.json"
	baselineFile = ".ctxt/baseline.json"
	maxCases     = 4 << 20 // bytes
)

// gates judges the change by the base's evidence gates.
func (r *run) gates(ctx context.Context) error {
	g := r.config.Gates
	if !r.config.IsSet("gates.eval") {
		g.Eval.Mode = "" // the default mode applies where there are cases
	}
	if !r.config.IsSet("gates.bench") {
		g.Bench.Mode = ""
	}
	measured, err := r.measure(ctx, g.Eval)
	if err != nil {
		measured = &risk.Measured{Err: err, Command: evalCommand}
		if g.Eval.Mode == "" {
			r.out.Problems = append(r.out.Problems, report.Problem{Section: "eval", Message: err.Error()})
			measured = nil
		}
	}
	if measured != nil && g.Eval.Mode == "" {
		g.Eval.Mode = r.config.Gates.Eval.Mode // cases are there: the default mode judges them
	}
	in := risk.GateInput{
		Change:     risk.Change{Base: r.fork, Head: r.head, Files: r.diff, Commits: r.commits},
		Assessment: r.assessment, Eval: measured, ConfigErr: r.configErr,
	}
	if r.selected != nil {
		in.Intent = r.selected.Intent.Score
	} else {
		in.IntentErr = fmt.Errorf("the selection failed")
	}
	for _, o := range risk.Gates(gateOptions(g), in) {
		r.out.Gates = append(r.out.Gates, report.Gate{Name: o.Name, Mode: o.Mode, State: o.State, Metric: o.Metric, Value: o.Value,
			BaseValue: o.BaseValue, Bar: o.Bar, Tolerance: o.Tolerance, Detail: o.Detail, Command: o.Command})
	}
	return nil
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

const evalCommand = "ctxt eval --engine activate --cases .ctxt/cases.json --baseline .ctxt/baseline.json"

// measure runs the base's cases on the head and on the base. Without cases there is nothing to
// measure, and the result is nil.
func (r *run) measure(ctx context.Context, g config.EvalGate) (*risk.Measured, error) {
	name := cmp.Or(r.o.CasesFile, g.Cases, casesFile)
	data, err := r.baseFile(ctx, name, maxCases)
	if err != nil {
		return nil, fmt.Errorf("cases of the base commit: %w", err)
	}
	if data == nil {
		if r.o.CasesFile != "" || g.Mode != "" {
			return nil, fmt.Errorf("cases %s are not in the base commit %s", name, r.fork.Short())
		}
		return nil, nil
	}
	file, err := cases.Parse(name, data)
	if err != nil {
		return nil, err
	}
	baseline, err := r.baseline(ctx, g)
	if err != nil {
		return nil, err
	}
	m := &risk.Measured{Head: map[string]float64{}, Baseline: map[string]float64{}, Command: evalCommand}
	if m.Cases, err = r.measureTree(ctx, r.after, file, m.Head); err != nil {
		return nil, err
	}
	if r.before, err = r.engine.Snapshot(ctx, index.Tree(r.repo, r.fork)); err != nil {
		return nil, err
	}
	if m.BaseCases, err = r.measureTree(ctx, r.before, file, m.Baseline); err != nil {
		return nil, err
	}
	// The accepted measurement goes before the base's own: a decline in small steps must show.
	if baseline != nil {
		m.BaseCases = baseline.Cases
		for _, s := range baseline.Metrics {
			m.Baseline[baseline.Engine+" "+s.Name] = s.Value
		}
	}
	return m, nil
}

func (r *run) baseline(ctx context.Context, g config.EvalGate) (*bench.Baseline, error) {
	name := cmp.Or(r.o.BaselineFile, g.Baseline, baselineFile)
	data, err := r.baseFile(ctx, name, bench.MaxBaseline)
	if err != nil {
		return nil, fmt.Errorf("baseline of the base commit: %w", err)
	}
	if data == nil {
		if r.o.BaselineFile != "" {
			return nil, fmt.Errorf("baseline %s is not in the base commit %s", name, r.fork.Short())
		}
		return nil, nil
	}
	return bench.ParseBaseline(name, data)
}

// measureTree runs the cases on one tree, by the ranked search and by the selection.
func (r *run) measureTree(ctx context.Context, s *index.Snapshot, file *cases.File, into map[string]float64) (int, error) {
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
			return 0, err
		}
		n = res.Cases
		for _, m := range res.Metrics {
			into[e.name+" "+m.Name] = m.Value
		}
	}
	return n, nil
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
