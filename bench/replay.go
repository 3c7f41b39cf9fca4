package bench

// RankedKept is how many ranked paths a result lists.
const RankedKept = 25

// ReplayResult is what `ctxt eval --replay` and `--from-history` write. Version 2.
//
// Metrics are a pure function of Results, so a reader can recompute them: see Summarize.
type ReplayResult struct {
	Version int          `json:"version"`
	Kind    string       `json:"kind"`            // "replay"
	Shard   *ShardInfo   `json:"shard,omitempty"` // set when this is one part of a run
	Source  Source       `json:"source"`
	Cases   int          `json:"cases"`   // measured; the metrics' denominator
	Skipped int          `json:"skipped"` // not measurable here, each with its reason in Results
	Failed  int          `json:"failed"`  // measured as a miss because the selector failed
	Hunked  int          `json:"hunked"`  // cases that have a hunk to compare; HunkRec's denominator
	Metrics Metrics      `json:"metrics"`
	Results []ReplayCase `json:"results"` // in the order of the cases, whatever ran first
	Gate    *Verdict     `json:"gate,omitempty"`
}

// Source names the cases that a result measures.
type Source struct {
	Digest string  `json:"digest"` // SHA-256 of the cases, so that parts of different runs never join
	Mining *Mining `json:"mining,omitempty"`
}

// Mining says by which rules cases were taken from history, and how many changes each rule left out.
type Mining struct {
	Tip     string      `json:"tip"`     // commit that the walk began at
	Read    int         `json:"read"`    // changes on the first-parent line that were looked at
	Usable  int         `json:"usable"`  // that fit all rules: the cases; reading stops when there are enough
	Shallow bool        `json:"shallow"` // history ended at a shallow boundary
	Rules   []RuleCount `json:"rules"`   // in the order in which they were applied
}

// RuleCount is one rule of mining and how many changes it was the first to leave out.
type RuleCount struct {
	Rule    string `json:"rule"`
	LeftOut int    `json:"left_out"`
}

// ReplayCase is the result of one replayed change.
type ReplayCase struct {
	SHA      string   `json:"sha"`
	Title    string   `json:"title"`
	Gold     []string `json:"gold"`
	Ranked   []string `json:"ranked"`                     // the first RankedKept paths of the ranking
	Bundle   []string `json:"bundle"`                     // paths with at least one code region
	PathOnly []string `json:"bundle_path_only,omitempty"` // paths that the bundle only names
	First    *int     `json:"first"`                      // rank (from 1) of the first gold file, also behind RankedKept; null when it is not ranked
	Hunks    Hunks    `json:"hunks"`
	Tokens   int      `json:"bundle_tokens"`
	Skipped  string   `json:"skipped,omitempty"` // why the case could not be measured
	Error    string   `json:"error,omitempty"`   // why the selector failed
}

// Hunks counts the old-side hunks of a change's gold files.
type Hunks struct {
	Met   int `json:"met"` // whose lines meet a region of the bundle
	Total int `json:"total"`
	// Fault says why the change could not be compared with its base, for example because its
	// content is not in a partial clone.
	Fault string `json:"fault,omitempty"`
}

// Summarize computes counts and metrics from r.Results.
//
// A metric is the mean over the cases that were not skipped; HunkRec is the mean over those of
// them that have a hunk to meet. A failed case counts as a miss in everything.
func (r *ReplayResult) Summarize() {
	r.Version, r.Kind = 2, "replay"
	r.Cases, r.Skipped, r.Failed = 0, 0, 0
	var m Metrics
	r.Hunked = 0
	for i := range r.Results {
		c := &r.Results[i]
		if c.Skipped != "" {
			r.Skipped++
			continue
		}
		r.Cases++
		if c.Error != "" {
			r.Failed++
		}
		c.addTo(&m)
		if c.Hunks.Total > 0 {
			r.Hunked++
			m.HunkRec += float64(c.Hunks.Met) / float64(c.Hunks.Total)
		}
	}
	hunks := mean(m.HunkRec, r.Hunked)
	r.Metrics = m.over(r.Cases)
	r.Metrics.HunkRec = hunks
}

// fields are m's values, in one order.
func (m *Metrics) fields() []*float64 {
	return []*float64{&m.Hit1, &m.Hit5, &m.Hit10, &m.MRR, &m.Recall10, &m.Recall25, &m.All10,
		&m.BundleRec, &m.BundleAll, &m.HunkRec, &m.TokensMean, &m.BundleFiles}
}

func (m *Metrics) add(more Metrics) {
	from := more.fields()
	for i, v := range m.fields() {
		*v += *from[i]
	}
}

// over divides sums by a number of cases.
func (m Metrics) over(n int) Metrics {
	for _, v := range m.fields() {
		*v = mean(*v, n)
	}
	return m
}

func (c *ReplayCase) addTo(m *Metrics) {
	if c.First != nil {
		m.Hit1 += one(*c.First <= 1)
		m.Hit5 += one(*c.First <= 5)
		m.Hit10 += one(*c.First <= 10)
		m.MRR += 1 / float64(*c.First)
	}
	r10 := Recall(c.Gold, c.Ranked, 10)
	m.Recall10 += r10
	m.Recall25 += Recall(c.Gold, c.Ranked, 25)
	m.All10 += one(r10 == 1)
	rb := Recall(c.Gold, c.Bundle, len(c.Bundle))
	m.BundleRec += rb
	m.BundleAll += one(rb == 1)
	m.TokensMean += float64(c.Tokens)
	m.BundleFiles += float64(len(c.Bundle) + len(c.PathOnly))
}

// Recall is the share of distinct gold paths among the first k of got, in [0,1]; 0 without gold.
func Recall(gold, got []string, k int) float64 {
	want := make(map[string]bool, len(gold))
	for _, g := range gold {
		want[g] = true
	}
	n, found := len(want), 0
	for _, p := range got[:min(k, len(got))] {
		if want[p] {
			found++
			delete(want, p)
		}
	}
	return mean(float64(found), n)
}

// FirstRank is the rank, from 1, of the first of ranked that is gold; nil when there is none.
func FirstRank(gold, ranked []string) *int {
	want := make(map[string]bool, len(gold))
	for _, g := range gold {
		want[g] = true
	}
	for i, p := range ranked {
		if want[p] {
			rank := i + 1
			return &rank
		}
	}
	return nil
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func mean(sum float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
