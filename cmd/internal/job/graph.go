package job

import (
	"context"
	"fmt"
	"slices"

	"github.com/ctxt-dev/ctxt/report"
)

const (
	maxChangedNodes = 12
	maxImporters    = 3 // of one changed file
	maxGraphNodes   = 20
)

// graph draws the neighbourhood of the change: what imports the changed files, and what usually
// changes with them.
func (r *run) graph(context.Context) error {
	if len(r.diff) == 0 || len(r.diff) > maxChangedNodes {
		return nil
	}
	g := &report.Graph{}
	at := map[string]int{}
	node := func(path, kind string) (int, bool) {
		if i, ok := at[path]; ok {
			return i, true
		}
		if len(g.Nodes) >= maxGraphNodes {
			return 0, false
		}
		at[path] = len(g.Nodes)
		g.Nodes = append(g.Nodes, report.Node{Path: path, Kind: kind})
		return at[path], true
	}
	edge := func(from, to int, kind, note string) {
		e := report.Edge{From: from, To: to, Kind: kind, Note: note}
		if from != to && !slices.Contains(g.Edges, e) {
			g.Edges = append(g.Edges, e)
		}
	}
	for _, d := range r.diff {
		node(d.Path, "changed")
	}
	if r.assessment != nil {
		for _, c := range r.assessment.Companions {
			from, ok := at[c.Partner]
			to, fits := node(c.Path, "companion")
			if ok && fits {
				edge(from, to, "changes_with", fmt.Sprintf("%d of %d", c.Joint, c.Of))
			}
		}
	}
	for _, d := range r.diff {
		id, ok := r.after.Find(d.Path)
		if !ok {
			continue
		}
		for k, imp := range r.after.Importers[id] {
			path := r.after.Files[imp].Path
			if _, known := at[path]; !known && k >= maxImporters {
				continue
			}
			if from, fits := node(path, "importer"); fits {
				edge(from, at[d.Path], "imports", "")
			}
		}
	}
	if len(g.Edges) > 0 {
		r.out.Graph = g
	}
	return nil
}
