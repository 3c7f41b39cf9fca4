package score

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ctxt-dev/ctxt/index"
)

// hit is one term of the task at one place of a file.
type hit struct {
	tok uint32 // index into Doc.Tokens
	q   uint16 // index into Task.Terms
}

// fileHits is where one file meets the task.
type fileHits struct {
	content []hit
	names   []hit // tok is an index into Doc.Names
	path    []hit // tok is an index into File.PathTerms
}

// scan finds every term of the task in every file, on all cores.
func scan(ctx context.Context, s *index.Snapshot, l *hashTable) ([]fileHits, error) {
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
