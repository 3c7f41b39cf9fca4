package git

import (
	"container/heap"
	"container/list"
	"context"
	"errors"
	"fmt"
)

// commitQueue yields commits as git log does: the newest committer time first, and among equal
// times the one that was put in first.
type commitQueue struct {
	items []queued
	next  int
}

type queued struct {
	hash  Hash
	c     *rawCommit
	order int
}

func (q *commitQueue) Len() int { return len(q.items) }
func (q *commitQueue) Less(i, j int) bool {
	a, b := &q.items[i], &q.items[j]
	if a.c.date != b.c.date {
		return a.c.date > b.c.date
	}
	return a.order < b.order
}
func (q *commitQueue) Swap(i, j int) { q.items[i], q.items[j] = q.items[j], q.items[i] }
func (q *commitQueue) Push(x any)    { q.items = append(q.items, x.(queued)) }
func (q *commitQueue) Pop() any {
	x := q.items[len(q.items)-1]
	q.items = q.items[:len(q.items)-1]
	return x
}

func (q *commitQueue) put(h Hash, c *rawCommit) {
	heap.Push(q, queued{h, c, q.next})
	q.next++
}

// walker reads commits and trees one at a time through go-git.
type walker struct {
	r     *Repo
	s     objectSession
	seen  map[Hash]bool
	queue commitQueue
	trees treeCache
	left  int // records that the current commit may still have
}

// newWalker reads with the repository's backend, newGoWalker with go-git.
func (r *Repo) newWalker(ctx context.Context) (*walker, error) {
	s, err := r.session(ctx, false)
	if err != nil {
		return nil, err
	}
	return walkWith(r, s), nil
}

func (r *Repo) newGoWalker(ctx context.Context) (*walker, error) {
	g, err := r.goGit()
	if err != nil {
		return nil, err
	}
	return walkWith(r, &goSession{g: g, ctx: ctx}), nil
}

func walkWith(r *Repo, s objectSession) *walker {
	return &walker{r: r, s: s, seen: map[Hash]bool{}, trees: treeCache{max: 4096, items: map[Hash]*list.Element{}}}
}

// commit reads a commit with the parents that this clone has: none at a shallow boundary.
func (w *walker) commit(h Hash) (*rawCommit, error) {
	all, err := readCommits(w.s, []Hash{h})
	if err != nil {
		return nil, err
	}
	c := all[0]
	if w.r.shallow[h] {
		c.parents = nil
	}
	return c, nil
}

// add puts commits that were not met before into the queue.
func (w *walker) add(hashes []Hash) error {
	for _, h := range hashes {
		if w.seen[h] {
			continue
		}
		w.seen[h] = true
		c, err := w.commit(h)
		if err != nil {
			return err
		}
		w.queue.put(h, c)
	}
	return nil
}

// walk yields the commits reachable from tips in the order of git log.
func (w *walker) walk(tips []Hash, firstParent bool, fn func(Hash, *rawCommit) error) error {
	if err := w.add(tips); err != nil {
		return err
	}
	for w.queue.Len() > 0 {
		q := heap.Pop(&w.queue).(queued)
		parents := q.c.parents
		if firstParent && len(parents) > 1 {
			parents = parents[:1]
		}
		if err := w.add(parents); err != nil {
			return err
		}
		if err := fn(q.hash, q.c); err != nil {
			return err
		}
	}
	return nil
}

// logGoGit is History without git log, after the first skip commits.
func (r *Repo) logGoGit(ctx context.Context, tips []Hash, o HistoryOptions, skip int, fn func(*Commit) error) error {
	w, err := r.newGoWalker(ctx)
	if err != nil {
		return err
	}
	defer w.s.close()
	return w.walk(tips, o.FirstParent, func(h Hash, raw *rawCommit) error {
		if len(raw.parents) > 1 && !o.Merges {
			return nil
		}
		if skip--; skip >= 0 {
			return nil
		}
		c := r.commit(h, raw)
		if err := w.changes(&c, raw); err != nil {
			return err
		}
		return fn(&c)
	})
}

