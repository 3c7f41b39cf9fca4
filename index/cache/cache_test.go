package cache

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

func doc(n uint32) *index.Doc {
	return &index.Doc{
		Size: int64(n), Lang: "go", By: symbols.TreeSitter, Fault: "f",
		Symbols: []symbols.Symbol{{Name: "Run", Kind: symbols.Method, Recv: "T", Start: 1, End: 2}},
		Imports: []symbols.Import{{Spec: "fmt", Line: 1}},
		Tokens:  []uint32{n, n + 1, 1 << 31}, Lines: []uint32{0, 2, 3}, Names: []uint32{7}, Decls: []uint32{9},
	}
}

func key1(b byte) index.Key { return index.Key{Blob: [20]byte{b}, Lang: "go"} }

func open(t testing.TB, dir string) *Cache {
	t.Helper()
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd [name]*")
	c := open(t, dir)
	c.Put(key1(1), doc(5))
	c.Put(index.Key{Blob: [20]byte{2}}, &index.Doc{Binary: true, Reason: "binary", Lines: []uint32{0}})
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	c = open(t, dir)
	got, ok := c.Get(key1(1))
	if !ok {
		t.Fatal("not found")
	}
	if d := cmp.Diff(doc(5), got); d != "" {
		t.Error(d)
	}
	if got, ok := c.Get(index.Key{Blob: [20]byte{2}}); !ok || !got.Binary || got.Reason != "binary" {
		t.Errorf("binary: %v %v", got, ok)
	}
	if _, ok := c.Get(index.Key{Blob: [20]byte{1}, Lang: "python"}); ok {
		t.Error("another language's doc was found")
	}
}

// Whatever happens to the bytes of a segment, a Get gives the right doc or none.
func TestDamageCostsTimeOnly(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	for i := range byte(8) {
		c.Put(key1(i), doc(uint32(i)))
	}
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	segs, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	if len(segs) != 1 {
		t.Fatalf("%d segments", len(segs))
	}
	whole, err := os.ReadFile(segs[0])
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		b := append([]byte(nil), whole...)
		for range rapid.IntRange(1, 4).Draw(rt, "flips") {
			b[rapid.IntRange(0, len(b)-1).Draw(rt, "at")] ^= byte(rapid.IntRange(1, 255).Draw(rt, "bits"))
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(rt, "cut")]
		if err := os.WriteFile(segs[0], b, 0o644); err != nil {
			rt.Fatal(err)
		}
		c := open(t, dir)
		for i := range byte(8) {
			if got, ok := c.Get(key1(i)); ok && !cmp.Equal(got, doc(uint32(i))) {
				rt.Fatalf("wrong doc for key %d", i)
			}
		}
	})
}

func TestSegmentsAreMerged(t *testing.T) {
	dir := t.TempDir()
	for i := range byte(maxSegments + 3) {
		c := open(t, dir)
		c.Put(key1(i), doc(uint32(i)))
		if err := c.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	segs, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	if len(segs) > maxSegments {
		t.Errorf("%d segments, want at most %d", len(segs), maxSegments)
	}
	c := open(t, dir)
	for i := range byte(maxSegments + 3) {
		if got, ok := c.Get(key1(i)); !ok || !cmp.Equal(got, doc(uint32(i))) {
			t.Errorf("key %d lost in the merge", i)
		}
	}
}

// rec is the record of a doc.
func rec(buf []byte, k index.Key, d *index.Doc) []byte {
	return appendRecord(buf, hashed(k), func(b []byte) []byte { return encode(b, d) })
}

func head(v byte) []byte { return append([]byte("ctxtdoc"), v) }

func FuzzDecode(f *testing.F) {
	f.Add(encode(nil, doc(3)))
	f.Add(encode(nil, &index.Doc{Lines: []uint32{0}}))
	f.Fuzz(func(_ *testing.T, payload []byte) {
		decode(payload, key1(1))
		s := &segments{found: map[key]entry{}}
		s.load(append(head(version), payload...), 0)
	})
}

// What was not used for long leaves the cache when it is merged, and what is used stays.
func TestCacheIsBounded(t *testing.T) {
	dir := t.TempDir()
	big := doc(1)
	big.Tokens = make([]uint32, 1<<20)
	big.Lines = []uint32{0, uint32(len(big.Tokens))}
	const kept = 99
	for i := range byte(3 * maxSegments) {
		c := open(t, dir)
		if _, ok := c.Get(key1(kept)); !ok {
			if i > 0 {
				t.Fatalf("what every run uses is gone in run %d", i)
			}
			c.Put(key1(kept), big)
		}
		c.Put(key1(i), big)
		if err := c.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	total := int64(0)
	segs, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	for _, s := range segs {
		info, err := os.Stat(s)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if limit := int64(4*spareBytes + 16<<20); total > limit {
		t.Errorf("%d bytes in %d segments, want at most %d", total, len(segs), limit)
	}
}

// Processes that read, write and merge at once lose nothing that they rely on.
func TestSharedByProcesses(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range byte(4) {
		wg.Go(func() {
			for i := range byte(12) {
				c, err := Open(dir)
				if err != nil {
					t.Error(err)
					return
				}
				k := index.Key{Blob: [20]byte{w, i}, Lang: "go"}
				c.Put(k, doc(uint32(i)))
				for n := range i {
					if got, ok := c.Get(index.Key{Blob: [20]byte{w, n}, Lang: "go"}); ok && !cmp.Equal(got, doc(uint32(n))) {
						t.Errorf("wrong doc %d of %d", n, w)
					}
				}
				if err := c.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestObjects(t *testing.T) {
	dir := t.TempDir()
	o, err := OpenObjects(dir)
	if err != nil {
		t.Fatal(err)
	}
	o.Put([20]byte{1}, 2, []byte("abcde"))
	o.Put([20]byte{2}, 2, nil)
	if err := o.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if o, err = OpenObjects(dir); err != nil {
		t.Fatal(err)
	}
	if got, ok := o.Get([20]byte{1}, 2); !ok || string(got) != "abcde" {
		t.Errorf("%q %v", got, ok)
	}
	if got, ok := o.Get([20]byte{2}, 2); !ok || len(got) != 0 {
		t.Errorf("%q %v", got, ok)
	}
	if _, ok := o.Get([20]byte{1}, 1); ok {
		t.Error("another type's object")
	}
	if c := open(t, dir); len(c.s.found) != 0 {
		t.Error("objects were read as docs")
	}
}
