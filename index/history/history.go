// Package history turns commits into what selection and risk need: churn with exponential decay,
// the last touch, the co-commit graph, and the memory of messages.
//
// "Now" is always the committer time of the tip, so the result depends on nothing but the commit.
package history

import (
	"slices"

	"github.com/ctxt-dev/ctxt/index/git"
)

// Commit is one past change. Files are ids into History.Paths, ascending and distinct; a path that a
// later commit renamed counts under its newest name, so Files may be shorter than Changes.
type Commit struct {
	Hash    git.Hash
	Time    int64 // committer time, Unix seconds
	Author  int32 // id into History.Authors
	Subject string
	Body    string
	Files   []int32
	Changes []git.Change // as committed, sorted by path
	Fix     bool         // the message says that it repairs something
	Terms   []uint32     // of the message (package text), the subject's first
	InTitle int          // how many of Terms are the subject's
}

// History is the past of one commit, newest first, merges left out.
type History struct {
	Tip     git.Hash
	Now     int64 // committer time of Tip, Unix seconds
	Commits []Commit
	Paths   []string // sorted
	Authors []string // names, sorted by e-mail address, one for each lower-case address
	Extent  git.Extent

	byFile [][]int32 // path id → indices into Commits, newest first
}

// PathID returns the id of a path that the history knows.
func (h *History) PathID(path string) (int32, bool) {
	i, ok := slices.BinarySearch(h.Paths, path)
	return int32(i), ok //nolint:gosec // there are fewer paths than that
}

// CommitsOf returns the indices into Commits of those that touched the path, newest first.
func (h *History) CommitsOf(path string) []int32 {
	if id, ok := h.PathID(path); ok {
		return h.byFile[id]
	}
	return nil
}

// CommitsOfID is CommitsOf by path id.
func (h *History) CommitsOfID(id int32) []int32 { return h.byFile[id] }
