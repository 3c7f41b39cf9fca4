package job

import (
	"cmp"
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
// changes with them. A changed file without a tie is left out.
func (r *run) graph(context.Context) error {
	if len(r.diff) == 0 || len(r.diff) > maxChangedNodes {
		return nil
	}
	g := &drawing{at: map[string]int{}}
	for _, d := range r.diff {
		g.node(d.Path, "changed")
	}
	if r.assessment != nil {
		for _, c := range r.assessment.Companions {
			from, ok := g.at[c.Partner]
			to, fits := g.node(c.Path, "companion")
			if ok && fits {
				g.edge(from, to, "changes_with", fmt.Sprintf("%d of %d", c.Joint, c.Of))
			}
		}
	}
	for _, d := range r.diff {
		id, ok := r.after.Find(d.Path)
		if !ok {
			continue
		}
		for k, imp := range r.importers(id) {
			path := r.after.Files[imp].Path
			if _, known := g.at[path]; !known && k >= maxImporters {
				continue
			}
			if from, fits := g.node(path, "importer"); fits {
				g.edge(from, g.at[d.Path], "imports", "")
			}
		}
	}
	if out := g.tied(); len(out.Edges) > 0 {
		r.out.Graph = out
	}
	return nil
}

// importers are the files that import a file, code that ships before tests.
func (r *run) importers(id int) []int32 {
	out := slices.Clone(r.after.Importers[id])
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(r.after.Files[a].Role, r.after.Files[b].Role) })
	return out
}

// drawing is a graph in the making.
type drawing struct {
	report.Graph
	at map[string]int // path → index into Nodes
}

// node adds a node unless it is there; false when the graph is full.
func (g *drawing) node(path, kind string) (int, bool) {
	if i, ok := g.at[path]; ok {
		return i, true
	}
	if len(g.Nodes) >= maxGraphNodes {
		return 0, false
	}
	g.at[path] = len(g.Nodes)
	g.Nodes = append(g.Nodes, report.Node{Path: path, Kind: kind})
	return g.at[path], true
}

func (g *drawing) edge(from, to int, kind, note string) {
	e := report.Edge{From: from, To: to, Kind: kind, Note: note}
	if from != to && !slices.Contains(g.Edges, e) {
		g.Edges = append(g.Edges, e)
	}
}

// tied is the graph without the nodes that no edge touches.
func (g *drawing) tied() *report.Graph {
	touched := make([]bool, len(g.Nodes))
	for _, e := range g.Edges {
		touched[e.From], touched[e.To] = true, true
	}
	out := &report.Graph{}
	place := make([]int, len(g.Nodes))
	for i, n := range g.Nodes {
		if touched[i] {
			place[i] = len(out.Nodes)
			out.Nodes = append(out.Nodes, n)
		}
	}
	for _, e := range g.Edges {
		e.From, e.To = place[e.From], place[e.To]
		out.Edges = append(out.Edges, e)
	}
	return out
}
