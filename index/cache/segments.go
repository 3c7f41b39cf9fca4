package cache

import (
	"bytes"
	"cmp"
	"context"
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

	"github.com/ctxt-dev/ctxt/index/store"
)

const (
	version   = 3
	headerLen = 8 // of a segment: magic and version
	recordLen = 20 + 4 + 4 + 4
	// MaxBytes bounds a cache folder; the least recently written segments go first.
	MaxBytes = 768 << 20
	// maxSegments are merged when there are more.
	maxSegments = 16
	// segmentBytes is where a new segment begins, so that a writer never holds much more than that.
	segmentBytes = 32 << 20
	// spareBytes and as much again as a run used may lie in a cache without being used.
	spareBytes = 32 << 20
)

// castagnoli is made when it is first needed: most commands start without a cache.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// key names a record: content, and what it was read as.
type key struct {
	name [20]byte
	kind uint32
}

func (k key) compare(o key) int {
	return cmp.Or(bytes.Compare(k.name[:], o.name[:]), cmp.Compare(k.kind, o.kind))
}

// entry is a record that was found on disk, verified when it is first used.
type entry struct {
	rec  []byte
	seg  int // index into segs: the higher, the younger
	used bool
}

// segments is a folder of immutable segments: records by key.
type segments struct {
	dir   string
	magic string         // seven bytes
	ready sync.WaitGroup // done when all that follows is filled in

	mu    sync.Mutex
	found map[key]entry
	fresh map[key]payload // put since the folder was opened
	size  int64           // bytes of segments on disk
	segs  []segment       // oldest first
}

type segment struct {
	path string
	size int64
	mod  time.Time
}

// openSegments reads the segments of a folder, which need not exist, in the background. Damaged or
// foreign content is ignored.
func openSegments(dir, magic string) (*segments, error) {
	s := &segments{dir: dir, magic: magic, found: map[key]entry{}, fresh: map[key]payload{}}
	names, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.seg"))
	if err != nil {
		return nil, fmt.Errorf("cache folder %s: %w", dir, err)
	}
	s.ready.Go(func() { s.readAll(names) })
	return s, nil
}

func (s *segments) readAll(names []string) {
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > MaxBytes {
			continue
		}
		s.segs = append(s.segs, segment{name, info.Size(), info.ModTime()})
		s.size += info.Size()
	}
	slices.SortFunc(s.segs, func(a, b segment) int { return cmp.Or(a.mod.Compare(b.mod), strings.Compare(a.path, b.path)) })
	bufs := make([][]byte, len(s.segs))
	var wg sync.WaitGroup
	for i, seg := range s.segs {
		wg.Go(func() { bufs[i] = s.read(seg.path) })
	}
	wg.Wait()
	for i, b := range bufs {
		s.load(b, i)
	}
}

func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// read returns the bytes of a segment, or nil.
func (s *segments) read(name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < headerLen || info.Size() > MaxBytes {
		return nil
	}
	buf := make([]byte, info.Size())
	hugePages(buf)
	if _, err := io.ReadFull(f, buf); err != nil {
		return nil
	}
	if string(buf[:headerLen]) != s.magic+string([]byte{version}) {
		return nil
	}
	return buf
}

// load indexes the records of one segment.
func (s *segments) load(buf []byte, seg int) {
	for at := headerLen; at+recordLen <= len(buf); {
		var k record
		k.read(buf[at:])
		end := at + recordLen + int(k.length)
		if int(k.length) < 0 || end > len(buf) || k.length%4 != 0 {
			return
		}
		s.found[k.key] = entry{rec: buf[at:end], seg: seg}
		at = end
	}
}

// get returns the payload of a record, which the caller must not write to.
func (s *segments) get(k key) ([]byte, bool) {
	s.ready.Wait()
	s.mu.Lock()
	e, ok := s.found[k]
	if ok && !e.used {
		e.used = true
		s.found[k] = e
	}
	s.mu.Unlock()
	if !ok || !intact(e.rec) {
		return nil, false
	}
	return e.rec[recordLen:], true
}

// payload is what a record will hold: about so many bytes, which append appends.
type payload struct {
	size   int
	append func([]byte) []byte
}

// put keeps a record for close.
func (s *segments) put(k key, p payload) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh[k] = p
}

