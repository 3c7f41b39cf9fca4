package bench

import "slices"

// BenchResult is what `ctxt bench` writes: several engines on the same queries, the same files and
// the same limit. Version 2. Engines and Categories are a pure function of Settings and Results.
type BenchResult struct {
	Version     int              `json:"version"`
	Kind        string           `json:"kind"` // "bench"
	Shard       *ShardInfo       `json:"shard,omitempty"`
	Source      Source           `json:"source"`
	Settings    BenchSettings    `json:"settings"`
	Methodology []string         `json:"methodology"`
	Engines     []EngineScores   `json:"engines"`    // in the order of Settings.Engines
	Categories  []EngineCategory `json:"categories"` // in the order of the case file
	Results     []QueryResult    `json:"results"`    // in the order of the case file
	Errors      []EngineError    `json:"errors"`     // every kind of failure once, in the order of the results
	Gate        *Verdict         `json:"gate,omitempty"`
}

// EngineError is one way in which an engine failed.
type EngineError struct {
	Engine  string `json:"engine"`
	Message string `json:"message"`
	Queries int    `json:"queries"` // that failed so
	First   string `json:"first_query"`
}

// BenchSettings are the same for every engine and query.
type BenchSettings struct {
	Engines      []string `json:"engines"`
	Limit        int      `json:"limit"` // most paths of an answer
	MinScore     float64  `json:"min_score"`
	GrepMaxBytes int64    `json:"grep_max_bytes"` // larger files are not searched by content
	Runs         int      `json:"runs"`           // measured, of each query and engine
	Warmup       int      `json:"warmup"`         // not measured
	Files        int      `json:"files"`          // indexed files that all engines search
	FilesDigest  string   `json:"files_digest"`   // SHA-256 of their paths
}

// EngineScores sum up one engine.
type EngineScores struct {
	Engine  string  `json:"engine"`
	Queries int     `json:"queries"`
	Errors  int     `json:"errors"`        // queries that failed; they count as misses
	Success float64 `json:"query_success"` // share of queries with an expected path in the answer
	Recall  float64 `json:"document_recall"`
	MRR     float64 `json:"mrr"`         // says little for engines that return paths in alphabetical order
	Returns float64 `json:"paths_mean"`  // paths of an answer
	Tokens  float64 `json:"tokens_mean"` // estimated size of an answer as bare paths
	Time    Timing  `json:"time"`
}

// Timing sums up samples, in nanoseconds; all zero without samples.
type Timing struct {
	Samples int   `json:"samples"`
	Min     int64 `json:"min_ns"`
	Median  int64 `json:"median_ns"`
	P95     int64 `json:"p95_ns"`
	Max     int64 `json:"max_ns"`
}

// EngineCategory is one category's share of the summary.
type EngineCategory struct {
	Name    string         `json:"name"`
	Engines []EngineScores `json:"engines"`
}

// QueryResult is one query's answers.
type QueryResult struct {
	Category  string         `json:"category"`
	Query     string         `json:"query"`
	ExpectAny []string       `json:"expect_any"`
	Engines   []EngineAnswer `json:"engines"`
}

// EngineAnswer is what one engine returned for one query.
type EngineAnswer struct {
	Engine   string   `json:"engine"`
	Returned []string `json:"returned"`
	First    *int     `json:"first"`  // rank (from 1) of the first expected path
	Recall   float64  `json:"recall"` // share of the expected paths that were returned
	Tokens   int      `json:"tokens"`
	Samples  []int64  `json:"samples_ns"` // measured runs, in the order in which they ran
	Error    string   `json:"error,omitempty"`
}

// PathTokens estimates the tokens of paths, one a line: a token for every four bytes.
func PathTokens(paths []string) int {
	n := 0
	for _, p := range paths {
		n += len(p) + 1
	}
	return (n + 3) / 4
}

// Summarize computes the summaries from r.Settings and r.Results.
func (r *BenchResult) Summarize() {
	r.Version, r.Kind = 2, "bench"
	r.Errors, r.Categories = []EngineError{}, []EngineCategory{}
	groups := map[string][]*QueryResult{}
	all := make([]*QueryResult, len(r.Results))
	for i := range r.Results {
		q := &r.Results[i]
		all[i] = q
		if len(groups[q.Category]) == 0 {
			r.Categories = append(r.Categories, EngineCategory{Name: q.Category})
		}
		groups[q.Category] = append(groups[q.Category], q)
		for _, a := range q.Engines {
			r.addError(a, q.Query)
		}
	}
	for i := range r.Categories {
		r.Categories[i].Engines = engineScores(r.Settings.Engines, groups[r.Categories[i].Name])
	}
	r.Engines = engineScores(r.Settings.Engines, all)
}

func (r *BenchResult) addError(a EngineAnswer, query string) {
	if a.Error == "" {
		return
	}
	i := slices.IndexFunc(r.Errors, func(e EngineError) bool { return e.Engine == a.Engine && e.Message == a.Error })
	if i < 0 {
		i = len(r.Errors)
		r.Errors = append(r.Errors, EngineError{Engine: a.Engine, Message: a.Error, First: query})
	}
	r.Errors[i].Queries++
}

func engineScores(names []string, qs []*QueryResult) []EngineScores {
	out := make([]EngineScores, len(names))
	for i, name := range names {
		s := EngineScores{Engine: name}
		var samples []int64
		var returned, tokens int
		for _, q := range qs {
			for j := range q.Engines {
				a := &q.Engines[j]
				if a.Engine != name {
					continue
				}
				s.Queries++
				samples = append(samples, a.Samples...)
				returned += len(a.Returned)
				tokens += a.Tokens
				s.Recall += a.Recall
				if a.Error != "" {
					s.Errors++
				}
				if a.First != nil {
					s.Success++
					s.MRR += 1 / float64(*a.First)
				}
			}
		}
		s.Success, s.Recall, s.MRR = mean(s.Success, s.Queries), mean(s.Recall, s.Queries), mean(s.MRR, s.Queries)
		s.Returns, s.Tokens = mean(float64(returned), s.Queries), mean(float64(tokens), s.Queries)
		s.Time = timing(samples)
		out[i] = s
	}
	return out
}

// timing uses nearest-rank quantiles.
func timing(samples []int64) Timing {
	n := len(samples)
	if n == 0 {
		return Timing{}
	}
	s := slices.Clone(samples)
	slices.Sort(s)
	at := func(percent int) int64 { return s[max((n*percent+99)/100-1, 0)] }
	return Timing{Samples: n, Min: s[0], Median: at(50), P95: at(95), Max: s[n-1]}
}
