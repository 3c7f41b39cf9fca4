package watch

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCollect runs on a clock of its own, so that its times are exact.
func TestCollect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		events, out := make(chan event), make(chan batch)
		rest := make(chan batch, 1)
		go func() { rest <- collect(ctx, events, out, 750*time.Millisecond) }()
		next := func() (batch, time.Duration) {
			start := time.Now()
			return <-out, time.Since(start)
		}

		// One batch, 750 ms after the last event.
		events <- event{path: "b"}
		time.Sleep(700 * time.Millisecond)
		events <- event{path: "a"}
		events <- event{path: "b"}
		b, waited := next()
		if diff := cmp.Diff([]string{"a", "b"}, b.paths); diff != "" || b.rescan || waited != 750*time.Millisecond {
			t.Errorf("%s, after %s", diff, waited)
		}

		// Events that never pause are handed out after eight times that.
		start := time.Now()
		stop := make(chan struct{})
		go func() {
			for i := 0; ; i++ {
				select {
				case events <- event{path: fmt.Sprint(i)}:
					time.Sleep(130 * time.Millisecond) // never at the same time as the end of the wait
				case <-stop:
					return
				}
			}
		}()
		b = <-out
		if took := time.Since(start); took != 6*time.Second || len(b.paths) != 47 {
			t.Errorf("%d paths after %s", len(b.paths), took)
		}
		close(stop)
		events <- event{path: "more"}
		<-out

		// While the worker is busy, events gather; a rescan swallows paths.
		events <- event{path: "x"}
		time.Sleep(time.Hour)
		events <- event{path: "y"}
		events <- event{rescan: true, lost: true}
		events <- event{path: "z"}
		if b, waited := next(); !b.rescan || !b.lost || len(b.paths) != 0 || waited > 750*time.Millisecond {
			t.Errorf("%+v after %s", b, waited)
		}
		// So does an event of the root, and a flood.
		events <- event{path: "."}
		if b, _ := next(); !b.rescan || b.lost {
			t.Errorf("%+v", b)
		}
		for i := range maxPending + 2 {
			events <- event{path: fmt.Sprint(i)}
		}
		if b, _ := next(); !b.rescan || len(b.paths) != 0 {
			t.Errorf("%d paths", len(b.paths))
		}

		// What was not handed out is returned at the end.
		events <- event{path: "last"}
		cancel()
		if b := <-rest; len(b.paths) != 1 || b.paths[0] != "last" {
			t.Errorf("%+v", b)
		}
	})
}
