package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/ignore"
)

// folder is the Origin of a folder on disk. Links are never followed.
type folder struct {
	root  string
	rules *ignore.Rules
}

// Folder is the Origin of the files under a folder that the rules keep.
func Folder(root string, rules *ignore.Rules) Origin { return folder{root, rules} }

func (s folder) Commit() git.Hash { return git.Hash{} }

func (s folder) List(ctx context.Context) ([]Listed, []git.Skip, error) {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, nil, fmt.Errorf("open folder: %w", err)
	}
	defer root.Close()
	var files []Listed
	skipped, err := s.rules.Walk(ctx, root, func(e ignore.Entry) error {
		if !e.Dir {
			files = append(files, listOne(root, e.Path))
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("walk folder: %w", err)
	}
	out := make([]git.Skip, len(skipped))
	for i, k := range skipped {
		out[i] = git.Skip{Path: k.Path, Reason: k.Reason}
	}
	slices.SortFunc(files, func(a, b Listed) int { return strings.Compare(a.Path, b.Path) })
	return files, out, nil
}

// listOne names a file's content; one that cannot be read, or is too large, keeps the null name.
func listOne(root *os.Root, path string) Listed {
	l := Listed{Path: path, Mode: git.ModeFile}
	if data, err := readOne(root, path, MaxCode); err == nil {
		l.Blob = git.HashBlob(data)
	}
	return l
}

func (s folder) Read(ctx context.Context, files []Listed, maxSize int64, fn func(int, []byte, error)) error {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	defer root.Close()
	for i, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := readOne(root, f.Path, maxSize)
		fn(i, data, err)
	}
	return nil
}

// readOne reads a regular file of at most maxSize bytes.
func readOne(root *os.Root, path string, maxSize int64) ([]byte, error) {
	name := filepath.FromSlash(path)
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if info.Size() > maxSize {
		return nil, git.ErrTooLarge
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, info.Size(), maxSize)
}

// readAll reads to the end, of at most maxSize bytes; size is what is expected, and may be wrong.
func readAll(f io.Reader, size, maxSize int64) ([]byte, error) {
	data := make([]byte, 0, size+1) // one more, so that the end is seen without growing
	for int64(len(data)) <= maxSize {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if int64(len(data)) > maxSize {
		return nil, git.ErrTooLarge
	}
	return data, nil
}

// overlay is a commit's tree with the uncommitted changes of its work tree.
type overlay struct {
	onDisk
	changes func() ([]git.WorktreeChange, error)
	changed map[string]bool // on disk, in place of what the tree has; filled in by List
	known   []Listed        // the tree's list, kept by foresee for List
	left    []git.Skip
}

// Overlay is the Origin of a commit's tree with the changed, new and deleted files of its work tree.
// The changes are asked for once the tree is listed, so that they may be looked for meanwhile.
func Overlay(tree Origin, root string, changes func() ([]git.WorktreeChange, error)) Origin {
	return &overlay{onDisk: onDisk{tree, root}, changes: changes, changed: map[string]bool{}}
}

// foresee is the list of the tree, most of which stays when the changes are known.
func (s *overlay) foresee(ctx context.Context) (files []Listed, err error) {
	s.known, s.left, err = s.tree.List(ctx)
	return s.known, err
}

func (s *overlay) List(ctx context.Context) ([]Listed, []git.Skip, error) {
	files, skipped := slices.Clone(s.known), s.left
	s.known, s.left = nil, nil
	if files == nil {
		var err error
		if files, skipped, err = s.tree.List(ctx); err != nil {
			return nil, nil, err
		}
	}
	changes, err := s.changes()
	if err != nil || len(changes) == 0 {
		return files, skipped, err
	}
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, nil, fmt.Errorf("open work tree: %w", err)
	}
	defer root.Close()
	clear(s.changed)
	deleted := map[string]bool{}
	for _, c := range changes {
		if c.Status == git.Deleted {
			deleted[c.Path] = true
		} else {
			s.changed[c.Path] = true
		}
	}
	files = slices.DeleteFunc(files, func(f Listed) bool { return deleted[f.Path] || s.changed[f.Path] })
	for p := range s.changed {
		if info, err := root.Lstat(filepath.FromSlash(p)); err == nil && info.Mode().IsRegular() {
			files = append(files, listOne(root, p))
		}
	}
	slices.SortFunc(files, func(a, b Listed) int { return strings.Compare(a.Path, b.Path) })
	return files, skipped, nil
}

