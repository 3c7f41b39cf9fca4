package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/synonyms"
)

func TestBootstrapDiff(t *testing.T) {
	p := newProject(t, map[string]string{"same.ts": "export const same = 1\n", "size.ts": "export const size = 1\n",
		"time.ts": "export const time = 1\n", "gone/x.ts": "export const gone = 1\n"})
	x := p.fresh()
	x.Put(&store.Node{FullPath: "same.ts", Type: store.TypeFile, Size: x.Find("same.ts").Size, ModTime: x.Find("same.ts").ModTime,
		Symbols: []string{"kept"}, Synonyms: []string{"stays"}})
	p.must(store.Save(p.o.IndexFile, x))
	cache := store.NewCache()
	cache.Entries["added.ts"] = store.CacheEntry{Fingerprint: "f", Synonyms: []string{"from the cache"}}
	p.must(store.SaveCache(p.o.CacheFile, cache))

	old, err := os.Stat(p.path("size.ts"))
	p.must(err)
	p.write("size.ts", "export const sizeChanged = 1\n") // another size, the time put back
	p.must(os.Chtimes(p.path("size.ts"), old.ModTime(), old.ModTime()))
	p.write("time.ts", "export const mite = 1\n") // another time, the same size
	p.must(os.Chtimes(p.path("time.ts"), old.ModTime().Add(time.Hour), old.ModTime().Add(time.Hour)))
	p.must(os.RemoveAll(p.path("gone")))
	p.write("added.ts", "export const added = 1\n")

	p.start()
	if want := "bootstrap: 1 added, 2 changed, 2 removed"; !strings.Contains(p.log(), want) {
		t.Errorf("no %q in\n%s", want, p.log())
	}
	p.until("kept", "same.ts") // was not read again
	p.until("sizeChanged", "size.ts")
	p.until("mite", "time.ts")
	x = p.stop()
	if diff := cmp.Diff([]string{"added.ts", "same.ts", "size.ts", "time.ts"}, paths(x)); diff != "" {
		t.Error(diff)
	}
	if got := fmt.Sprint(x.Find("added.ts").Synonyms, x.Find("same.ts").Synonyms); got != "[from the cache] [stays]" {
		t.Errorf("synonyms %s", got)
	}
	// The second start finds nothing to do and leaves the file alone.
	before, err := os.Stat(p.o.IndexFile)
	p.must(err)
	p.start()
	p.stop()
	after, err := os.Stat(p.o.IndexFile)
	p.must(err)
	if !strings.Contains(p.log(), "bootstrap: 0 added, 0 changed, 0 removed") || !os.SameFile(before, after) {
		t.Errorf("the second start was not idle:\n%s", p.log())
	}
}

func TestIgnoreFileEdited(t *testing.T) {
	p := newProject(t, map[string]string{".gitignore": "", "src/a.ts": "export const alpha = 1\n", "build/b.ts": "export const beta = 1\n"})
	p.start()
	p.until("beta", "build/b.ts")
	p.write(".gitignore", "build/\n")
	p.until("beta")
	p.write("build/c.ts", "export const gamma = 1\n")
	p.write("src/d.ts", "export const delta = 1\n")
	p.until("delta", "src/d.ts")
	p.until("gamma")
	p.write(".gitignore", "/src\n")
	p.until("gamma", "build/c.ts")
	p.until("delta")
	p.must(os.Remove(p.path(".gitignore")))
	p.until("delta", "src/d.ts")
	p.sameAsFresh(p.stop())

	broken := errors.New("line 3: broken")
	// The configuration counts, too; one that cannot be read changes nothing.
	p.o.Rules = func() (*ignore.Rules, []string, error) {
		text, err := os.ReadFile(p.path(store.ConfigFile))
		switch {
		case err == nil && string(text) == "bad":
			return nil, nil, broken
		case err == nil:
			return ignore.New(ignore.Options{Ignore: []string{string(text)}}), []string{"odd pattern"}, nil
		}
		return ignore.New(ignore.Options{}), nil, nil
	}
	p.start()
	p.write(store.ConfigFile, "src")
	p.until("delta")
	p.write(store.ConfigFile, "bad")
	for !strings.Contains(p.log(), "the old ignore rules stay in force: line 3: broken") {
		p.next()
	}
	p.until("delta")
	p.must(os.Remove(p.path(store.ConfigFile)))
	p.until("delta", "src/d.ts")
	p.stop()
	if !strings.Contains(p.log(), "warning: odd pattern") {
		t.Errorf("no warning in\n%s", p.log())
	}
}

// limited is a notifier whose system gives n watches.
type limited struct {
	notifier
	left int
}

