package watch

import (
	"context"
	"fmt"
	"sync"

	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/synonyms"
)

// enricher asks a language model about files that changed, beside the worker, which goes on
// meanwhile and takes the answers when they come.
type enricher struct {
	more    chan struct{} // something is wanted; holds at most one
	answers chan answers
	mu      sync.Mutex
	want    map[string]synonyms.Item
}

// answers are what one run brought, with the fingerprints of what was asked.
type answers struct {
	items map[string]synonyms.Item
	words map[string][]string
}

// startEnricher starts the enricher when a client was given.
func (d *daemon) startEnricher(ctx context.Context, parts *sync.WaitGroup) {
	if d.o.Synonyms == nil {
		return
	}
	e := &enricher{more: make(chan struct{}, 1), answers: make(chan answers), want: map[string]synonyms.Item{}}
	d.enrich = e
	parts.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-e.more:
			}
			d.generate(ctx, e.take())
		}
	})
}

// generate asks for items and hands the answers to the worker.
func (d *daemon) generate(ctx context.Context, items map[string]synonyms.Item) {
	list := make([]synonyms.Item, 0, len(items))
	for _, it := range items {
		list = append(list, it) // Generate sorts
	}
	res, err := d.o.Synonyms.Generate(ctx, list, nil)
	if err == nil {
		err = res.Err()
	}
	if err != nil && ctx.Err() == nil {
		d.o.Log(err.Error() + "; ctxt sync asks again")
	}
	if len(res.Synonyms) == 0 {
		return
	}
	select {
	case d.enrich.answers <- answers{items, res.Synonyms}:
	case <-ctx.Done():
	}
}

// take empties the wish list.
func (e *enricher) take() map[string]synonyms.Item {
	e.mu.Lock()
	defer e.mu.Unlock()
	want := e.want
	e.want = map[string]synonyms.Item{}
	return want
}

// ask queues the files that were read again and whose synonyms are missing or out of date.
func (d *daemon) ask(read []*store.Node) {
	if d.enrich == nil {
		return
	}
	d.enrich.mu.Lock()
	for _, n := range read {
		if it := synonyms.ItemOf(n); synonyms.Stale(it, d.tree.cache, d.o.SynonymsMin) {
			d.enrich.want[n.FullPath] = it
		}
	}
	some := len(d.enrich.want) > 0
	d.enrich.mu.Unlock()
	if some {
		select {
		case d.enrich.more <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// enriched is where answers come from; nil, which blocks for ever, when there is no enricher.
func (d *daemon) enriched() <-chan answers {
	if d.enrich == nil {
		return nil
	}
	return d.enrich.answers
}

// takeSynonyms puts answers into the cache, its file, and the index.
func (d *daemon) takeSynonyms(a answers) {
	for path, words := range a.words {
		d.tree.cache.Entries[path] = store.CacheEntry{Fingerprint: synonyms.Fingerprint(a.items[path]), Synonyms: words}
		if n := d.tree.index.Find(path); n != nil && !n.IsDir() {
			fresh := *n // prepared nodes do not change
			fresh.Synonyms = words
			d.tree.index.Put(&fresh)
		}
	}
	d.dirty = true
	d.swap()
	if err := store.SaveCache(d.o.CacheFile, d.tree.cache); err != nil {
		d.o.Log(err.Error())
	}
	d.o.Log(fmt.Sprintf("synonyms of %d files are new", len(a.words)))
	if d.o.onRound != nil {
		d.o.onRound(Round{Number: d.rounds})
	}
}
