// Package git reads a repository: revisions, trees, blobs, history, merge bases and diffs.
//
// Two backends give the same results. The git program is the fast path for bulk work (history and
// blobs); go-git answers everything where there is no git program. Nothing here writes to the
// repository, runs a hook, reads a global configuration or initialises a submodule.
package git

import (
	"encoding/hex"
	"fmt"
)

// Hash names a git object (SHA-1).
type Hash [20]byte

// ParseHash reads 40 hexadecimal digits.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != 2*len(h) {
		return h, fmt.Errorf("object name %q: want %d hexadecimal digits", s, 2*len(h))
	}
	if !decodeHex(h[:], s) {
		return Hash{}, fmt.Errorf("object name %q: want %d hexadecimal digits", s, 2*len(h))
	}
	return h, nil
}

// parseHash is ParseHash without a copy.
func parseHash(b []byte) (h Hash, err error) {
	if len(b) != 2*len(h) || !decodeHex(h[:], b) {
		return Hash{}, fmt.Errorf("object name %.50q: want %d hexadecimal digits", b, 2*len(h))
	}
	return h, nil
}

func decodeHex[T string | []byte](dst []byte, src T) bool {
	for i := range dst {
		a, b := nibbles[src[2*i]], nibbles[src[2*i+1]]
		if a|b > 15 {
			return false
		}
		dst[i] = a<<4 | b
	}
	return true
}

var nibbles = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i, c := range []byte("0123456789abcdef") {
		t[c] = byte(i)
	}
	for i, c := range []byte("ABCDEF") {
		t[c] = byte(10 + i)
	}
	return t
}()

// String returns the 40 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Short returns the first seven digits, for people.
func (h Hash) Short() string { return h.String()[:7] }

// IsZero reports whether h is the null object name.
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText makes a Hash a JSON string.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(b []byte) (err error) { *h, err = ParseHash(string(b)); return err }

// Status says what a commit did to a path.
type Status byte

// The statuses. Renames are an Added and a Deleted in history; Diff pairs them.
const (
	Added    Status = 'A'
	Modified Status = 'M'
	Deleted  Status = 'D'
	Renamed  Status = 'R'
)

// Change is one path that a commit touched, against its first parent (a root commit: against the
// empty tree). Old is zero for an added path and New for a deleted one.
type Change struct {
	Path     string
	Status   Status
	Old, New Hash
	OldMode  Mode
	NewMode  Mode
}

// Commit is a commit without its tree.
type Commit struct {
	Hash    Hash
	Parents []Hash
	Author  string // name, as recorded (mailmap not applied)
	Email   string // author's, lower case
	Time    int64  // committer time, Unix seconds: the "now" of everything computed at this commit
	Message string // subject, blank line, body; valid UTF-8, invalid bytes replaced
	Changes []Change
	// Boundary is set where a shallow clone cuts history off: the parents are not in the clone, so
	// Parents and Changes are empty.
	Boundary bool
	// Oversize is set when the commit changed more than MaxChanges paths: Changes is empty.
	Oversize bool
}

// MaxChanges is how many changed paths History keeps of one commit.
const MaxChanges = 100_000

// Mode is a git file mode.
type Mode uint32

// The modes that trees hold.
const (
	ModeDir       Mode = 0o040000
	ModeFile      Mode = 0o100644
	ModeExec      Mode = 0o100755
	ModeSymlink   Mode = 0o120000
	ModeSubmodule Mode = 0o160000
)

// Entry is one non-directory entry of a recursive tree listing.
type Entry struct {
	Path string
	Mode Mode
	Hash Hash
}

// Tree is a recursive listing of one commit's tree, sorted by path (bytewise).
type Tree struct {
	Entries []Entry
	Skipped []Skip // what could not be listed, each with its reason; sorted by path
}

// Skip is something left out, and why.
type Skip struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// HistoryOptions choose what History yields.
type HistoryOptions struct {
	Limit       int  // newest commits to yield; 0 for all
	Merges      bool // yield merge commits too (with their changes against the first parent)
	FirstParent bool // follow first parents only
}

// Extent says how much history there was to read.
type Extent struct {
	Commits int  // yielded
	Shallow bool // the clone is shallow: history ends before the root
	Limited bool // Limit stopped the walk
}

// Hunk is a maximal run of changed lines. Lines are 1-based; a pure insertion has OldLines 0 and
// OldStart naming the line before it (0 at the top of the file), as in unified diffs with no context.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
}

// FileDiff is one path's difference between two trees.
type FileDiff struct {
	Path    string // in the new tree; for a deletion, the old path
	OldPath string // set for renames
	Status  Status
	Old     Hash
	New     Hash
	Mode    Mode // in the new tree; for a deletion, the old mode
	Binary  bool // content not compared: binary, a link, a submodule, or over the size cap
	Added   int  // lines
	Deleted int  // lines
	Hunks   []Hunk
}
