package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// patienceInTests bounds how long a test waits for what must happen.
const patienceInTests = 20 * time.Second

// project is a folder and the watch that runs on it.
type project struct {
	t      *testing.T
	dir    string
	o      Options
	rounds chan Round
	cancel context.CancelFunc
	done   chan error
	mu     sync.Mutex
	lines  []string
}

func newProject(t *testing.T, files map[string]string) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: dir, rounds: make(chan Round, 10000)}
	for name, text := range files {
		p.write(name, text)
	}
	p.o = Options{
		Root: dir, IndexFile: p.path(store.IndexFile), CacheFile: p.path(store.CacheFile), RuntimeFile: p.path(store.RuntimeFile),
		Mode: symbols.Regex, Debounce: 10 * time.Millisecond, Verbose: true,
		Rules: func() (*ignore.Rules, []string, error) {
			text, err := os.ReadFile(p.path(".gitignore"))
			if err != nil && !os.IsNotExist(err) {
				return nil, nil, err
			}
			r := ignore.New(ignore.Options{Gitignore: text})
			return r, r.Warnings(), nil
		},
		Log: func(s string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.lines = append(p.lines, s)
		},
		onRound: func(r Round) { p.rounds <- r },
	}
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *project) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) rename(from, to string) { p.t.Helper(); p.must(os.Rename(p.path(from), p.path(to))) }

func (p *project) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// start runs the watch and waits for its bootstrap.
func (p *project) start() {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.done = cancel, make(chan error, 1)
	go func() { p.done <- Run(ctx, p.o) }()
	p.t.Cleanup(func() { cancel() })
	p.next()
}

// next waits for one round.
func (p *project) next() Round {
	p.t.Helper()
	select {
	case r := <-p.rounds:
		return r
	case err := <-p.done:
		p.t.Fatalf("the watch ended: %v\n%s", err, p.log())
	case <-time.After(patienceInTests):
		p.t.Fatalf("no round came\n%s", p.log())
	}
	return Round{}
}

// stop ends the watch gracefully and returns the index that it wrote.
func (p *project) stop() *store.Index {
	p.t.Helper()
	p.cancel()
	select {
	case err := <-p.done:
		p.must(err)
	case <-time.After(patienceInTests):
		p.t.Fatal("the watch does not end")
	}
	for len(p.rounds) > 0 {
		<-p.rounds
	}
	if _, err := os.Lstat(p.o.RuntimeFile); !os.IsNotExist(err) {
		p.t.Errorf("the discovery file is left: %v", err)
	}
	x, err := store.Load(p.o.IndexFile)
	p.must(err)
	return x
}

// ask searches through the endpoint.
func (p *project) ask(query string) []string {
	p.t.Helper()
	r, err := LoadRuntime(p.o.RuntimeFile)
	p.must(err)
	res, err := r.Search(p.t.Context(), search.Request{Query: query, Type: search.Files})
	p.must(err)
	if res.Source != search.Memory {
		p.t.Errorf("source %q", res.Source)
	}
	out := []string{}
	for _, hit := range res.Results {
		out = append(out, hit.Path)
	}
	return out
}

// until waits for rounds until a search has this answer.
func (p *project) until(query string, want ...string) {
	p.t.Helper()
	if want == nil {
		want = []string{}
	}
	for {
		if got := p.ask(query); slices.Equal(got, want) {
			return
		}
		p.next()
	}
}

// paths lists an index; folders end with a slash.
func paths(x *store.Index) []string {
	var out []string
	x.Walk(func(n *store.Node) {
		if n.IsDir() {
			out = append(out, n.FullPath+"/")
		} else {
			out = append(out, n.FullPath)
		}
	})
	return out
}

// fresh is the index that reading the folder anew gives.
func (p *project) fresh() *store.Index {
	p.t.Helper()
	rules, _, err := p.o.Rules()
	p.must(err)
	x, _, err := store.Scan(p.t.Context(), p.dir, store.ScanOptions{Rules: rules, Mode: p.o.Mode, Time: time.Unix(0, 0)})
	p.must(err)
	return x
}

// sameAsFresh fails when an index differs from a fresh one in paths, sizes or symbols.
func (p *project) sameAsFresh(x *store.Index) {
	p.t.Helper()
	flat := func(x *store.Index) []string {
		var out []string
		x.Walk(func(n *store.Node) {
			out = append(out, fmt.Sprint(n.FullPath, " ", n.Type, " ", n.Size, " ", n.ModTime, " ", n.Symbols))
		})
		return out
	}
	if diff := cmp.Diff(flat(p.fresh()), flat(x)); diff != "" {
		p.t.Errorf("the index differs from a fresh one:\n%s\n%s", diff, p.log())
	}
}

