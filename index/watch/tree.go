package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
	"github.com/ctxt-dev/ctxt/index/synonyms"
)

// tree is the index in memory together with the folder that it describes. Only one goroutine, the
// worker, uses it. Nodes that have been prepared for searching are replaced, never changed.
type tree struct {
	root  *os.Root
	index *store.Index
	cache *store.Cache
	rules *ignore.Rules
	mode  symbols.Mode
	watch notifier // nil: nothing is watched
	fault error    // the first error of watch.Add since it was last looked at
}

// changes are what one round did. Every list is sorted.
type changes struct {
	Added, Changed, Removed []string
	read                    []*store.Node // files that were read again
}

func (c *changes) empty() bool { return len(c.Added)+len(c.Changed)+len(c.Removed) == 0 }

// rescan compares the whole folder with the index.
func (t *tree) rescan(ctx context.Context) (changes, error) {
	t.drop(".")
	t.add(".")
	return t.apply(ctx, t.list(ctx, ".", t.rules.Walk))
}

// reconcile compares some sorted paths with the index; what lies under a folder among them is
// compared too.
func (t *tree) reconcile(ctx context.Context, paths []string) (changes, error) {
	all := found{gone: map[string]bool{}}
	var folders []string
	for _, p := range paths {
		if n := len(folders); n > 0 && under(p, folders[n-1]) {
			continue
		}
		// A folder that has moved is watched under its old name still, and watching it again would
		// not change that. So every old watch goes before a new one comes.
		info, ok := t.look(p)
		switch {
		case !ok:
			all.forget(t, p)
		case info.IsDir():
			t.drop(p)
			folders = append(folders, p)
		default:
			all.files = append(all.files, entry(p, info))
		}
	}
	for _, p := range folders {
		t.add(p)
		all.dirs = append(all.dirs, p)
		all.merge(t.list(ctx, p, func(ctx context.Context, root *os.Root, fn func(ignore.Entry) error) ([]ignore.Skip, error) {
			return t.rules.WalkFolder(ctx, root, p, fn)
		}))
	}
	return t.apply(ctx, all)
}

// look says what is at a path now; ok is false when there is nothing to index: no such path, an
// ignored one, a link or another special file, or something behind a link.
func (t *tree) look(path string) (fs.FileInfo, bool) {
	for dir := range parents(path) {
		if info, err := t.root.Lstat(dir); err != nil || !info.IsDir() {
			return nil, false
		}
	}
	info, err := t.root.Lstat(path)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() || t.rules.Match(path, info.IsDir()) {
		return nil, false
	}
	return info, true
}

func entry(path string, info fs.FileInfo) ignore.Entry {
	return ignore.Entry{Path: path, Dir: info.IsDir(), Size: info.Size(), ModTime: info.ModTime().UnixNano()}
}

// found is what the folder holds where it was looked at.
type found struct {
	dirs  []string
	files []ignore.Entry  // to be read again
	gone  map[string]bool // indexed, and not there any more; the topmost paths
	err   error
}

func (f *found) merge(g found) {
	f.dirs = append(f.dirs, g.dirs...)
	f.files = append(f.files, g.files...)
	for p := range g.gone {
		f.gone[p] = true
	}
	f.err = errors.Join(f.err, g.err)
}

// forget notes that a path is not there.
func (f *found) forget(t *tree, path string) {
	t.drop(path)
	if t.index.Find(path) != nil {
		f.gone[path] = true
	}
}

// list walks a folder, watching every folder that it meets before it is read, so that nothing that
// is made meanwhile is missed. Files that have their indexed size and time are left alone.
func (t *tree) list(ctx context.Context, dir string, walk func(context.Context, *os.Root, func(ignore.Entry) error) ([]ignore.Skip, error)) found {
	f := found{gone: map[string]bool{}}
	there := map[string]bool{dir: true}
	_, f.err = walk(ctx, t.root, func(e ignore.Entry) error {
		there[e.Path] = true
		if e.Dir {
			t.add(e.Path)
			f.dirs = append(f.dirs, e.Path)
			return nil
		}
		if n := t.index.Find(e.Path); n == nil || n.IsDir() || n.Size != e.Size || n.ModTime != e.ModTime {
			f.files = append(f.files, e)
		}
		return nil
	})
	if n := t.index.Find(dir); n != nil && f.err == nil {
		f.absent(t, n, there)
	}
	return f
}

