package risk

import (
	"bytes"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
)

// tracker knows, for every content of a file that is still of interest, which change wrote each line.
type tracker struct {
	h     *history.History
	past  *Past
	files map[string]*trackedFile
	blobs map[git.Hash][]byte
	taken [fixedKinds]map[int32]bool // whose lines the current change takes away, by kind of file
	held  int                        // bytes in files
}

// keptVersions is how many contents of a file are kept: branches that grow side by side alternate.
const keptVersions = 3

type trackedFile struct{ versions []version } // newest last

type version struct {
	blob   git.Hash
	data   []byte
	origin []int32 // by line: index into History.Commits, or -1
}

func newTracker(h *history.History, p *Past) *tracker {
	return &tracker{h: h, past: p, files: map[string]*trackedFile{}}
}

// textual reports whether a change's contents are compared at all.
func textual(c git.Change) bool {
	file := func(m git.Mode, h git.Hash) bool { return h.IsZero() || m == git.ModeFile || m == git.ModeExec }
	return file(c.OldMode, c.Old) && file(c.NewMode, c.New)
}

// apply advances the tracked contents by change i and records its line counts and what it fixed.
func (t *tracker) apply(i int) {
	c := &t.h.Commits[i]
	out := &t.past.Changes[i]
	*out = PastChange{Commit: i, FixedBy: [fixedKinds]int{-1, -1, -1}, Fix: c.Fix}
	if len(c.Changes) > maxTrackedFiles {
		out.Skipped = true
		return
	}
	for k := range t.taken {
		t.taken[k] = map[int32]bool{}
	}
	moved := renames(c.Changes)
	gone := map[string]bool{}
	for _, from := range moved {
		gone[from] = true
	}
	for _, ch := range c.Changes {
		if gone[ch.Path] && ch.Status == git.Deleted {
			continue
		}
		l := Lines{Path: ch.Path, Role: index.RoleOf(ch.Path), Status: ch.Status}
		old := ch.Old
		from := ch.Path
		if m, ok := moved[ch.Path]; ok && ch.Status == git.Added {
			from, l.Status = m, git.Renamed
			old = oldBlob(c.Changes, m)
		}
		l.Added, l.Deleted, l.Binary = t.advance(i, from, ch, old)
		out.Lines = append(out.Lines, l)
	}
	if !c.Fix {
		return
	}
	for kind := range t.taken {
		for o := range t.taken[kind] {
			if by := &t.past.Changes[o].FixedBy[kind]; *by < 0 && t.inTime(o, c.Time) {
				*by = i
			}
		}
	}
}

func (t *tracker) inTime(origin int32, fix int64) bool {
	d := fix - t.h.Commits[origin].Time
	return d >= 0 && d <= followUp
}

// advance replaces the old content of a path by the new one, and notes whose lines went away.
func (t *tracker) advance(i int, from string, ch git.Change, old git.Hash) (added, deleted int, binary bool) {
	if !textual(ch) {
		return 0, 0, true
	}
	prev, ok := t.version(from, old)
	if !ok {
		return 0, 0, true
	}
	var data []byte
	if !ch.New.IsZero() {
		if data, ok = t.blobs[ch.New]; !ok {
			if data, ok = t.kept(ch.Path, ch.New); !ok {
				return 0, 0, true
			}
		}
	}
	hunks, added, deleted, binary := lineDiff(prev.data, data)
	if binary {
		return 0, 0, true
	}
	if t.h.Commits[i].Fix {
		t.note(i, ch.Path, from, touched(prev, hunks))
	}
	next := version{blob: ch.New, data: data, origin: moveOrigins(prev.origin, hunks, int32(i))}
	f := t.files[ch.Path]
	if f == nil {
		f = &trackedFile{}
		t.files[ch.Path] = f
	}
	t.held += f.put(next)
	if t.held > maxKeptBytes {
		t.files, t.held = map[string]*trackedFile{}, 0
	}
	return added, deleted, false
}

// put adds a version, the oldest is forgotten; it returns how many more bytes are kept.
func (f *trackedFile) put(v version) (grown int) {
	drop := -1
	if len(f.versions) == keptVersions {
		drop = 0
	}
	for k := range f.versions {
		if f.versions[k].blob == v.blob {
			drop = k
		}
	}
	if drop >= 0 {
		grown -= len(f.versions[drop].data)
		f.versions = append(f.versions[:drop], f.versions[drop+1:]...)
	}
	f.versions = append(f.versions, v)
	return grown + len(v.data)
}

func (t *tracker) kept(p string, blob git.Hash) ([]byte, bool) {
	if f := t.files[p]; f != nil {
		for _, v := range f.versions {
			if v.blob == blob {
				return v.data, true
			}
		}
	}
	return nil, false
}

// version gives a content of a path with its lines' origins. A content that no tracked change wrote
// (before the first one, or by a merge) takes them from the newest two tracked contents.
func (t *tracker) version(p string, blob git.Hash) (version, bool) {
	if blob.IsZero() {
		return version{}, true
	}
	f := t.files[p]
	if f == nil {
		f = &trackedFile{}
	}
	for _, v := range f.versions {
		if v.blob == blob {
			return v, true
		}
	}
	data, ok := t.blobs[blob]
	if !ok {
		return version{}, false
	}
	v := version{blob: blob, data: data}
	for k := len(f.versions) - 1; k >= 0; k-- {
		hunks, _, _, binary := lineDiff(f.versions[k].data, data)
		if binary {
			break
		}
		o := moveOrigins(f.versions[k].origin, hunks, -1)
		if v.origin == nil {
			v.origin = o
			continue
		}
		for n := range v.origin {
			if v.origin[n] < 0 && n < len(o) {
				v.origin[n] = o[n]
			}
		}
	}
	if v.origin == nil {
		n := bytes.Count(data, []byte("\n")) + 1
		v.origin = make([]int32, n)
		for k := range v.origin {
			v.origin[k] = -1
		}
	}
	return v, true
}

