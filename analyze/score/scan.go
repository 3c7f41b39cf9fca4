package score

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/index"
)

// hit is one term of the task at one place of a file.
type hit struct {
	tok uint32 // index into Doc.Tokens
	q   uint16 // index into Task.Terms
}

// lookup is an open-addressing table from term to its index in the task.
type lookup struct {
	mask  uint32
	keys  []uint32
	vals  []uint16
	taken []bool
}

func newLookup(terms []task.Term) *lookup {
	size := 1024
	for size < 8*len(terms) {
		size *= 2
	}
	l := &lookup{mask: uint32(size - 1), keys: make([]uint32, size), vals: make([]uint16, size), taken: make([]bool, size)}
	for i, t := range terms {
		s := t.Hash & l.mask
		for l.taken[s] {
			s = (s + 1) & l.mask
		}
		l.keys[s], l.vals[s], l.taken[s] = t.Hash, uint16(i), true
	}
	return l
}

func (l *lookup) find(h uint32) (uint16, bool) {
	for s := h & l.mask; l.taken[s]; s = (s + 1) & l.mask {
		if l.keys[s] == h {
			return l.vals[s], true
		}
	}
	return 0, false
}

func (l *lookup) hits(tokens []uint32) []hit {
	var out []hit
	for i, h := range tokens {
		if q, ok := l.find(h); ok {
			out = append(out, hit{uint32(i), q})
		}
	}
	return out
}

// fileHits is where one file meets the task.
type fileHits struct {
	content []hit
	names   []hit // tok is an index into Doc.Names
	path    []hit // tok is an index into File.PathTerms
}

// scan finds every term of the task in every file, on all cores.
func scan(ctx context.Context, s *index.Snapshot, l *lookup) ([]fileHits, error) {
	out := make([]fileHits, len(s.Files))
	err := parallel(ctx, len(s.Files), func(i int) {
		f := &s.Files[i]
		out[i] = fileHits{content: l.hits(f.Doc.Tokens), names: l.hits(f.Doc.Names), path: l.hits(f.PathTerms)}
	})
	return out, err
}

// parallel runs fn(0) … fn(n-1) on all cores; each call owns what it writes.
func parallel(ctx context.Context, n int, fn func(i int)) error {
	const batch = 64
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n/batch+1) {
		wg.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(batch)) - batch
				if from >= n {
					return
				}
				for i := from; i < min(from+batch, n); i++ {
					fn(i)
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
