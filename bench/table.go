package bench

// ReplayTable is what `ctxt bench replay` writes: one replay after another, and their mean. Version 2.
type ReplayTable struct {
	Version int         `json:"version"`
	Kind    string      `json:"kind"` // "replay-table"
	Files   []ReplayRow `json:"files"`
	// Mean is the mean over the files, each counting once however many cases it has.
	Mean Metrics `json:"mean"`
}

// ReplayRow is one replay file's measurement.
type ReplayRow struct {
	Name    string       `json:"name"` // the file's name without folder and extension
	Digest  string       `json:"digest"`
	Cases   int          `json:"cases"`
	Skipped int          `json:"skipped"`
	Failed  int          `json:"failed"`
	Metrics Metrics      `json:"metrics"`
	Results []ReplayCase `json:"results,omitempty"`
}

// Add appends a measurement; results says whether its cases are kept.
func (t *ReplayTable) Add(name string, r *ReplayResult, results bool) {
	row := ReplayRow{name, r.Source.Digest, r.Cases, r.Skipped, r.Failed, r.Metrics, nil}
	if results {
		row.Results = r.Results
	}
	t.Files = append(t.Files, row)
	t.Version, t.Kind = 2, "replay-table"
	var sum Metrics
	for _, f := range t.Files {
		sum.add(f.Metrics)
	}
	t.Mean = sum.over(len(t.Files))
}
