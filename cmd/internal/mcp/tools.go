package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index/git"
)

// The caps on what a call may ask for.
const (
	maxTask    = 64 << 10 // bytes of text; ranking reads no more
	maxTokens  = 50_000
	maxFiles   = 200
	maxResults = 100
	maxPaths   = 1000
)

type searchArgs struct {
	Query      string `json:"query" jsonschema:"a name or a few words"`
	Limit      int    `json:"limit,omitempty" jsonschema:"most results, 1 to 100 (default 10)"`
	Type       string `json:"type,omitempty" jsonschema:"files, dirs or all (default all)"`
	Explain    bool   `json:"explain,omitempty" jsonschema:"show where the points come from"`
	DirSummary bool   `json:"dir_summary,omitempty" jsonschema:"the best folders first, each with its best files"`
}

func (s *server) searchHints(ctx context.Context, in searchArgs) (any, error) {
	if in.Limit < 0 || in.Limit > maxResults {
		return nil, fmt.Errorf("limit is %d; want 1 to %d", in.Limit, maxResults)
	}
	c, err := s.Config()
	if err != nil {
		return nil, err
	}
	d := c.Search
	return s.Search(ctx, search.Request{Query: in.Query, Limit: min(cmp.Or(in.Limit, d.Limit), maxResults), Type: cmp.Or(in.Type, d.Type),
		MinScore: d.MinScore, Explain: in.Explain, DirSummary: in.DirSummary, DirLimit: d.DirLimit, DrillLimit: d.DrillLimit})
}

type activateArgs struct {
	Task         string   `json:"task" jsonschema:"what is to be done; the first line is the title"`
	Kind         string   `json:"kind,omitempty" jsonschema:"what the text describes: change, issue or auto (default auto)"`
	BudgetTokens int      `json:"budget_tokens,omitempty" jsonschema:"most tokens of the bundle, up to 50000 (default 8000)"`
	BudgetFiles  int      `json:"budget_files,omitempty" jsonschema:"most files of the bundle, up to 200 (default 25)"`
	Scope        []string `json:"scope,omitempty" jsonschema:"only files under these folders"`
	NearMisses   int      `json:"near_misses,omitempty" jsonschema:"list so many files that just missed"`
	Session      string   `json:"session,omitempty" jsonschema:"id of a session; the files that it touched count as touched"`
	BranchAware  bool     `json:"branch_aware,omitempty" jsonschema:"count the files that this branch changed as touched"`
	Write        bool     `json:"write,omitempty" jsonschema:"also write .ctxt/active-bundle.md and .json (default false)"`
}

func (s *server) activate(ctx context.Context, in activateArgs) (any, error) {
	o, err := s.options(in.Task, in.Kind)
	if err != nil {
		return nil, err
	}
	for _, v := range []struct {
		name       string
		value, top int
	}{{"budget_tokens", in.BudgetTokens, maxTokens}, {"budget_files", in.BudgetFiles, maxFiles}, {"near_misses", in.NearMisses, maxFiles}} {
		if v.value < 0 || v.value > v.top {
			return nil, fmt.Errorf("%s is %d; want 1 to %d", v.name, v.value, v.top)
		}
	}
	o.Pick = pick.Options{Budget: pick.Budget{Tokens: in.BudgetTokens, Files: in.BudgetFiles}, Scope: in.Scope, NearMisses: in.NearMisses}
	o.Session, o.BranchAware = in.Session, in.BranchAware
	sel, err := job.Activate(ctx, o)
	if err != nil {
		return nil, err
	}
	return sel.Bundle, s.keep(sel.Bundle, in.Write)
}

// options are those of every selection here.
func (s *server) options(text, kind string) (job.ActivateOptions, error) {
	o := job.ActivateOptions{Dir: s.Root, Task: text, Kind: task.Kind(cmp.Or(kind, string(task.Auto))), CacheDir: s.CacheDir, Docs: s.docs}
	switch o.Kind {
	case task.Auto, task.Change, task.Issue:
	default:
		return o, fmt.Errorf("kind is %.40q; want change, issue or auto", kind)
	}
	if len(text) > maxTask {
		return o, fmt.Errorf("the task has %d bytes; at most %d are read: leave out logs and quotes", len(text), maxTask)
	}
	var err error
	o.Config, err = s.Config()
	return o, err
}

// keep remembers a bundle for refine and explain, and writes it where asked to.
func (s *server) keep(b *pick.Bundle, write bool) error {
	s.mu.Lock()
	s.last = b
	s.mu.Unlock()
	if !write {
		return nil
	}
	return s.Keep(b)
}

// bundle is the last one of this server, else the active one.
func (s *server) bundle() (*pick.Bundle, error) {
	s.mu.Lock()
	b := s.last
	s.mu.Unlock()
	if b != nil {
		return b, nil
	}
	b, err := s.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no bundle yet; call activate with the task first")
	}
	return b, err
}

