package job

import (
	"fmt"
	"math"
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
	Lacks    float64      `json:"lacks"`    // score to the last file selected for its own; 0 for a selected one
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
	if !out.Selected {
		out.Lacks = s.Lacks(x.Score)
	}
	return out, nil
}

// Lacks is how much less a score is than that of the last file that was selected for its own; shadow
// files, which come in for another's sake, do not count. It is 0 when the score was not the reason.
func (s *Selected) Lacks(score float64) float64 {
	least := math.Inf(1)
	for _, f := range s.Bundle.Files {
		if f.Shadow == nil {
			least = min(least, f.Score)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return max(least-score, 0)
}
