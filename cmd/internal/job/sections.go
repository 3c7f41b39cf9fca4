package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index/git"
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

// reproduce is the command that gives the same result locally.
func (r *run) reproduce() string {
	c := fmt.Sprintf("ctxt pr --base %s --head %s", r.base.Short(), r.head.Short())
	if r.o.FromHead {
		return c + " --title-from-head"
	}
	return c + " --title … --body-file …"
}

func summary(diff []git.FileDiff, commits int) report.ChangeSummary {
	names := map[git.Status]string{git.Added: "added", git.Modified: "modified", git.Deleted: "deleted", git.Renamed: "renamed"}
	s := report.ChangeSummary{Files: make([]report.ChangedFile, len(diff)), Commits: commits}
	for i, d := range diff {
		s.Files[i] = report.ChangedFile{Path: d.Path, OldPath: d.OldPath, Status: names[d.Status], Added: d.Added, Deleted: d.Deleted, Binary: d.Binary, Hunks: d.Hunks}
		s.Added += d.Added
		s.Deleted += d.Deleted
	}
	return s
}

// assess reads the risk out of the repository's past.
func (r *run) assess(ctx context.Context) error {
	in := risk.Input{
		Change: risk.Change{Base: r.fork, Head: r.head, Author: cmp.Or(r.o.Author, r.author.Author), Email: cmp.Or(r.o.Email, r.author.Email),
			Login: r.o.Login, Files: r.diff, Commits: r.commits},
		Title: r.o.Title, Body: r.o.Body, Head: r.after, History: r.past,
	}
	if r.selected != nil {
		in.Intent = r.selected.Intent.Level
		in.Unscoped = r.unscoped()
	}
	past, err := risk.ReadPast(ctx, r.repo, r.past, risk.PastChanges)
	if err != nil {
		r.out.Problems = append(r.out.Problems, report.Problem{Section: "risk band", Message: err.Error()})
	}
	r.assessment, err = risk.Assess(ctx, in, risk.Options{Past: past, Sensitive: r.config.Risk.Sensitive, ControlPlane: r.controlPlane()})
	if err != nil {
		return err
	}
	r.out.Risk = r.assessment
	return nil
}

// controlPlane is what judges the change: the built-in paths and those of this run.
func (r *run) controlPlane() []string {
	out := risk.DefaultControlPlane()
	for _, p := range []string{r.o.ConfigFile, r.o.CasesFile, r.o.BaselineFile, r.config.Gates.Eval.Cases, r.config.Gates.Eval.Baseline} {
		if p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return append(out, r.config.Gates.ControlPlane.Paths...)
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
		if r.selected.Ranking.Score(i) < unscopedShare*r.selected.Ranking.Top() {
			out = append(out, d.Path)
		}
	}
	return out
}

// unscopedShare is the share of the best score under which a file counts as not reached.
const unscopedShare = 0.05

// verdict is the report's first line.
func (r *run) verdict() {
	v := report.Verdict{Level: "unassessed", Reason: "the risk could not be assessed"}
	if a := r.assessment; a != nil {
		v.Reason = a.Headline
		if a.Assessed {
			v.Level = string(a.Band)
		}
		r.out.Notes = append(r.out.Notes, a.Notes...)
	}
	for _, g := range r.out.Gates {
		if g.State != "pass" && g.State != report.GateNotConfigured && (g.Mode == "block" || g.State == "error") {
			v = report.Verdict{Level: "blocked", Reason: g.Name + ": " + g.Detail}
			break
		}
	}
	r.out.Verdict = v
}
