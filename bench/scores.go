package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Score is one named metric.
type Score struct {
	Name  string
	Value float64
}

// Scores are metrics in a fixed order; in JSON they are one object in that order.
type Scores []Score

// Get returns the metric of that name.
func (s Scores) Get(name string) (float64, bool) {
	for _, v := range s {
		if v.Name == name {
			return v.Value, true
		}
	}
	return 0, false
}

// MarshalJSON writes an object; a value that is not a finite number is an error.
func (s Scores) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, v := range s {
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			return nil, fmt.Errorf("metric %s is not a finite number", v.Name)
		}
		name, err := json.Marshal(v.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(v.Value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object of numbers, keeping its order.
func (s *Scores) UnmarshalJSON(data []byte) error {
	*s = nil
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return fmt.Errorf("metrics: want an object of numbers")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		var v *float64
		if err := dec.Decode(&v); err != nil {
			return fmt.Errorf("metric %q: %w", name, err)
		}
		if v == nil {
			return fmt.Errorf("metric %q: want a number, got null", name)
		}
		if _, doubled := s.Get(name.(string)); doubled {
			return fmt.Errorf("metric %q appears twice", name)
		}
		if *s = append(*s, Score{name.(string), *v}); len(*s) > maxScores {
			return fmt.Errorf("metrics: more than %d", maxScores)
		}
	}
	return nil
}

// maxScores caps what is read; no result has as many.
const maxScores = 100

// Scores are the metrics by name, in the order of the JSON form.
func (m Metrics) Scores() Scores {
	return Scores{
		{"hit_at_1", m.Hit1}, {"hit_at_5", m.Hit5}, {"hit_at_10", m.Hit10}, {"mrr", m.MRR},
		{"recall_at_10", m.Recall10}, {"recall_at_25", m.Recall25}, {"all_at_10", m.All10},
		{"bundle_recall", m.BundleRec}, {"bundle_all", m.BundleAll}, {"hunk_recall", m.HunkRec},
		{"bundle_tokens_mean", m.TokensMean}, {"bundle_files_mean", m.BundleFiles},
	}
}

// Quality names the metrics that can gate: in [0,1], more is better. Sizes and times never gate.
var Quality = []string{"hit_at_1", "hit_at_3", "hit_at_5", "hit_at_10", "mrr", "recall_at_10", "recall_at_25",
	"all_at_10", "bundle_recall", "bundle_all", "hunk_recall", "query_success", "document_recall"}

// ScoresOf is a map's metrics, sorted by name; it turns configured bars into GateOptions.Min.
func ScoresOf(m map[string]float64) Scores {
	var s Scores
	for _, name := range slices.Sorted(maps.Keys(m)) {
		s = append(s, Score{name, m[name]})
	}
	return s
}