// changes fills in what a commit changed against its first parent.
func (w *walker) changes(c *Commit, raw *rawCommit) error {
	if c.Boundary {
		return nil
	}
	old := emptyTree
	if len(raw.parents) > 0 {
		p, err := w.commit(raw.parents[0])
		if err != nil {
			return err
		}
		old = p.tree
	}
	w.left = maxRecords
	err := w.compare(old, raw.tree, "", 0, &c.Changes)
	if errors.Is(err, errEndless) {
		c.Changes, c.Oversize = nil, true
	} else if err != nil {
		return fmt.Errorf("changes of commit %s: %w", c.Hash, err)
	}
	sortChanges(c.Changes)
	return nil
}

// tree reads a tree, lately used ones from memory.
func (w *walker) tree(h Hash) ([]treeEntry, error) {
	if h == emptyTree {
		return nil, nil
	}
	if e, ok := w.trees.get(h); ok {
		return e, nil
	}
	e, err := readTree(w.s, h)
	if err != nil {
		return nil, err
	}
	w.trees.put(h, e)
	return e, nil
}

// maxCompareDepth is how deep folders may be nested where changes are looked for.
const maxCompareDepth = 2048

// compare appends the paths that differ between two trees.
func (w *walker) compare(old, new Hash, prefix string, depth int, out *[]Change) error {
	if old == new {
		return nil
	}
	if depth > maxCompareDepth {
		return errEndless
	}
	a, err := w.tree(old)
	if err != nil {
		return err
	}
	b, err := w.tree(new)
	if err != nil {
		return err
	}
	return mergeEntries(a, b, func(x, y *treeEntry) error {
		return w.pair(x, y, prefix, depth, out)
	})
}

// mergeEntries calls fn for each entry that is in one of two trees only, or differs.
func mergeEntries(a, b []treeEntry, fn func(old, new *treeEntry) error) error {
	for len(a) > 0 || len(b) > 0 {
		var x, y *treeEntry
		c := 0
		switch {
		case len(a) == 0:
			c = 1
		case len(b) == 0:
			c = -1
		default:
			c = compareNames(a[0], b[0])
		}
		if c <= 0 {
			x, a = &a[0], a[1:]
		}
		if c >= 0 {
			y, b = &b[0], b[1:]
		}
		if c == 0 && x.hash == y.hash && x.mode == y.mode {
			continue
		}
		if err := fn(x, y); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) pair(x, y *treeEntry, prefix string, depth int, out *[]Change) error {
	e := x
	if e == nil {
		e = y
	}
	if w.left--; w.left < 0 {
		return errEndless
	}
	p := join(prefix, e.name)
	if e.mode == ModeDir { // both are folders, or one is absent
		old, new := emptyTree, emptyTree
		if x != nil {
			old = x.hash
		}
		if y != nil {
			new = y.hash
		}
		return w.compare(old, new, p, depth+1, out)
	}
	*out = append(*out, changeOf(p, x, y))
	if len(*out) > MaxChanges {
		return errEndless
	}
	return nil
}

// changeOf describes the change of one path from x to y, of which one may be nil.
func changeOf(p string, x, y *treeEntry) Change {
	c := Change{Path: p, Status: Modified}
	if x == nil {
		c.Status = Added
	} else {
		c.Old, c.OldMode = x.hash, x.mode
	}
	if y == nil {
		c.Status = Deleted
	} else {
		c.New, c.NewMode = y.hash, y.mode
	}
	return c
}

// treeCache keeps the trees that were used last.
type treeCache struct {
	max   int
	order list.List
	items map[Hash]*list.Element
}

type cachedTree struct {
	hash    Hash
	entries []treeEntry
}

func (t *treeCache) get(h Hash) ([]treeEntry, bool) {
	e, ok := t.items[h]
	if !ok {
		return nil, false
	}
	t.order.MoveToFront(e)
	return e.Value.(*cachedTree).entries, true
}

func (t *treeCache) put(h Hash, entries []treeEntry) {
	t.items[h] = t.order.PushFront(&cachedTree{h, entries})
	if t.order.Len() > t.max {
		last := t.order.Back()
		t.order.Remove(last)
		delete(t.items, last.Value.(*cachedTree).hash)
	}
}
