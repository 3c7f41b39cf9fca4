package synonyms

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ctxt-dev/ctxt/index/store"
)

// Options choose the entries of an index that Fill asks for.
type Options struct {
	Scope string // a file, or a folder with everything under it; empty or "." for all
	Force bool   // also those that are complete and current
	Min   int    // an entry with fewer synonyms is asked for again
	// Save, when not nil, is called with the cache after answers came in, at most every SaveEvery,
	// and once at the end. It runs in one goroutine at a time.
	Save      func(*store.Cache) error
	SaveEvery time.Duration // 5 s
	Each      func(Batch)   // progress; see Generate
}

// ItemOf is what a request says about a node.
func ItemOf(n *store.Node) Item {
	it := Item{Path: n.FullPath, Dir: n.IsDir(), Symbols: n.Symbols, Imports: n.Imports}
	for _, c := range n.Children {
		it.Children = append(it.Children, c.Name())
	}
	return it
}

// Want lists the entries that need synonyms: those without any in the cache, with fewer than min,
// and those whose symbols or imports differ from what their synonyms were made from. The nodes in
// scope must have been read by this process, for their imports are not stored.
func Want(x *store.Index, cache *store.Cache, o Options) []Item {
	var items []Item
	visit(x, o.Scope, func(n *store.Node) {
		it := ItemOf(n)
		if o.Force || Stale(it, cache, o.Min) {
			items = append(items, it)
		}
	})
	return items
}

// Stale reports whether an entry needs synonyms.
func Stale(it Item, cache *store.Cache, least int) bool {
	e, ok := cache.Entries[it.Path]
	return !ok || len(e.Synonyms) < least || e.Fingerprint != Fingerprint(it)
}

// Reuse gives every node the synonyms that the cache has for its path, also when they were made from
// other symbols: they are still better than none. Nodes that the cache does not know keep theirs.
func Reuse(x *store.Index, cache *store.Cache) {
	visit(x, "", func(n *store.Node) {
		if words := Cached(cache, n.FullPath); words != nil {
			n.Synonyms = words
		}
	})
}

// Cached returns the synonyms of one path, nil when there are none. A cache may come with a
// repository, so what is no plain word is left out.
func Cached(cache *store.Cache, path string) []string {
	e, ok := cache.Entries[path]
	if !ok {
		return nil
	}
	words, _ := normalise(e.Synonyms, 100, "")
	return words
}

// visit calls f for every node in scope but the root.
func visit(x *store.Index, scope string, f func(*store.Node)) {
	all := scope == "" || scope == "."
	x.Walk(func(n *store.Node) {
		if rest, ok := strings.CutPrefix(n.FullPath, scope); all || ok && (rest == "" || rest[0] == '/') {
			f(n)
		}
	})
}

// Fill asks for what Want lists and puts the answers into the cache and into the nodes. The result
// and the error are those of Generate; an error of Save is returned when there is no other.
func Fill(ctx context.Context, c *Client, x *store.Index, cache *store.Cache, o Options) (*Result, error) {
	def(&o.SaveEvery, 5*time.Second)
	items := Want(x, cache, o)
	prints := make(map[string]string, len(items))
	for _, it := range items {
		prints[it.Path] = Fingerprint(it)
	}
	var saveErr error
	unsaved, last := false, time.Now()
	save := func() {
		if o.Save != nil && unsaved && saveErr == nil {
			saveErr = o.Save(cache)
			unsaved, last = false, time.Now()
		}
	}
	res, err := c.Generate(ctx, items, func(b Batch) {
		for path, words := range b.Synonyms {
			cache.Entries[path] = store.CacheEntry{Fingerprint: prints[path], Synonyms: words}
			if n := x.Find(path); n != nil {
				n.Synonyms = slices.Clone(words)
			}
			unsaved = true
		}
		if time.Since(last) >= o.SaveEvery {
			save()
		}
		if o.Each != nil {
			o.Each(b)
		}
	})
	save()
	if err == nil {
		err = saveErr
	}
	return res, err
}
