package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/index/store"
)

// live is what the endpoint answers from. It is swapped, never changed.
type live struct {
	index  *search.Index
	status Status
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