// absent collects the nodes under n that are not there.
func (f *found) absent(t *tree, n *store.Node, there map[string]bool) {
	for _, c := range n.Children {
		if !there[c.FullPath] {
			f.forget(t, c.FullPath)
		} else if c.IsDir() {
			f.absent(t, c, there)
		}
	}
}

// apply brings the index up to date: removals first, then folders, then files, each in order of path.
func (t *tree) apply(ctx context.Context, f found) (changes, error) {
	var c changes
	if f.err != nil {
		return c, f.err
	}
	for _, p := range sortedKeys(f.gone) {
		t.remove(p, &c)
	}
	slices.Sort(f.dirs)
	for _, d := range slices.Compact(f.dirs) {
		if n := t.index.Find(d); n == nil || !n.IsDir() {
			t.remove(d, &c)
			t.index.Put(&store.Node{FullPath: d, Type: store.TypeDirectory, Synonyms: synonyms.Cached(t.cache, d)})
			c.Added = append(c.Added, d+"/")
		}
	}
	slices.SortFunc(f.files, func(a, b ignore.Entry) int { return strings.Compare(a.Path, b.Path) })
	f.files = slices.CompactFunc(f.files, func(a, b ignore.Entry) bool { return a.Path == b.Path })
	nodes, err := t.read(ctx, f.files)
	if err != nil {
		return c, err
	}
	for _, n := range nodes {
		t.put(n, &c)
	}
	c.read = nodes
	slices.Sort(c.Added)
	slices.Sort(c.Removed)
	return c, nil
}

func (t *tree) put(n *store.Node, c *changes) {
	old := t.index.Find(n.FullPath)
	switch {
	case old != nil && !old.IsDir():
		n.Synonyms = old.Synonyms
		c.Changed = append(c.Changed, n.FullPath)
	case old != nil:
		t.remove(n.FullPath, c)
		fallthrough
	default:
		c.Added = append(c.Added, n.FullPath)
	}
	if words := synonyms.Cached(t.cache, n.FullPath); words != nil {
		n.Synonyms = words
	}
	t.index.Put(n)
}

// remove takes a node out and names the files and folders that went with it.
func (t *tree) remove(path string, c *changes) {
	n := t.index.Find(path)
	if n == nil {
		return
	}
	var list func(*store.Node)
	list = func(n *store.Node) {
		if !n.IsDir() {
			c.Removed = append(c.Removed, n.FullPath)
			return
		}
		c.Removed = append(c.Removed, n.FullPath+"/")
		for _, child := range n.Children {
			list(child)
		}
	}
	list(n)
	t.index.Remove(path)
}

// read makes the nodes of files, extracting on all cores. A file that went away meanwhile is left
// to its own event; one that cannot be read keeps its name.
func (t *tree) read(ctx context.Context, files []ignore.Entry) ([]*store.Node, error) {
	nodes := make([]*store.Node, len(files))
	work := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		workers.Go(func() {
			for i := range work {
				e := files[i]
				n := &store.Node{FullPath: e.Path, Type: store.TypeFile, Size: e.Size, ModTime: e.ModTime}
				if store.Extractable(e.Path) {
					if err := store.Extract(t.root, n, t.mode); err != nil {
						n.Fault = "cannot be read"
					}
				}
				nodes[i] = n
			}
		})
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		work <- i
	}
	close(work)
	workers.Wait()
	return nodes, ctx.Err()
}

func (t *tree) add(dir string) {
	if t.watch == nil {
		return
	}
	err := t.watch.Add(dir)
	// A folder that went away meanwhile has an event of its own; other errors end the watching.
	if err != nil && t.fault == nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		t.fault = fmt.Errorf("watch %s: %w", dir, err)
	}
}

func (t *tree) drop(path string) {
	if t.watch != nil {
		t.watch.Remove(path)
	}
}

func sortedKeys(m map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
