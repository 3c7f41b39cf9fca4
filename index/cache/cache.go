// Package cache keeps what was read and parsed on disk, keyed by content, so that an unchanged file is
// never parsed twice, whatever branch it is on.
//
// A cache is a folder of immutable segments. A process reads all segments when it opens the cache
// and writes what is new as further segments, atomically, when it closes it; so any number of
// processes share a cache without locks. A segment that is damaged, or that another version wrote,
// is ignored record by record: the cost is time, never a wrong result. Now and then segments are
// merged, and what was long not used is left out.
//
// A segment's format, all integers little-endian, every record padded to 4 bytes:
//
//	magic(7 bytes) version(1 byte), then records:
//	name(20) kind(4) length(4) crc32c(4, of all but itself) payload(length)
//
// The payload of a parsed file (magic "ctxtdoc", kind: hash of the language) holds, in this order:
// size(8) flags(4) and counts(4 each) of tokens, lines, names, decls, symbols, imports, text bytes;
// the four arrays of uint32; symbols as name, kind, recv (each offset, length into the text), start,
// end; imports as spec (offset, length), line; the strings reason, lang, by, fault (offset, length
// each); the text. That of a git object (magic "ctxtobj", kind: its type) is its length and its bytes.
package cache

import (
	"context"
	"sync"

	"github.com/ctxt-dev/ctxt/index"
)

// Cache implements index.Cache over a folder.
type Cache struct {
	s    *segments
	mu   sync.RWMutex
	docs map[index.Key]*index.Doc
}

// Open reads the cache in a folder, which need not exist, in the background. Damaged or foreign
// content is ignored.
func Open(dir string) (*Cache, error) {
	s, err := openSegments(dir, "ctxtdoc")
	if err != nil {
		return nil, err
	}
	return &Cache{s: s, docs: make(map[index.Key]*index.Doc)}, nil
}

// Get implements index.Cache.
func (c *Cache) Get(k index.Key) (*index.Doc, bool) {
	c.mu.RLock()
	d, ok := c.docs[k]
	c.mu.RUnlock()
	if ok {
		return d, true
	}
	payload, ok := c.s.get(hashed(k))
	if !ok {
		return nil, false
	}
	if d, ok = decode(payload, k); !ok {
		return nil, false
	}
	c.mu.Lock()
	c.docs[k] = d
	c.mu.Unlock()
	return d, true
}

// Put implements index.Cache.
func (c *Cache) Put(k index.Key, d *index.Doc) {
	c.mu.Lock()
	_, old := c.docs[k]
	if !old {
		c.docs[k] = d
	}
	c.mu.Unlock()
	if !old {
		c.s.put(hashed(k), payload{sizeOf(d), func(b []byte) []byte { return encode(b, d) }})
	}
}

// Close writes what was put since Open, and keeps the folder within its bounds. A failure costs the
// next run time and nothing else; so does ctx, when it ends meanwhile.
func (c *Cache) Close(ctx context.Context) error { return c.s.close(ctx) }
