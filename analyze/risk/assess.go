package risk

import (
	"context"
	"fmt"
	"sort"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
)

// PastChanges is how many of the newest changes ReadPast should read for Assess: the sample of the
// band, and a few for those that are empty or too large.
const PastChanges = sampleChanges + 20

// fewestHistory is how many commits a history needs before absence of evidence says anything.
const fewestHistory = 50

// Options tune the assessment. The zero value is the default.
type Options struct {
	Past         *Past    // of the history's newest changes; nil: no band
	Sensitive    []string // globs, besides the built-in ones
	ControlPlane []string // globs; empty: DefaultControlPlane
	Workflow     string   // path of the workflow that runs the tool, when known
	// Companions is what NewCompanions made of the same history; nil: Assess makes it.
	Companions *Companions
}

// assessor is what the signals share.
type assessor struct {
	in    Input
	o     Options
	paths []string // changed, as they are named after the change; sorted
	extent
	relative float64 // how often lines in such files were later fixed, over the average
	sample   *sample
	bot      bool
	locks    bool // nothing but lock files and the manifests beside them
	foreign  bool // the base looks wrong
	out      *Assessment
}

// Assess reads the risk of a change out of the repository's own past. It reads nothing but its
// arguments, and the same arguments give the same bytes. It fails only when ctx ends.
func Assess(ctx context.Context, in Input, o Options) (*Assessment, error) {
	if in.History == nil {
		in.History = &history.History{}
	}
	a := newAssessor(in, o)
	a.band()
	a.limits()
	if !a.foreign {
		if err := a.companions(ctx); err != nil {
			return nil, err
		}
	}
	a.controlPlane()
	a.sensitive()
	a.sizeSignal()
	if !a.foreign && !a.locks {
		a.hotspots()
		a.reach()
		if !a.bot {
			a.ownership()
			a.scope()
			a.tests()
		}
		a.knowers()
	}
	a.finish()
	return a.out, nil
}

func newAssessor(in Input, o Options) *assessor {
	a := &assessor{in: in, o: o, out: &Assessment{Signals: []Signal{}, Companions: []Companion{}, Knowers: []Knower{}}}
	for _, f := range in.Change.Files {
		a.paths = append(a.paths, f.Path)
		a.added += f.Added
		a.deleted += f.Deleted
		if index.RoleOf(f.Path) == index.Source {
			a.source += f.Added
		}
	}
	a.files = len(in.Change.Files)
	sort.Strings(a.paths)
	a.bot = in.Change.Automated() != ""
	a.locks = onlyLocks(a.paths)
	a.foreign = wrongBase(in.Change)
	return a
}

// band sets score, band and worth.
func (a *assessor) band() {
	a.sample = newSample(a.o.Past)
	if n := len(a.sample.scores); n < fewestSample {
		a.out.Band = Info
		a.out.Worth = fmt.Sprintf("no band: only %s could be compared with, %d are needed", count(n, "past change"), fewestSample)
		return
	}
	var members []member
	for _, f := range a.in.Change.Files {
		if !f.Binary {
			members = append(members, a.sample.ledger.member(f.Path, index.RoleOf(f.Path), f.Added, false))
		}
	}
	a.relative = a.sample.now.relative(members)
	a.out.Assessed = true
	a.out.Score = percentile(a.sample.scores, score(a.extent, a.relative, history.IsFix(a.in.Title)))
	a.out.Band = bandOf(a.out.Score)
	a.out.Worth = worth(a.o.Past)
}

// limits notes what the assessment could not see.
func (a *assessor) limits() {
	h := a.in.History
	n := len(h.Commits)
	switch {
	case n == 0:
		a.note("no history before the base: companions, hotspots and ownership are not assessed")
	case h.Extent.Shallow:
		a.note("history limited to %d commits (shallow clone); set fetch-depth: 0", n)
	case n < fewestHistory:
		a.note("history of only %s: absence of a signal says little", count(n, "commit"))
	}
	if a.bot {
		a.note("automated author: ownership, scope and tests are not assessed")
	}
	if a.locks {
		a.note("only lock files and manifests changed: hotspots, reach, ownership, scope and tests are not assessed")
	}
	if a.foreign {
		c := a.in.Change
		a.note("the base looks wrong: %d commits, %d by others and %d already on another branch; only size and sensitive paths are assessed", c.Commits, c.ByOthers, c.OnOthers)
	}
}

func (a *assessor) note(format string, args ...any) {
	a.out.Notes = append(a.out.Notes, fmt.Sprintf(format, args...))
}

func (a *assessor) add(s Signal) {
	if s.Numbers == nil {
		s.Numbers = []Number{}
	}
	a.out.Signals = append(a.out.Signals, s)
}

// usefulness orders signals of one level: what a reviewer can act on first.
var usefulness = map[string]int{"companions": 0, "control-plane": 1, "sensitive": 2, "hotspots": 3, "reach": 4,
	"size": 5, "ownership": 6, "scope": 7, "tests": 8}

var gravity = map[Level]int{High: 0, Medium: 1, Low: 2, Info: 3}

// finish orders the signals and picks the headline.
func (a *assessor) finish() {
	s := a.out.Signals
	sort.SliceStable(s, func(i, j int) bool {
		if gravity[s[i].Level] != gravity[s[j].Level] {
			return gravity[s[i].Level] < gravity[s[j].Level]
		}
		return usefulness[s[i].Name] < usefulness[s[j].Name]
	})
	// The size makes the band: where it is high, it is the reason, unless something asks for an act.
	for _, name := range [...]string{"companions", "control-plane", "size", "sensitive", "hotspots", "reach"} {
		for _, g := range s {
			if g.Name == name && (gravity[g.Level] <= gravity[Medium] && name != "size" || g.Level == High) {
				a.out.Headline = g.Why
				return
			}
		}
	}
	for _, g := range s {
		if g.Name == "size" {
			a.out.Headline = g.Why
		}
	}
}

// revisions names the two ends for a command.
func (a *assessor) revisions() string {
	return a.in.Change.Base.Short() + ".." + a.in.Change.Head.Short()
}

// present reports whether a path is in the tree after the change; unknown trees hold everything.
func (a *assessor) present(p string) bool {
	if a.in.Head == nil {
		return true
	}
	_, ok := a.in.Head.Find(p)
	return ok
}

// knownPath is the name under which the history knows a changed file.
func (a *assessor) knownPath(f git.FileDiff) string {
	if f.OldPath != "" {
		if _, ok := a.in.History.PathID(f.Path); !ok {
			return f.OldPath
		}
	}
	return f.Path
}
