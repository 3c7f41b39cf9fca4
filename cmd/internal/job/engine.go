package job

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/score"
	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/cache"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// Engine ranks and selects. Everything that ranks goes through one: the commands, the Action, MCP,
// eval and replay. It is safe for concurrent use.
type Engine struct {
	repo    *git.Repo // nil: a folder that is no repository
	docs    index.Cache
	disk    *cache.Cache // nil: nothing is kept on disk
	mode    symbols.Mode
	commits int
	log     *history.Log   // set for replay: every history comes from it
	objects *cache.Objects // nil: none
	past    *cache.Files   // histories on disk; nil: none
	lines   *cache.Files   // what risk learned of them; nil: nothing is kept
	mu      sync.Mutex
	kept    error        // why a history could not be kept
	names   *index.Names // set for replay
	stop    func()       // ends what Preload started; nil: nothing
	first   sync.Once    // of the snapshots, for replay
}

// EngineOptions open an Engine. Zero values mean the defaults.
type EngineOptions struct {
	CacheDir       string      // folder of the cache; empty: nothing is kept on disk
	Docs           index.Cache // used when CacheDir is empty; nil: one of the engine's own
	HistoryCommits int         // 0: history.DefaultCommits
	Mode           symbols.Mode
}

// NewEngine opens an engine over a repository, or over none. A cache folder that the repository
// tracks is refused: what is in it came with the checkout, and would be taken for what was read here.
func NewEngine(ctx context.Context, repo *git.Repo, o EngineOptions) (*Engine, error) {
	e := &Engine{repo: repo, mode: o.Mode, commits: o.HistoryCommits}
	if o.CacheDir == "" {
		if e.docs = o.Docs; e.docs == nil {
			e.docs = index.NewMemory()
		}
		return e, nil
	}
	if repo != nil {
		tracked, err := repo.Tracks(ctx, o.CacheDir)
		if err != nil {
			return nil, err
		}
		if tracked {
			return nil, fmt.Errorf("cache folder %s: the repository tracks files in it, which nothing here has written: take them out (git rm -r --cached), or use --no-cache or --cache-dir", o.CacheDir)
		}
	}
	mode := o.Mode
	if mode == "" {
		mode = symbols.Auto
	}
	name := fmt.Sprintf("docs-%s-%t", mode, symbols.HasTreeSitter())
	disk, err := cache.Open(filepath.Join(o.CacheDir, name))
	if err != nil {
		return nil, err
	}
	e.docs, e.disk = disk, disk
	if repo != nil {
		if e.objects, err = cache.OpenObjects(filepath.Join(o.CacheDir, "objects")); err != nil {
			return nil, err
		}
		repo.Remember(e.objects)
	}
	e.past = &cache.Files{Dir: filepath.Join(o.CacheDir, "history"), Suffix: ".past", MaxFiles: 8, MaxBytes: 64 << 20}
	e.lines = &cache.Files{Dir: filepath.Join(o.CacheDir, "risk"), Suffix: ".lines", MaxFiles: 8, MaxBytes: 64 << 20}
	return e, nil
}

// Close keeps on disk what was parsed. A failure costs the next run time and nothing else.
func (e *Engine) Close() error { return e.closeWithin(context.Background()) }

// closeWithin is Close until ctx ends: what is not kept by then is not kept, and nothing is kept in part.
func (e *Engine) closeWithin(ctx context.Context) error {
	if e.stop != nil {
		e.stop()
	}
	if e.disk == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	err := cmp.Or(e.disk.Close(ctx), e.kept)
	if e.objects != nil {
		err = cmp.Or(err, e.objects.Close(ctx))
	}
	return err
}

// Preload prepares for selections at many commits: it reads their histories at once, and what one
// selection reads of the repository serves the next. Close ends the processes that it starts.
func (e *Engine) Preload(ctx context.Context, tips []git.Hash) (err error) {
	e.stop = e.repo.KeepReaders(ctx)
	e.names = &index.Names{}
	if e.objects == nil {
		e.repo.Remember(newTrees())
	}
	e.log, err = history.ReadLog(ctx, e.repo, tips, e.commits)
	return err
}

