package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
	"github.com/ctxt-dev/ctxt/index/synonyms"
)

// Options configure a watch. Paths are absolute.
type Options struct {
	Root        string
	IndexFile   string
	CacheFile   string
	RuntimeFile string
	// Rules gives the ignore rules and what is wrong with them. It is called at the start and again
	// whenever the root .gitignore or the configuration file changes.
	Rules    func() (*ignore.Rules, []string, error)
	Mode     symbols.Mode
	MaxFiles int           // more are an error at the start and a warning later; 0: no limit
	Debounce time.Duration // 750 ms
	Poll     bool          // compare the whole folder from time to time instead of watching it
	PollEach time.Duration // 2 s

	Verbose           bool
	SearchLog         bool
	SearchLogQueryMax int // characters

	Synonyms    *synonyms.Client // nil: no language model while watching
	SynonymsMin int

	Time func() time.Time // of the index when it is written; nil: the clock
	Log  func(string)     // one line for people, names in it not yet escaped; nil: nothing is logged. Called from several goroutines.

	notify  makeNotifier // nil: the system's events
	onRound func(Round)  // called by the worker after each round; tests wait for it
	ticks   func(context.Context) <-chan time.Time
}

// Round is one pass of the worker.
type Round struct {
	Number  int
	Changes changes
	Rescan  bool
	Took    time.Duration
}

// daemon is a running watch.
type daemon struct {
	o       Options
	tree    *tree
	live    atomic.Pointer[live]
	events  chan event
	batches chan batch
	started time.Time
	runtime Runtime
	rounds  int
	polling bool
	warned  bool // of too many files
	dirty   bool // the index differs from its file
	config  [2]stamp
	enrich  *enricher // nil: off
}

// Run watches until the context ends, then writes the index and returns nil. Another writer is a
// *store.LockedError. Whatever else stops the watch is an error; the index is written then, too, when
// its folder is still there.
func Run(ctx context.Context, o Options) (err error) {
	o = o.withDefaults()
	lock, err := store.Lock(o.Root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if lock.Stale != 0 {
		o.Log(fmt.Sprintf("process %d ended without releasing the writer lock; it was not running any more, so the lock is taken over", lock.Stale))
	}
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return fmt.Errorf("open folder %s: %w", o.Root, errors.Unwrap(err))
	}
	defer root.Close()
	d, err := load(ctx, o, root)
	if err != nil {
		return err
	}
	return d.run(ctx)
}

func (o Options) withDefaults() Options {
	if o.Debounce <= 0 {
		o.Debounce = 750 * time.Millisecond
	}
	if o.PollEach <= 0 {
		o.PollEach = 2 * time.Second
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Time == nil {
		o.Time = time.Now
	}
	if o.notify == nil {
		o.notify = newFSEvents
	}
	if o.ticks == nil {
		o.ticks = every(o.PollEach)
	}
	return o
}

// load reads the index and the cache. Without an index the folder is read as a whole.
func load(ctx context.Context, o Options, root *os.Root) (*daemon, error) {
	d := &daemon{o: o, events: make(chan event, 1024), batches: make(chan batch), started: time.Now()}
	cache, err := store.LoadCache(o.CacheFile)
	if err != nil {
		return nil, err
	}
	rules, warnings, err := o.Rules()
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		o.Log("warning: " + w)
	}
	x, err := store.Load(o.IndexFile)
	switch {
	case store.IsNotExist(err):
		o.Log("there is no index yet; reading the whole folder")
		if x, _, err = store.Scan(ctx, o.Root, store.ScanOptions{Rules: rules, Mode: o.Mode, MaxFiles: o.MaxFiles, Time: o.Time()}); err != nil {
			return nil, err
		}
		d.dirty = true
	case err != nil:
		return nil, err
	}
	if x.RootPath != o.Root { // the project was moved or cloned with its index
		x.RootPath, d.dirty = o.Root, true
	}
	synonyms.Reuse(x, cache)
	d.tree = &tree{root: root, index: x, cache: cache, rules: rules, mode: o.Mode}
	d.config = d.configStamps()
	return d, nil
}

