package git

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
)

// Past is the newest history of one commit, with what a later reading needs to go on from it.
type Past struct {
	Commits []*Commit // as History yields them, merges left out
	// Others are the commits that were met and are not among Commits: merges, and those that the walk
	// would have come to next. They have no changes.
	Others []*Commit
	Time   int64 // committer time of the tip, Unix seconds
	Extent Extent
	// Whole is set when Others is complete, so that the Past can be kept.
	Whole bool
}

// maxNews is how many commits a reading looks up one by one beyond those that are known; git log is
// quicker for more.
const maxNews = 500

// maxTime is the largest time that clampTime lets stand as it is.
const maxTime = 253402300799

// Past reads the newest limit commits (0: all) that tip can reach, merges left out: what History
// yields, in its order. known gives commits of an earlier reading, whole ones with their changes,
// others without, or nil; it may be nil itself. Only what it does not know is read.
func (r *Repo) Past(ctx context.Context, tip Hash, limit int, known func(Hash) (c *Commit, whole bool)) (*Past, error) {
	if known != nil || r.program == nil {
		if p, err := r.pastFrom(ctx, tip, limit, known); err == nil {
			return p, nil
		}
	}
	if r.program != nil && ctx.Err() == nil {
		if p, err := r.pastLog(ctx, tip, limit); err == nil {
			return p, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// Whatever the reason, History knows how to go on, or says what is wrong.
	info, err := r.CommitInfo(ctx, tip)
	if err != nil {
		return nil, err
	}
	p := &Past{Time: info.Time}
	p.Extent, err = r.History(ctx, []Hash{tip}, HistoryOptions{Limit: limit}, func(c *Commit) error {
		p.Commits = append(p.Commits, c)
		return nil
	})
	return p, err
}

// pastLog reads a Past with git log.
func (r *Repo) pastLog(ctx context.Context, tip Hash, limit int) (*Past, error) {
	p := &Past{Extent: Extent{Shallow: r.Shallow()}, Whole: true}
	args := append(logForm[:len(logForm):len(logForm)], "--diff-merges=off", "--stdin")
	met := map[Hash]bool{}
	err := r.runLog(ctx, []Hash{tip}, args, func(c *Commit) error {
		if c.Hash == tip {
			p.Time = c.Time
		}
		if len(c.Parents) > 1 {
			p.Others = append(p.Others, c)
		} else if limit > 0 && len(p.Commits) == limit {
			p.Extent.Limited = true
			return errEnough
		} else {
			p.Commits = append(p.Commits, c)
		}
		met[c.Hash] = true
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	p.Extent.Commits = len(p.Commits)
	var next []Hash
	for _, list := range [][]*Commit{p.Commits, p.Others} {
		for _, c := range list {
			for _, h := range c.Parents {
				if !met[h] {
					met[h] = true
					next = append(next, h)
				}
			}
		}
	}
	raw, err := r.rawCommits(ctx, next)
	if err != nil {
		return nil, err
	}
	for i, c := range raw {
		out := r.commit(next[i], c)
		p.Others = append(p.Others, &out)
	}
	return p, nil
}

// met is a commit on a walk from known commits.
type met struct {
	commit *Commit
	raw    *rawCommit // of one that was read; of a known one only its date
	whole  bool
}

// pastFrom walks the commits, reading those that are not known; errEnough says that these are too many.
func (r *Repo) pastFrom(ctx context.Context, tip Hash, limit int, known func(Hash) (*Commit, bool)) (*Past, error) {
	w, err := r.newWalker(ctx)
	if err != nil {
		return nil, err
	}
	defer w.s.close()
	all := map[Hash]*met{}
	news := 0
	add := func(h Hash) error {
		if all[h] != nil {
			return nil
		}
		m := &met{}
		if known != nil {
			m.commit, m.whole = known(h)
		}
		if m.commit != nil && m.commit.Boundary == r.shallow[h] {
			m.raw = &rawCommit{date: uint64(m.commit.Time)} //nolint:gosec // not negative, see clampTime
		} else {
			if news++; news > maxNews && r.program != nil {
				return errEnough
			}
			if m.raw, err = w.commit(h); err != nil {
				return err
			}
			c := r.commit(h, m.raw)
			m.commit, m.whole = &c, c.Boundary
		}
		if m.raw.date > maxTime && r.program != nil {
			return errEnough // known commits do not tell such dates apart
		}
		all[h] = m
		w.queue.put(h, m.raw)
		return nil
	}
	if err := add(tip); err != nil {
		return nil, err
	}
	p := &Past{Time: all[tip].commit.Time, Extent: Extent{Shallow: r.Shallow()}, Whole: true}
	var order []*met
	for w.queue.Len() > 0 {
		m := all[heap.Pop(&w.queue).(queued).hash]
		for _, h := range m.commit.Parents {
			if err := add(h); err != nil {
				return nil, err
			}
		}
		if len(m.commit.Parents) > 1 {
			p.Others = append(p.Others, m.commit)
			continue
		}
		if limit > 0 && len(order) == limit {
			p.Extent.Limited = true
			p.Others = append(p.Others, m.commit)
			break
		}
		order = append(order, m)
	}
	for _, q := range w.queue.items {
		p.Others = append(p.Others, all[q.hash].commit)
	}
	if err := r.complete(ctx, w, order); err != nil {
		return nil, err
	}
	for _, m := range order {
		p.Commits = append(p.Commits, m.commit)
	}
	p.Extent.Commits = len(order)
	return p, nil
}

// complete reads the changes of the commits that lack them.
func (r *Repo) complete(ctx context.Context, w *walker, order []*met) error {
	var want []Hash
	lacking := map[Hash]*met{}
	for _, m := range order {
		if !m.whole {
			want = append(want, m.commit.Hash)
			lacking[m.commit.Hash] = m
		}
	}
	if len(want) == 0 {
		return nil
	}
	if r.program == nil {
		for _, h := range want {
			m := lacking[h]
			raw := m.raw
			if raw.tree.IsZero() { // known, without changes
				var err error
				if raw, err = w.commit(h); err != nil {
					return err
				}
			}
			c := r.commit(h, raw)
			if err := w.changes(&c, raw); err != nil {
				return err
			}
			m.commit = &c
		}
		return nil
	}
	if len(want) > maxNews {
		return errEnough
	}
	args := append(logForm[:len(logForm):len(logForm)], "--no-walk=unsorted", "--stdin")
	err := r.runLog(ctx, want, args, func(c *Commit) error {
		if m := lacking[c.Hash]; m != nil {
			m.commit = c
			delete(lacking, c.Hash)
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return errEnough
	case len(lacking) > 0:
		return fmt.Errorf("git log left out %d commits: %w", len(lacking), errEnough)
	}
	return nil
}