// close writes what was put since the folder was opened, and keeps the folder within its bounds. A
// failure costs the next run time and nothing else.
func (s *segments) close(ctx context.Context) error {
	s.ready.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fresh) == 0 {
		return nil
	}
	if err := hide(s.dir); err != nil {
		return err
	}
	w := &segmentWriter{s: s, ctx: ctx}
	keys := make([]key, 0, len(s.fresh))
	size := 0
	for k, p := range s.fresh {
		keys = append(keys, k)
		size += p.size + recordLen
	}
	w.expect(size)
	slices.SortFunc(keys, key.compare)
	for _, k := range keys {
		if err := w.add(func(b []byte) []byte { return appendRecord(b, k, s.fresh[k].append) }); err != nil {
			return err
		}
	}
	used := w.total
	for _, e := range s.found {
		if e.used {
			used += int64(len(e.rec))
		}
	}
	merge := len(s.segs) >= maxSegments || s.size > 2*used+2*spareBytes
	if merge {
		if err := s.keep(w, used); err != nil {
			return err
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	s.fresh = map[key]payload{}
	sweep(s.dir, ".seg")
	s.evict(merge, w)
	return nil
}

// keep writes the intact records that are worth keeping: those that were used, then the youngest.
func (s *segments) keep(w *segmentWriter, used int64) error {
	keys := make([]key, 0, len(s.found))
	for k := range s.found {
		if _, ok := s.fresh[k]; !ok {
			keys = append(keys, k)
		}
	}
	rank := func(e entry) int {
		if e.used {
			return -1
		}
		return len(s.segs) - e.seg
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(rank(s.found[a]), rank(s.found[b])), a.compare(b)) })
	limit := min(2*used+spareBytes, MaxBytes/2)
	w.expect(int(min(limit, s.size)))
	for _, k := range keys {
		e := s.found[k]
		if !e.used && w.total+int64(len(e.rec)) > limit {
			return nil
		}
		if !intact(e.rec) {
			continue
		}
		if err := w.add(func(b []byte) []byte { return append(b, e.rec...) }); err != nil {
			return err
		}
	}
	return nil
}

// evict removes merged segments, or the oldest ones beyond the bound.
func (s *segments) evict(all bool, w *segmentWriter) {
	total := s.size + w.total
	for _, seg := range s.segs {
		if !all && total <= MaxBytes {
			return
		}
		if !w.wrote[seg.path] && os.Remove(seg.path) == nil {
			total -= seg.size
		}
	}
}

// segmentWriter cuts records into segments.
type segmentWriter struct {
	ctx   context.Context
	s     *segments
	buf   []byte
	total int64
	wrote map[string]bool
}

// expect makes room for records of so many bytes: growing a buffer of many megabytes step by step
// takes longer than filling it.
func (w *segmentWriter) expect(size int) {
	w.buf = slices.Grow(w.buf, min(size+size/64, segmentBytes+segmentBytes/8)+headerLen)
}

func (w *segmentWriter) add(record func([]byte) []byte) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if len(w.buf) == 0 {
		w.buf = append(append(w.buf, w.s.magic...), version)
	}
	n := len(w.buf)
	w.buf = record(w.buf)
	w.total += int64(len(w.buf) - n)
	if len(w.buf) >= segmentBytes {
		return w.flush()
	}
	return nil
}

func (w *segmentWriter) flush() error {
	if len(w.buf) <= headerLen {
		return nil
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	sum := fnv.New64a()
	sum.Write(w.buf)
	path := filepath.Join(w.s.dir, fmt.Sprintf("%016x.seg", sum.Sum64()))
	if err := store.WriteCacheFile(path, w.buf, 0o644); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	if w.wrote == nil {
		w.wrote = map[string]bool{}
	}
	w.wrote[path] = true
	w.buf = w.buf[:0]
	return nil
}

// record is the header of one record.
type record struct {
	key
	length uint32
	crc    uint32
}

func (r *record) read(b []byte) {
	copy(r.name[:], b)
	r.kind = binary.LittleEndian.Uint32(b[20:])
	r.length = binary.LittleEndian.Uint32(b[24:])
	r.crc = binary.LittleEndian.Uint32(b[28:])
}

// appendRecord appends a record, padded to four bytes.
func appendRecord(buf []byte, k key, payload func([]byte) []byte) []byte {
	le := binary.LittleEndian
	start := len(buf)
	buf = append(buf, k.name[:]...)
	buf = le.AppendUint32(buf, k.kind)
	buf = le.AppendUint64(buf, 0) // length and checksum, below
	buf = payload(buf)
	for (len(buf)-start)%4 != 0 {
		buf = append(buf, 0)
	}
	le.PutUint32(buf[start+24:], uint32(len(buf)-start-recordLen))
	le.PutUint32(buf[start+28:], checksum(buf[start:]))
	return buf
}

func intact(rec []byte) bool {
	var r record
	r.read(rec)
	return checksum(rec) == r.crc
}

// checksum covers the record's key too: a damaged key must not give one content another's record.
func checksum(rec []byte) uint32 {
	return crc32.Update(crc32.Checksum(rec[:recordLen-4], castagnoli()), castagnoli(), rec[recordLen:])
}