// run brings the index up to date, serves it, and applies changes until the context ends.
func (d *daemon) run(parent context.Context) (err error) {
	ctx, stop := context.WithCancel(parent)
	var parts sync.WaitGroup
	var rest batch // what came too late for a round
	defer func() {
		stop()
		parts.Wait()
		if err == nil && parent.Err() != nil {
			err = d.finish(rest)
		}
		if d.tree.watch != nil {
			d.tree.watch.Close()
		}
		if parent.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil // stopped while it was starting
		}
		err = errors.Join(err, d.flush())
	}()
	parts.Go(func() { rest = collect(ctx, d.events, d.batches, d.o.Debounce) })
	if err := d.bootstrap(ctx); err != nil {
		return err
	}
	failed := make(chan error, 1)
	if err := d.serve(ctx, &parts, failed); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeRuntime(d.o.RuntimeFile, d.runtime.Token)) }()
	d.startEnricher(ctx, &parts)
	if d.o.onRound != nil {
		d.o.onRound(Round{Rescan: true})
	}
	return d.work(ctx, failed)
}

// bootstrap starts watching and compares the whole folder with the loaded index.
func (d *daemon) bootstrap(ctx context.Context) error {
	start := time.Now()
	if err := d.openNotifier(d.o.Poll); err != nil {
		return err
	}
	ch, err := d.rescan(ctx)
	if err != nil {
		return err
	}
	if err := d.guard(ctx); err != nil {
		d.dirty = false
		return err
	}
	d.swap()
	d.report("bootstrap", ch, time.Since(start))
	return nil
}

// work is the single worker.
func (d *daemon) work(ctx context.Context, failed <-chan error) error {
	// The system sends no event for the end of a folder that a process has open.
	look := time.NewTicker(d.o.PollEach)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case b := <-d.batches:
			// A round that has begun is finished, so that the index is never written half up to date.
			if err := d.round(context.WithoutCancel(ctx), b); err != nil {
				return err
			}
		case got := <-d.enriched():
			d.takeSynonyms(got)
		case <-look.C:
			if err := d.sameFolder(); err != nil {
				return err
			}
			d.advertise()
		}
	}
}

// finish applies what changed just before the end, so that it is in the index that is written.
func (d *daemon) finish(rest batch) error {
	if !rest.rescan && len(rest.paths) == 0 {
		return nil
	}
	return d.round(context.Background(), rest)
}

// round applies one batch.
func (d *daemon) round(ctx context.Context, b batch) error {
	start := time.Now()
	if b.lost && !d.polling {
		d.o.Log("the system lost events; comparing the whole folder")
		d.tree.watch.Close()
		if err := d.openNotifier(false); err != nil {
			return err
		}
	}
	rescan := d.reload() || b.rescan
	var ch changes
	var err error
	if rescan {
		ch, err = d.rescan(ctx)
	} else {
		ch, err = d.tree.reconcile(ctx, b.paths)
		d.checkNotifier()
	}
	if err != nil {
		return err
	}
	if !ch.empty() {
		d.rounds++
		d.dirty = true
		d.tree.index.Timestamp = time.Now().UTC().Format(time.RFC3339)
		d.swap()
		d.report(fmt.Sprintf("round %d", d.rounds), ch, time.Since(start))
		d.warnSize()
		d.ask(ch.read)
	}
	if d.o.onRound != nil {
		d.o.onRound(Round{Number: d.rounds, Changes: ch, Rescan: rescan, Took: time.Since(start)})
	}
	return nil
}

func (d *daemon) rescan(ctx context.Context) (changes, error) {
	if err := d.sameFolder(); err != nil {
		return changes{}, err
	}
	ch, err := d.tree.rescan(ctx)
	if err == nil && !ch.empty() {
		d.dirty = true
	}
	d.watchConfig()
	d.checkNotifier()
	return ch, err
}

// guard refuses a project that is larger than the limit, at the start.
func (d *daemon) guard(ctx context.Context) error {
	files, _ := d.tree.index.Counts()
	if d.o.MaxFiles == 0 || files <= d.o.MaxFiles {
		return nil
	}
	// Scan's error names the folders to leave out.
	_, _, err := store.Scan(ctx, d.o.Root, store.ScanOptions{Rules: d.tree.rules, Mode: d.o.Mode, MaxFiles: d.o.MaxFiles, Time: d.o.Time()})
	return err
}

func (d *daemon) warnSize() {
	files, _ := d.tree.index.Counts()
	if over := d.o.MaxFiles > 0 && files > d.o.MaxFiles; over && !d.warned {
		d.warned = true
		d.o.Log(fmt.Sprintf("warning: %d files, more than common.max_files = %d; the next start will refuse them: add ignore patterns", files, d.o.MaxFiles))
	}
}

// flush writes the index when it differs from its file.
func (d *daemon) flush() error {
	if !d.dirty {
		return nil
	}
	d.tree.index.Timestamp = d.o.Time().UTC().Format(time.RFC3339)
	if err := store.Save(d.o.IndexFile, d.tree.index); err != nil {
		return err
	}
	d.o.Log("the index is written to " + d.o.IndexFile)
	return nil
}
