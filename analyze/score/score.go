// Package score ranks the files of a snapshot for a task by six named signals.
package score

// Signal names one of the six.
type Signal int

// The six signals, in the order in which they are shown.
const (
	Keyword Signal = iota
	Centrality
	Churn
	Recent
	TestProximity
	Shadow
	numSignals
)

// NumSignals is how many signals there are.
const NumSignals = int(numSignals)

// String is the signal's name in configuration and output.
func (s Signal) String() string {
	return [...]string{"keyword", "centrality", "churn", "recent_touch", "test_proximity", "shadow_affinity"}[s]
}

// Part is one signal's share of a file's score: Contribution = Weight × Raw.
type Part struct {
	Signal       string     `json:"signal"`
	Raw          float64    `json:"raw"`    // in [0,1]
	Weight       float64    `json:"weight"` // normalised: the weights of one ranking sum to 1
	Contribution float64    `json:"contribution"`
	Evidence     []Evidence `json:"evidence,omitempty"` // strongest first
}

// Evidence is one reason behind a signal, in words and as a share of the signal's raw value.
type Evidence struct {
	Kind  string  `json:"kind"`  // content, path, name, definition, message, mention, import, commit, partner, test …
	Text  string  `json:"text"`  // plain text; may hold repository content: escape it
	Share float64 `json:"share"` // part of Raw
}

// Scored is one file's place in the ranking.
type Scored struct {
	File  int     `json:"-"` // id in the snapshot
	Path  string  `json:"path"`
	Rank  int     `json:"rank"`  // 1-based
	Score float64 `json:"score"` // sum of the parts' contributions
	Parts []Part  `json:"parts"` // in the order of the signals
}
