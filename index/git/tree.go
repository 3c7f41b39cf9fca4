package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// What a tree listing is bounded by. A tree object may be named by many others, so a few small
// objects can describe any number of paths; the bounds are on paths.
const (
	maxTreePaths = 2_000_000 // paths listed, folders included
	maxTreeBytes = 192 << 20 // sum of the distinct tree objects
	maxTreeDepth = 128
	maxPathBytes = 4096
)

// treeEntry is one entry of a tree object.
type treeEntry struct {
	name string
	mode Mode
	hash Hash
}

// parseTree reads a tree object: "MODE NAME\0" and 20 bytes, repeated.
func parseTree(h Hash, data []byte) ([]treeEntry, error) {
	text := string(data)
	entries := make([]treeEntry, 0, len(data)/40+1)
	for len(text) > 0 {
		sp := strings.IndexByte(text, ' ')
		nul := strings.IndexByte(text, 0)
		if sp < 1 || sp > 7 || nul < sp || len(text) < nul+21 {
			return nil, fmt.Errorf("tree %s: %w: malformed entry %d", h, ErrUnreadable, len(entries)+1)
		}
		var mode Mode
		for _, c := range []byte(text[:sp]) {
			if c < '0' || c > '7' {
				return nil, fmt.Errorf("tree %s: %w: malformed mode of entry %d", h, ErrUnreadable, len(entries)+1)
			}
			mode = mode<<3 | Mode(c-'0')
		}
		e := treeEntry{name: text[sp+1 : nul], mode: canonical(mode)}
		copy(e.hash[:], text[nul+1:])
		entries = append(entries, e)
		text = text[nul+21:]
	}
	return entries, nil
}

// canonical reduces a recorded mode to one of the five, as git does.
func canonical(m Mode) Mode {
	switch m & 0o170000 {
	case 0o100000:
		if m&0o100 != 0 {
			return ModeExec
		}
		return ModeFile
	case ModeSymlink:
		return ModeSymlink
	case ModeDir:
		return ModeDir
	}
	return ModeSubmodule
}

// oddName says why a name cannot be a path's part, or nothing.
func oddName(name string) string {
	switch {
	case name == "" || name == "." || name == "..":
		return "name is empty or relative"
	case strings.EqualFold(name, ".git"):
		return "name is reserved for git"
	case strings.Contains(name, "/"):
		return "name holds a slash"
	case !utf8.ValidString(name):
		return "name is not valid UTF-8"
	}
	return ""
}

