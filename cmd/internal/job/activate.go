package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/score"
	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// ActivateOptions are those of one local selection.
type ActivateOptions struct {
	Dir            string // of the project, or any folder inside it
	Task           string // the first line is the title
	Kind           task.Kind
	Config         *config.Config // nil: the defaults
	Pick           pick.Options   // zero values are filled in from Config
	BranchAware    bool           // files that the branch changed count as touched
	Touched        map[string]bool
	Session        string // id of a session: the files that it touched count as touched
	HistoryCommits int
	CacheDir       string      // empty: no cache on disk
	Docs           index.Cache // used without a CacheDir, to keep parsed files between calls; nil: nothing is kept
	Extractor      symbols.Mode
}

// Activate selects the context of a task in the work tree: the checked-out commit with its
// uncommitted changes or, where there is no repository, the files of the folder.
func Activate(ctx context.Context, o ActivateOptions) (*Selected, error) {
	if strings.TrimSpace(o.Task) == "" {
		return nil, errors.New("the task is empty; say what is to be done, as in: ctxt activate --task \"fix the retry of uploads\"")
	}
	if o.Config == nil {
		o.Config = config.Default()
	}
	if o.Session != "" {
		touched, err := SessionTouched(ctx, o.Dir, o.Session)
		if err != nil {
			return nil, err
		}
		maps.Copy(touched, o.Touched)
		o.Touched = touched
	}
	repo, err := git.Open(o.Dir, git.Options{})
	if err != nil && !errors.Is(err, git.ErrNotRepository) {
		return nil, err
	}
	if errors.Is(err, git.ErrNotRepository) {
		repo = nil
	}
	e, err := NewEngine(ctx, repo, EngineOptions{CacheDir: o.CacheDir, Docs: o.Docs, HistoryCommits: o.HistoryCommits, Mode: o.Extractor})
	if err != nil {
		return nil, err
	}
	s, h, tip, err := e.workTree(ctx, o)
	if err != nil {
		return nil, err
	}
	q := queryOf(o.Config, o.Pick)
	q.Title, q.Body, _ = strings.Cut(strings.TrimSpace(o.Task), "\n")
	q.Body = strings.TrimLeft(q.Body, "\r\n")
	q.Kind, q.Touched = o.Kind, o.Touched
	if o.BranchAware && repo != nil {
		if q.Touched, err = e.branchFiles(ctx, tip, o.Touched); err != nil {
			return nil, err
		}
	}
	closed := e.closing(ctx)
	defer closed()
	out, err := e.Select(ctx, s, h, q)
	if err != nil {
		return nil, err
	}
	out.Bundle.Asked = o.asked()
	if len(s.Files) == 0 {
		out.Bundle.Warnings = append(out.Bundle.Warnings, "there are no files here; run ctxt in the folder of a project")
	}
	if repo == nil {
		out.Bundle.Warnings = append(out.Bundle.Warnings, "this folder is no git repository, so its files are ranked without history; in a clone of the project it counts, too")
	} else if tip.IsZero() {
		out.Bundle.Warnings = append(out.Bundle.Warnings, "there is no commit yet, so the files are ranked without history; from the first commit on it counts, too")
	} else if h.Extent.Shallow {
		out.Bundle.Warnings = append(out.Bundle.Warnings, fmt.Sprintf("the clone is shallow: history limited to %s; git fetch --unshallow brings the rest", commitCount(len(h.Commits))))
	}
	if err := closed(); err != nil {
		out.Bundle.Warnings = append(out.Bundle.Warnings, err.Error())
	}
	return out, nil
}

// closing begins to close the engine, when everything is parsed: what is new is written while it is
// ranked. The answer waits for it.
func (e *Engine) closing(ctx context.Context) func() error {
	done := make(chan error, 1)
	go func() { done <- e.closeWithin(ctx) }()
	return sync.OnceValue(func() error { return <-done })
}

func commitCount(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return fmt.Sprintf("%d commits", n)
}

// workTree makes the snapshot of what is checked out, and reads the past of its commit, which it
// names too.
func (e *Engine) workTree(ctx context.Context, o ActivateOptions) (*index.Snapshot, *history.History, git.Hash, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, tip, listed, err := e.checkedOut(ctx, o)
	if err != nil {
		return nil, nil, tip, err
	}
	type answer struct {
		h   *history.History
		err error
	}
	past := make(chan answer, 1)
	go func() {
		<-listed // until then the processors are busy; what follows is needed last
		warm()
		h, err := e.History(ctx, tip)
		past <- answer{h, err}
	}()
	s, err := e.Snapshot(ctx, from)
	if err != nil {
		return nil, nil, tip, err
	}
	a := <-past
	return s, a.h, tip, a.err
}

