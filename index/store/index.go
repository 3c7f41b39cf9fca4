// Package store reads and writes the files of a .ctxt folder: the index, the synonym cache, and the
// lock of the one process that may write them.
//
//  1. Every file is read with a size cap, from a regular file only, and checked before use.
//  2. A file of another version is refused with the command that rebuilds it.
//  3. Every write is a temporary file in the same folder, synced and renamed.
package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// Version is the version of ctx_index.json and of ctx_cache.json that this package reads and writes.
const Version = 2

// The names of what lives under a project's root.
const (
	Dir         = ".ctxt"
	IndexFile   = ".ctxt/ctx_index.json"
	CacheFile   = ".ctxt/ctx_cache.json"
	ConfigFile  = ".ctxt/ctx_config.toml"
	RuntimeFile = ".ctxt/ctx_runtime.json"
	LockDir     = ".ctxt-writer"
)

// The types of a Node.
const (
	TypeFile      = "file"
	TypeDirectory = "directory"
)

// Index is ctx_index.json, version 2:
//
//	{"version":2,
//	"root_path":"/abs/project",
//	"timestamp":"2024-01-02T03:04:05Z",
//	"root":{"full_path":".","type":"directory","children":[
//	 {"full_path":"cmd","type":"directory","children":[
//	  {"full_path":"cmd/main.go","type":"file","size":120,"symbols":["main"],"synonyms":["entry point"]}
//	 ]}
//	]}}
//
// full_path is relative to root_path with "/" between segments and "." for the root, so that two
// checkouts of one tree give the same bytes apart from root_path. Children are sorted by name,
// bytewise. symbols, synonyms, children and fault are left out when empty; size is left out of
// folders. There is one node a line, indented by its depth.
//
// Modification times differ between checkouts, so they are kept beside the index, in
// cache/stat.json (see stat.go), and joined to the nodes by Load.
type Index struct {
	Version   int    `json:"version"`
	RootPath  string `json:"root_path"` // absolute, as the operating system writes it
	Timestamp string `json:"timestamp"` // RFC 3339, UTC, whole seconds
	Root      *Node  `json:"root"`
}

// Node is one file or folder.
type Node struct {
	FullPath string   `json:"full_path"`          // relative to the root, "/"; "." is the root itself
	Type     string   `json:"type"`               // TypeFile or TypeDirectory
	Size     int64    `json:"size,omitempty"`     // bytes; files only
	Symbols  []string `json:"symbols,omitempty"`  // distinct names in order of declaration
	Synonyms []string `json:"synonyms,omitempty"` // lower case
	Fault    string   `json:"fault,omitempty"`    // why the grammar could not read the file; symbols may be fewer
	Children []*Node  `json:"children,omitempty"` // sorted by name
	ModTime  int64    `json:"-"`                  // nanoseconds since 1970; 0 when not known
	Imports  []string `json:"-"`                  // import specifiers in order of appearance, when extracted by this process
}

// Name is the last segment of the path; "." for the root.
func (n *Node) Name() string { return n.FullPath[strings.LastIndexByte(n.FullPath, '/')+1:] }

// IsDir reports whether n is a folder.
func (n *Node) IsDir() bool { return n.Type == TypeDirectory }

// New makes an empty index of a root folder. Times are cut to the second.
func New(root string, at time.Time) *Index {
	return &Index{Version: Version, RootPath: root, Timestamp: at.UTC().Format(time.RFC3339),
		Root: &Node{FullPath: ".", Type: TypeDirectory}}
}

// Time is the parsed timestamp.
func (x *Index) Time() time.Time {
	t, _ := time.Parse(time.RFC3339, x.Timestamp)
	return t
}

// Walk calls f for every node but the root, parents first, in the order of the file.
func (x *Index) Walk(f func(*Node)) { x.Root.walk(f) }

func (n *Node) walk(f func(*Node)) {
	for _, c := range n.Children {
		f(c)
		c.walk(f)
	}
}

// Counts returns the number of files and of folders, the root not counted.
func (x *Index) Counts() (files, dirs int) {
	x.Walk(func(n *Node) {
		if n.IsDir() {
			dirs++
		} else {
			files++
		}
	})
	return files, dirs
}

// Find returns the node of a relative path, or nil.
func (x *Index) Find(path string) *Node {
	if path == "." || path == "" {
		return x.Root
	}
	n := x.Root
	for rest := path; ; {
		name, tail, more := strings.Cut(rest, "/")
		i, ok := n.child(name)
		if !ok {
			return nil
		}
		n = n.Children[i]
		if !more {
			return n
		}
		rest = tail
	}
}

