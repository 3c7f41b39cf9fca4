package risk

import (
	"context"
	"fmt"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
)

// What ReadPast is bounded by.
const (
	maxTrackedBlob  = 512 << 10 // bytes; a larger content is not compared
	maxTrackedFiles = 400       // files of one change; a larger change is neither tracked nor a sample
	blobBatch       = 512       // contents read at a time
	maxKeptBytes    = 256 << 20 // contents kept for tracking; past it, tracking starts afresh
	followUp        = 180 * day // how long after a change a fix of its lines counts
)

const day = 24 * 60 * 60

// Lines is what a past change did to one file.
type Lines struct {
	Path           string
	Role           index.Role
	Status         git.Status
	Added, Deleted int
	Binary         bool // content not compared: see git.FileDiff
}

// Whose lines a fix must rewrite for a change to count as later fixed.
const (
	FixedSource = iota // source files
	FixedCode          // source files and tests
	FixedAny           // any file that is not generated
	fixedKinds
)

// PastChange is a change of the repository's own past.
type PastChange struct {
	Commit  int // index into History.Commits
	Lines   []Lines
	FixedBy [fixedKinds]int // index into History.Commits of the change that first fixed or reverted it, or -1
	Fix     bool            // says that it repairs something
	// Repaired are the files in which a fix rewrote lines of this change, by the names that they had when
	// they were fixed; generated ones are left out.
	Repaired []Repaired
	Skipped  bool // too large to be read
}

// Repaired is a file to which a fix came back.
type Repaired struct {
	Path string
	By   int // index into History.Commits of the first fix
}

// Past is the newest part of a history with line counts and with what was later fixed, newest first.
//
// A change counts as later fixed when a later message says that it reverts it by its full name, or
// when a change whose message says that it repairs something (history.IsFix) deletes or rewrites,
// within 180 days, a line that this change wrote, in a file of the kind asked for. Who wrote a line is
// tracked through the changes in their order, as blame does; lines without a letter or a digit do not
// count.
type Past struct {
	Changes []PastChange
}

// ReadPast reads the newest n changes of h (0: all). Absent, binary and large contents are passed over.
func ReadPast(ctx context.Context, repo *git.Repo, h *history.History, n int) (*Past, error) {
	if n <= 0 || n > len(h.Commits) {
		n = len(h.Commits)
	}
	p := &Past{Changes: make([]PastChange, n)}
	t := newTracker(h, p)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for b := range readBatches(ctx, repo, h, n) {
		if b.err == nil {
			b.err = t.applyBatch(ctx, b)
		}
		if b.err != nil {
			return nil, fmt.Errorf("read past changes: %w", b.err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read past changes: %w", err)
	}
	t.reverts()
	return p, nil
}

// batch holds the contents that the changes [lo, hi) need and that those before did not bring.
type batch struct {
	lo, hi int
	blobs  map[git.Hash][]byte
	err    error
}

// readBatches reads ahead of the tracker, oldest changes first, until ctx ends.
func readBatches(ctx context.Context, repo *git.Repo, h *history.History, n int) <-chan batch {
	out := make(chan batch, 1)
	go func() {
		defer close(out)
		latest := map[string]git.Hash{} // path → its newest content among the changes planned so far
		for hi := n; hi > 0; {
			lo, want := plan(h, hi, latest)
			b := batch{lo: lo, hi: hi, blobs: make(map[git.Hash][]byte, len(want))}
			b.err = repo.Blobs(ctx, want, maxTrackedBlob, func(i int, data []byte, err error) {
				if err == nil {
					b.blobs[want[i]] = data
				}
			})
			select {
			case out <- b:
			case <-ctx.Done():
				return
			}
			hi = lo
		}
	}()
	return out
}

func (t *tracker) applyBatch(ctx context.Context, b batch) error {
	t.blobs = b.blobs
	for i := b.hi - 1; i >= b.lo; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.apply(i)
	}
	return nil
}

// plan chooses the batch [lo, hi) of changes that is read next and the contents that it needs.
func plan(h *history.History, hi int, latest map[string]git.Hash) (lo int, want []git.Hash) {
	seen := map[git.Hash]bool{}
	add := func(b git.Hash) {
		if !b.IsZero() && !seen[b] {
			seen[b] = true
			want = append(want, b)
		}
	}
	for lo = hi; lo > 0 && len(want) < blobBatch; lo-- {
		c := &h.Commits[lo-1]
		if len(c.Changes) > maxTrackedFiles {
			continue
		}
		for _, ch := range c.Changes {
			if !textual(ch) {
				continue
			}
			if latest[ch.Path] != ch.Old {
				add(ch.Old)
			}
			add(ch.New)
			latest[ch.Path] = ch.New
		}
	}
	return lo, want
}
