package job

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
	"github.com/ctxt-dev/ctxt/report"
)

// run is the state of one pull request run: what the stages hand on.
type run struct {
	o          PROptions
	repo       *git.Repo
	engine     *Engine
	stop       func()   // ends the processes that read objects
	base, head git.Hash // as given
	fork       git.Hash // their merge base: what the change is measured against
	config     *config.Config
	configErr  error // gates fail closed
	diff       []git.FileDiff
	author     git.Commit // of the head
	subject    risk.Change
	past       *history.History
	before     *index.Snapshot // of fork; made when a gate needs it
	after      *index.Snapshot
	selected   *Selected
	assessment *risk.Assessment
	out        *report.Report
}

// RunPR is the whole run of a pull request, without GitHub: commits and text in, report out. An error
// means that there is nothing to report; a section that alone cannot be made is a Problem in the report.
func RunPR(ctx context.Context, o PROptions) (*report.Report, error) {
	r := &run{o: o, out: &report.Report{Version: report.SchemaVersion, Tool: strings.TrimSpace("ctxt " + o.Version)}}
	defer func() {
		if r.stop != nil {
			r.stop()
		}
	}()
	steps := []func(context.Context) error{
		r.open,      // the repository, the two commits and where they part
		r.describe,  // what the change says that it does
		r.configure, // from the base commit
		r.change,    // the diff
		r.index,     // the head's tree, from git objects
		r.history,   // what the base can reach
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	sections := []struct {
		name string
		make func(context.Context) error
	}{
		{"context", r.selectContext},
		{"risk", r.assess},
		{"gates", r.gates},
		{"graph", r.graph},
	}
	for _, s := range sections {
		if err := s.make(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			r.out.Problems = append(r.out.Problems, report.Problem{Section: s.name, Message: err.Error()})
		}
	}
	r.verdict()
	if err := r.engine.closeWithin(ctx); err != nil {
		r.out.Notes = append(r.out.Notes, err.Error())
	}
	return r.out, nil
}

// open opens the repository and resolves the two revisions.
func (r *run) open(ctx context.Context) (err error) {
	if r.repo, err = git.Open(r.o.Dir, git.Options{}); err != nil {
		return err
	}
	if r.base, err = r.repo.Resolve(ctx, r.o.Base); err != nil {
		return fmt.Errorf("base: %w", err)
	}
	if r.head, err = r.repo.Resolve(ctx, r.o.Head); err != nil {
		return fmt.Errorf("head: %w", err)
	}
	fork, ok, err := r.repo.MergeBase(ctx, r.base, r.head)
	switch {
	case err != nil:
		return fmt.Errorf("find where %s and %s part: %w", r.base.Short(), r.head.Short(), err)
	case ok:
		r.fork = fork
	case r.repo.Shallow():
		r.fork = r.base
		r.out.Notes = append(r.out.Notes, "the shallow clone does not hold the merge base: compared with the base itself; set fetch-depth: 0")
	default:
		r.fork = r.base
		r.out.Notes = append(r.out.Notes, "base and head share no history: compared with the base itself")
	}
	if r.engine, err = NewEngine(ctx, r.repo, EngineOptions{CacheDir: r.o.CacheDir, HistoryCommits: r.o.HistoryCommits}); err != nil {
		return err
	}
	r.stop = r.repo.KeepReaders(ctx)
	warm()
	r.out.Base, r.out.Head, r.out.MergeBase = r.base.String(), r.head.String(), r.fork.String()
	return nil
}

// describe takes the title and the description, from the head commit where they are not given.
func (r *run) describe(ctx context.Context) (err error) {
	if r.author, err = r.repo.CommitInfo(ctx, r.head); err != nil {
		return fmt.Errorf("head: %w", err)
	}
	if strings.TrimSpace(r.o.Title+r.o.Body) == "" {
		r.o.FromHead = true
	}
	if r.o.FromHead {
		r.o.Title, r.o.Body = titleOf(r.author.Message, len(r.author.Parents) > 1)
	}
	if strings.TrimSpace(r.o.Title+r.o.Body) == "" {
		return fmt.Errorf("the title and the description are empty, and so is the message of %s; say what the change does (--title, --body-file)", r.head.Short())
	}
	r.out.Title, r.out.Reproduce = r.o.Title, r.reproduce()
	return nil
}

// titleOf splits a commit's message. The forge's own subject of a merged pull request says nothing of
// the change, whose title stands below it.
func titleOf(message string, merge bool) (title, body string) {
	title, body, _ = strings.Cut(strings.TrimSpace(message), "\n")
	title, body = strings.TrimSpace(title), strings.TrimSpace(body)
	if merge && body != "" && strings.HasPrefix(title, "Merge pull request #") {
		return titleOf(body, false)
	}
	return title, body
}

// change reads the diff and whose it is.
func (r *run) change(ctx context.Context) (err error) {
	if r.diff, err = r.repo.Diff(ctx, r.fork, r.head); err != nil {
		return fmt.Errorf("diff: %w", err)
	}
	r.subject = risk.Change{Base: r.fork, Head: r.head, Author: cmp.Or(r.o.Author, r.author.Author), Email: cmp.Or(r.o.Email, r.author.Email),
		Login: r.o.Login, Files: r.diff}
	if err := r.countCommits(ctx, &r.subject); err != nil {
		return err
	}
	r.out.Change = summary(r.subject)
	return nil
}

// index makes the snapshot of the head.
func (r *run) index(ctx context.Context) (err error) {
	if r.after, err = r.engine.Snapshot(ctx, index.Tree(r.repo, r.head)); err != nil {
		return err
	}
	r.out.IndexSkips = r.after.Skipped
	return nil
}

// history reads the past of the change.
func (r *run) history(ctx context.Context) (err error) {
	if r.past, err = r.engine.History(ctx, r.fork); err != nil {
		return err
	}
	e := r.past.Extent
	r.out.History = report.HistorySummary{Commits: len(r.past.Commits), Tip: r.fork.String(), TipTime: r.past.Now, Shallow: e.Shallow, Limited: e.Limited}
	return nil
}

// selectContext ranks and packs the context of the change.
func (r *run) selectContext(ctx context.Context) (err error) {
	q := queryOf(r.config, r.pick())
	q.Title, q.Body = r.o.Title, r.o.Body
	q.Kind = task.Change // whatever its description tells of the problem
	if r.selected, err = r.engine.Select(ctx, r.after, r.past, q); err != nil {
		return err
	}
	r.out.Context = r.selected.Bundle
	return nil
}
