package risk

import (
	"fmt"
	"math"
	"sort"

	"github.com/ctxt-dev/ctxt/index"
)

// A hotspot is a source file that changed often of late: its changes, each weighted by half for every
// 90 days of age (a year older counts about a third less in Graves 2000; relative, recent churn is what
// discriminates in Nagappan & Ball 2005), rank in the top twentieth of the repository's source files.
const (
	hotHalfLife = 90 * day
	hotWindow   = 180 * day
	hotTop      = 0.05
	hotChanges  = 5 // in the window
)

type hotspot struct {
	path           string
	changes, fixes int     // in the window
	top            float64 // share of the source files that are at least as hot
}

func (a *assessor) hotspots() {
	var hot []hotspot
	heats := a.heats()
	for _, f := range a.in.Change.Files {
		if index.RoleOf(f.Path) != index.Source {
			continue
		}
		h, heat := a.heat(a.knownPath(f))
		h.path = f.Path
		if h.changes < hotChanges {
			continue
		}
		atLeast := len(heats) - sort.SearchFloat64s(heats, heat)
		if h.top = float64(atLeast) / float64(max(1, len(heats))); h.top <= hotTop {
			hot = append(hot, h)
		}
	}
	if len(hot) == 0 {
		return
	}
	sort.SliceStable(hot, func(i, j int) bool {
		if hot[i].top != hot[j].top {
			return hot[i].top < hot[j].top
		}
		return hot[i].path < hot[j].path
	})
	b := hot[0]
	g := Signal{Name: "hotspots", Title: "Hotspot", Level: Low,
		Command: fmt.Sprintf("git log --oneline --no-merges --since=%s %s %s", date(a.in.History.Now-hotWindow), a.in.Change.Base.Short(), pathArgs(b.path)),
		Numbers: []Number{{"changes in 180 days", float64(b.changes), "commits"}, {"fixes in 180 days", float64(b.fixes), "commits"},
			{"top", round(100 * b.top), "percent of source files"}, {"hotspots", float64(len(hot)), "files"}}}
	if b.top <= 0.02 && b.fixes >= 2 {
		g.Level = Medium
	}
	g.Why = fmt.Sprintf("`%s`: %s in 180 days, %s; top %s%% of this repository's source files", b.path, count(b.changes, "change"), ofThemFixes(b.fixes), percent(b.top))
	if len(hot) > 1 {
		g.Why += "; " + count(len(hot)-1, "further hotspot") + " changed"
	}
	for _, h := range hot {
		g.Files = append(g.Files, h.path)
	}
	a.add(g)
}

func ofThemFixes(n int) string {
	switch n {
	case 0:
		return "none of them a fix"
	case 1:
		return "1 of them a fix"
	}
	return fmt.Sprintf("%d of them fixes", n)
}

// heat gives a file's recent changes and its decayed churn.
func (a *assessor) heat(p string) (hotspot, float64) {
	var h hotspot
	heat := 0.0
	for _, i := range a.in.History.CommitsOf(p) {
		c := &a.in.History.Commits[i]
		age := max(0, a.in.History.Now-c.Time)
		heat += math.Exp2(-float64(age) / hotHalfLife)
		if age <= hotWindow {
			h.changes++
			h.fixes += int(b2f(c.Fix))
		}
	}
	return h, math.Round(heat*1e6) / 1e6
}

// heats gives the decayed churn of every source file of the tree, ascending.
func (a *assessor) heats() []float64 {
	var out []float64
	for _, p := range a.in.History.Paths {
		if index.RoleOf(p) == index.Source && a.present(p) {
			_, heat := a.heat(p)
			out = append(out, heat)
		}
	}
	sort.Float64s(out)
	return out
}

// percent writes a share as a percentage with at most one decimal below ten.
func percent(share float64) string {
	if v := 100 * share; v < 0.95 {
		return fmt.Sprintf("%.1f", max(v, 0.1))
	}
	return fmt.Sprintf("%.0f", 100*share)
}
