package git

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's object names
	"fmt"
	"hash"
	"runtime"
	"sync"
)

// Blobs reads blobs and calls fn once for each element of hashes, in order and never concurrently.
// data belongs to fn. A blob that cannot be had gets an error that wraps ErrAbsent, ErrTooLarge
// (sizes are read before contents) or ErrUnreadable, and the others are still read. Blobs itself
// fails only when reading stopped: ctx ended or git could not be run.
func (r *Repo) Blobs(ctx context.Context, hashes []Hash, maxSize int64, fn func(i int, data []byte, err error)) error {
	return r.readBlobs(ctx, hashes, maxSize, func(i int, data []byte, err error) error {
		fn(i, data, err)
		return nil
	})
}

// readBlobs is Blobs for a function that can end it.
func (r *Repo) readBlobs(ctx context.Context, hashes []Hash, maxSize int64, fn func(i int, data []byte, err error) error) error {
	only := func(i int, k kind, data []byte, err error) error {
		if err == nil && k != kindBlob {
			data, err = nil, fmt.Errorf("object %s is not a blob: %w", hashes[i], ErrUnreadable)
		}
		return fn(i, data, err)
	}
	if workers := min(runtime.GOMAXPROCS(0), maxReaders); r.program != nil && !r.config.partial && workers > 1 && len(hashes) >= manyBlobs {
		return r.readParallel(ctx, hashes, maxSize, workers, only)
	}
	s, err := r.session(ctx, true)
	if err != nil {
		return err
	}
	defer s.close()
	return s.read(hashes, maxSize, only)
}

// How many blobs are read by several git processes, how many of those there are, and how much one
// hands over at a time.
const (
	manyBlobs  = 512
	maxReaders = 4
	chunkBlobs = 64
	chunkBytes = 2 << 20
)

// got is what was read of one object.
type got struct {
	kind kind
	data []byte
	err  error
}

// readParallel cuts the list into chunks, which the processes take in turn, and delivers in order.
// Each process is at most two chunks ahead.
func (r *Repo) readParallel(ctx context.Context, hashes []Hash, maxSize int64, workers int, fn func(int, kind, []byte, error) error) error {
	ctx, cancel := context.WithCancel(ctx)
	check := &catFile{repo: r, ctx: ctx, once: true}
	facts, err := check.sizes(hashes)
	check.close()
	if err != nil {
		cancel()
		return err
	}
	ends := chunks(facts, maxSize)
	out := make([]chan []got, workers)
	errs := make([]error, workers)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for w := range workers {
		out[w] = make(chan []got, 1)
		running.Go(func() {
			defer close(out[w])
			c := &catFile{repo: r, ctx: ctx}
			defer c.close()
			for n := w; n < len(ends) && errs[w] == nil; n += workers {
				from := 0
				if n > 0 {
					from = ends[n-1]
				}
				res := make([]got, 0, ends[n]-from)
				errs[w] = c.deliver(hashes[from:ends[n]], facts[from:ends[n]], maxSize, func(_ int, k kind, data []byte, err error) error {
					res = append(res, got{k, data, err})
					return nil
				})
				select {
				case out[w] <- res:
				case <-ctx.Done():
					errs[w] = ctx.Err()
				}
			}
		})
	}
	for n, i := 0, 0; n < len(ends); n++ {
		res := <-out[n%workers]
		if i+len(res) != ends[n] {
			return errs[n%workers] // the channel is closed, or the chunk was cut short
		}
		for _, g := range res {
			if err := fn(i, g.kind, g.data, g.err); err != nil {
				return err
			}
			i++
		}
	}
	return nil
}

// chunks returns the ends of runs of at most chunkBlobs objects and about chunkBytes bytes.
func chunks(facts []known, maxSize int64) []int {
	var ends []int
	count, size := 0, int64(0)
	for i, f := range facts {
		if count == chunkBlobs || count > 0 && size >= chunkBytes {
			ends, count, size = append(ends, i), 0, 0
		}
		count++
		if f.size > 0 && f.size <= maxSize {
			size += f.size
		}
	}
	return append(ends, len(facts))
}

// HashBlob returns the name that git gives to a blob with this content.
func HashBlob(data []byte) Hash { return hashObject("blob", data) }

func hashObject(kind string, data []byte) (h Hash) {
	s := newObjectHash(kind, int64(len(data)))
	s.Write(data)
	s.Sum(h[:0])
	return h
}

// newObjectHash starts the hash of an object of a known size.
func newObjectHash(kind string, size int64) hash.Hash {
	s := sha1.New() //nolint:gosec // git's object names
	fmt.Fprintf(s, "%s %d\x00", kind, size)
	return s
}