// child finds a child by name: where it is, or where it would be inserted.
func (n *Node) child(name string) (int, bool) {
	return sort.Find(len(n.Children), func(i int) int { return strings.Compare(name, n.Children[i].Name()) })
}

// Put inserts a node, replacing one of the same path (a folder's children are kept when both are
// folders), and makes the folders above it. The path must be clean and relative.
func (x *Index) Put(node *Node) {
	n, done := x.Root, 0
	for {
		cut := strings.IndexByte(node.FullPath[done:], '/')
		if cut < 0 {
			break
		}
		i, ok := n.child(node.FullPath[done : done+cut])
		if !ok || !n.Children[i].IsDir() {
			dir := &Node{FullPath: node.FullPath[:done+cut], Type: TypeDirectory}
			n.set(i, ok, dir)
		}
		n, done = n.Children[i], done+cut+1
	}
	i, ok := n.child(node.Name())
	if ok && node.IsDir() && n.Children[i].IsDir() && node.Children == nil {
		node.Children = n.Children[i].Children
	}
	n.set(i, ok, node)
}

func (n *Node) set(i int, replace bool, c *Node) {
	if !replace {
		n.Children = append(n.Children, nil)
		copy(n.Children[i+1:], n.Children[i:])
	}
	n.Children[i] = c
}

// Remove takes a node and everything under it out, and reports whether it was there. Folders that
// become empty stay.
func (x *Index) Remove(path string) bool {
	dir, name := x.Root, path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = x.Find(path[:i]), path[i+1:]
	}
	if dir == nil {
		return false
	}
	i, ok := dir.child(name)
	if ok {
		dir.Children = append(dir.Children[:i], dir.Children[i+1:]...)
	}
	return ok
}

// Load reads an index and the modification times beside it. What it returns is sound: types known,
// paths clean, each under its parent, children sorted and distinct.
func Load(path string) (*Index, error) {
	data, err := ReadFile(path, MaxIndexBytes)
	if err != nil {
		return nil, err
	}
	x := new(Index)
	if err := decode(path, data, x, rebuildIndex(path)); err != nil {
		return nil, err
	}
	if err := x.check(); err != nil {
		return nil, fmt.Errorf("%s: %w; %s", path, err, rebuildIndex(path))
	}
	loadStat(path, sha256.Sum256(data), x)
	return x, nil
}

// Save writes an index and the modification times of its nodes.
func Save(path string, x *Index) error {
	var b bytes.Buffer
	encodeIndex(&b, x)
	if err := WriteFile(path, b.Bytes(), 0o644); err != nil {
		return err
	}
	return saveStat(path, sha256.Sum256(b.Bytes()), x)
}

func rebuildIndex(path string) string {
	if filepath.Base(filepath.Dir(path)) == Dir {
		return "rebuild it with: ctxt init . (without any LLM request: ctxt init . --offline)"
	}
	return fmt.Sprintf("rebuild it with: ctxt init . --output %q", path)
}

func digest(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }

// check verifies what the rest of the program relies on.
func (x *Index) check() error {
	if x.Root == nil || x.Root.FullPath != "." || !x.Root.IsDir() {
		return fmt.Errorf(`"root" is not a folder with full_path "."`)
	}
	if _, err := time.Parse(time.RFC3339, x.Timestamp); err != nil {
		return fmt.Errorf("timestamp %q is not in RFC 3339 form", x.Timestamp)
	}
	return x.Root.check(0)
}

func (n *Node) check(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("node %q: deeper than %d folders", n.FullPath, maxDepth)
	}
	prefix := n.FullPath + "/"
	if depth == 0 {
		prefix = ""
	}
	last := ""
	for i, c := range n.Children {
		if c == nil {
			return fmt.Errorf("child %d of %q is null", i, n.FullPath)
		}
		name, ok := strings.CutPrefix(c.FullPath, prefix)
		switch {
		case !ok, name == "", name == ".", name == "..", strings.ContainsAny(name, "/\x00"):
			return fmt.Errorf("node %q does not lie directly in %q", c.FullPath, n.FullPath)
		case i > 0 && name <= last:
			return fmt.Errorf("node %q is out of order or twice there", c.FullPath)
		case c.Type != TypeFile && c.Type != TypeDirectory:
			return fmt.Errorf("node %q has the unknown type %q", c.FullPath, c.Type)
		case c.Type == TypeFile && len(c.Children) > 0:
			return fmt.Errorf("node %q is a file with children", c.FullPath)
		}
		last = name
		if err := c.check(depth + 1); err != nil {
			return err
		}
	}
	return nil
}
