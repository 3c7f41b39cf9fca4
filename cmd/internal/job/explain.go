package job

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/score"
)

// Explanation says why a file has its place in a ranking, version 1.
type Explanation struct {
	Version  int          `json:"version"`
	Task     string       `json:"task"` // its first line
	Path     string       `json:"path"`
	Rank     int          `json:"rank"`   // 0: nothing speaks for the file
	Ranked   int          `json:"ranked"` // files in the ranking
	Score    float64      `json:"score"`  // the sum of the parts' contributions
	Parts    []score.Part `json:"parts"`
	Selected bool         `json:"selected"` // it is in the bundle
	Lacks    float64      `json:"lacks"`    // score to the last selected file; 0 for a selected one
}

// Explain explains one file of the tree that was ranked.
func (s *Selected) Explain(path string) (*Explanation, error) {
	path = strings.TrimPrefix(filepath.ToSlash(path), "./")
	id, ok := s.Snapshot.Find(path)
	if !ok {
		return nil, fmt.Errorf("%s is not in the tree that was ranked; give a path relative to the project's root", path)
	}
	x := s.Ranking.Explain(id)
	title, _, _ := strings.Cut(s.Bundle.Task, "\n")
	out := &Explanation{Version: 1, Task: title, Path: x.Path, Rank: x.Rank, Ranked: len(s.Ranking.Order), Score: x.Score, Parts: x.Parts}
	for _, f := range s.Bundle.Files {
		out.Selected = out.Selected || f.Path == x.Path
	}
	if n := len(s.Bundle.Files); n > 0 && !out.Selected {
		out.Lacks = max(s.Bundle.Files[n-1].Score-x.Score, 0)
	}
	return out, nil
}
