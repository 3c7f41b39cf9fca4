package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What Diff is bounded by.
const (
	maxDiffBlob  = 4 << 20 // bytes of a file, over which its contents are not compared
	maxDiffPaths = 500_000
)

// Diff compares the trees of two commits, sorted by path. A file that was deleted and added with the
// same content, or with at least half of its lines, is one rename. Hunks have no context.
func (r *Repo) Diff(ctx context.Context, old, new Hash) ([]FileDiff, error) {
	changes, err := r.treeChanges(ctx, old, new)
	if err != nil {
		return nil, fmt.Errorf("compare %s and %s: %w", old.Short(), new.Short(), err)
	}
	pairs, err := r.pairRenames(ctx, changes)
	if err != nil {
		return nil, err
	}
	out := make([]FileDiff, len(pairs))
	for i, p := range pairs {
		out[i] = p.diff()
	}
	slices.SortFunc(out, func(a, b FileDiff) int { return strings.Compare(a.Path, b.Path) })
	if err := r.fillHunks(ctx, out); err != nil {
		return nil, err
	}
	return out, nil
}

// changePair is a change, or a deletion and an addition that are one rename.
type changePair struct {
	Change
	oldPath string
}

func (p changePair) diff() FileDiff {
	d := FileDiff{Path: p.Path, OldPath: p.oldPath, Status: p.Status, Old: p.Old, New: p.New, Mode: p.NewMode}
	if p.Status == Deleted {
		d.Mode = p.OldMode
	}
	d.Binary = !isFile(p.OldMode, p.Old) || !isFile(p.NewMode, p.New)
	return d
}

// isFile reports whether one side is a regular file, or absent.
func isFile(m Mode, h Hash) bool { return h.IsZero() || m == ModeFile || m == ModeExec }

// fillHunks compares the contents of those that are files on both sides.
func (r *Repo) fillHunks(ctx context.Context, diffs []FileDiff) error {
	var pairs []blobPair
	var which []int
	for i, d := range diffs {
		if !d.Binary && d.Old != d.New {
			pairs, which = append(pairs, blobPair{d.Old, d.New}), append(which, i)
		}
	}
	return r.comparePairs(ctx, pairs, maxDiffBlob, func(i int, hunks []Hunk, err error) error {
		d := &diffs[which[i]]
		if err != nil {
			if errors.Is(err, ErrAbsent) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrUnreadable) || errors.Is(err, errBinary) {
				d.Binary = true
				return nil
			}
			return err
		}
		d.Hunks = hunks
		d.Added, d.Deleted = countLines(hunks)
		return nil
	})
}

// treePair is a folder to compare, empty trees for an absent side.
type treePair struct {
	prefix   string
	old, new Hash
}

// treeChanges compares the trees of two commits, level by level, reading each tree object of a level
// once.
func (r *Repo) treeChanges(ctx context.Context, old, new Hash) ([]Change, error) {
	s, err := r.session(ctx, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	commits, err := readCommits(s, []Hash{old, new})
	if err != nil {
		return nil, err
	}
	var changes []Change
	level := []treePair{{"", commits[0].tree, commits[1].tree}}
	for depth := 0; len(level) > 0; depth++ {
		if depth > maxTreeDepth {
			return nil, fmt.Errorf("%q: more than %d folders deep", level[0].prefix, maxTreeDepth)
		}
		trees, err := readLevel(s, level)
		if err != nil {
			return nil, err
		}
		var next []treePair
		for _, p := range level {
			err := mergeEntries(trees[p.old], trees[p.new], func(x, y *treeEntry) error {
				e := x
				if e == nil {
					e = y
				}
				name := join(p.prefix, e.name)
				if len(changes)+len(next) >= maxDiffPaths || len(name) > maxPathBytes {
					return fmt.Errorf("more than %d changed paths, or one of more than %d bytes; compare commits that lie closer", maxDiffPaths, maxPathBytes)
				}
				if e.mode != ModeDir {
					changes = append(changes, changeOf(name, x, y))
					return nil
				}
				sub := treePair{name, emptyTree, emptyTree}
				if x != nil {
					sub.old = x.hash
				}
				if y != nil {
					sub.new = y.hash
				}
				next = append(next, sub)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		level = next
	}
	sortChanges(changes)
	return changes, nil
}

func readLevel(s objectSession, level []treePair) (map[Hash][]treeEntry, error) {
	trees := map[Hash][]treeEntry{emptyTree: nil}
	var want []Hash
	for _, p := range level {
		if p.old == p.new {
			continue
		}
		for _, h := range []Hash{p.old, p.new} {
			if _, ok := trees[h]; !ok {
				trees[h] = nil
				want = append(want, h)
			}
		}
	}
	err := s.read(want, maxObject, func(i int, k kind, data []byte, err error) error {
		if err == nil && k != kindTree {
			err = fmt.Errorf("object %s is not a tree", want[i])
		}
		if err == nil {
			trees[want[i]], err = parseTree(want[i], data)
		}
		return err
	})
	return trees, err
}