func (s *overlay) Read(ctx context.Context, files []Listed, maxSize int64, fn func(int, []byte, error)) error {
	// Two passes, each in order, one for each place that files come from.
	for _, changed := range []bool{false, true} {
		part, at := pick(files, func(f Listed) bool { return s.changed[f.Path] == changed })
		if len(part) == 0 {
			continue
		}
		var from Origin = s.onDisk
		if changed {
			from = folder{root: s.root}
		}
		if err := from.Read(ctx, part, maxSize, func(i int, data []byte, err error) { fn(at[i], data, err) }); err != nil {
			return err
		}
	}
	return nil
}

// pick returns the files that fit, and their places.
func pick(files []Listed, fits func(Listed) bool) (part []Listed, at []int) {
	for i, f := range files {
		if fits(f) {
			part, at = append(part, f), append(at, i)
		}
	}
	return part, at
}

// onDisk is a tree whose files may lie in a work tree too: one that lies there with the same content
// is read there, which is quicker than git.
type onDisk struct {
	tree Origin
	root string
}

// OnDisk is the Origin of a tree whose files may lie under root too.
func OnDisk(tree Origin, root string) Origin { return onDisk{tree, root} }

func (s onDisk) Commit() git.Hash { return s.tree.Commit() }

func (s onDisk) List(ctx context.Context) ([]Listed, []git.Skip, error) { return s.tree.List(ctx) }

const (
	diskBatch = 64      // files read before it is looked at how many are as in the tree
	diskSlack = 2       // so many times as many must be as are not
	diskMax   = 4 << 20 // larger files are not read for a comparison
)

func (s onDisk) Read(ctx context.Context, files []Listed, maxSize int64, fn func(int, []byte, error)) error {
	rest, at, err := s.fromDisk(ctx, files, min(maxSize, diskMax), fn)
	if err != nil || len(rest) == 0 {
		return err
	}
	return s.tree.Read(ctx, rest, maxSize, func(i int, data []byte, err error) { fn(at[i], data, err) })
}

// fromDisk delivers the files that lie on disk as they are in the tree, and returns the others. A
// content's name proves it. Where most files differ it gives up.
func (s onDisk) fromDisk(ctx context.Context, files []Listed, maxSize int64, fn func(int, []byte, error)) (rest []Listed, at []int, err error) {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return files, indices(len(files)), nil //nolint:nilerr // there is the tree
	}
	defer root.Close()
	same, from := 0, 0
	for ; from < len(files) && same >= diskSlack*(from-same)-diskBatch; from += diskBatch {
		batch := files[from:min(from+diskBatch, len(files))]
		data := make([][]byte, len(batch))
		err := parallel(ctx, len(batch), func(i int) {
			if d, err := readOne(root, batch[i].Path, maxSize); err == nil && git.HashBlob(d) == batch[i].Blob {
				data[i] = d
			}
		})
		if err != nil {
			return nil, nil, err
		}
		for i, d := range data {
			if d == nil {
				rest, at = append(rest, batch[i]), append(at, from+i)
				continue
			}
			same++
			fn(from+i, d, nil)
		}
	}
	for i := from; i < len(files); i++ {
		rest, at = append(rest, files[i]), append(at, i)
	}
	return rest, at, nil
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// parallel runs fn(0) … fn(n-1) on all cores; each call owns what it writes.
func parallel(ctx context.Context, n int, fn func(i int)) error {
	const batch = 8
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			from := int(next.Add(batch)) - batch
			if from >= n {
				return
			}
			for i := from; i < min(from+batch, n); i++ {
				fn(i)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+batch-1)/batch) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return ctx.Err()
}
