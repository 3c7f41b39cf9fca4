package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && int64(len(data)) > maxSize {
		err = git.ErrTooLarge
	}
	return data, err
}

// overlay is a commit's tree with the uncommitted changes of its work tree.
type overlay struct {
	tree    Origin
	root    string
	changed map[string]bool // on disk, in place of what the tree has
	deleted map[string]bool
}

// Overlay is the Origin of a commit's tree with the changed, new and deleted files of its work tree.
func Overlay(tree Origin, root string, changes []git.WorktreeChange) Origin {
	if len(changes) == 0 {
		return tree
	}
	o := overlay{tree: tree, root: root, changed: map[string]bool{}, deleted: map[string]bool{}}
	for _, c := range changes {
		if c.Status == git.Deleted {
			o.deleted[c.Path] = true
		} else {
			o.changed[c.Path] = true
		}
	}
	return o
}

func (s overlay) Commit() git.Hash { return s.tree.Commit() }

func (s overlay) List(ctx context.Context) ([]Listed, []git.Skip, error) {
	files, skipped, err := s.tree.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, nil, fmt.Errorf("open work tree: %w", err)
	}
	defer root.Close()
	files = slices.DeleteFunc(files, func(f Listed) bool { return s.deleted[f.Path] || s.changed[f.Path] })
	for p := range s.changed {
		if info, err := root.Lstat(filepath.FromSlash(p)); err == nil && info.Mode().IsRegular() {
			files = append(files, listOne(root, p))
		}
	}
	slices.SortFunc(files, func(a, b Listed) int { return strings.Compare(a.Path, b.Path) })
	return files, skipped, nil
}

func (s overlay) Read(ctx context.Context, files []Listed, maxSize int64, fn func(int, []byte, error)) error {
	// Two passes, each in order, one for each place that files come from.
	for _, onDisk := range []bool{false, true} {
		var part []Listed
		var at []int
		for i, f := range files {
			if s.changed[f.Path] == onDisk {
				part, at = append(part, f), append(at, i)
			}
		}
		from := s.tree
		if onDisk {
			from = folder{root: s.root}
		}
		if len(part) == 0 {
			continue
		}
		if err := from.Read(ctx, part, maxSize, func(i int, data []byte, err error) { fn(at[i], data, err) }); err != nil {
			return err
		}
	}
	return nil
}