func (l *limited) Add(dir string) error {
	if l.left--; l.left < 0 {
		return &os.PathError{Op: "inotify_add_watch", Path: dir, Err: syscall.ENOSPC}
	}
	return l.notifier.Add(dir)
}

func TestPollingFallback(t *testing.T) {
	for name, notify := range map[string]makeNotifier{
		"no instance": func(string, chan<- event) (notifier, error) { return nil, syscall.EMFILE },
		"two watches": func(root string, events chan<- event) (notifier, error) {
			n, err := newFSEvents(root, events)
			return &limited{n, 2}, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, map[string]string{"a/b/c.ts": "export const alpha = 1\n", "d/e.ts": ""})
			tick := make(chan time.Time)
			p.o.notify = notify
			p.o.ticks = func(context.Context) <-chan time.Time { return tick }
			p.start()
			if !strings.Contains(p.log(), "sysctl fs.inotify.") || !strings.Contains(p.log(), "comparing the whole folder every 2s instead") {
				t.Errorf("the log does not explain:\n%s", p.log())
			}
			p.until("alpha", "a/b/c.ts")
			p.write("a/b/c.ts", "export const changed = 1\n")
			p.write("n/e/w.ts", "export const newcomer = 1\n")
			p.must(os.RemoveAll(p.path("d")))
			tick <- time.Time{}
			p.until("newcomer", "n/e/w.ts")
			p.until("changed", "a/b/c.ts")
			r, err := LoadRuntime(p.o.RuntimeFile)
			p.must(err)
			if s, err := r.Status(t.Context()); err != nil || s.Watcher != "polling" || s.Files != 2 {
				t.Errorf("%+v, %v", s, err)
			}
			p.sameAsFresh(p.stop())
		})
	}
}

// TestLostEvents: after an overflow everything is compared and every folder watched anew.
func TestLostEvents(t *testing.T) {
	p := newProject(t, map[string]string{"a/b.ts": "export const alpha = 1\n"})
	var made []chan<- event
	quiet := true
	p.o.notify = func(root string, events chan<- event) (notifier, error) {
		made = append(made, events)
		if quiet { // the first one never says anything
			quiet = false
			return newPoller(func(context.Context) <-chan time.Time { return nil })(root, events)
		}
		return newFSEvents(root, events)
	}
	p.start()
	p.write("a/b.ts", "export const beta = 1\n")
	p.write("c/d.ts", "export const gamma = 1\n")
	made[0] <- event{rescan: true, lost: true}
	p.until("gamma", "c/d.ts")
	p.until("beta", "a/b.ts")
	p.write("c/d.ts", "export const delta = 1\n")
	p.until("delta", "c/d.ts")
	p.sameAsFresh(p.stop())
}

func TestSecondWriterRefused(t *testing.T) {
	p := newProject(t, map[string]string{"a.ts": ""})
	p.start()
	var locked *store.LockedError
	if err := Run(t.Context(), p.o); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("%v", err)
	}
	p.until("a.ts", "a.ts") // the first one is unharmed
	p.stop()
}

// TestStaleLock: an owner that ended without a word is explained and its lock taken over.
func TestStaleLock(t *testing.T) {
	p := newProject(t, map[string]string{"a.ts": ""})
	p.write(store.LockDir+"/owner", "999999\n")
	p.write(store.LockDir+"/lock", "")
	p.write(store.RuntimeFile, `{"version":2,"address":"127.0.0.1:1","token":"x","pid":999999}`)
	p.start()
	if !strings.Contains(p.log(), "process 999999 ended without releasing the writer lock") {
		t.Errorf("no explanation:\n%s", p.log())
	}
	p.until("a.ts", "a.ts")
	p.stop()
}

func TestTooManyFiles(t *testing.T) {
	p := newProject(t, map[string]string{"a/1.ts": "", "a/2.ts": "", "b.ts": ""})
	p.o.MaxFiles = 2
	var many *store.TooManyError
	if err := Run(t.Context(), p.o); !errors.As(err, &many) || many.Files != 3 {
		t.Fatalf("%v", err)
	}
	if _, err := os.Stat(p.o.IndexFile); !os.IsNotExist(err) {
		t.Errorf("a partial index was written: %v", err)
	}
	p.must(os.Remove(p.path("b.ts")))
	p.start()
	p.write("c.ts", "export const more = 1\n")
	p.until("more", "c.ts")
	p.stop()
	if !strings.Contains(p.log(), "3 files, more than common.max_files = 2") {
		t.Errorf("no warning:\n%s", p.log())
	}
	if err := Run(t.Context(), p.o); !errors.As(err, &many) {
		t.Fatalf("%v", err)
	}
}