// moveOrigins carries line origins over a difference; new lines come from by.
func moveOrigins(old []int32, hunks []git.Hunk, by int32) []int32 {
	out := make([]int32, 0, len(old)+8)
	at := 0
	for _, h := range hunks {
		end := h.OldStart - 1
		if h.OldLines == 0 {
			end = h.OldStart
		}
		end = min(max(end, at), len(old))
		out = append(out, old[at:end]...)
		for range h.NewLines {
			out = append(out, by)
		}
		at = min(end+h.OldLines, len(old))
	}
	return append(out, old[at:]...)
}

// note records whose lines the fix i takes away in a file, which was called from before.
func (t *tracker) note(i int, p, from string, origins []int32) {
	kinds := []int{FixedAny}
	switch index.RoleOf(p) {
	case index.Generated:
		return
	case index.Source:
		kinds = []int{FixedSource, FixedCode, FixedAny}
	case index.Test:
		kinds = []int{FixedCode, FixedAny}
	}
	for _, o := range origins {
		for _, k := range kinds {
			t.taken[k][o] = true
		}
		out := &t.past.Changes[o]
		known := slices.ContainsFunc(out.Repaired, func(r Repaired) bool { return r.Path == from })
		if !known && t.inTime(o, t.h.Commits[i].Time) {
			out.Repaired = append(out.Repaired, Repaired{from, i})
		}
	}
}

// touched gives the changes that wrote the lines which the hunks take away, in ascending order.
func touched(v version, hunks []git.Hunk) []int32 {
	var out []int32
	data, line := v.data, 0
	for _, h := range hunks {
		if h.OldLines == 0 {
			continue
		}
		for line < h.OldStart+h.OldLines-1 && len(data) > 0 {
			n := bytes.IndexByte(data, 0x0a) + 1
			if n == 0 {
				n = len(data)
			}
			if line >= h.OldStart-1 && line < len(v.origin) && v.origin[line] >= 0 && hasWord(data[:n]) {
				out = append(out, v.origin[line])
			}
			data = data[n:]
			line++
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reverts marks what later messages revert by name.
func (t *tracker) reverts() {
	at := make(map[string]int, len(t.past.Changes))
	for i := range t.past.Changes {
		at[t.h.Commits[i].Hash.String()] = i
	}
	for i := len(t.past.Changes) - 1; i >= 0; i-- {
		for _, name := range revertedNames(t.h.Commits[i].Body) {
			k, ok := at[name]
			if !ok || k <= i {
				continue
			}
			for kind := range t.past.Changes[k].FixedBy {
				if by := &t.past.Changes[k].FixedBy[kind]; *by < i { // none yet, or a later one: a larger index is older
					*by = i
				}
			}
		}
	}
}

func revertedNames(body string) (names []string) {
	const mark = "This reverts commit "
	for {
		k := strings.Index(body, mark)
		if k < 0 {
			return names
		}
		body = body[k+len(mark):]
		if len(body) >= 40 {
			if _, err := git.ParseHash(body[:40]); err == nil {
				names = append(names, body[:40])
			}
		}
	}
}

func oldBlob(changes []git.Change, p string) git.Hash {
	k := sort.Search(len(changes), func(i int) bool { return changes[i].Path >= p })
	if k < len(changes) && changes[k].Path == p {
		return changes[k].Old
	}
	return git.Hash{}
}

// renames pairs added and deleted paths of one change, new → old: the same content, or the same base
// name once on either side.
func renames(changes []git.Change) map[string]string {
	byBlob, byBase := map[git.Hash]string{}, map[string][]string{}
	addedBase := map[string]int{}
	deleted := 0
	for _, c := range changes {
		switch c.Status {
		case git.Deleted:
			deleted++
			byBlob[c.Old] = c.Path
			byBase[path.Base(c.Path)] = append(byBase[path.Base(c.Path)], c.Path)
		case git.Added:
			addedBase[path.Base(c.Path)]++
		}
	}
	if deleted == 0 || len(addedBase) == 0 {
		return nil
	}
	out := map[string]string{}
	used := map[string]bool{}
	for _, c := range changes {
		if from, ok := byBlob[c.New]; ok && c.Status == git.Added && !used[from] {
			out[c.Path], used[from] = from, true
		}
	}
	for _, c := range changes {
		b := path.Base(c.Path)
		if c.Status == git.Added && out[c.Path] == "" && addedBase[b] == 1 && len(byBase[b]) == 1 && !used[byBase[b][0]] {
			out[c.Path], used[byBase[b][0]] = byBase[b][0], true
		}
	}
	return out
}

func hasWord(line []byte) bool {
	for _, c := range line {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 {
			return true
		}
	}
	return false
}

// folders counts the distinct folders of paths.
func folders(paths []string) int {
	seen := map[string]bool{}
	for _, p := range paths {
		seen[path.Dir(p)] = true
	}
	return len(seen)
}
