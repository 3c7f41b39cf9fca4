package job

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
)

// ScanResult says what a scan found, version 1.
type ScanResult struct {
	Version     int        `json:"version"`
	Root        string     `json:"root"`
	Commit      string     `json:"commit,omitempty"` // that is checked out
	Files       int        `json:"files"`
	Parsed      int        `json:"parsed"`     // distinct contents that were read and parsed now
	FromCache   int        `json:"from_cache"` // distinct contents that an earlier run had parsed
	Symbols     int        `json:"symbols"`
	Terms       int        `json:"terms"`        // words and parts of words, with repetitions
	Edges       int        `json:"import_edges"` // file imports file
	Tests       int        `json:"tests"`        // test files
	TestsMapped int        `json:"tests_mapped"` // of which so many belong to a source file, by an import or by name
	Commits     int        `json:"commits"`      // of history
	Shallow     bool       `json:"shallow"`      // the clone holds no more
	Skipped     []git.Skip `json:"skipped,omitempty"`
	Cache       string     `json:"cache,omitempty"` // its folder; empty: nothing was kept
}

// counted notes what a cache has, and counts what it is given.
type counted struct {
	index.Cache
	found sync.Map // of index.Key
	put   atomic.Int64
}

func (c *counted) Get(k index.Key) (*index.Doc, bool) {
	d, ok := c.Cache.Get(k)
	if ok {
		c.found.Store(k, true)
	}
	return d, ok
}

func (c *counted) Put(k index.Key, d *index.Doc) {
	c.put.Add(1)
	c.Cache.Put(k, d)
}

// Scan builds what Activate selects from, and keeps in the cache what was parsed: only contents that
// no earlier run has seen are parsed. Of o, Dir, Config, HistoryCommits, CacheDir and Extractor are used.
func Scan(ctx context.Context, o ActivateOptions) (*ScanResult, error) {
	repo, err := git.Open(o.Dir, git.Options{})
	if errors.Is(err, git.ErrNotRepository) {
		repo, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	e, err := NewEngine(ctx, repo, EngineOptions{CacheDir: o.CacheDir, HistoryCommits: o.HistoryCommits, Mode: o.Extractor})
	if err != nil {
		return nil, err
	}
	docs := &counted{Cache: e.docs}
	e.docs = docs
	s, h, err := e.WorkTree(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil {
		return nil, err
	}
	r := &ScanResult{Version: 1, Root: o.Dir, Files: len(s.Files), Parsed: int(docs.put.Load()),
		Commits: len(h.Commits), Shallow: h.Extent.Shallow, Skipped: s.Skipped, Cache: o.CacheDir}
	if !h.Tip.IsZero() {
		r.Commit = h.Tip.String()
	}
	for i := range s.Files {
		if _, had := docs.found.LoadAndDelete(index.Key{Blob: s.Files[i].Blob, Lang: s.Files[i].Lang}); had {
			r.FromCache++
		}
		r.Symbols += len(s.Files[i].Doc.Symbols)
		r.Terms += len(s.Files[i].Doc.Tokens)
		r.Edges += len(s.Imports[i])
	}
	r.Tests, r.TestsMapped = testMap(s)
	return r, nil
}

// testMap counts the test files, and those that import a source file or share their stem with one.
func testMap(s *index.Snapshot) (tests, mapped int) {
	source := map[string]bool{}
	for i := range s.Files {
		if s.Files[i].Role == index.Source {
			source[index.Stem(s.Files[i].Path)] = true
		}
	}
	for i := range s.Files {
		if s.Files[i].Role != index.Test {
			continue
		}
		tests++
		hit := source[index.Stem(s.Files[i].Path)]
		for _, to := range s.Imports[i] {
			hit = hit || s.Files[to].Role == index.Source
		}
		if hit {
			mapped++
		}
	}
	return tests, mapped
}
