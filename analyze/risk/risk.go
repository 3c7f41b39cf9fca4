// Package risk assesses a change against the repository's own past: signals, bands, evidence gates.
package risk

import (
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
)

// Change is what is assessed.
type Change struct {
	Base, Head git.Hash
	Author     string         // name; empty when unknown
	Email      string         // lower case
	Login      string         // on the platform ("dependabot[bot]"); empty when unknown
	Files      []git.FileDiff // base → head, sorted by path
	Commits    int            // in base..head
	// ByOthers counts the commits in base..head that another than Author wrote, and OnOthers those that
	// another branch holds already; both say whether the base is the right one.
	ByOthers int
	OnOthers int
}

// Input is everything that the signals read. Only History up to Base is used.
type Input struct {
	Change   Change
	Title    string
	Body     string
	Head     *index.Snapshot  // the tree after the change
	History  *history.History // of Base
	Unscoped []string         // changed files that the task text does not reach, best first
	Intent   string           // level of the intent check
}

// Level grades a signal.
type Level string

// The levels. Info never raises the band.
const (
	Info   Level = "info"
	Low    Level = "low"
	Medium Level = "medium"
	High   Level = "high"
)

// Number is one figure behind a signal.
type Number struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"` // lines, files, commits, percentile, share …
}

// Signal is one finding.
type Signal struct {
	Name    string   `json:"name"` // size, companions, hotspots, sensitive, reach, tests, ownership, control-plane, scope
	Title   string   `json:"title"`
	Level   Level    `json:"level"`
	Why     string   `json:"why"` // one sentence of plain text with the figures; may quote paths: escape it
	Numbers []Number `json:"numbers"`
	Files   []string `json:"files,omitempty"`
	Command string   `json:"command"` // what shows the evidence locally
}

// Companion is a file that usually changes with what changed, and did not.
type Companion struct {
	Path       string  `json:"path"`
	Partner    string  `json:"partner"` // the changed file that predicts it
	Joint      int     `json:"joint"`   // joint changes
	Of         int     `json:"of"`      // changes of the partner
	Confidence float64 `json:"confidence"`
	LastCommit string  `json:"last_commit"`
	LastTime   int64   `json:"last_time"` // Unix seconds
	// Because says what predicts it when Partner is empty: "changes that add a file to docs/".
	Because string `json:"because,omitempty"`
}

// Knower is an author with a share of the recent changes of the touched files.
type Knower struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
}

// Assessment is the result.
type Assessment struct {
	Band       Level       `json:"band"`       // low, medium or high; info when not Assessed
	Score      float64     `json:"score"`      // in [0,1]: percentile among the repository's own past changes
	Worth      string      `json:"worth"`      // one line: what the band is worth in this repository
	Headline   string      `json:"headline"`   // the most useful finding, one line
	Assessed   bool        `json:"assessed"`   // false when the history is too short for a band
	Signals    []Signal    `json:"signals"`    // most useful first
	Companions []Companion `json:"companions"` // at most three
	Knowers    []Knower    `json:"knowers"`
	Notes      []string    `json:"notes,omitempty"` // limits of the assessment, automated authors, wrong base …
}
