package git

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// blobPair is two contents to compare; a zero name is no content.
type blobPair struct{ old, new Hash }

var errBinary = errors.New("binary content")

// heldLines bounds the lines, read and waiting for their partner, that comparePairs keeps.
const heldLines = 8 << 20

// maxPairBytes bounds the contents that one call of comparePairs reads.
const maxPairBytes = 2 << 30

// blobLines is a blob as hashes of its lines.
type blobLines struct {
	lines []uint64
	err   error
	uses  int // pairs still to come
}

// comparer compares pairs while blobs arrive.
type comparer struct {
	pairs []blobPair
	waits map[Hash][]int // the pairs of a blob
	blobs map[Hash]*blobLines
	held  int
	done  []bool
	jobs  chan job
	hunks [][]Hunk
	errs  []error
}

type job struct {
	i        int
	old, new []uint64
}

// comparePairs compares the lines of pairs on all cores and then calls fn for each pair in order. A
// blob that cannot be read gives its pairs the error, a binary one errBinary. Each distinct blob is
// read once, as long as what waits for its partner stays within heldLines.
func (r *Repo) comparePairs(ctx context.Context, pairs []blobPair, maxSize int64, fn func(int, []Hunk, error) error) error {
	c := &comparer{
		pairs: pairs, waits: map[Hash][]int{}, done: make([]bool, len(pairs)),
		jobs: make(chan job, 64), hunks: make([][]Hunk, len(pairs)), errs: make([]error, len(pairs)),
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for j := range c.jobs {
				c.hunks[j.i] = diffLines(j.old, j.new)
			}
		})
	}
	err := c.run(ctx, r, maxSize)
	close(c.jobs)
	workers.Wait()
	if err != nil {
		return err
	}
	for i := range pairs {
		if err := fn(i, c.hunks[i], c.errs[i]); err != nil {
			return err
		}
	}
	return nil
}

// run reads the blobs: all of them once; what had to be let go is read again, pair by pair. Past
// maxPairBytes the pairs that are left are too large to compare.
func (c *comparer) run(ctx context.Context, r *Repo, maxSize int64) error {
	total := int64(0)
	for left := c.order(len(c.pairs)); len(left) > 0; left = c.order(1000) {
		err := r.readBlobs(ctx, left, maxSize, func(i int, data []byte, err error) error {
			if total += int64(len(data)); total > maxPairBytes {
				return errEnough
			}
			c.arrived(left[i], data, err)
			return ctx.Err()
		})
		if errors.Is(err, errEnough) {
			c.giveUp()
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *comparer) giveUp() {
	for i, done := range c.done {
		if !done {
			c.errs[i] = fmt.Errorf("contents of more than %d bytes to compare: %w", int64(maxPairBytes), ErrTooLarge)
		}
	}
}

// order lists the distinct blobs of the first pairs that are not done, partners together.
func (c *comparer) order(limit int) []Hash {
	var want []Hash
	clear(c.waits)
	c.blobs, c.held = map[Hash]*blobLines{}, 0
	for i, p := range c.pairs {
		if c.done[i] {
			continue
		}
		if limit--; limit < 0 {
			break
		}
		for _, h := range []Hash{p.old, p.new} {
			if h.IsZero() {
				continue
			}
			if len(c.waits[h]) == 0 {
				want = append(want, h)
			}
			c.waits[h] = append(c.waits[h], i)
		}
	}
	return want
}

// arrived takes a blob and sends off the pairs that are now complete.
func (c *comparer) arrived(h Hash, data []byte, err error) {
	b := &blobLines{err: err}
	if err == nil {
		if isBinary(data) {
			b.err = errBinary
		} else {
			b.lines = hashLines(data)
		}
	}
	c.blobs[h] = b
	c.held += len(b.lines)
	for _, i := range c.waits[h] {
		if !c.done[i] {
			b.uses++
		}
	}
	for _, i := range c.waits[h] {
		if !c.done[i] {
			c.try(i)
		}
	}
	c.release(h, b)
	if c.held > heldLines {
		c.letGo(h)
	}
}

// try compares pair i when both sides are there.
func (c *comparer) try(i int) {
	p := c.pairs[i]
	var sides [2][]uint64
	for n, h := range []Hash{p.old, p.new} {
		if h.IsZero() {
			continue
		}
		b := c.blobs[h]
		if b == nil {
			return
		}
		if b.err != nil {
			c.errs[i] = b.err
		}
		sides[n] = b.lines
	}
	c.done[i] = true
	for _, h := range []Hash{p.old, p.new} {
		if b := c.blobs[h]; b != nil {
			b.uses--
			c.release(h, b)
		}
	}
	if c.errs[i] == nil {
		c.jobs <- job{i, sides[0], sides[1]}
	}
}

// release forgets a blob that no pair waits for.
func (c *comparer) release(h Hash, b *blobLines) {
	if b.uses <= 0 && c.blobs[h] == b {
		delete(c.blobs, h)
		c.held -= len(b.lines)
	}
}

// letGo forgets what waits, except the newest blob; its pairs are read again later.
func (c *comparer) letGo(newest Hash) {
	keep := c.blobs[newest]
	c.blobs, c.held = map[Hash]*blobLines{}, 0
	if keep != nil {
		c.blobs[newest] = keep
		c.held = len(keep.lines)
	}
}

// LineCount is how many lines a change added and deleted.
type LineCount struct {
	Added, Deleted int
	Binary         bool // content not compared: see FileDiff
}

// LineCounts counts the changed lines of each change, in their order. Links, submodules, binary
// files and blobs that are absent or of more than maxSize bytes count as binary.
func (r *Repo) LineCounts(ctx context.Context, changes []Change, maxSize int64) ([]LineCount, error) {
	out := make([]LineCount, len(changes))
	var pairs []blobPair
	var which []int
	for i, c := range changes {
		if !isFile(c.OldMode, c.Old) || !isFile(c.NewMode, c.New) {
			out[i].Binary = true
		} else if c.Old != c.New {
			pairs, which = append(pairs, blobPair{c.Old, c.New}), append(which, i)
		}
	}
	err := r.comparePairs(ctx, pairs, maxSize, func(i int, hunks []Hunk, err error) error {
		o := &out[which[i]]
		if err != nil {
			o.Binary = true
			return nil
		}
		o.Added, o.Deleted = countLines(hunks)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
