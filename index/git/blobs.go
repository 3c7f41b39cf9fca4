package git

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's object names
	"fmt"
	"hash"
)

// Blobs reads blobs and calls fn once for each element of hashes, in order and never concurrently.
// data belongs to fn. A blob that cannot be had gets an error that wraps ErrAbsent, ErrTooLarge
// (sizes are read before contents) or ErrUnreadable, and the others are still read. Blobs itself
// fails only when reading stopped: ctx ended or git could not be run.
func (r *Repo) Blobs(ctx context.Context, hashes []Hash, maxSize int64, fn func(i int, data []byte, err error)) error {
	s, err := r.session(ctx, true)
	if err != nil {
		return err
	}
	defer s.close()
	return s.read(hashes, maxSize, func(i int, k kind, data []byte, err error) error {
		if err == nil && k != kindBlob {
			data, err = nil, fmt.Errorf("object %s is not a blob: %w", hashes[i], ErrUnreadable)
		}
		fn(i, data, err)
		return nil
	})
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
