package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxt-dev/ctxt/analyze/search"
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

// live is what the endpoint answers from. It is swapped, never changed.
type live struct {
	index  *search.Index
	status Status
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

// sameFolder reports an error when the root's path is no longer the folder that was opened.
func (d *daemon) sameFolder() error {
	now, err := os.Stat(d.o.Root)
	if err == nil {
		var then os.FileInfo
		if then, err = d.tree.root.Stat("."); err == nil && os.SameFile(now, then) {
			return nil
		}
	}
	d.dirty = false // there is no place for the index any more
	return fmt.Errorf("%s was moved or removed; start the watch again", d.o.Root)
}

// watchConfig watches the folder of the configuration file, which the dot rule leaves out.
func (d *daemon) watchConfig() {
	if info, err := d.tree.root.Lstat(store.Dir); err == nil && info.IsDir() {
		d.tree.add(store.Dir)
	}
}

// openNotifier starts watching, or polling when that was asked for or the system refuses.
func (d *daemon) openNotifier(poll bool) error {
	if !poll {
		n, err := d.o.notify(d.o.Root, d.events)
		if err == nil {
			d.tree.watch = n
			return nil
		}
		d.o.Log(describe(err) + "; comparing the whole folder every " + d.o.PollEach.String() + " instead")
	}
	n, err := newPoller(d.o.ticks)(d.o.Root, d.events)
	if err != nil {
		return fmt.Errorf("watch %s: %w", d.o.Root, err)
	}
	d.tree.watch, d.polling = n, true
	return nil
}

// checkNotifier falls back to polling when a folder could not be watched.
func (d *daemon) checkNotifier() {
	err := d.tree.fault
	if d.tree.fault = nil; err == nil || d.polling {
		return
	}
	d.o.Log(describe(err) + "; comparing the whole folder every " + d.o.PollEach.String() + " instead")
	d.tree.watch.Close()
	d.tree.watch, _ = newPoller(d.o.ticks)(d.o.Root, d.events) // a poller cannot fail
	d.polling = true
}

// stamp is the state of a file that the rules come from.
type stamp struct {
	size int64
	time time.Time
}

// configStamps looks at the files that the rules come from.
func (d *daemon) configStamps() (s [2]stamp) {
	for i, name := range []string{".gitignore", store.ConfigFile} {
		if info, err := d.tree.root.Lstat(filepath.FromSlash(name)); err == nil {
			s[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return s
}

// reload makes the rules anew when a file that they come from has changed, and reports whether it
// did. Rules that cannot be read, as in a half-written configuration, leave the old ones in force.
func (d *daemon) reload() bool {
	now := d.configStamps()
	if now == d.config {
		return false
	}
	d.config = now
	rules, warnings, err := d.o.Rules()
	if err != nil {
		d.o.Log("the old ignore rules stay in force: " + err.Error())
		return false
	}
	for _, w := range warnings {
		d.o.Log("warning: " + w)
	}
	d.o.Log("the ignore rules have changed; comparing the whole folder")
	d.tree.rules = rules
	return true
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

// swap prepares the index for searching and puts it in place.
func (d *daemon) swap() {
	x := d.tree.index
	l := &live{index: search.Prepare(x), status: Status{
		Version: RuntimeVersion, PID: os.Getpid(), Root: d.o.Root, Started: d.started.UTC().Format(time.RFC3339),
		Timestamp: x.Timestamp, Rounds: d.rounds, Watcher: "events",
	}}
	if d.polling {
		l.status.Watcher = "polling"
	}
	x.Walk(func(n *store.Node) {
		switch {
		case n.IsDir():
			l.status.Dirs++
		default:
			l.status.Files++
		}
		if n.Fault != "" {
			l.status.Faults++
		}
	})
	d.live.Store(l)
}

// advertise writes the discovery file again when something such as git clean removed it.
func (d *daemon) advertise() {
	if _, err := os.Lstat(d.o.RuntimeFile); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := saveRuntime(d.o.RuntimeFile, d.runtime); err != nil {
		d.o.Log(err.Error())
		return
	}
	d.dirty = true // the index file has probably gone with it
	d.o.Log(d.o.RuntimeFile + " was removed; it is written again")
}

// serve opens the endpoint and writes the discovery file.
func (d *daemon) serve(ctx context.Context, parts *sync.WaitGroup, failed chan<- error) error {
	l, addr, err := listen()
	if err != nil {
		return err
	}
	d.runtime = Runtime{Version: RuntimeVersion, Address: addr.String(), Token: newToken(), PID: os.Getpid(), Root: d.o.Root,
		Started: d.started.UTC().Format(time.RFC3339)}
	s := newServer(addr, d.runtime.Token)
	s.search = func(r search.Request) (*search.Response, error) {
		res, err := d.live.Load().index.Search(r)
		if res != nil {
			res.Source = search.Memory
		}
		return res, err
	}
	s.status = func() Status { return d.live.Load().status }
	if d.o.SearchLog {
		s.log = func(q string, results int, took time.Duration) {
			d.o.Log(fmt.Sprintf("search %q: %d results in %s", clipQuery(q, d.o.SearchLogQueryMax), results, took.Round(time.Microsecond)))
		}
	}
	if err := saveRuntime(d.o.RuntimeFile, d.runtime); err != nil {
		l.Close()
		return err
	}
	d.o.Log(fmt.Sprintf("watching %s; searches are answered on %s", d.o.Root, addr))
	parts.Go(func() {
		if err := s.serve(ctx, l); err != nil {
			failed <- err
		}
	})
	return nil
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

// maxNamed is how many paths a verbose report names.
const maxNamed = 50

// report logs a round: one line, and with Verbose one for each path.
func (d *daemon) report(what string, c changes, took time.Duration) {
	d.o.Log(fmt.Sprintf("%s: %d added, %d changed, %d removed in %s", what, len(c.Added), len(c.Changed), len(c.Removed), took.Round(time.Millisecond)))
	if !d.o.Verbose {
		return
	}
	named := 0
	for _, part := range []struct {
		verb  string
		paths []string
	}{{"added", c.Added}, {"changed", c.Changed}, {"removed", c.Removed}} {
		for _, p := range part.paths {
			if named++; named <= maxNamed {
				d.o.Log("  " + part.verb + " " + p)
			}
		}
	}
	if named > maxNamed {
		d.o.Log(fmt.Sprintf("  and %d more", named-maxNamed))
	}
}
