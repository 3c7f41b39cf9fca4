// Package search ranks the files and folders of an index for a few words: the points table of
// search-hints.
//
//  1. Lower-case the query and split it into terms; leave low-signal words out; add each term's stem.
//  2. Give every node points: per term its strongest path match, its strongest synonym match and up
//     to three distinct symbols; once for the whole query when it is the file's name; and a bonus for
//     each further term that matches.
//  3. Sort by points, then path; cut where the points halve; cut at the limit.
//
// The command line, the watch daemon's endpoint and the MCP server all answer with Index.Search.
package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The types that a request may ask for.
const (
	Files = "files"
	Dirs  = "dirs"
	All   = "all"
)

// Limits of one request.
const (
	MaxQuery = 4096  // bytes
	MaxLimit = 10000 // results
	maxTerms = 64    // distinct terms; further ones are left out
)

// Request is one search. It is also the body of the watch daemon's POST /search.
type Request struct {
	Query      string  `json:"query"`
	Limit      int     `json:"limit"`       // results; 0: 10
	Type       string  `json:"type"`        // Files, Dirs or All; empty: All
	MinScore   float64 `json:"min_score"`   // results below it are left out; those without points always are
	Explain    bool    `json:"explain"`     // fill Result.Explain
	ShowTokens bool    `json:"show_tokens"` // fill Response.Tokens
	DirSummary bool    `json:"dir_summary"` // answer by folder: fill Response.Dirs instead of Results
	DirLimit   int     `json:"dir_limit"`   // folders; 0: 5
	DrillLimit int     `json:"drill_limit"` // results in a folder; 0: 3
}

// ResponseVersion is the version of Response.
const ResponseVersion = 1

// Where a response comes from.
const (
	Snapshot = "snapshot" // the index file
	Memory   = "memory"   // a running watch
)

// Response is the answer, as search-hints --json prints it and POST /search returns it.
type Response struct {
	Version   int         `json:"version"`
	Query     string      `json:"query"`
	Source    string      `json:"source"`
	Timestamp string      `json:"index_timestamp"` // RFC 3339
	Tokens    []string    `json:"tokens,omitempty"`
	Results   []Result    `json:"results"`
	Dirs      []DirResult `json:"directories,omitempty"`
	Omitted   int         `json:"omitted"` // matches cut off by the confidence gap and by the limit
	Warnings  []string    `json:"warnings,omitempty"`
}

// Result is one file or folder.
type Result struct {
	Path    string   `json:"path"` // project-relative, "/"
	Type    string   `json:"type"` // "file" or "directory"
	Score   float64  `json:"score"`
	Explain []Points `json:"explain,omitempty"` // adds up to Score
}

// DirResult is one folder of a directory summary.
type DirResult struct {
	Path    string   `json:"path"`
	Score   float64  `json:"score"`   // its own points and those of its three best files
	Matches int      `json:"matches"` // files directly in it that have points
	Top     []Result `json:"results"` // the best of them
}

// Points is one line of the explanation.
type Points struct {
	Matcher string  `json:"matcher"`
	Points  float64 `json:"points"`
	Match   string  `json:"match"`          // what was matched: a name, a synonym, a symbol
	Term    string  `json:"term,omitempty"` // the term of the query; empty for the whole query
}

func (p Points) String() string { return fmt.Sprintf("%s %+g: %s", p.Matcher, p.Points, p.Match) }

// withDefaults fills in defaults and refuses what cannot be meant.
func (r Request) withDefaults() (Request, error) {
	r.Limit = cmp.Or(r.Limit, 10)
	r.DirLimit = cmp.Or(r.DirLimit, 5)
	r.DrillLimit = cmp.Or(r.DrillLimit, 3)
	r.Type = cmp.Or(r.Type, All)
	switch {
	case strings.TrimSpace(r.Query) == "":
		return r, fmt.Errorf("the query is empty; give a few words, as in: ctxt search-hints \"update storage\"")
	case len(r.Query) > MaxQuery:
		return r, fmt.Errorf("the query has %d bytes; at most %d are searched for", len(r.Query), MaxQuery)
	case r.Type != Files && r.Type != Dirs && r.Type != All:
		return r, fmt.Errorf("type %q: want files, dirs or all", r.Type)
	case r.Limit < 1 || r.Limit > MaxLimit || r.DirLimit < 1 || r.DirLimit > MaxLimit || r.DrillLimit < 1 || r.DrillLimit > MaxLimit:
		return r, fmt.Errorf("a limit is out of range: want 1 to %d", MaxLimit)
	case !(r.MinScore >= 0 && r.MinScore <= 1e9):
		return r, fmt.Errorf("min-score %v: want 0 or more", r.MinScore)
	}
	return r, nil
}

