package risk

import (
	"fmt"
	"math"
	"sort"

	"github.com/ctxt-dev/ctxt/index/git"
)

// size says how large and how spread the change is against the repository's own newest changes.
// Entropy is that of the changed lines over the files, in bits (Hassan 2009).
func (a *assessor) size() {
	n := len(a.in.Change.Files)
	if n == 0 {
		return
	}
	dirs := folders(a.paths)
	g := Signal{Name: "size", Title: "Size", Level: Info, Command: "git diff --stat " + a.revisions(), Numbers: []Number{
		{"added", float64(a.added), "lines"}, {"deleted", float64(a.deleted), "lines"},
		{"source added", float64(a.source), "lines"}, {"files", float64(n), "files"},
		{"folders", float64(dirs), "folders"}, {"entropy", round(entropy(a.in.Change.Files)), "bits"}}}
	g.Why = fmt.Sprintf("+%d −%d in %s, %s", a.added, a.deleted, count(n, "file"), count(dirs, "folder"))
	if a.out.Assessed {
		s := newSample(a.o.Past)
		spread := percentile(s.files, float64(n))
		g.Level = a.out.Band
		g.Numbers = append(g.Numbers, Number{"size", round(100 * a.out.Score), "percentile"}, Number{"spread", round(100 * spread), "percentile"})
		g.Why += fmt.Sprintf(": larger than %.0f%% of this repository's last %d changes", math.Floor(100*a.out.Score), len(s.scores))
	}
	g.Files = largest(a.in.Change.Files, 3)
	a.add(g)
}

func entropy(fs []git.FileDiff) float64 {
	total := 0
	for _, f := range fs {
		total += f.Added + f.Deleted
	}
	e := 0.0
	for _, f := range fs {
		if n := f.Added + f.Deleted; n > 0 {
			p := float64(n) / float64(total)
			e -= float64(p * math.Log2(p))
		}
	}
	return e
}

// largest names the files with most changed lines.
func largest(fs []git.FileDiff, n int) []string {
	order := append([]git.FileDiff(nil), fs...)
	sort.SliceStable(order, func(i, j int) bool {
		if x, y := order[i].Added+order[i].Deleted, order[j].Added+order[j].Deleted; x != y {
			return x > y
		}
		return order[i].Path < order[j].Path
	})
	var out []string
	for _, f := range order[:min(n, len(order))] {
		out = append(out, f.Path)
	}
	return out
}

// round keeps two decimals, so that figures are the same on every processor.
func round(v float64) float64 { return math.Round(v*100) / 100 }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
