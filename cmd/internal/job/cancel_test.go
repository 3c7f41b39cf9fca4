package job

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

// ending is a context that ends at its n-th look, and counts the looks after that.
type ending struct {
	context.Context
	mu    sync.Mutex
	end   int // 0: never
	looks int
	done  chan struct{}
}

func newEnding(end int) *ending {
	return &ending{Context: context.Background(), end: end, done: make(chan struct{})}
}

func (e *ending) Done() <-chan struct{} { return e.done }

func (e *ending) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.looks++
	if e.looks == e.end {
		close(e.done)
	}
	if e.end > 0 && e.looks >= e.end {
		return context.Canceled
	}
	return nil
}

func (e *ending) seen() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.looks
}

const (
	cancelFiles = 1500
	afterEnd    = 40 // looks of what runs at the same time, each of which then stops
)

// Wherever a selection is interrupted, it stops at that look, what it leaves in the cache is whole, and
// the next selection gives what one without a past gives.
func TestActivateEndsAnywhere(t *testing.T) {
	r := gittest.New(t)
	for i := range cancelFiles {
		r.Write(fmt.Sprintf("pkg%d/retry%d.go", i%40, i), fmt.Sprintf("package pkg%d\n\n// Retry%d retries uploads.\nfunc Retry%d() {}\n", i%40, i, i))
	}
	r.Write("web/upload.ts", "export function upload() {}\n")
	r.Commit("feat: retries")
	activate := func(ctx context.Context, cache string) (string, error) {
		s, err := Activate(ctx, ActivateOptions{Dir: r.Dir, Task: "retry uploads of pkg7", CacheDir: cache})
		if err != nil {
			return "", err
		}
		return pick.Markdown(s.Bundle), nil
	}
	want, looks := "", 0
	for range 3 { // the number differs from run to run: what runs at the same time looks while it waits
		all := newEnding(0)
		bundle, err := activate(all, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if want == "" || all.seen() < looks {
			want, looks = bundle, all.seen()
		}
	}
	if looks < cancelFiles/8 {
		t.Fatalf("%d looks at the context for %d files", looks, cancelFiles)
	}
	stopped := 0
	for k := range 20 {
		ctx, cache := newEnding(1+k*looks/20), t.TempDir()
		got, err := activate(ctx, cache)
		switch {
		case errors.Is(err, context.Canceled):
			stopped++
		case err != nil || got != want:
			t.Errorf("ended at look %d of %d: %v", ctx.end, looks, err)
		}
		if n := ctx.seen() - ctx.end; n > afterEnd {
			t.Errorf("ended at look %d: %d more looks", ctx.end, n)
		}
		if left := unfinished(t, cache); left != "" {
			t.Errorf("ended at look %d: left %s", ctx.end, left)
		}
		if got, err := activate(context.Background(), cache); err != nil || got != want {
			t.Errorf("after one that ended at look %d: another bundle, %v", ctx.end, err)
		}
	}
	if stopped < 5 {
		t.Errorf("%d of 20 were stopped, of %d looks", stopped, looks)
	}
}

// unfinished names a file that a write did not finish.
func unfinished(t *testing.T, dir string) (name string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			name = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}
