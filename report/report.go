// Package report is the versioned report of one pull request run, and its renderings: Markdown for
// the comment and the job summary, HTML, SARIF, JSON.
package report

import (
	"slices"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/index/git"
)

// SchemaVersion is the version of the JSON form.
const SchemaVersion = 1

// Report is everything that one run found. It holds no times of day and no durations, so that two
// runs on the same commits give the same bytes.
type Report struct {
	Version    int              `json:"version"`
	Tool       string           `json:"tool"` // "ctxt 1.2.3"
	Base       string           `json:"base"` // commit name
	Head       string           `json:"head"`
	MergeBase  string           `json:"merge_base"`
	Title      string           `json:"title"`
	Verdict    Verdict          `json:"verdict"`
	Change     ChangeSummary    `json:"change"`
	Risk       *risk.Assessment `json:"risk,omitempty"`
	Context    *pick.Bundle     `json:"context,omitempty"`
	Gates      []Gate           `json:"gates,omitempty"`
	Graph      *Graph           `json:"graph,omitempty"`
	History    HistorySummary   `json:"history"`
	Problems   []Problem        `json:"problems,omitempty"` // sections that could not be made
	Notes      []string         `json:"notes,omitempty"`
	Reproduce  string           `json:"reproduce"` // the command that gives the same result locally
	IndexSkips []git.Skip       `json:"index_skips,omitempty"`
}

// Verdict is the first line's content.
type Verdict struct {
	Level  string `json:"level"` // low, medium, high, blocked, unassessed
	Reason string `json:"reason"`
}

// ChangeSummary is the size of the change.
type ChangeSummary struct {
	Files   []ChangedFile `json:"files"`
	Added   int           `json:"added"`
	Deleted int           `json:"deleted"`
	Commits int           `json:"commits"`
	// Automated names the program that wrote the change ("dependency bot"); empty for people.
	Automated string `json:"automated,omitempty"`
	// LockOnly says that nothing but lock files changed.
	LockOnly bool `json:"lock_only,omitempty"`
}

// ChangedFile is one path of the change.
type ChangedFile struct {
	Path    string     `json:"path"`
	OldPath string     `json:"old_path,omitempty"`
	Status  string     `json:"status"` // added, modified, deleted, renamed
	Added   int        `json:"added"`
	Deleted int        `json:"deleted"`
	Binary  bool       `json:"binary,omitempty"`
	Hunks   []git.Hunk `json:"hunks,omitempty"`
}

// Gate is one evidence gate's outcome.
type Gate struct {
	Name      string   `json:"name"`
	Mode      string   `json:"mode"`  // observe, warn or block
	State     string   `json:"state"` // pass, fail, worse, error, not_configured
	Metric    string   `json:"metric,omitempty"`
	Value     *float64 `json:"value,omitempty"`
	BaseValue *float64 `json:"base_value,omitempty"`
	Bar       *float64 `json:"bar,omitempty"`
	Tolerance *float64 `json:"tolerance,omitempty"`
	Detail    string   `json:"detail"`
	Command   string   `json:"command,omitempty"`
	// Past holds earlier accepted values of the metric, oldest first, when baselines exist.
	Past []float64 `json:"past,omitempty"`
}

// Graph is the neighbourhood of the change.
type Graph struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Node is a file of the graph.
type Node struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // changed, importer, companion, context
}

// Edge joins two nodes, by index.
type Edge struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Kind string `json:"kind"` // imports, changes_with
	Note string `json:"note,omitempty"`
}

// HistorySummary says how much history was read.
type HistorySummary struct {
	Commits int    `json:"commits"`
	Tip     string `json:"tip"`
	TipTime int64  `json:"tip_time,omitempty"` // committer time of Tip, Unix seconds: the run's "now"
	Shallow bool   `json:"shallow,omitempty"`
	Limited bool   `json:"limited,omitempty"`
}

// Problem is a section that could not be made, and why.
type Problem struct {
	Section string `json:"section"`
	Message string `json:"message"`
}

// The states of a gate.
const (
	GatePass          = "pass"
	GateFail          = "fail"  // an absolute bar is missed
	GateWorse         = "worse" // worse than the baseline beyond the tolerance
	GateError         = "error" // could not be evaluated
	GateNotConfigured = "not_configured"
)

// ExitCode is what the gates alone decide: 2 when one could not be evaluated, in every mode; else 1
// when a blocking gate missed its bar; else 3 when a blocking gate fell behind its baseline; else 0.
func ExitCode(r *Report) int {
	code := 0
	for _, g := range r.Gates {
		block := g.Mode == "block"
		switch {
		case g.State == GateError:
			return 2
		case g.State == GateFail && block:
			code = 1
		case g.State == GateWorse && block && code == 0:
			code = 3
		}
	}
	return code
}

// Culprit is the first gate that ExitCode goes by, in one line: which, and why.
func Culprit(r *Report) string {
	want := map[int]string{2: GateError, 1: GateFail, 3: GateWorse}[ExitCode(r)]
	for _, g := range r.Gates {
		if g.State == want && (g.Mode == "block" || want == GateError) {
			return "gate " + g.Name + ": " + g.State + ": " + g.Detail
		}
	}
	return ""
}

// GateState sums the gates up in one word: error, fail, worse, pass, or not_configured.
func GateState(r *Report) string {
	state, order := GateNotConfigured, []string{GateNotConfigured, GatePass, GateWorse, GateFail, GateError}
	for _, g := range r.Gates {
		if slices.Index(order, g.State) > slices.Index(order, state) {
			state = g.State
		}
	}
	return state
}
