// Package cache keeps parsed blobs on disk, keyed by content, so that an unchanged file is never
// parsed twice, whatever branch it is on.
//
// A cache is a folder of immutable segments. A process reads all segments when it opens the cache
// and writes what it parsed as one new segment, atomically, when it closes it; so any number of
// processes share a cache without locks. A segment that is damaged, or that another version wrote,
// is ignored record by record: the cost is time, never a wrong result.
//
// A segment's format, all integers little-endian, every record padded to 4 bytes:
//
//	"ctxtdoc" version(1 byte), then records:
//	blob(20) langHash(4) length(4) crc32c(4, of all but itself) payload(length)
//
// and a payload holds, in this order: size(8) flags(4) and counts(4 each) of tokens, lines, names,
// decls, symbols, imports, text bytes; the four arrays of uint32; symbols as name, kind, recv (each
// offset, length into the text), start, end; imports as spec (offset, length), line; the strings
// reason, lang, by, fault (offset, length each); the text.
package cache

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/store"
)

const (
	version   = 2
	magic     = "ctxtdoc"
	headerLen = len(magic) + 1
	recordLen = 20 + 4 + 4 + 4
	// MaxBytes bounds a cache folder; the least recently written segments go first.
	MaxBytes = 768 << 20
	// maxSegments are merged into one when there are more.
	maxSegments = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Cache implements index.Cache over a folder.
type Cache struct {
	dir string

	mu    sync.Mutex
	found map[key][]byte // records, verified when first used
	docs  map[index.Key]*index.Doc
	fresh []index.Key // put since the cache was opened
	used  int64       // bytes of segments on disk
	segs  []segment
}

type segment struct {
	path string
	size int64
	mod  time.Time
}

// Open reads the cache in a folder, which need not exist. Damaged or foreign content is ignored.
func Open(dir string) (*Cache, error) {
	c := &Cache{dir: dir, found: make(map[key][]byte), docs: make(map[index.Key]*index.Doc)}
	names, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.seg"))
	if err != nil {
		return nil, fmt.Errorf("cache folder %s: %w", dir, err)
	}
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > MaxBytes {
			continue
		}
		c.segs = append(c.segs, segment{name, info.Size(), info.ModTime()})
		c.used += info.Size()
	}
	slices.SortFunc(c.segs, func(a, b segment) int { return cmp.Or(a.mod.Compare(b.mod), strings.Compare(a.path, b.path)) })
	bufs := make([][]byte, len(c.segs))
	var wg sync.WaitGroup
	for i, s := range c.segs {
		wg.Go(func() { bufs[i] = readSegment(s.path) })
	}
	wg.Wait()
	for _, b := range bufs {
		c.load(b)
	}
	return c, nil
}

func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// readSegment returns the records of a segment, or nil.
func readSegment(name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < int64(headerLen) {
		return nil
	}
	buf := make([]byte, info.Size())
	if _, err := io.ReadFull(f, buf); err != nil {
		return nil
	}
	if string(buf[:len(magic)]) != magic || buf[len(magic)] != version {
		return nil
	}
	return buf
}

// load indexes the records of one segment.
func (c *Cache) load(buf []byte) {
	for at := headerLen; at+recordLen <= len(buf); {
		var k record
		k.read(buf[at:])
		end := at + recordLen + int(k.length)
		if int(k.length) < 0 || end > len(buf) || k.length%4 != 0 {
			return
		}
		c.found[key{k.blob, k.lang}] = buf[at:end]
		at = end
	}
}

// Get implements index.Cache.
func (c *Cache) Get(k index.Key) (*index.Doc, bool) {
	c.mu.Lock()
	if d, ok := c.docs[k]; ok {
		c.mu.Unlock()
		return d, true
	}
	rec, ok := c.found[hashed(k)]
	c.mu.Unlock()
	if !ok {
		return nil, false
	}
	d, ok := decode(rec, k)
	if !ok {
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
	defer c.mu.Unlock()
	if _, ok := c.docs[k]; !ok {
		c.docs[k] = d
		c.fresh = append(c.fresh, k)
	}
}

// Close writes what was put since Open, and keeps the folder within its bounds. A failure costs the
// next run time and nothing else.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.fresh) == 0 {
		return nil
	}
	slices.SortFunc(c.fresh, func(a, b index.Key) int {
		return cmp.Or(slices.Compare(a.Blob[:], b.Blob[:]), strings.Compare(a.Lang, b.Lang))
	})
	buf := make([]byte, 0, 1<<20)
	buf = append(append(buf, magic...), version)
	for _, k := range c.fresh {
		buf = encode(buf, k, c.docs[k])
	}
	merge := len(c.segs) >= maxSegments
	if merge {
		buf = c.merged(buf)
	}
	if err := hide(c.dir); err != nil {
		return err
	}
	sum := fnv.New64a()
	sum.Write(buf)
	if err := store.WriteFile(filepath.Join(c.dir, fmt.Sprintf("%016x.seg", sum.Sum64())), buf, 0o644); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	c.fresh = nil
	sweep(c.dir, ".seg")
	c.evict(merge, int64(len(buf)))
	return nil
}

// merged appends the intact records of all segments that are not among the fresh ones.
func (c *Cache) merged(buf []byte) []byte {
	keys := make([]key, 0, len(c.found))
	for k := range c.found {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(slices.Compare(a.blob[:], b.blob[:]), cmp.Compare(a.lang, b.lang))
	})
	for _, k := range keys {
		if len(buf)+len(c.found[k]) < MaxBytes/2 && intact(c.found[k]) {
			buf = append(buf, c.found[k]...)
		}
	}
	return buf
}

// evict removes merged segments, or the oldest ones beyond the bound.
func (c *Cache) evict(all bool, added int64) {
	total := c.used + added
	for _, s := range c.segs {
		if !all && total <= MaxBytes {
			return
		}
		if os.Remove(s.path) == nil {
			total -= s.size
		}
	}
}

// record is the header of one record.
type record struct {
	blob   [20]byte
	lang   uint32
	length uint32
	crc    uint32
}

func (r *record) read(b []byte) {
	copy(r.blob[:], b)
	r.lang = binary.LittleEndian.Uint32(b[20:])
	r.length = binary.LittleEndian.Uint32(b[24:])
	r.crc = binary.LittleEndian.Uint32(b[28:])
}

func intact(rec []byte) bool {
	var r record
	r.read(rec)
	return checksum(rec) == r.crc
}

// checksum covers the record's key too: a damaged key must not give one content another's doc.
func checksum(rec []byte) uint32 {
	return crc32.Update(crc32.Checksum(rec[:recordLen-4], castagnoli), castagnoli, rec[recordLen:])
}