func TestWatch(t *testing.T) {
	p := newProject(t, map[string]string{
		"src/loader.ts": "export function loadPage() {}\n", "src/deep/er/store.ts": "export class PageStore {}\n",
		"docs/readme.md": "# hello\n", ".hidden/x.ts": "export const hidden = 1\n",
	})
	p.start()
	p.until("loadPage", "src/loader.ts")

	p.write("src/loader.ts", "export function fetchPage() {}\n")
	p.until("fetchPage", "src/loader.ts")
	p.until("loadPage")
	p.write("src/added.ts", "export function newcomer() {}\n")
	p.until("newcomer", "src/added.ts")
	p.must(os.Remove(p.path("src/added.ts")))
	p.until("newcomer")
	p.rename("src/loader.ts", "src/gatherer.ts")
	p.until("fetchPage", "src/gatherer.ts")

	// A folder that moves takes everything along, and events under its new name arrive.
	p.rename("src/deep", "lib")
	p.until("PageStore", "lib/er/store.ts")
	p.write("lib/er/store.ts", "export class SheetStore {}\n")
	p.until("SheetStore", "lib/er/store.ts")
	// The old name may come back as another folder.
	p.write("src/deep/er/other.ts", "export class Otherwise {}\n")
	p.until("Otherwise", "src/deep/er/other.ts")
	p.write("src/deep/er/other.ts", "export class Elsewise {}\n")
	p.until("Elsewise", "src/deep/er/other.ts")
	// Folders made all at once, files in them at once.
	p.write("a/b/c/d/e/f.ts", "export const bottomless = 1\n")
	p.until("bottomless", "a/b/c/d/e/f.ts")
	p.write("a/b/c/d/e/g.ts", "export const topless = 1\n")
	p.until("topless", "a/b/c/d/e/g.ts")
	p.must(os.RemoveAll(p.path("a")))
	p.until("bottomless")
	// A file becomes a folder and the other way round.
	p.must(os.Remove(p.path("src/gatherer.ts")))
	p.write("src/gatherer.ts/inner.ts", "export const innermost = 1\n")
	p.until("innermost", "src/gatherer.ts/inner.ts")
	p.must(os.RemoveAll(p.path("lib")))
	p.write("lib", "just text\n")
	p.until("SheetStore")

	x := p.stop()
	p.sameAsFresh(x)
	if !strings.Contains(p.log(), "  changed src/loader.ts") {
		t.Errorf("no changed file in the log:\n%s", p.log())
	}
}

func TestMovedOutAndLinks(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.ts"), []byte("export const outsideSecret = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := newProject(t, map[string]string{"src/one/a.ts": "export const alpha = 1\n", "src/two/b.ts": "export const beta = 1\n"})
	p.start()
	p.must(os.Symlink(outside, p.path("src/link")))
	p.must(os.Symlink(filepath.Join(outside, "secret.ts"), p.path("src/secret.ts")))
	p.must(os.Symlink("two", p.path("src/inner")))
	p.must(os.Rename(p.path("src/one"), filepath.Join(outside, "one")))
	p.until("alpha")
	// A file is replaced by a link, a folder by a link to another one.
	p.must(os.Rename(p.path("src/two"), p.path("src/three")))
	p.must(os.Symlink("three", p.path("src/two")))
	p.until("beta", "src/three/b.ts")
	x := p.stop()
	if diff := cmp.Diff([]string{"src/", "src/three/", "src/three/b.ts"}, paths(x)); diff != "" {
		t.Error(diff)
	}
	p.sameAsFresh(x)
}

func TestBurst(t *testing.T) {
	p := newProject(t, map[string]string{"src/a.ts": ""})
	p.start()
	const n = 5000
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := w; i < n; i += 4 {
				dir := p.path(fmt.Sprintf("src/d%03d", i%250))
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Error(err)
				}
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%04d.ts", i)), fmt.Appendf(nil, "export const burst%04d = 1\n", i), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	r, err := LoadRuntime(p.o.RuntimeFile)
	p.must(err)
	for {
		s, err := r.Status(t.Context())
		p.must(err)
		if s.Files == n+1 {
			break
		}
		p.next()
	}
	p.until("burst4999", "src/d249/f4999.ts")
	p.must(os.RemoveAll(p.path("src")))
	for {
		s, err := r.Status(t.Context())
		p.must(err)
		if s.Files == 0 && s.Dirs == 0 {
			break
		}
		p.next()
	}
	p.stop()
}
