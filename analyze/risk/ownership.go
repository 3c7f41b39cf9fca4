package risk

import (
	"fmt"
	"math"
	"sort"

	"github.com/ctxt-dev/ctxt/index"
)

// An author with under a twentieth of a file's changes is a minor contributor (Bird et al. 2011, where
// their number relates to failures; weaker in open source, so the signal never exceeds low).
const (
	minorShare    = 0.05
	knowWindow    = 365 * day
	knowHalfLife  = 180 * day
	knowersNamed  = 4
	fewestChanges = 5 // of a file, for shares to mean something
)

// owned is who changed the files in question in the past.
type owned struct {
	byAuthor map[string]float64 // name → decayed changes in the window
	total    float64
}

func (a *assessor) ownedBy(paths []string) owned {
	o := owned{byAuthor: map[string]float64{}}
	seen := map[int32]bool{}
	var commits []int32
	for _, p := range paths {
		for _, i := range a.in.History.CommitsOf(p) {
			if !seen[i] {
				seen[i] = true
				commits = append(commits, i)
			}
		}
	}
	sort.Slice(commits, func(i, j int) bool { return commits[i] < commits[j] })
	for _, i := range commits {
		c := &a.in.History.Commits[i]
		name := a.in.History.Authors[c.Author]
		if name == "" || automated(name, "") {
			continue
		}
		if age := max(0, a.in.History.Now-c.Time); age <= knowWindow {
			w := math.Exp2(-float64(age) / knowHalfLife)
			o.byAuthor[name] += w
			o.total += w
		}
	}
	return o
}

// knowers names the recent authors of the touched files, by decayed share.
func (a *assessor) knowers() {
	o := a.ownedBy(a.knownPaths())
	who := make([]string, 0, len(o.byAuthor))
	for name := range o.byAuthor {
		who = append(who, name)
	}
	sort.Slice(who, func(i, j int) bool {
		if x, y := o.byAuthor[who[i]], o.byAuthor[who[j]]; x != y {
			return x > y
		}
		return who[i] < who[j]
	})
	for _, name := range who {
		share := o.byAuthor[name] / o.total
		if len(a.out.Knowers) == knowersNamed || share < minorShare {
			break
		}
		a.out.Knowers = append(a.out.Knowers, Knower{Name: name, Share: round(share)})
	}
}

func (a *assessor) knownPaths() []string {
	var out []string
	for _, f := range a.in.Change.Files {
		out = append(out, a.knownPath(f))
	}
	sort.Strings(out)
	return out
}

// ownership says whether the author is new to the source files, and how much minor contributors wrote.
func (a *assessor) ownership() {
	name := a.in.Change.Author
	if name == "" || len(a.in.History.Commits) < fewestHistory {
		return
	}
	var files, fresh []string
	minor, total := 0.0, 0.0
	for _, f := range a.in.Change.Files {
		p := a.knownPath(f)
		past := a.in.History.CommitsOf(p)
		if index.RoleOf(f.Path) != index.Source || len(past) < fewestChanges {
			continue
		}
		files = append(files, f.Path)
		by := map[int32]int{}
		mine := false
		for _, i := range past {
			by[a.in.History.Commits[i].Author]++
			mine = mine || a.in.History.Authors[a.in.History.Commits[i].Author] == name
		}
		if !mine {
			fresh = append(fresh, f.Path)
		}
		for _, n := range by {
			total += float64(n)
			if float64(n) < minorShare*float64(len(past)) {
				minor += float64(n)
			}
		}
	}
	if len(fresh) == 0 {
		return
	}
	before := a.commitsBy(name)
	sort.Strings(fresh)
	g := Signal{Name: "ownership", Title: "Ownership", Level: Low, Files: fresh,
		Numbers: []Number{{"files new to the author", float64(len(fresh)), "files"}, {"established files", float64(len(files)), "files"},
			{"author's earlier changes", float64(before), "commits"}, {"minor contributors' share", round(minor / max(1, total)), "share"}},
		Command: fmt.Sprintf("git shortlog -sn --no-merges %s %s", a.in.Change.Base.Short(), pathArgs(first(fresh, 5)...))}
	who := "no earlier change by this author"
	if before > 0 {
		who = fmt.Sprintf("the author, with %s in this repository, has not changed %s before", count(before, "earlier change"), ofFiles(len(fresh), len(files)))
	}
	g.Why = who
	if share := minor / max(1, total); share >= minorShare {
		g.Why += fmt.Sprintf("; minor contributors made %.0f%% of the files' past changes", 100*share)
	}
	if before > 0 && len(fresh) < len(files) {
		g.Level = Info
	}
	a.add(g)
}

// ofFiles is "its source file", "its 3 source files" or "2 of its 3 source files": established ones.
func ofFiles(n, of int) string {
	switch {
	case of == 1:
		return "its source file"
	case n == of:
		return fmt.Sprintf("its %d source files", of)
	}
	return fmt.Sprintf("%d of its %d source files", n, of)
}

func (a *assessor) commitsBy(name string) (n int) {
	for i := range a.in.History.Commits {
		n += int(b2f(a.in.History.Authors[a.in.History.Commits[i].Author] == name))
	}
	return n
}
