package engines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/bench/cases"
)

// RunOptions say how often each query is asked.
type RunOptions struct {
	Runs     int // measured, at least 1
	Warmup   int // not measured, 0 or more
	MinScore float64
	Shard    bench.Shard
	Progress func(done, total int)
}

// maxRuns caps the runs of one query, and the warm-ups.
const maxRuns = 10_000

// Methodology says, for the report, what was measured.
var Methodology = []string{
	"every engine answers from the same indexed files and returns at most the same number of paths",
	"answers are compared as exact, case-sensitive paths relative to the project's root",
	"ctxt and hybrid rank by relevance; the other engines return paths in alphabetical order, so ranks say little for them",
	"find and fd look for any word of the query in file names, grep and rg in contents; words are plain text, without regard to case, common words left out",
	"query_success is the share of queries with an expected path in the answer; document_recall is the mean share of a query's expected paths in its answer",
	"tokens estimate the answer as bare paths, one token for every four bytes",
	"samples are wall-clock times of whole answers, one after another: programs are started anew each time, ctxt and hybrid search an index that is loaded before",
	"queries that fail count as misses and have no samples",
}

// Run asks every engine every query of its part, one after another. A failed query is in the
// result; an error means that the run was cut short.
func Run(ctx context.Context, f *cases.File, engines []*Engine, set Options, o RunOptions) (*bench.BenchResult, error) {
	if o.Runs < 1 || o.Runs > maxRuns || o.Warmup < 0 || o.Warmup > maxRuns {
		return nil, fmt.Errorf("%d runs and %d warm-ups: want 1 to %d runs and 0 to %d warm-ups", o.Runs, o.Warmup, maxRuns, maxRuns)
	}
	all := f.Items()
	res := &bench.BenchResult{Shard: o.Shard.Info(len(all)), Methodology: Methodology, Results: []bench.QueryResult{}}
	var err error
	if res.Source.Digest, err = digest(all); err != nil {
		return nil, err
	}
	res.Settings = bench.BenchSettings{Limit: set.Limit, MinScore: o.MinScore, GrepMaxBytes: set.GrepMaxBytes,
		Runs: o.Runs, Warmup: o.Warmup, Files: len(set.Files)}
	files := slices.Sorted(slices.Values(set.Files))
	if res.Settings.FilesDigest, err = digest(files); err != nil {
		return nil, err
	}
	for _, e := range engines {
		res.Settings.Engines = append(res.Settings.Engines, e.Name)
	}
	for i, c := range all {
		if !o.Shard.Holds(i) {
			continue
		}
		q := bench.QueryResult{Category: c.Category, Query: c.Query, ExpectAny: c.ExpectAny, Engines: []bench.EngineAnswer{}}
		for _, e := range engines {
			q.Engines = append(q.Engines, measure(ctx, e, c, o))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		res.Results = append(res.Results, q)
		if o.Progress != nil {
			o.Progress(i+1, len(all))
		}
	}
	res.Summarize()
	return res, nil
}

func digest(v any) (string, error) {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(v); err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

var errUnsteady = errors.New("two runs of the same query gave different answers")

func measure(ctx context.Context, e *Engine, c cases.Item, o RunOptions) bench.EngineAnswer {
	a := bench.EngineAnswer{Engine: e.Name, Returned: []string{}, Samples: []int64{}}
	var answer []string
	for run := range o.Warmup + o.Runs {
		start := time.Now()
		got, err := e.Ask(ctx, c.Query)
		took := time.Since(start).Nanoseconds()
		if err == nil && run > 0 && !slices.Equal(got, answer) {
			err = errUnsteady
		}
		if err != nil {
			a.Error, a.Samples = err.Error(), []int64{}
			return a
		}
		if answer = got; run >= o.Warmup {
			a.Samples = append(a.Samples, max(took, 0))
		}
	}
	for _, p := range answer {
		a.Returned = append(a.Returned, strings.ToValidUTF8(p, "\uFFFD"))
	}
	a.First = bench.FirstRank(c.ExpectAny, a.Returned)
	a.Recall = bench.Recall(c.ExpectAny, a.Returned, len(a.Returned))
	a.Tokens = bench.PathTokens(a.Returned)
	return a
}
