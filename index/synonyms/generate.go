package synonyms

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Failure is one batch that got no usable answer.
type Failure struct {
	Paths  []string // what it asked for
	Reason string   // safe to print
}

// Batch is one answered batch, for progress and for saving early.
type Batch struct {
	Synonyms map[string][]string // as in Result
	Asked    int
	Done     int // entries answered or given up so far, this batch included
	Total    int // entries of the whole run
}

// Result is what a run brought. Every list is sorted by path.
type Result struct {
	Synonyms map[string][]string // by Item.Path: 1 to Max synonyms, normalised
	Failures []Failure
	Missing  []string // asked in a batch that was answered, and not answered
	Short    []string // answered with fewer than Min
	Skipped  []string // never asked: the path cannot be written in a request
	Unknown  int      // names in answers that were not asked for
	Rejected int      // synonyms that were no plain words
	Requests int      // sent, repetitions included
}

// Failed counts the entries of the batches that failed.
func (r *Result) Failed() int {
	n := 0
	for _, f := range r.Failures {
		n += len(f.Paths)
	}
	return n
}

// maxSplits is how often a batch that is too long for the model is halved.
const maxSplits = 2

// giveUpAfter is the number of failed batches in a row after which the rest is not sent.
const giveUpAfter = 10

// notSent begins the reason of a batch that another one's failure, or the caller, ended.
const notSent = "not sent: "

// run is the state of one Generate.
type run struct {
	c    *Client
	ctx  context.Context // of the requests
	open context.Context // ends with ctx, or when nothing more is to be sent; requests under way go on
	stop context.CancelCauseFunc
	each func(Batch)

	mu    sync.Mutex
	res   Result
	done  int
	total int
	inRow int // failed batches since the last answered one
}

// Generate asks for the synonyms of items. Each, when not nil, is called after every answered batch,
// one call at a time. The result holds everything that was answered, also when other batches failed
// or the context ended; the error is non-nil only in the latter case and when the client is offline.
func (c *Client) Generate(ctx context.Context, items []Item, each func(Batch)) (*Result, error) {
	r := &run{c: c, ctx: ctx, each: each, res: Result{Synonyms: map[string][]string{}}}
	if c.cfg.Offline {
		return &r.res, ErrOffline
	}
	var entries []entry
	for _, it := range items {
		if !printable(it.Path) || it.Path == "" || len(it.Path) > 4096 {
			r.res.Skipped = append(r.res.Skipped, it.Path)
			continue
		}
		entries = append(entries, newEntry(it))
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.Name == b.Name })
	r.total = len(entries)
	r.open, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)

	queue := make(chan []entry)
	var workers sync.WaitGroup
	for range c.cfg.Parallel {
		workers.Go(func() {
			for b := range queue {
				r.batch(b, 0)
			}
		})
	}
	for _, b := range batches(entries, c.cfg.BatchSize) {
		queue <- b // workers drain the queue even after a stop, to report each batch
	}
	close(queue)
	workers.Wait()
	r.sort()
	return &r.res, ctx.Err()
}

// batch sends one batch until it is answered, given up or halved.
func (r *run) batch(b []entry, depth int) {
	var last *fault
	for try := range r.c.cfg.Retry.Tries {
		if err := context.Cause(r.open); err != nil {
			r.fail(b, &fault{err: fmt.Errorf(notSent+"%w", err)})
			return
		}
		r.count()
		a, f := r.c.attempt(r.ctx, b)
		if f == nil {
			r.accept(b, a)
			return
		}
		if last = f; f.split && len(b) > 1 && depth < maxSplits {
			r.batch(b[:len(b)/2], depth+1)
			r.batch(b[len(b)/2:], depth+1)
			return
		}
		if !f.retry || try+1 == r.c.cfg.Retry.Tries {
			break
		}
		d, ok := r.c.cfg.Retry.wait(try, f)
		if !ok {
			last = &fault{err: fmt.Errorf("%w; the server asks to wait %s, longer than %s", f.err, d, r.c.cfg.Retry.RetryAfter)}
			break
		}
		if r.c.cfg.Retry.Sleep(r.open, d) != nil {
			break
		}
	}
	r.fail(b, last)
}

func (r *run) count() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.res.Requests++
}

// accept compares an answer with what was asked and keeps what fits.
func (r *run) accept(b []entry, a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := make(map[string][]string, len(b))
	for _, e := range b {
		raw, ok := a[e.Name]
		words, rejected := normalise(raw, r.c.cfg.Max, r.c.cfg.Key)
		r.res.Rejected += rejected
		switch {
		case !ok || len(words) == 0:
			r.res.Missing = append(r.res.Missing, e.Name)
			continue
		case len(words) < r.c.cfg.Min:
			r.res.Short = append(r.res.Short, e.Name)
		}
		got[e.Name] = words
		r.res.Synonyms[e.Name] = words
	}
	asked := make(map[string]bool, len(b))
	for _, e := range b {
		asked[e.Name] = true
	}
	for name := range a {
		if !asked[name] {
			r.res.Unknown++
		}
	}
	r.inRow = 0
	r.done += len(b)
	if r.each != nil {
		r.each(Batch{Synonyms: got, Asked: len(b), Done: r.done, Total: r.total})
	}
}

// fail records a batch without an answer and, when more of the same is certain, stops the rest.
func (r *run) fail(b []entry, f *fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	paths := make([]string, len(b))
	for i, e := range b {
		paths[i] = e.Name
	}
	r.res.Failures = append(r.res.Failures, Failure{Paths: paths, Reason: f.err.Error()})
	r.done += len(b)
	r.inRow++
	if f.fatal || r.inRow >= giveUpAfter {
		r.stop(fmt.Errorf("stopped after: %w", f.err))
	}
}

func (r *run) sort() {
	slices.SortFunc(r.res.Failures, func(a, b Failure) int { return strings.Compare(a.Paths[0], b.Paths[0]) })
	slices.Sort(r.res.Missing)
	slices.Sort(r.res.Short)
	slices.Sort(r.res.Skipped)
}

// Err summarises what is missing, naming the counts; nil when every entry was answered.
func (r *Result) Err() error {
	failed := r.Failed()
	if failed == 0 && len(r.Missing) == 0 {
		return nil
	}
	why := ""
	if len(r.Failures) > 0 {
		why = ": " + r.firstReason()
	}
	return fmt.Errorf("synonyms: %d entries answered, %d failed in %d batches, %d left out by the model%s",
		len(r.Synonyms), failed, len(r.Failures), len(r.Missing), why)
}

// firstReason prefers a reason that is not the consequence of another one.
func (r *Result) firstReason() string {
	for _, f := range r.Failures {
		if !strings.HasPrefix(f.Reason, notSent) {
			return f.Reason
		}
	}
	return r.Failures[0].Reason
}
