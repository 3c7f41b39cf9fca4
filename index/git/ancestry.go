package git

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MergeBase returns the best common ancestor of two commits; of several, the one with the newest
// committer time, then the smallest name. It reports false when the clone holds none.
func (r *Repo) MergeBase(ctx context.Context, a, b Hash) (Hash, bool, error) {
	all, err := r.mergeBases(ctx, a, b)
	if err != nil || len(all) == 0 {
		return Hash{}, false, err
	}
	if len(all) == 1 {
		return all[0], true, nil
	}
	commits, err := r.rawCommits(ctx, all)
	if err != nil {
		return Hash{}, false, err
	}
	best := 0
	for i := range all {
		d, e := commits[i].date, commits[best].date
		if d > e || d == e && strings.Compare(string(all[i][:]), string(all[best][:])) < 0 {
			best = i
		}
	}
	return all[best], true, nil
}

func (r *Repo) mergeBases(ctx context.Context, a, b Hash) ([]Hash, error) {
	if r.program == nil {
		w, err := r.newWalker(ctx)
		if err != nil {
			return nil, err
		}
		defer w.s.close()
		return w.mergeBases(a, b)
	}
	out, err := r.program.output(ctx, "merge-base", "--all", a.String(), b.String())
	if exitCode(err) == 1 {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return parseHashes(out)
}

func parseHashes(out string) ([]Hash, error) {
	var all []Hash
	for _, f := range strings.Fields(out) {
		h, err := ParseHash(f)
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

// IsAncestor reports whether a is b or can be reached from it.
func (r *Repo) IsAncestor(ctx context.Context, a, b Hash) (bool, error) {
	if r.program == nil {
		all, err := r.mergeBases(ctx, a, b)
		return slices.Contains(all, a), err
	}
	_, err := r.program.output(ctx, "merge-base", "--is-ancestor", a.String(), b.String())
	if exitCode(err) == 1 {
		return false, ctx.Err()
	}
	return err == nil, err
}

// CountBetween counts the commits, merges too, that head reaches and base does not. As in git, the
// count can be too high where committers' clocks went back by days.
func (r *Repo) CountBetween(ctx context.Context, base, head Hash) (int, error) {
	if r.program == nil {
		n := 0
		err := r.walkBetween(ctx, base, head, func(Hash, *rawCommit) error { n++; return nil })
		return n, err
	}
	out, err := r.program.output(ctx, "rev-list", "--count", head.String(), "^"+base.String())
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// Between returns the newest limit (0: all) commits, merges too, that head reaches and base does
// not, newest first, without changes.
func (r *Repo) Between(ctx context.Context, base, head Hash, limit int) ([]Commit, error) {
	var out []Commit
	if r.program == nil {
		err := r.walkBetween(ctx, base, head, func(h Hash, c *rawCommit) error {
			if limit > 0 && len(out) == limit {
				return errEnough
			}
			out = append(out, r.commit(h, c))
			return nil
		})
		if errors.Is(err, errEnough) {
			err = nil
		}
		return out, err
	}
	args := []string{"rev-list"}
	if limit > 0 {
		args = append(args, "--max-count="+strconv.Itoa(limit))
	}
	text, err := r.program.output(ctx, append(args, head.String(), "^"+base.String())...)
	if err != nil {
		return nil, err
	}
	hashes, err := parseHashes(text)
	if err != nil {
		return nil, err
	}
	commits, err := r.rawCommits(ctx, hashes)
	if err != nil {
		return nil, err
	}
	for i, c := range commits {
		out = append(out, r.commit(hashes[i], c))
	}
	return out, nil
}

func (r *Repo) walkBetween(ctx context.Context, base, head Hash, fn func(Hash, *rawCommit) error) error {
	w, err := r.newWalker(ctx)
	if err != nil {
		return err
	}
	defer w.s.close()
	if err := w.walk([]Hash{base}, false, func(Hash, *rawCommit) error { return nil }); err != nil {
		return fmt.Errorf("walk from %s: %w", base.Short(), err)
	}
	return w.walk([]Hash{head}, false, fn) // what base reaches was seen and is not met again
}

// The marks of mergeBases.
const (
	fromA  = 1 << iota // reached from the first commit
	fromB              // reached from the second
	stale              // below a common ancestor
	result             // a common ancestor, maybe below another one
)

// mergeBases paints the ancestors of two commits down to where the paints meet, newest first.
func (w *walker) mergeBases(a, b Hash) ([]Hash, error) {
	if a == b {
		_, err := w.commit(a)
		return []Hash{a}, err
	}
	marks := map[Hash]int{}
	paint := func(h Hash, m int) error {
		if marks[h]&m == m {
			return nil
		}
		marks[h] |= m
		c, err := w.commit(h)
		if err == nil {
			w.queue.put(h, c)
		}
		return err
	}
	if err := errors.Join(paint(a, fromA), paint(b, fromB)); err != nil {
		return nil, err
	}
	var found []Hash
	fresh := func(q queued) bool { return marks[q.hash]&stale == 0 }
	for slices.ContainsFunc(w.queue.items, fresh) {
		q := heap.Pop(&w.queue).(queued)
		m := marks[q.hash] & (fromA | fromB | stale)
		if m == fromA|fromB {
			if marks[q.hash]&result == 0 {
				marks[q.hash] |= result
				found = append(found, q.hash)
			}
			m |= stale
		}
		for _, p := range q.c.parents {
			if err := paint(p, m); err != nil {
				return nil, err
			}
		}
	}
	found = slices.DeleteFunc(found, func(h Hash) bool { return marks[h]&stale != 0 })
	return w.independent(found)
}

// independent removes the commits that another one of the list reaches.
func (w *walker) independent(all []Hash) ([]Hash, error) {
	if len(all) < 2 {
		return all, nil
	}
	drop := map[Hash]bool{}
	for _, h := range all {
		if drop[h] {
			continue
		}
		x := &walker{r: w.r, s: w.s, seen: map[Hash]bool{}}
		err := x.walk([]Hash{h}, false, func(c Hash, _ *rawCommit) error {
			if c != h && slices.Contains(all, c) {
				drop[c] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(all, func(h Hash) bool { return drop[h] }), nil
}
