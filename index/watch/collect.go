package watch

import (
	"context"
	"slices"
	"time"
)

// maxPending is the number of distinct paths after which the whole folder is compared instead.
const maxPending = 20_000

// patience is how many debounce times a change may wait while further ones keep coming.
const patience = 8

// batch is what one round looks at.
type batch struct {
	paths  []string // sorted
	rescan bool
	lost   bool
}

// collect gathers events and hands out a batch when no event came for the debounce time, or when the
// oldest has waited long enough. It keeps gathering while the worker is busy, and ends with the
// context; what it has not handed out by then it returns.
func collect(ctx context.Context, events <-chan event, out chan<- batch, debounce time.Duration) batch {
	pending := newPending()
	var first time.Time
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var ready chan<- batch // out, once the pause has come
	for {
		var next batch
		if ready != nil {
			next = pending.batch()
		}
		select {
		case <-ctx.Done():
			for {
				select {
				case e := <-events:
					pending.add(e)
					continue
				default:
				}
				return pending.batch()
			}
		case e := <-events:
			if pending.empty() {
				first = time.Now()
			}
			pending.add(e)
			wait := min(debounce, max(time.Until(first.Add(patience*debounce)), 0))
			ready = nil
			timer.Reset(wait)
		case <-timer.C:
			if !pending.empty() {
				ready = out
			}
		case ready <- next:
			pending, ready = newPending(), nil
		}
	}
}

// pendingPaths is what has been gathered.
type pendingPaths struct {
	paths  map[string]bool
	rescan bool
	lost   bool
}

func newPending() *pendingPaths { return &pendingPaths{paths: map[string]bool{}} }

func (p *pendingPaths) empty() bool { return !p.rescan && len(p.paths) == 0 }

func (p *pendingPaths) add(e event) {
	p.lost = p.lost || e.lost
	p.rescan = p.rescan || e.rescan || e.path == "." || len(p.paths) >= maxPending
	if p.rescan {
		p.paths = map[string]bool{}
		return
	}
	p.paths[e.path] = true
}

func (p *pendingPaths) batch() batch {
	b := batch{rescan: p.rescan, lost: p.lost}
	for path := range p.paths {
		b.paths = append(b.paths, path)
	}
	slices.Sort(b.paths)
	return b
}

// parents yields the folders above a path, outermost first: a, a/b for a/b/c.
func parents(path string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := range len(path) {
			if path[i] == '/' && !yield(path[:i]) {
				return
			}
		}
	}
}