// Tree lists the tree of a commit. What cannot be listed (absent or damaged tree objects, names that
// are no names, folders beyond the bounds) is in Skipped, and the rest is complete.
func (r *Repo) Tree(ctx context.Context, commit Hash) (*Tree, error) {
	s := r.remember(ctx)
	defer s.close()
	s.want = kindCommit
	commits, err := readCommits(s, []Hash{commit})
	if err != nil {
		return nil, err
	}
	s.want = kindTree
	root := commits[0].tree
	w := &treeWalk{trees: map[Hash]*treeNode{}}
	if err := w.load(ctx, s, root); err != nil {
		return nil, fmt.Errorf("read the tree of commit %s: %w", commit, err)
	}
	if err := w.trees[root].err; err != nil {
		return nil, fmt.Errorf("read the tree of commit %s: %w", commit, err)
	}
	w.left = maxTreePaths
	w.list(root, "", 0)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t := &w.out
	slices.SortStableFunc(t.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	t.Entries = slices.CompactFunc(t.Entries, func(a, b Entry) bool {
		if a.Path == b.Path {
			w.skip(b.Path, "named twice in its folder")
		}
		return a.Path == b.Path
	})
	slices.SortStableFunc(t.Skipped, func(a, b Skip) int { return strings.Compare(a.Path, b.Path) })
	return t, ctx.Err()
}

// treeNode is a distinct tree object.
type treeNode struct {
	entries []treeEntry
	paths   int // that it expands to, capped; 0 until counted
	state   byte
	err     error
}

type treeWalk struct {
	trees map[Hash]*treeNode
	left  int
	out   Tree
}

// load reads every tree object under root, each once, level by level.
func (w *treeWalk) load(ctx context.Context, s objectSession, root Hash) error {
	total := int64(0)
	level := []Hash{root}
	w.trees[root] = &treeNode{}
	for depth := 0; len(level) > 0; depth++ {
		var next []Hash
		if depth > maxTreeDepth {
			for _, h := range level {
				w.trees[h].err = fmt.Errorf("more than %d folders deep", maxTreeDepth)
			}
			break
		}
		err := s.read(level, maxObject, func(i int, k kind, data []byte, err error) error {
			if ended := ctx.Err(); ended != nil {
				return ended
			}
			node := w.trees[level[i]]
			if err == nil && k != kindTree {
				err = fmt.Errorf("object %s is not a tree", level[i])
			}
			if total += int64(len(data)); err == nil && total > maxTreeBytes {
				err = fmt.Errorf("tree objects of more than %d bytes", maxTreeBytes)
			}
			if err == nil {
				node.entries, err = parseTree(level[i], data)
			}
			if err != nil {
				node.err = err
				return nil
			}
			for _, e := range node.entries {
				if e.mode == ModeDir && w.trees[e.hash] == nil {
					w.trees[e.hash] = &treeNode{}
					next = append(next, e.hash)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		level = next
	}
	return nil
}

// count returns how many paths a tree expands to, at most maxTreePaths+1, which is also the answer
// where folders are nested beyond sense.
func (w *treeWalk) count(h Hash, depth int) int {
	const counting, counted = 1, 2
	n := w.trees[h]
	if n == nil || n.err != nil {
		return 0
	}
	if n.state == counted {
		return n.paths
	}
	if n.state == counting || depth > 4*maxTreeDepth { // a tree cannot hold itself unless its name was forged
		return maxTreePaths + 1
	}
	n.state = counting
	sum := len(n.entries)
	for _, e := range n.entries {
		if e.mode == ModeDir {
			sum = min(sum+w.count(e.hash, depth+1), maxTreePaths+1)
		}
	}
	n.paths, n.state = sum, counted
	return sum
}

func (w *treeWalk) skip(p, reason string) {
	w.out.Skipped = append(w.out.Skipped, Skip{strings.ToValidUTF8(p, "\uFFFD"), reason})
}

// list appends what is under a tree, small folders first, so that one that expands beyond the bound
// costs only itself.
func (w *treeWalk) list(h Hash, prefix string, depth int) {
	n := w.trees[h]
	var dirs []treeEntry
	for _, e := range n.entries {
		p := join(prefix, e.name)
		if why := oddName(e.name); why != "" {
			w.skip(p, why)
			continue
		}
		if len(p) > maxPathBytes {
			w.skip(p[:200]+"…", fmt.Sprintf("path of more than %d bytes", maxPathBytes))
			continue
		}
		if e.mode == ModeDir {
			dirs = append(dirs, e)
			continue
		}
		if w.left == 0 {
			w.skip(path.Join(prefix, "*"), fmt.Sprintf("more than %d paths in the tree", maxTreePaths))
			return
		}
		w.left--
		w.out.Entries = append(w.out.Entries, Entry{p, e.mode, e.hash})
	}
	slices.SortStableFunc(dirs, func(a, b treeEntry) int { return cmp.Compare(w.count(a.hash, depth+1), w.count(b.hash, depth+1)) })
	for _, e := range dirs {
		p, child := join(prefix, e.name), w.trees[e.hash]
		switch {
		case child.err != nil:
			w.skip(p, reason(child.err))
		case w.count(e.hash, depth+1) > w.left:
			w.skip(p, fmt.Sprintf("folder expands to more than the %d paths left of %d", w.left, maxTreePaths))
		case depth == maxTreeDepth:
			w.skip(p, fmt.Sprintf("more than %d folders deep", maxTreeDepth))
		default:
			w.left--
			w.list(e.hash, p, depth+1)
		}
	}
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "/" + name
}

// reason makes a Skip's reason of an error.
func reason(err error) string {
	switch {
	case errors.Is(err, ErrAbsent):
		return "folder's tree object is not in this clone"
	case errors.Is(err, ErrTooLarge):
		return "folder's tree object is over the size limit"
	}
	return err.Error()
}

// FileAt returns the content of a file or link at a commit, of at most max bytes.
func (r *Repo) FileAt(ctx context.Context, commit Hash, file string, max int64) ([]byte, error) {
	s, err := r.session(ctx, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	commits, err := readCommits(s, []Hash{commit})
	if err != nil {
		return nil, err
	}
	want := Entry{Mode: ModeDir, Hash: commits[0].tree}
	parts := strings.Split(file, "/")
	if len(parts) > maxTreeDepth+1 {
		return nil, fmt.Errorf("%q at %s: %w", file, commit.Short(), ErrNotFound)
	}
	for _, part := range parts {
		if want.Mode != ModeDir {
			return nil, fmt.Errorf("%q at %s: %w", file, commit.Short(), ErrNotFound)
		}
		entries, err := readTree(s, want.Hash)
		if err != nil {
			return nil, fmt.Errorf("%q at %s: %w", file, commit.Short(), err)
		}
		i := slices.IndexFunc(entries, func(e treeEntry) bool { return e.name == part })
		if i < 0 {
			return nil, fmt.Errorf("%q at %s: %w", file, commit.Short(), ErrNotFound)
		}
		want = Entry{Mode: entries[i].mode, Hash: entries[i].hash}
	}
	if want.Mode == ModeDir || want.Mode == ModeSubmodule {
		return nil, fmt.Errorf("%q at %s is not a file: %w", file, commit.Short(), ErrNotFound)
	}
	var out []byte
	err = s.read([]Hash{want.Hash}, max, func(_ int, _ kind, data []byte, err error) error {
		out = data
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%q at %s: %w", file, commit.Short(), err)
	}
	return out, nil
}

// readTree reads one tree object.
func readTree(s objectSession, h Hash) (entries []treeEntry, err error) {
	err = s.read([]Hash{h}, maxObject, func(_ int, k kind, data []byte, err error) error {
		if err == nil && k != kindTree {
			err = fmt.Errorf("object %s is not a tree", h)
		}
		if err == nil {
			entries, err = parseTree(h, data)
		}
		return err
	})
	return entries, err
}

// emptyTree is the name of the tree without entries.
var emptyTree = hashObject("tree", nil)

// compareNames orders entries as trees are ordered: a folder as if its name ended with a slash.
func compareNames(a, b treeEntry) int {
	n := min(len(a.name), len(b.name))
	if c := strings.Compare(a.name[:n], b.name[:n]); c != 0 {
		return c
	}
	return cmp.Compare(after(a, n), after(b, n))
}

func after(e treeEntry, n int) int {
	switch {
	case len(e.name) > n:
		return int(e.name[n])
	case e.mode == ModeDir:
		return '/'
	}
	return 0
}