// warm makes what ranking and packing need of tables and expressions, while something is waited for. It
// changes no result.
func warm() {
	go pick.Warm()
	go task.Warm()
}

// Snapshot builds the snapshot of an origin. Of many commits the first is built alone: the others find
// most of their files parsed, and none is parsed twice.
func (e *Engine) Snapshot(ctx context.Context, from index.Origin) (s *index.Snapshot, err error) {
	if e.names != nil {
		e.first.Do(func() { s, err = e.build(ctx, from) })
	}
	if s != nil || err != nil {
		return s, err
	}
	return e.build(ctx, from)
}

func (e *Engine) build(ctx context.Context, from index.Origin) (*index.Snapshot, error) {
	return index.Build(ctx, from, index.Options{Mode: e.mode, Cache: e.docs, Names: e.names})
}

// History reads the past of a commit; the null commit has none.
func (e *Engine) History(ctx context.Context, tip git.Hash) (*history.History, error) {
	switch {
	case tip.IsZero():
		return &history.History{}, nil
	case e.log != nil:
		return e.log.At(tip, e.commits)
	case e.past != nil:
		h, kept, err := history.Kept(ctx, e.repo, tip, e.commits, e.past)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.kept = cmp.Or(e.kept, kept)
		return h, err
	}
	return history.Build(ctx, e.repo, tip, e.commits)
}

// Query is what is looked for, and how.
type Query struct {
	Title, Body string
	Kind        task.Kind
	Threshold   float64 // of the intent check; 0: the default
	Weights     score.Weights
	HalfLife    float64         // of churn, days; 0: the default
	Touched     map[string]bool // paths that a session touched
	Pick        pick.Options
}

// Selected is a query's answer.
type Selected struct {
	Snapshot *index.Snapshot
	History  *history.History
	Task     *task.Task
	Ranking  *score.Ranking
	Intent   task.Intent
	Bundle   *pick.Bundle
}

// Select ranks the files of a snapshot for a query and packs the bundle. The history is that of the
// snapshot's commit, or of the base of a change.
func (e *Engine) Select(ctx context.Context, s *index.Snapshot, h *history.History, q Query) (*Selected, error) {
	out := &Selected{Snapshot: s, History: h, Task: task.Parse(q.Title, q.Body, q.Kind)}
	var err error
	out.Ranking, err = score.Rank(ctx, score.Input{Snapshot: s, History: h, Task: out.Task, Touched: q.Touched, ChurnHalfLifeDays: q.HalfLife}, q.Weights)
	if err != nil {
		return nil, fmt.Errorf("rank: %w", err)
	}
	out.Intent = out.Task.Check(task.Vocabulary{Files: len(s.Files), Found: out.Ranking.Found, Named: out.Ranking.Named()}, q.Threshold)
	text := q.Title
	if q.Body != "" {
		text += "\n\n" + q.Body
	}
	out.Bundle, err = pick.Build(ctx, pick.Input{
		Snapshot: s, History: h, Ranking: out.Ranking, Task: text,
		TaskKind: string(out.Task.Kind), TaskType: out.Task.Type.Name,
		Intent: pick.Intent{Score: out.Intent.Score, Level: out.Intent.Level, Reasons: out.Intent.Reasons},
	}, q.Pick)
	if err != nil {
		return nil, fmt.Errorf("select: %w", err)
	}
	return out, nil
}

// SelectAt answers a query for a commit's tree and past.
func (e *Engine) SelectAt(ctx context.Context, commit git.Hash, q Query) (*Selected, error) {
	s, err := e.Snapshot(ctx, index.Tree(e.repo, commit))
	if err != nil {
		return nil, err
	}
	h, err := e.History(ctx, commit)
	if err != nil {
		return nil, err
	}
	return e.Select(ctx, s, h, q)
}
