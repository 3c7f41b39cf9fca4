package cache

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A process that was killed while it wrote leaves a temporary file: it goes with a later write, once
// it cannot be another process's any more.
func TestLeftFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, ".0123.seg.1.tmp"), filepath.Join(dir, ".0123.seg.2.tmp")
	for _, f := range []string{old, young} {
		if err := os.WriteFile(f, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	c := open(t, dir)
	c.Put(key1(1), doc(1))
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(old); err == nil {
		t.Error("the old file is still there")
	}
	if _, err := os.Lstat(young); err != nil {
		t.Error("the young file is gone")
	}
}

// A folder that cannot be written costs the next run time: one line, and what was parsed stays usable.
func TestNoPlaceForTheCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := open(t, filepath.Join(file, "cache"))
	c.Put(key1(1), doc(1))
	if err := c.Close(context.Background()); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), file) {
		t.Errorf("%v", err)
	}
	if _, ok := c.Get(key1(1)); !ok {
		t.Error("what was parsed is gone")
	}
}

// A damaged key is no other key.
func TestDamagedKey(t *testing.T) {
	dir := t.TempDir()
	r := rec(nil, key1(1), doc(1))
	r[0] = 2
	if err := os.WriteFile(filepath.Join(dir, "a.seg"), append(head(version), r...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := open(t, dir).Get(key1(2)); ok {
		t.Error("the doc of one content is given for another")
	}
}

// FuzzOpen reads any bytes as a segment.
func FuzzOpen(f *testing.F) {
	f.Add(rec(rec(head(version), key1(1), doc(3)), key1(2), doc(4)))
	f.Add(head(1))
	f.Add([]byte("ctxt"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.seg"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		c := open(t, dir)
		for i := range byte(4) {
			if d, ok := c.Get(key1(i)); ok && d == nil {
				t.Fatal("a hit without a doc")
			}
		}
		w := &segmentWriter{s: c.s, ctx: context.Background()}
		if err := c.s.keep(w, 0); err != nil {
			t.Fatal(err)
		}
	})
}