type refineArgs struct {
	Learned  string   `json:"learned,omitempty" jsonschema:"what is known now, in plain words"`
	Keywords []string `json:"keywords,omitempty" jsonschema:"words that weigh as much as those of the task's title"`
	Drop     []string `json:"drop,omitempty" jsonschema:"files to leave out from now on, as the bundle names them"`
	Write    bool     `json:"write,omitempty" jsonschema:"also write .ctxt/active-bundle.md and .json (default false)"`
}

func (s *server) refine(ctx context.Context, in refineArgs) (any, error) {
	old, err := s.bundle()
	if err != nil {
		return nil, err
	}
	if len(in.Drop) > maxPaths {
		return nil, fmt.Errorf("drop names %d files; at most %d", len(in.Drop), maxPaths)
	}
	o, err := s.options("", "")
	if err != nil {
		return nil, err
	}
	r, err := job.Refine(ctx, job.RefineOptions{ActivateOptions: o, Bundle: old, Learned: in.Learned, Keywords: in.Keywords, Drop: in.Drop})
	if err != nil {
		return nil, err
	}
	r.Difference.Bundle = r.Bundle
	return &r.Difference, s.keep(r.Bundle, in.Write)
}

type explainArgs struct {
	Path string `json:"path" jsonschema:"file, relative to the project's root"`
	Task string `json:"task,omitempty" jsonschema:"what is to be done (default: the task of the last bundle)"`
}

func (s *server) explain(ctx context.Context, in explainArgs) (any, error) {
	o, err := s.options(in.Task, "")
	if err != nil {
		return nil, err
	}
	if in.Task == "" {
		b, err := s.bundle()
		if err != nil {
			return nil, err
		}
		o.Task, o.Kind = b.Task, task.Kind(b.TaskKind)
		o.Pick.Budget, o.Pick.Pack = b.Budget, b.Pack
		if a := b.Asked; a != nil {
			o.Session, o.BranchAware = a.Session, a.BranchAware
			o.Pick.Scope, o.Pick.Drop, o.Pick.BlastRadius = a.Scope, a.Dropped, a.BlastRadius
		}
	}
	sel, err := job.Activate(ctx, o)
	if err != nil {
		return nil, err
	}
	return sel.Explain(in.Path)
}

type companionArgs struct {
	Base  string   `json:"base,omitempty" jsonschema:"revision that the branch left; its committed changes count, too (default: only uncommitted changes)"`
	Paths []string `json:"paths,omitempty" jsonschema:"the changed files, instead of those of the work tree"`
	Title string   `json:"title,omitempty" jsonschema:"what the change is about"`
}

func (s *server) companions(ctx context.Context, in companionArgs) (any, error) {
	if len(in.Paths) > maxPaths {
		return nil, fmt.Errorf("paths names %d files; at most %d", len(in.Paths), maxPaths)
	}
	return job.Companions(ctx, job.CompanionsOptions{Dir: s.Root, Base: in.Base, Paths: in.Paths, Title: in.Title})
}

type riskArgs struct {
	Base  string `json:"base" jsonschema:"revision that the change is to be merged into, as in origin/main"`
	Head  string `json:"head,omitempty" jsonschema:"revision with the change (default HEAD)"`
	Title string `json:"title,omitempty" jsonschema:"title of the change (default: the head commit's message)"`
	Body  string `json:"body,omitempty" jsonschema:"description of the change"`
}

func (s *server) risk(ctx context.Context, in riskArgs) (any, error) {
	o := job.PROptions{Dir: s.Root, Base: in.Base, Head: cmp.Or(in.Head, "HEAD"), Title: in.Title, Body: in.Body, CacheDir: s.CacheDir, Version: s.Version}
	if len(o.Title)+len(o.Body) > maxTask {
		return nil, fmt.Errorf("title and body have %d bytes; at most %d are read", len(o.Title)+len(o.Body), maxTask)
	}
	if strings.TrimSpace(o.Title+o.Body) == "" {
		repo, err := git.Open(s.Root, git.Options{})
		if err != nil {
			return nil, err
		}
		head, err := repo.Resolve(ctx, o.Head)
		if err != nil {
			return nil, fmt.Errorf("head: %w", err)
		}
		c, err := repo.CommitInfo(ctx, head)
		if err != nil {
			return nil, err
		}
		o.Title, o.Body, _ = strings.Cut(c.Message, "\n")
		o.Body, o.FromHead = strings.TrimSpace(o.Body), true
	}
	return job.RunPR(ctx, o)
}

type statusArgs struct{}

func (s *server) status(ctx context.Context, _ statusArgs) (any, error) { return s.Status(ctx) }