// checkedOut is where the files come from, and of which commit they are, if any. The channel is closed
// when it is known which files were changed.
func (e *Engine) checkedOut(ctx context.Context, o ActivateOptions) (index.Origin, git.Hash, <-chan struct{}, error) {
	known := make(chan struct{})
	close(known)
	if e.repo == nil {
		rules, err := folderRules(o.Dir, o.Config)
		if err != nil {
			return nil, git.Hash{}, nil, err
		}
		if err := guardFolder(ctx, o.Dir, rules, o.Config.Common.MaxFiles); err != nil {
			return nil, git.Hash{}, nil, err
		}
		return index.Folder(o.Dir, rules), git.Hash{}, known, nil
	}
	root := e.repo.Root()
	tip, err := e.repo.Resolve(ctx, "HEAD")
	switch {
	case err != nil && root == "":
		return nil, tip, nil, err
	case err != nil: // no commit yet: the files are those of the folder
		rules, rerr := folderRules(root, o.Config)
		return index.Folder(root, rules), git.Hash{}, known, rerr
	case root == "":
		return index.Tree(e.repo, tip), tip, known, nil
	}
	changes, known := e.changes(ctx)
	return index.Overlay(index.Tree(e.repo, tip), root, changes), tip, known, nil
}

// changes looks for the uncommitted changes while other things are done. The channel is closed when they
// are known.
func (e *Engine) changes(ctx context.Context) (func() ([]git.WorktreeChange, error), chan struct{}) {
	known := make(chan struct{})
	type answer struct {
		changes []git.WorktreeChange
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		changes, err := e.repo.Worktree(ctx)
		close(known)
		done <- answer{withoutState(changes), err}
	}()
	return sync.OnceValues(func() ([]git.WorktreeChange, error) {
		a := <-done
		return a.changes, a.err
	}), known
}

// withoutState drops what the tool itself writes, which must not change its answers.
func withoutState(changes []git.WorktreeChange) []git.WorktreeChange {
	out := changes[:0:0]
	for _, c := range changes {
		if !strings.HasPrefix(c.Path, ".ctxt/") && !strings.HasPrefix(c.Path, ".ctxt-writer/") {
			out = append(out, c)
		}
	}
	return out
}

// folderRules are the ignore rules of a folder that is no repository.
func folderRules(dir string, c *config.Config) (*ignore.Rules, error) {
	data, err := store.ReadFile(filepath.Join(dir, ".gitignore"), store.MaxConfigBytes)
	if err != nil && !store.IsNotExist(err) {
		return nil, err
	}
	return ignore.New(ignore.Options{Gitignore: data, Ignore: c.Common.Ignore, DotWhitelist: c.Common.DotWhitelist}), nil
}

// branchFiles are the files that the branch changed since it left the default branch.
func (e *Engine) branchFiles(ctx context.Context, tip git.Hash, touched map[string]bool) (map[string]bool, error) {
	out := map[string]bool{}
	for p := range touched {
		out[p] = true
	}
	for _, name := range []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"} {
		base, err := e.repo.Resolve(ctx, name)
		if err != nil || base == tip {
			continue
		}
		fork, ok, err := e.repo.MergeBase(ctx, base, tip)
		if err != nil {
			return nil, err
		}
		if !ok || fork == tip {
			continue
		}
		diff, err := e.repo.Diff(ctx, fork, tip)
		if err != nil {
			return nil, err
		}
		for _, d := range diff {
			out[d.Path] = true
		}
		break
	}
	return out, nil
}

// queryOf turns the configuration into a query; what p sets already stays.
func queryOf(c *config.Config, p pick.Options) Query {
	s := c.Selector
	if p.Budget.Tokens == 0 {
		p.Budget.Tokens = s.DefaultBudget.Tokens
	}
	if p.Budget.Files == 0 {
		p.Budget.Files = s.DefaultBudget.MaxFiles
	}
	if p.Pack == "" {
		p.Pack = s.Pack
	}
	if p.FullFileMaxLines == 0 {
		p.FullFileMaxLines = s.ExcerptFullFileMaxLines
	}
	p.Shadow = pick.ShadowOptions{
		Disabled: !s.Shadow.Enabled, MinAffinity: s.Shadow.MinAffinity, MinCoCommits: s.Shadow.MinCoCommitCount,
		MaxAdds: s.Shadow.MaxShadowAdds, TauDays: s.Shadow.TauDays, CommitSizePenalty: s.Shadow.CommitSizePenalty,
	}
	return Query{Threshold: s.SufficiencyThreshold, Weights: weightsOf(s.Weights), HalfLife: s.Churn.HalfLifeDays, Pick: p}
}

// weightsOf lays configured weights over the built-in ones. content_match is a part of the keyword
// signal, so the two add up.
func weightsOf(given map[string]float64) score.Weights {
	if len(given) == 0 {
		return score.Weights{}
	}
	w := score.DefaultWeights(task.Change)
	names := map[score.Signal][]string{
		score.Keyword: {"keyword", "content_match"}, score.Centrality: {"centrality"}, score.Churn: {"churn"},
		score.Recent: {"recent_touch"}, score.TestProximity: {"test_proximity", "test_relevant"}, score.Shadow: {"shadow_affinity", "temporal_affinity"},
	}
	for s, keys := range names {
		sum, set := 0.0, false
		for _, k := range keys {
			if v, ok := given[k]; ok {
				sum, set = sum+v, true
			}
		}
		if set {
			w[s] = sum
		}
	}
	return w
}

// DefaultQuery is the query that the configuration alone makes.
func DefaultQuery(c *config.Config) Query { return queryOf(c, pick.Options{}) }
