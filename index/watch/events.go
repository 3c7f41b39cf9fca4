package watch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// event says that something happened at a path, or that anything may have happened anywhere.
type event struct {
	path   string // relative, "/" between segments; "." is the root
	rescan bool   // compare the whole folder
	lost   bool   // events were lost: watch every folder anew
}

// notifier sends events for watched folders to the channel that it was made with.
type notifier interface {
	// Add watches one folder, given relative to the root; the folders in it are watched separately.
	Add(dir string) error
	// Remove forgets the watches on a folder and on every folder under it, also of those that have
	// moved away since.
	Remove(dir string)
	Close() error
}

// makeNotifier makes a notifier for the folder root.
type makeNotifier func(root string, events chan<- event) (notifier, error)

// fsEvents is the notifier by the operating system. fsnotify does not recurse, and it keeps sending
// events under the old name for a folder that has moved; Add and Remove of this package's worker
// make up for both.
type fsEvents struct {
	root    string
	w       *fsnotify.Watcher
	mu      sync.Mutex
	watched map[string]bool
	done    sync.WaitGroup
	stop    context.CancelFunc
}

func newFSEvents(root string, events chan<- event) (notifier, error) {
	w, err := fsnotify.NewBufferedWatcher(4096)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &fsEvents{root: root, w: w, watched: map[string]bool{}, stop: stop}
	f.done.Go(func() { f.forward(ctx, events) })
	return f, nil
}

// forward turns the system's events into ours until the watcher is closed.
func (f *fsEvents) forward(ctx context.Context, events chan<- event) {
	send := func(e event) {
		select {
		case events <- e:
		case <-ctx.Done():
		}
	}
	for {
		select {
		case e, ok := <-f.w.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Create) || e.Has(fsnotify.Write) || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				if rel, ok := f.relative(e.Name); ok {
					send(event{path: rel})
				}
			}
		case _, ok := <-f.w.Errors:
			if !ok {
				return
			}
			// Whatever went wrong, an overflow above all, events may be missing.
			send(event{rescan: true, lost: true})
		}
	}
}

// relative makes a name of the system ours. Names that are no path of the folder are dropped.
func (f *fsEvents) relative(name string) (string, bool) {
	rel, err := filepath.Rel(f.root, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func (f *fsEvents) Add(dir string) error {
	if err := f.w.Add(filepath.Join(f.root, filepath.FromSlash(dir))); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watched[dir] = true
	return nil
}

func (f *fsEvents) Remove(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.watched[dir] {
		return // and so is no folder under it, for they are added from the top
	}
	for d := range f.watched {
		if under(d, dir) {
			// It is gone already when the folder was deleted.
			_ = f.w.Remove(filepath.Join(f.root, filepath.FromSlash(d)))
			delete(f.watched, d)
		}
	}
}

func (f *fsEvents) Close() error {
	f.stop()
	err := f.w.Close()
	f.done.Wait()
	return err
}

// under reports whether a path is dir or lies in it.
func under(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return dir == "." || ok && (rest == "" || rest[0] == '/')
}

// exhausted reports whether an error says that the system gives no more watches, and how to get some.
func exhausted(err error) (advice string, ok bool) {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the limit of inotify watches is reached; raise it with: sudo sysctl fs.inotify.max_user_watches=524288", true
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "the limit of open files or inotify instances is reached; raise it with: ulimit -n 65536, or sudo sysctl fs.inotify.max_user_instances=512", true
	}
	return "", false
}

// poller is the notifier without the system's help: it asks for a comparison of the whole folder
// from time to time.
type poller struct {
	stop context.CancelFunc
	done sync.WaitGroup
}

// newPoller makes a maker of pollers. ticks gives the times to look at; tests replace it.
func newPoller(ticks func(context.Context) <-chan time.Time) makeNotifier {
	return func(_ string, events chan<- event) (notifier, error) {
		ctx, stop := context.WithCancel(context.Background())
		p := &poller{stop: stop}
		t := ticks(ctx)
		p.done.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-t:
				}
				select {
				case <-ctx.Done():
					return
				case events <- event{rescan: true}:
				}
			}
		})
		return p, nil
	}
}

// every gives a tick each d until the context ends.
func every(d time.Duration) func(context.Context) <-chan time.Time {
	return func(ctx context.Context) <-chan time.Time {
		t := time.NewTicker(d)
		context.AfterFunc(ctx, t.Stop)
		return t.C
	}
}

func (*poller) Add(string) error { return nil }

func (*poller) Remove(string) {}

func (p *poller) Close() error {
	p.stop()
	p.done.Wait()
	return nil
}

// describe says what went wrong with watching.
func describe(err error) string {
	if advice, ok := exhausted(err); ok {
		return advice
	}
	return fmt.Sprintf("the system cannot watch this folder: %v", err)
}
