package eval

import (
	"context"
	"strings"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/bench/cases"
)

// Engine answers a query. The ranked search fills Ranked only. It must be safe for concurrent use.
type Engine func(ctx context.Context, query string) (Selection, error)

// CaseOptions of a run over a case file.
type CaseOptions struct {
	Options
	// Exists reports whether a path is in what is searched; nil when that is not known.
	Exists func(path string) bool
	// Renames are what the measured change renamed: an expected path that is gone and that a rename
	// moved counts as found under its new path, and the result says so.
	Renames []bench.Rename
}

// Cases asks an engine every query of a case file. name is bench.EngineSearch or
// bench.EngineActivate. Results are in the order of the file and do not depend on o.Jobs; a query
// that fails counts as a miss and says why. An error means that the run was cut short.
func Cases(ctx context.Context, f *cases.File, name string, ask Engine, o CaseOptions) (*bench.EvalResult, error) {
	all := f.Items()
	digest, err := Digest(all)
	if err != nil {
		return nil, err
	}
	mine := make([]cases.Item, 0, len(all))
	for i, c := range all {
		if o.Shard.Holds(i) {
			mine = append(mine, c)
		}
	}
	res := &bench.EvalResult{
		Engine:  name,
		Source:  bench.Source{Digest: digest},
		Shard:   o.Shard.Info(len(all)),
		Results: make([]bench.CaseResult, len(mine)),
	}
	err = each(ctx, len(mine), o.Options, func(i int) { res.Results[i] = askOne(ctx, mine[i], ask, o) })
	if err != nil {
		return nil, err
	}
	res.Summarize()
	return res, nil
}

func askOne(ctx context.Context, c cases.Item, ask Engine, o CaseOptions) bench.CaseResult {
	out := bench.CaseResult{Category: c.Category, Query: c.Query, ExpectAny: c.ExpectAny, Returned: []string{}}
	if o.Exists != nil {
		moved := make(map[string]string, len(o.Renames))
		for _, r := range o.Renames {
			moved[strings.ToValidUTF8(r.From, "\uFFFD")] = strings.ToValidUTF8(r.To, "\uFFFD")
		}
		for _, p := range c.ExpectAny {
			if o.Exists(p) {
				continue
			}
			if to, ok := moved[p]; ok && o.Exists(to) {
				out.Renamed = append(out.Renamed, bench.Rename{From: p, To: to})
			} else {
				out.Absent = append(out.Absent, p)
			}
		}
	}
	got, err := ask(ctx, c.Query)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	clean(&got)
	out.Returned = append(out.Returned, got.Ranked[:min(bench.RankedKept, len(got.Ranked))]...)
	out.First = bench.FirstRank(out.Expected(), got.Ranked)
	out.Tokens = got.Tokens
	for _, f := range got.Files {
		if len(f.Regions) > 0 {
			out.Bundle = append(out.Bundle, f.Path)
		} else {
			out.PathOnly = append(out.PathOnly, f.Path)
		}
	}
	return out
}
