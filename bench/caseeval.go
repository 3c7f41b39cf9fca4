package bench

// What a measurement was made with.
const (
	EngineSearch   = "search"   // the ranked search
	EngineActivate = "activate" // the selection
	EngineCtxt     = "ctxt"     // the ranked search as an engine of bench
)

// EvalResult is what `ctxt eval` writes for a case file. Version 2.
//
// Metrics and Categories are a pure function of Engine and Results: see Summarize.
type EvalResult struct {
	Version    int              `json:"version"`
	Kind       string           `json:"kind"`   // "eval"
	Engine     string           `json:"engine"` // EngineSearch or EngineActivate
	Shard      *ShardInfo       `json:"shard,omitempty"`
	Source     Source           `json:"source"`
	Cases      int              `json:"cases"`
	Failed     int              `json:"failed"` // measured as a miss because the engine failed
	Metrics    Scores           `json:"metrics"`
	Categories []CategoryScores `json:"categories"` // in the order of the case file
	Results    []CaseResult     `json:"results"`    // in the order of the case file
	Gate       *Verdict         `json:"gate,omitempty"`
}

// CategoryScores are the metrics of one category.
type CategoryScores struct {
	Name    string `json:"name"`
	Cases   int    `json:"cases"`
	Metrics Scores `json:"metrics"`
}

// CaseResult is the result of one query.
type CaseResult struct {
	Category  string   `json:"category"`
	Query     string   `json:"query"`
	ExpectAny []string `json:"expect_any"`
	Returned  []string `json:"returned"`                   // the first paths of the answer, at most RankedKept
	First     *int     `json:"first"`                      // rank (from 1) of the first expected path; null when it was not returned
	Bundle    []string `json:"bundle,omitempty"`           // EngineActivate: paths with at least one code region
	PathOnly  []string `json:"bundle_path_only,omitempty"` // EngineActivate: paths that the bundle only names
	Tokens    int      `json:"bundle_tokens,omitempty"`    // EngineActivate: of the bundle
	Renamed   []Rename `json:"renamed,omitempty"`          // expected paths that the change renamed; the new path counted as the expected one
	Absent    []string `json:"absent,omitempty"`           // expected paths that do not exist in what was searched
	Error     string   `json:"error,omitempty"`            // why the engine failed
}

// Rename is a path that a change gave another name.
type Rename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Expected is the expected paths with renames applied.
func (c *CaseResult) Expected() []string {
	out := append([]string(nil), c.ExpectAny...)
	for i, p := range out {
		for _, r := range c.Renamed {
			if p == r.From {
				out[i] = r.To
			}
		}
	}
	return out
}

// Summarize computes counts, metrics and categories from r.Results. A failed case is a miss.
func (r *EvalResult) Summarize() {
	r.Version, r.Kind, r.Cases, r.Failed = 2, "eval", len(r.Results), 0
	r.Categories = []CategoryScores{}
	groups := map[string][]*CaseResult{}
	all := make([]*CaseResult, len(r.Results))
	for i := range r.Results {
		c := &r.Results[i]
		if c.Error != "" {
			r.Failed++
		}
		if len(groups[c.Category]) == 0 {
			r.Categories = append(r.Categories, CategoryScores{Name: c.Category})
		}
		groups[c.Category] = append(groups[c.Category], c)
		all[i] = c
	}
	for i := range r.Categories {
		c := &r.Categories[i]
		c.Cases = len(groups[c.Name])
		c.Metrics = caseScores(r.Engine, groups[c.Name])
	}
	r.Metrics = caseScores(r.Engine, all)
}

func caseScores(engine string, cs []*CaseResult) Scores {
	var hit1, hit3, hit5 float64
	var m Metrics
	for _, c := range cs {
		if c.First != nil {
			hit3 += one(*c.First <= 3)
		}
		as := ReplayCase{Gold: c.Expected(), Ranked: c.Returned, Bundle: c.Bundle, PathOnly: c.PathOnly, First: c.First, Tokens: c.Tokens}
		as.addTo(&m)
	}
	m = m.over(len(cs))
	hit1, hit3, hit5 = m.Hit1, mean(hit3, len(cs)), m.Hit5
	s := Scores{{"hit_at_1", hit1}, {"hit_at_3", hit3}, {"hit_at_5", hit5}}
	if engine == EngineSearch {
		return append(s, Score{"mrr", m.MRR})
	}
	for _, v := range m.Scores()[2:] { // after hit_at_1 and hit_at_5
		if v.Name != "hunk_recall" { // a query has no hunks
			s = append(s, v)
		}
	}
	return s
}