// Search answers a request. An error means that the request is not well formed.
func (x *Index) Search(r Request) (*Response, error) { return x.SearchWith(r, nil) }

// SearchWith is Search with further results, such as those of Content: a path that has points of its
// own keeps them, another one enters when it passes the request's type and minimum score. They take
// no part in the confidence gap.
func (x *Index) SearchWith(r Request, more []Result) (*Response, error) {
	r, err := r.withDefaults()
	if err != nil {
		return nil, err
	}
	q := parseQuery(r.Query)
	res := &Response{Version: ResponseVersion, Query: r.Query, Source: Snapshot, Timestamp: x.timestamp, Results: []Result{}}
	if r.ShowTokens {
		res.Tokens = q.tokens()
	}
	ranked := x.rank(q, r)
	all := join(ranked, more, r)
	if r.DirSummary {
		res.Dirs = x.summarise(q, all, r)
		return res, nil
	}
	kept := join(ranked[:confident(ranked)], more, r)
	for _, h := range kept[:min(r.Limit, len(kept))] {
		res.Results = append(res.Results, h.result(q, r.Explain))
	}
	res.Omitted = len(all) - len(res.Results)
	return res, nil
}

// hit is a node with points.
type hit struct {
	node   *node // nil for a result from elsewhere
	path   string
	dir    bool
	score  float64
	exact  bool     // the whole query is its name, or a term is the name of one of its symbols
	points []Points // of a result from elsewhere
}

// result makes the public form; the points are computed again for the few that are shown.
func (h *hit) result(q query, explain bool) Result {
	r := Result{Path: h.path, Type: "file", Score: h.score}
	if h.dir {
		r.Type = "directory"
	}
	if explain {
		r.Explain = h.points
		if h.node != nil {
			_, r.Explain = h.node.score(q, nil)
		}
	}
	return r
}

// rank scores every node of the wanted type and sorts those with points.
func (x *Index) rank(q query, r Request) []hit {
	var hits []hit
	var scratch []Points
	for i := range x.nodes {
		n := &x.nodes[i]
		if r.Type == Files && n.dir || r.Type == Dirs && !n.dir {
			continue
		}
		var h hit
		if h, scratch = n.score(q, scratch[:0]); h.score > 0 && h.score >= r.MinScore {
			hits = append(hits, h)
		}
	}
	sortHits(hits)
	return hits
}

func sortHits(hits []hit) {
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.path, b.path))
	})
}

// minAlternatives is how many results a conceptual query keeps whatever the gap.
const minAlternatives = 3

// confident returns how many results to keep: those before the first one that has at most half the
// points of the one before it. An exact lookup may keep one; any other query keeps three.
func confident(hits []hit) int {
	cut := len(hits)
	for i := 1; i < len(hits); i++ {
		if hits[i].score*2 <= hits[i-1].score {
			cut = i
			break
		}
	}
	if cut < len(hits) && !hits[0].exact {
		cut = max(cut, min(minAlternatives, len(hits)))
	}
	return cut
}

// join adds results from elsewhere to hits.
func join(hits []hit, more []Result, r Request) []hit {
	if len(more) == 0 {
		return hits
	}
	have := make(map[string]bool, len(hits))
	for _, h := range hits {
		have[h.path] = true
	}
	out := slices.Clone(hits)
	for _, m := range more {
		dir := m.Type == "directory"
		if have[m.Path] || m.Score <= 0 || m.Score < r.MinScore || r.Type == Files && dir || r.Type == Dirs && !dir {
			continue
		}
		have[m.Path] = true
		out = append(out, hit{path: m.Path, dir: dir, score: m.Score, points: m.Explain})
	}
	sortHits(out)
	return out
}

// summarise groups hits by folder: the best folders first, each with its best files.
func (x *Index) summarise(q query, hits []hit, r Request) []DirResult {
	at := map[string]int{}
	var dirs []DirResult
	get := func(path string) *DirResult {
		i, ok := at[path]
		if !ok {
			i = len(dirs)
			at[path] = i
			dirs = append(dirs, DirResult{Path: path, Top: []Result{}})
		}
		return &dirs[i]
	}
	for i := range hits {
		h := &hits[i]
		if h.dir {
			get(h.path).Score += h.score
			continue
		}
		parent := "."
		if i := strings.LastIndexByte(h.path, '/'); i >= 0 {
			parent = h.path[:i]
		}
		d := get(parent)
		d.Matches++
		if d.Matches <= 3 {
			d.Score += h.score
		}
		if len(d.Top) < r.DrillLimit {
			d.Top = append(d.Top, h.result(q, r.Explain))
		}
	}
	slices.SortFunc(dirs, func(a, b DirResult) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Path, b.Path))
	})
	return dirs[:min(r.DirLimit, len(dirs))]
}
