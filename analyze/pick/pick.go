// Package pick selects files and regions into a token budget: budget, shadow files, excerpts, bundle.
package pick

import "github.com/ctxt-dev/ctxt/analyze/score"

// Region is a run of lines of one file.
type Region struct {
	Start int    `json:"start"` // 1-based
	End   int    `json:"end"`   // inclusive
	Name  string `json:"name,omitempty"`
	Text  string `json:"text"`
}

// Tier says how much of a file the bundle holds.
type Tier string

// The tiers, from most to least.
const (
	Full       Tier = "full"
	Spans      Tier = "spans"      // best-matching definitions
	Signatures Tier = "signatures" // declaration lines
	PathOnly   Tier = "path"
)

// ShadowInfo says why a file was added from the co-commit graph.
type ShadowInfo struct {
	Partner    string  `json:"partner"`
	Joint      int     `json:"joint_commits"`
	Confidence float64 `json:"confidence"` // joint commits over the partner's commits
	Affinity   float64 `json:"affinity"`   // decayed and size-penalised, in [0,1]
	Last       string  `json:"last_commit"`
	LastTime   int64   `json:"last_time"` // Unix seconds
}

// File is one file of a bundle.
type File struct {
	Path    string       `json:"path"`
	Rank    int          `json:"rank"`
	Score   float64      `json:"score"`
	Reason  string       `json:"reason"`
	Tier    Tier         `json:"tier"`
	Lines   int          `json:"lines"`
	Tokens  int          `json:"tokens"`
	Regions []Region     `json:"regions,omitempty"`
	Parts   []score.Part `json:"parts,omitempty"`
	Shadow  *ShadowInfo  `json:"shadow,omitempty"`
}

// Budget limits a bundle.
type Budget struct {
	Tokens int `json:"tokens"`
	Files  int `json:"files"`
}

// Intent is the result of the intent sufficiency check.
type Intent struct {
	Score   float64  `json:"score"` // in [0,1]
	Level   string   `json:"level"` // sufficient, weak or insufficient
	Reasons []string `json:"reasons,omitempty"`
}

// Bundle is the selected context. Version 1.
type Bundle struct {
	Version  int      `json:"version"`
	Commit   string   `json:"commit,omitempty"`
	Task     string   `json:"task"`
	TaskKind string   `json:"task_kind"` // change or issue
	TaskType string   `json:"task_type"` // bug fix, feature …
	Pack     string   `json:"pack"`      // tiered or full
	Intent   Intent   `json:"intent"`
	Budget   Budget   `json:"budget"`
	Used     Budget   `json:"used"`
	Files    []File   `json:"files"`
	NearMiss []File   `json:"near_misses,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Asked    *Asked   `json:"asked,omitempty"` // nil: by the defaults
}

// Asked is how a bundle was asked for, beyond its task and budget, so that it can be refined.
type Asked struct {
	Scope            []string `json:"scope,omitempty"`
	Dropped          []string `json:"dropped,omitempty"` // paths that were left out
	NearMisses       int      `json:"near_misses,omitempty"`
	FullFileMaxLines int      `json:"full_file_max_lines,omitempty"`
	LayerOrder       bool     `json:"layer_order,omitempty"`
	BlastRadius      bool     `json:"blast_radius,omitempty"`
	BranchAware      bool     `json:"branch_aware,omitempty"`
	Session          string   `json:"session,omitempty"`
}