func TestRootRemoved(t *testing.T) {
	p := newProject(t, map[string]string{"a.ts": ""})
	p.o.PollEach = 10 * time.Millisecond
	p.start()
	p.must(os.Rename(p.dir, filepath.Join(t.TempDir(), "elsewhere")))
	select {
	case err := <-p.done:
		if err == nil || !strings.Contains(err.Error(), "was moved or removed") {
			t.Errorf("%v", err)
		}
	case <-time.After(patienceInTests):
		t.Fatal("the watch goes on")
	}
}

// TestLastChanges: what changed within the debounce time before the end is in the written index.
func TestLastChanges(t *testing.T) {
	p := newProject(t, map[string]string{"a.ts": "export const alpha = 1\n"})
	heard := make(chan event)
	p.o.Debounce = time.Hour
	p.o.notify = func(_ string, events chan<- event) (notifier, error) {
		return newPoller(func(ctx context.Context) <-chan time.Time {
			go func() {
				for {
					select {
					case e := <-heard:
						events <- e
					case <-ctx.Done():
						return
					}
				}
			}()
			return nil
		})("", events)
	}
	p.start()
	p.write("a.ts", "export const beta = 1\n")
	heard <- event{path: "a.ts"}
	p.write("b/c.ts", "export const gamma = 1\n")
	heard <- event{path: "b"}
	heard <- event{path: "nothing"} // the two before it have been passed on
	p.sameAsFresh(p.stop())
}

// TestFolderCleaned: git stash -u and git clean take the .ctxt folder away under a running watch.
func TestFolderCleaned(t *testing.T) {
	p := newProject(t, map[string]string{"a.ts": "export const alpha = 1\n"})
	p.o.PollEach = 5 * time.Millisecond
	p.start()
	before, err := LoadRuntime(p.o.RuntimeFile)
	p.must(err)
	p.must(os.RemoveAll(p.path(store.Dir)))
	deadline := time.Now().Add(patienceInTests)
	for _, err = os.Lstat(p.o.RuntimeFile); err != nil && time.Now().Before(deadline); _, err = os.Lstat(p.o.RuntimeFile) {
		runtime.Gosched()
	}
	after, err := LoadRuntime(p.o.RuntimeFile)
	p.must(err)
	if *before != *after {
		t.Errorf("%+v, then %+v", before, after)
	}
	p.until("alpha", "a.ts")
	p.sameAsFresh(p.stop())
}

func TestOldIndexRefused(t *testing.T) {
	p := newProject(t, map[string]string{store.IndexFile: `{"version":1}`})
	if err := Run(t.Context(), p.o); err == nil || !strings.Contains(err.Error(), "ctxt init . --offline") {
		t.Errorf("%v", err)
	}
}

// TestEnrich: with a model, a file that changes gets synonyms and the cache is saved.
func TestEnrich(t *testing.T) {
	asked := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		asked <- in.Messages[1].Content
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": `{"src/changed.ts":["zebra","stripes"]}`}}}})
	}))
	defer s.Close()
	c, err := synonyms.New(synonyms.Config{Endpoint: s.URL + "/chat/completions", Model: "m", Min: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p := newProject(t, map[string]string{"src/changed.ts": "export const a = 1\n", "src/other.ts": "export const b = 1\n"})
	p.o.Synonyms, p.o.SynonymsMin = c, 2
	p.start()
	p.until("zebra") // nothing is asked for at the start
	p.write("src/changed.ts", "export const c = 1\n")
	p.until("zebra", "src/changed.ts")
	x := p.stop()
	if got := fmt.Sprint(x.Find("src/changed.ts").Synonyms); got != "[zebra stripes]" {
		t.Error(got)
	}
	cache, err := store.LoadCache(p.o.CacheFile)
	p.must(err)
	if e := cache.Entries["src/changed.ts"]; len(e.Synonyms) != 2 || e.Fingerprint != synonyms.Fingerprint(synonyms.Item{Path: "src/changed.ts", Symbols: []string{"c"}}) {
		t.Errorf("%+v", e)
	}
	for range len(asked) {
		if a := <-asked; strings.Contains(a, "other.ts") {
			t.Errorf("asked about an unchanged file: %s", a)
		}
	}
}

func TestSearchLog(t *testing.T) {
	p := newProject(t, map[string]string{"a.ts": ""})
	p.o.SearchLog, p.o.SearchLogQueryMax = true, 5
	p.start()
	p.ask("wörterbuch\n::error::x")
	p.stop()
	if !strings.Contains(p.log(), `search "wörte…": 0 results in `) {
		t.Errorf("log:\n%s", p.log())
	}
}
