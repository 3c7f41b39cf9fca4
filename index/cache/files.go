package cache

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxt-dev/ctxt/index/store"
)

// Files is a folder of immutable files, each written in one step under a name that says what is in
// it. Any number of processes share it without locks: a file is there whole or not at all, and one
// that another process removed is one that was never there.
type Files struct {
	Dir      string
	Suffix   string // of the names
	MaxFiles int    // kept; the least recently written go first
	MaxBytes int64  // kept, of all together
}

// Read returns the content of a file, or nil where there is none that can be read.
func (f *Files) Read(name string) []byte {
	data, err := store.ReadFile(filepath.Join(f.Dir, name+f.Suffix), f.MaxBytes)
	if err != nil {
		return nil
	}
	return data
}

// Newest lists the names, the last written first.
func (f *Files) Newest() []string {
	var names []string
	for _, s := range f.list() {
		names = append(names, strings.TrimSuffix(filepath.Base(s.path), f.Suffix))
	}
	return names
}

// list finds the files, the last written first.
func (f *Files) list() []segment {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil
	}
	var all []segment
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), f.Suffix) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, segment{filepath.Join(f.Dir, e.Name()), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b segment) int { return cmp.Or(b.mod.Compare(a.mod), strings.Compare(a.path, b.path)) })
	return all
}

// Write writes a file and removes the oldest ones beyond the bounds. A failure costs the next run
// time and nothing else.
func (f *Files) Write(name string, data []byte) error {
	if int64(len(data)) > f.MaxBytes {
		return nil
	}
	if err := hide(f.Dir); err != nil {
		return err
	}
	if err := store.WriteCacheFile(filepath.Join(f.Dir, name+f.Suffix), data, 0o644); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	sweep(f.Dir, f.Suffix)
	total := int64(0)
	for i, s := range f.list() {
		if total += s.size; i >= f.MaxFiles || total > f.MaxBytes {
			_ = os.Remove(s.path) // it costs its space and nothing else
		}
	}
	return nil
}

// hide makes a cache folder and keeps it out of commits, like other tools' caches.
func hide(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	file := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(file); err == nil {
		return nil
	}
	if err := os.WriteFile(file, []byte("*\n"), 0o644); err != nil { // #nosec G306 -- as readable as the files beside it
		return fmt.Errorf("cache: %w", err)
	}
	return nil
}

// sweep removes what a process that was killed while it wrote has left. A file that is young may be
// another process's.
func sweep(dir, suffix string) {
	left, _ := filepath.Glob(filepath.Join(escapeGlob(dir), ".*"+suffix+".*.tmp"))
	for _, name := range left {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(name) // it costs its space and nothing else
		}
	}
}
