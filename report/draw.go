package report

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// drawing is a graph as it is drawn: three columns, importers, changed files, companions, each in
// the order that keeps ties short, so the same graph is always the same picture.
type drawing struct {
	Width, Height, More int
	Nodes               []drawnNode
	Edges               []drawnEdge
}

type drawnNode struct {
	Path, Label, Kind  string
	X, Y, W, TX, TY, c int
}

type drawnEdge struct{ Kind, D, Note string }

const (
	columnWidth = 250
	columnGap   = 90
	rowHeight   = 34
	columnMost  = 24 // nodes drawn in a column
	labelMost   = 31 // characters that fit a node
	bow         = 50 // room at the right for ties within a column
)

// column is where a kind of file stands.
func column(kind string) int {
	switch kind {
	case "changed":
		return 1
	case "companion":
		return 2
	}
	return 0
}

func draw(g *Graph) drawing {
	var d drawing
	if g == nil {
		return d
	}
	place := make([]int, len(g.Nodes)) // index into d.Nodes plus one; 0: not drawn
	for c := range 3 {
		var ids []int
		for i, n := range g.Nodes {
			if column(n.Kind) == c {
				ids = append(ids, i)
			}
		}
		if c != 1 { // beside what they are tied to
			at := barycentres(g)
			sort.SliceStable(ids, func(a, b int) bool { return at[ids[a]] < at[ids[b]] })
		}
		if extra := len(ids) - columnMost; extra > 0 {
			d.More += extra
			ids = ids[:columnMost]
		}
		for row, i := range ids {
			n := drawnNode{Path: Plain(g.Nodes[i].Path, 300), Label: shortPath(Plain(g.Nodes[i].Path, 300), labelMost), Kind: kindClass(g.Nodes[i].Kind), c: c}
			n.X, n.Y, n.W = 10+c*(columnWidth+columnGap), 8+row*rowHeight, columnWidth
			n.TX, n.TY = n.X+10, n.Y+16
			d.Nodes = append(d.Nodes, n)
			place[i] = len(d.Nodes)
			d.Width = max(d.Width, n.X+n.W+10)
			d.Height = max(d.Height, n.Y+rowHeight)
		}
	}
	for _, e := range g.Edges {
		if e.From < 0 || e.To < 0 || e.From >= len(place) || e.To >= len(place) || place[e.From] == 0 || place[e.To] == 0 {
			continue
		}
		kind := "imports"
		if e.Kind == "changes_with" {
			kind = e.Kind
		}
		a, b := d.Nodes[place[e.From]-1], d.Nodes[place[e.To]-1]
		note := a.Path + " imports " + b.Path
		if kind == "changes_with" {
			note = a.Path + " changes with " + b.Path + " " + Plain(e.Note, 60)
		}
		if a.c == b.c {
			d.Width = max(d.Width, a.X+a.W+bow)
		}
		d.Edges = append(d.Edges, drawnEdge{kind, curve(a, b), note})
	}
	return d
}

// shortPath cuts a path to limit characters: its first folders go, and only a name that is too long by
// itself loses its middle.
func shortPath(p string, limit int) string {
	if utf8.RuneCountInString(p) <= limit {
		return p
	}
	for i := 0; i < len(p); i++ {
		if p[i] == '/' && utf8.RuneCountInString(p[i:]) < limit {
			return "…" + p[i:]
		}
	}
	return middle(p[strings.LastIndexByte(p, '/')+1:], limit)
}

func kindClass(kind string) string {
	switch kind {
	case "changed", "companion", "importer":
		return kind
	}
	return "context"
}

// barycentres gives each node the mean index of its neighbours.
func barycentres(g *Graph) []float64 {
	sum, n := make([]float64, len(g.Nodes)), make([]float64, len(g.Nodes))
	for _, e := range g.Edges {
		if e.From < 0 || e.To < 0 || e.From >= len(sum) || e.To >= len(sum) {
			continue
		}
		sum[e.From] += float64(e.To)
		sum[e.To] += float64(e.From)
		n[e.From]++
		n[e.To]++
	}
	for i := range sum {
		if n[i] > 0 {
			sum[i] /= n[i]
		} else {
			sum[i] = float64(i)
		}
	}
	return sum
}

// curve joins two nodes: side to side between columns, a bow at the right within one.
func curve(a, b drawnNode) string {
	ay, by := a.Y+12, b.Y+12
	if a.c == b.c {
		x := a.X + a.W
		return fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x, ay, x+bow, ay, x+bow, by, x, by)
	}
	if a.c > b.c {
		a, b, ay, by = b, a, by, ay
	}
	x1, x2 := a.X+a.W, b.X
	return fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x1, ay, (x1+x2)/2, ay, (x1+x2)/2, by, x2, by)
}
