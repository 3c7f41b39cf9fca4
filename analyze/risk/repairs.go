package risk

import (
	"math"
	"path"
	"strconv"

	"github.com/ctxt-dev/ctxt/index"
)

// How often lines in a kind of file were later fixed. A file belongs to four groups, each within or
// beside the one before: its role, its role and extension, its folder, its path.
const (
	fileGroups = 4
	// priorRepairs is how many repairs' worth of lines a group needs before it counts as much as the
	// group before it.
	priorRepairs = 2
)

// repairs is what a stretch of past changes says of files.
type repairs struct {
	all    tally
	groups []tally
}

// tally sums the written lines of files, each file of a change as the square root of its lines, and how
// many of those files a fix came back to.
type tally struct{ fixed, mass float64 }

// member is one file of a change: its groups (-1: never seen) and its written lines.
type member struct {
	groups [fileGroups]int32
	mass   float64
}

// relative is how often lines like these were later fixed, over the average; about 1 when nothing is
// known, always positive.
func (r *repairs) relative(files []member) float64 {
	average := (r.all.fixed + 0.05) / (r.all.mass + 1)
	prior := priorRepairs / average
	var expected, mass float64
	for _, f := range files {
		rate := average
		for _, g := range f.groups {
			if g >= 0 {
				rate = (r.groups[g].fixed + float64(prior*rate)) / (r.groups[g].mass + prior)
			}
		}
		expected += float64(f.mass * rate)
		mass += f.mass
	}
	const little = 1e-3 // of a line: a change that writes nothing is average
	return (expected + float64(little*average)) / (mass + little) / average
}

// ledger is a past made ready to be read window by window.
type ledger struct {
	ids   map[string]int32
	rows  []row      // by change, newest first
	fixes [][]repair // by the change that fixes
}

type row struct {
	extent
	ok, fix bool
	members []member
}

// repair is one file of an earlier change to which a fix came back.
type repair struct {
	origin int // index of the earlier change
	groups [fileGroups]int32
}

func newLedger(p *Past) *ledger {
	l := &ledger{ids: map[string]int32{}}
	if p == nil {
		return l
	}
	l.rows = make([]row, len(p.Changes))
	l.fixes = make([][]repair, len(p.Changes))
	for i := range p.Changes {
		c := &p.Changes[i]
		r := &l.rows[i]
		if r.extent, r.ok = c.extent(); !r.ok {
			continue
		}
		r.fix = c.Fix
		by := map[string]member{}
		for _, f := range c.Lines {
			if !f.Binary {
				m := l.member(f.Path, f.Role, f.Added, true)
				r.members = append(r.members, m)
				by[f.Path] = m
			}
		}
		for _, f := range c.Repaired {
			if m, ok := by[f.Path]; ok && f.By < len(l.fixes) {
				l.fixes[f.By] = append(l.fixes[f.By], repair{i, m.groups})
			}
		}
	}
	return l
}

// member names a file's groups; new ones only where learn is set.
func (l *ledger) member(p string, role index.Role, added int, learn bool) member {
	m := member{mass: math.Sqrt(float64(added))}
	kind := "r" + strconv.Itoa(int(role))
	for k, name := range [fileGroups]string{kind, kind + path.Ext(p), "d" + path.Dir(p), "f" + p} {
		id, ok := l.ids[name]
		switch {
		case ok:
		case learn:
			id = int32(len(l.ids))
			l.ids[name] = id
		default:
			id = -1
		}
		m.groups[k] = id
	}
	return m
}

func (l *ledger) repairs() *repairs { return &repairs{groups: make([]tally, len(l.ids))} }

// window scores the changes [lo, hi) as each came, by what the older ones of the window had shown until
// then; NaN for one that nothing is known of. It leaves in r what all of them show.
func (l *ledger) window(r *repairs, lo, hi int) []float64 {
	r.all = tally{}
	clear(r.groups)
	scores := make([]float64, hi-lo)
	for i := hi - 1; i >= lo; i-- {
		c := &l.rows[i]
		scores[i-lo] = math.NaN()
		if !c.ok {
			continue
		}
		scores[i-lo] = l.score(r, i)
		for _, m := range c.members {
			r.all.mass += m.mass
			for _, g := range m.groups {
				r.groups[g].mass += m.mass
			}
		}
		for _, f := range l.fixes[i] {
			if f.origin >= hi {
				continue
			}
			r.all.fixed++
			for _, g := range f.groups {
				r.groups[g].fixed++
			}
		}
	}
	return scores
}

// score of change i by what r knows.
func (l *ledger) score(r *repairs, i int) float64 {
	c := &l.rows[i]
	return score(c.extent, r.relative(c.members), c.fix)
}
