package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// BaselineVersion is the only version of a baseline file that is read and written.
const BaselineVersion = 1

// MaxBaseline caps a baseline file, in bytes.
const MaxBaseline = 8 << 20

// Baseline is the accepted measurement that later ones are compared with. On disk it is a JSON
// object, version 1:
//
//	{
//	  "version": 1,
//	  "kind": "eval",          // or "replay" or "bench"
//	  "engine": "search",      // or "activate"; "ctxt" for bench
//	  "cases": 40,             // how many were measured, at least 1
//	  "cases_digest": "…",     // optional: SHA-256 of the cases
//	  "metrics": {"hit_at_1": 0.55, …},   // quality metrics only, each in [0,1], at least one
//	  "ranks": [{"case": "path-intent: auth middleware", "first": 1}, …]   // optional; null: not found
//	}
//
// Other members are refused, so that a misspelt one cannot disable a gate.
type Baseline struct {
	Version int        `json:"version"`
	Kind    string     `json:"kind"`
	Engine  string     `json:"engine"`
	Cases   int        `json:"cases"`
	Digest  string     `json:"cases_digest,omitempty"`
	Metrics Scores     `json:"metrics"`
	Ranks   []CaseRank `json:"ranks,omitempty"`
}

// CaseRank is the rank at which one case was answered.
type CaseRank struct {
	Case  string `json:"case"`
	First *int   `json:"first"`
}

// Baseline is r as a baseline.
func (r *EvalResult) Baseline() *Baseline {
	b := &Baseline{Kind: r.Kind, Engine: r.Engine, Cases: r.Cases, Digest: r.Source.Digest, Metrics: r.Metrics}
	for _, c := range r.Results {
		b.Ranks = append(b.Ranks, CaseRank{c.Category + ": " + c.Query, c.First})
	}
	return b.normal()
}

// Baseline is r as a baseline. It has no hunk_recall when there were no hunks to compare.
func (r *ReplayResult) Baseline() *Baseline {
	b := &Baseline{Kind: r.Kind, Engine: EngineActivate, Cases: r.Cases, Digest: r.Source.Digest, Metrics: r.Metrics.Scores()}
	if r.Hunked == 0 {
		b.Metrics = slices.DeleteFunc(b.Metrics, func(s Score) bool { return s.Name == "hunk_recall" })
	}
	for _, c := range r.Results {
		if c.Skipped == "" {
			b.Ranks = append(b.Ranks, CaseRank{c.SHA, c.First})
		}
	}
	return b.normal()
}

// Baseline is r's engine ctxt as a baseline; it has no cases when that engine was not measured or
// failed, and then nothing can be compared with it.
func (r *BenchResult) Baseline() *Baseline {
	b := &Baseline{Kind: r.Kind, Engine: EngineCtxt, Digest: r.Source.Digest}
	for _, e := range r.Engines {
		if e.Engine == EngineCtxt && e.Errors == 0 {
			b.Cases = e.Queries
			b.Metrics = Scores{{"query_success", e.Success}, {"document_recall", e.Recall}, {"mrr", e.MRR}}
		}
	}
	for _, q := range r.Results {
		for _, a := range q.Engines {
			if a.Engine == EngineCtxt {
				b.Ranks = append(b.Ranks, CaseRank{q.Category + ": " + q.Query, a.First})
			}
		}
	}
	return b.normal()
}

func (b *Baseline) normal() *Baseline {
	b.Version = BaselineVersion
	b.Metrics = slices.DeleteFunc(slices.Clone(b.Metrics), func(s Score) bool { return !slices.Contains(Quality, s.Name) })
	return b
}

// ParseBaseline reads a baseline file's content; name is used in errors only.
func ParseBaseline(name string, data []byte) (*Baseline, error) {
	b, err := parseBaseline(data)
	if err != nil {
		return nil, fmt.Errorf("baseline %s: %w; write a new one with --update-baseline", name, err)
	}
	return b, nil
}

func parseBaseline(data []byte) (*Baseline, error) {
	if len(data) > MaxBaseline {
		return nil, fmt.Errorf("larger than %d bytes", MaxBaseline)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("the file is empty")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var b Baseline
	if err := dec.Decode(&b); err != nil {
		return nil, fmt.Errorf("line %d: %w", lineOfError(data, err, dec.InputOffset()), err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("text after the end of the document")
	}
	return &b, b.check()
}

// lineOfError is the line on which decoding stopped, where that is known, else the line of offset.
func lineOfError(data []byte, err error, offset int64) int {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		offset = int64(len(data))
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte("\n"))
}

// check returns what keeps b from being compared with.
func (b *Baseline) check() error {
	switch {
	case b.Version != BaselineVersion:
		return fmt.Errorf("version %d, this program reads version %d", b.Version, BaselineVersion)
	case b.Kind != "eval" && b.Kind != "replay" && b.Kind != "bench":
		return fmt.Errorf("field \"kind\": got %q, want eval, replay or bench", b.Kind)
	case b.Engine != EngineSearch && b.Engine != EngineActivate && b.Engine != EngineCtxt:
		return fmt.Errorf("field \"engine\": got %q, want %s, %s or %s", b.Engine, EngineSearch, EngineActivate, EngineCtxt)
	case b.Cases < 1:
		return errors.New(`field "cases": no case was measured`)
	case len(b.Metrics) == 0:
		return errors.New(`field "metrics": holds no metric`)
	}
	for _, m := range b.Metrics {
		if !slices.Contains(Quality, m.Name) {
			return fmt.Errorf("field \"metrics\": %q is not a quality metric", m.Name)
		}
		if math.IsNaN(m.Value) || m.Value < 0 || m.Value > 1 {
			return fmt.Errorf("field \"metrics.%s\": %v is not in [0,1]", m.Name, m.Value)
		}
	}
	return nil
}
