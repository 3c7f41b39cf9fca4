package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
	"github.com/ctxt-dev/ctxt/report"
)

// maxConfig caps a configuration file, in bytes.
const maxConfig = 1 << 20

// configure reads the base commit's configuration, so that a change cannot loosen its own gates.
func (r *run) configure(ctx context.Context) error {
	name := cmp.Or(r.o.ConfigFile, ".ctxt/ctx_config.toml")
	tomlBytes, err := r.baseFile(ctx, name, maxConfig)
	if err == nil && tomlBytes == nil && r.o.ConfigFile != "" {
		err = fmt.Errorf("%s is not in the base commit %s", name, r.fork.Short())
	}
	var ledger []byte
	if err == nil {
		ledger, err = r.baseFile(ctx, config.CodeledgerFile, maxConfig)
	}
	var warnings []config.Warning
	if err == nil {
		r.config, warnings, err = config.Parse(tomlBytes, ledger)
	}
	if err != nil {
		r.config, r.configErr = config.Default(), err
	}
	for _, w := range warnings {
		r.out.Notes = append(r.out.Notes, "configuration: "+w.String())
	}
	return nil
}

// baseFile reads a file of the base; nil when it is not there.
func (r *run) baseFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	data, err := r.repo.FileAt(ctx, r.fork, name, limit)
	if errors.Is(err, git.ErrNotFound) {
		return nil, nil
	}
	return data, err
}

func (r *run) pick() pick.Options {
	return pick.Options{Budget: r.o.Budget, Explain: true}
}

// reproduce is the command that gives the same result locally. What it cannot quote is left for the
// reader to fill in: a title is untrusted text, and nobody should paste it into a shell.
func (r *run) reproduce() string {
	c := fmt.Sprintf("ctxt pr --base %s --head %s", r.base.Short(), r.head.Short())
	flag := func(name, value string) {
		if value != "" && plainArg().MatchString(value) {
			c += " --" + name + " " + value
		}
	}
	number := func(name string, n int) {
		if n > 0 {
			c += fmt.Sprintf(" --%s %d", name, n)
		}
	}
	flag("config", r.o.ConfigFile)
	flag("cases", r.o.CasesFile)
	flag("baseline", r.o.BaselineFile)
	if r.o.HistoryCommits != history.DefaultCommits {
		number("history-commits", r.o.HistoryCommits)
	}
	number("budget-tokens", r.o.Budget.Tokens)
	number("budget-files", r.o.Budget.Files)
	if r.o.FromHead {
		return c + " --title-from-head"
	}
	return c + " --title TITLE --body-file FILE"
}

// plainArg is an argument that needs no quotes in any shell.
var plainArg = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./-]*$`) })

func summary(c risk.Change) report.ChangeSummary {
	names := map[git.Status]string{git.Added: "added", git.Modified: "modified", git.Deleted: "deleted", git.Renamed: "renamed"}
	s := report.ChangeSummary{Files: make([]report.ChangedFile, len(c.Files)), Commits: c.Commits, Automated: c.Automated(), LockOnly: c.LockOnly()}
	for i, d := range c.Files {
		s.Files[i] = report.ChangedFile{Path: d.Path, OldPath: d.OldPath, Status: names[d.Status], Added: d.Added, Deleted: d.Deleted, Binary: d.Binary, Hunks: d.Hunks}
		s.Added += d.Added
		s.Deleted += d.Deleted
	}
	return s
}

// assess reads the risk out of the repository's past.
func (r *run) assess(ctx context.Context) error {
	in := risk.Input{
		Change: r.subject,
		Title:  r.o.Title, Body: r.o.Body, Head: r.after, History: r.past,
	}
	if r.selected != nil {
		in.Intent = r.selected.Intent.Level
		in.Unscoped = r.unscoped()
	}
	past, companions, err := r.engine.learned(ctx, r.past)
	if err != nil {
		r.out.Problems = append(r.out.Problems, report.Problem{Section: "risk band", Message: err.Error()})
	}
	plane, err := r.controlPlane(ctx)
	if err != nil {
		return err
	}
	r.assessment, err = risk.Assess(ctx, in, risk.Options{Past: past, Companions: companions, Sensitive: r.config.Risk.Sensitive, ControlPlane: plane})
	if err != nil {
		return err
	}
	r.out.Risk = r.assessment
	return nil
}

// controlPlane is what judges the change: the built-in paths, those of this run and of the base's
// configuration, and the changed workflows that run this program.
func (r *run) controlPlane(ctx context.Context) ([]string, error) {
	out := risk.DefaultControlPlane()
	add := func(p string) {
		if p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	g := r.config.Gates
	for _, p := range []string{r.o.ConfigFile, r.o.CasesFile, r.o.BaselineFile, g.Eval.Cases, g.Eval.Baseline, g.Bench.Cases, g.Bench.Baseline} {
		add(p)
	}
	if r.config.IsSet("gates.control_plane") {
		for _, p := range g.ControlPlane.Paths {
			add(p)
		}
	}
	for _, d := range r.diff {
		runs, err := r.runsUs(ctx, d)
		if err != nil {
			return nil, err
		}
		if runs {
			add(d.Path)
		}
	}
	return out, nil
}

// ourName is how a workflow names this program or its Action.
var ourName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bctxt\b`) })

// runsUs reports whether a changed file is a workflow that runs this program, or ran it before.
func (r *run) runsUs(ctx context.Context, d git.FileDiff) (bool, error) {
	for _, side := range []struct {
		at   git.Hash
		path string
	}{{r.head, d.Path}, {r.fork, cmp.Or(d.OldPath, d.Path)}} {
		if !strings.HasPrefix(side.path, ".github/workflows/") {
			continue
		}
		data, err := r.repo.FileAt(ctx, side.at, side.path, maxConfig)
		switch {
		case errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrTooLarge):
		case err != nil:
			return false, err
		case ourName().Match(data):
			return true, nil
		}
	}
	return false, nil
}

// unscoped are the changed files that the text does not reach: without a word of it, and outside the
// ranking's reach.
func (r *run) unscoped() []string {
	reach := len(r.diff)*2 + 50
	near := make(map[string]bool, reach)
	for _, i := range r.selected.Ranking.Order[:min(reach, len(r.selected.Ranking.Order))] {
		near[r.after.Files[i].Path] = true
	}
	var out []string
	for _, d := range r.diff {
		i, ok := r.after.Find(d.Path)
		if !ok || near[d.Path] {
			continue
		}
		if r.selected.Ranking.Score(i) < unscopedShare*r.selected.Ranking.Damping(i)*r.selected.Ranking.Top() {
			out = append(out, d.Path)
		}
	}
	return out
}

// unscopedShare is the share of the best score under which a file counts as not reached. A file that is
// not code is held to its own role's share: the ranking's damping says nothing on what belongs to a change.
const unscopedShare = 0.05

// verdict is the report's first line.
func (r *run) verdict() {
	v := report.Verdict{Level: "unassessed", Reason: "the risk could not be assessed"}
	if a := r.assessment; a != nil {
		v.Reason = a.Headline
		if a.Assessed {
			v.Level = string(a.Band)
		}
	}
	for _, g := range r.out.Gates {
		if g.State != "pass" && g.State != report.GateNotConfigured && (g.State == report.GateError || g.Mode == "block" && r.o.Mode == "block") {
			v = report.Verdict{Level: "blocked", Reason: g.Name + ": " + g.Detail}
			break
		}
	}
	r.out.Verdict = v
}
