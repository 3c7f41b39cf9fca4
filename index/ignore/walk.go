package ignore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how many folders deep Walk goes.
const MaxDepth = 255

// Entry is one file or folder that Walk found.
type Entry struct {
	Path    string // relative to the root, "/" between segments
	Dir     bool
	Size    int64 // bytes; files only
	ModTime int64 // nanoseconds since 1970
	Exec    bool  // a file that somebody may execute
}

// Skip is something that Walk left out although no rule ignores it.
type Skip struct {
	Path   string
	Reason string
}

// Walk calls fn for every folder and regular file under root that the rules keep, a folder before
// what is in it, names sorted bytewise. Symbolic links, devices, pipes, and names that are not UTF-8
// are left out and returned, as is a folder that cannot be read. An error of fn ends the walk.
func (r *Rules) Walk(ctx context.Context, root *os.Root, fn func(Entry) error) ([]Skip, error) {
	w := walker{rules: r, fn: fn, ctx: ctx}
	err := w.folder(root, "", 0)
	return w.skipped, err
}

type walker struct {
	rules   *Rules
	fn      func(Entry) error
	ctx     context.Context
	skipped []Skip
}

func (w *walker) skip(path, reason string) { w.skipped = append(w.skipped, Skip{path, reason}) }

// folder walks the folder that root is open on. Its path ends with a slash, or is empty for the top.
func (w *walker) folder(root *os.Root, path string, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	names, err := readNames(root)
	if err != nil {
		if depth == 0 {
			return fmt.Errorf("read folder %s: %w", root.Name(), err)
		}
		w.skip(strings.TrimSuffix(path, "/"), "folder cannot be read")
		return nil
	}
	for _, name := range names {
		if err := w.entry(root, path+name, name, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(root *os.Root, path, name string, depth int) error {
	if !utf8.ValidString(name) {
		w.skip(strings.ToValidUTF8(path, "\ufffd"), "name is not UTF-8")
		return nil
	}
	info, err := root.Lstat(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // otherwise it went away meanwhile
			w.skip(path, "cannot be read")
		}
		return nil
	}
	mode := info.Mode()
	if w.rules.entry(path, mode.IsDir()) {
		return nil
	}
	e := Entry{Path: path, Dir: mode.IsDir(), ModTime: info.ModTime().UnixNano()}
	switch {
	case mode.IsDir() && depth >= MaxDepth:
		w.skip(path, fmt.Sprintf("deeper than %d folders", MaxDepth))
		return nil
	case mode.IsDir():
		if err := w.fn(e); err != nil {
			return err
		}
		sub, err := root.OpenRoot(name)
		if err != nil {
			w.skip(path, "folder cannot be read")
			return nil
		}
		defer sub.Close()
		return w.folder(sub, path+"/", depth+1)
	case mode.IsRegular():
		e.Size, e.Exec = info.Size(), mode&0o111 != 0
		return w.fn(e)
	case mode&fs.ModeSymlink != 0:
		w.skip(path, "symbolic link")
	default:
		w.skip(path, "not a regular file")
	}
	return nil
}

func readNames(root *os.Root) ([]string, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}
