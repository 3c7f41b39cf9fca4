// Package index builds a snapshot of a repository in memory: its files, what they declare, what
// they import, and their terms.
//
//  1. List the files of an Origin (a git tree, or a folder), ignore rules applied.
//  2. Classify each path: language, source or not, test, generated, vendored.
//  3. Read and parse each distinct blob once, on all cores; a parsed blob is a Doc.
//  4. Resolve imports to files.
package index

import (
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// Doc is what one blob holds, whatever path it has. It is immutable and may be shared by snapshots.
type Doc struct {
	Size    int64  // bytes
	Binary  bool   // not text, or over the size cap: nothing below is filled
	Reason  string // why nothing is filled
	Lang    string // language that it was parsed as; empty for plain text
	Symbols []symbols.Symbol
	Imports []symbols.Import
	By      symbols.Mode
	Fault   string // see symbols.Result
	// Tokens are the hashed terms in order of appearance (package text); Lines[i] is the index in
	// Tokens of the first term on line i+1, and the last element of Lines is len(Tokens), so
	// len(Lines) is the number of lines plus one.
	Tokens []uint32
	Lines  []uint32
	Names  []uint32 // terms of the declared names, in the order of Symbols
	Decls  []uint32 // Decls[i] is the text.CompoundHash of the lower-cased Symbols[i].Name
}

// NumLines is the number of lines of text.
func (d *Doc) NumLines() int { return max(len(d.Lines)-1, 0) }

// Role says what a file is for.
type Role uint8

// The roles.
const (
	Source    Role = iota // code that ships
	Test                  // tests, fixtures, benchmarks, examples of tests
	Document              // prose
	Config                // build files, workflows, settings, data, lock files
	Generated             // generated, minified or vendored code
	Other
)

// String names the role.
func (r Role) String() string {
	return [...]string{"source", "test", "document", "config", "generated", "other"}[r]
}

// File is one path of a snapshot.
type File struct {
	Path string
	Blob git.Hash // git blob name (computed for folder sources too)
	Mode git.Mode
	Size int64
	Lang string // by symbols.Language; empty when unknown
	Role Role
	Doc  *Doc
	// PathTerms are the terms of the path, folders first.
	PathTerms []uint32
}

// Snapshot is a repository at one moment. Files are sorted by path; a file's index in Files is its
// id in Imports and Importers.
type Snapshot struct {
	Commit    git.Hash // zero when it is not a commit's tree
	Files     []File
	Imports   [][]int32 // Imports[i]: ids of the files that file i imports, ascending
	Importers [][]int32 // the inverse
	Skipped   []git.Skip
	byPath    map[string]int32
	source    Origin
}

// Find returns the id of a path.
func (s *Snapshot) Find(path string) (int, bool) {
	i, ok := s.byPath[path]
	return int(i), ok
}
