package history

import (
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"unsafe"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/text"
)

// A History on disk, with what a later reading needs to go on from it. All integers are 32 bits,
// little-endian; what is longer is two of them, the low half first. After the magic:
//
//	crc32c of everything after it
//	counts: limit, flags, and of commits, other commits, people, names, paths, authors, the
//	commits' terms, files, changes and parents, all object names, bytes of text; the extent's commits;
//	tip time (2)
//	commits, 14 each: time (2), person, subject and body (offset, length), flags, terms of the
//	subject; the ends of its terms, files, changes and parents in the arrays below; author
//	others, 4 each: time (2), flags, end of its parents (which go on after the commits' own)
//	people, 4 each: name and e-mail address (offset, length); authors, 2 each; names, 2 each: texts
//	paths: a name each; terms; files: a path each; changes, 4 each: name, status, modes
//	object names, 20 bytes each: tip, commits, others, parents, and two for each change
//	text
const (
	magic      = "ctxthis\x01"
	headWords  = 17
	comWords   = 14
	otherWords = 4
	perChange  = 4
)

const (
	flagShallow = 1 << iota
	flagLimited
	flagFix      // of a commit
	flagBoundary // of a commit
	flagOversize // of a commit
)

// castagnoli is made when it is first needed: most commands start without a cache.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// reading names how commits become a History: a file that another reading made is not used. What
// changes without showing in the sample below (how paths follow renames, what is kept of a message)
// must raise the version in magic.
func reading() uint32 {
	const sample = "fix(core): HTTPServer_name's retries — crashed, deadlocked; re-run Ünïcode 漢字 v2.10 snake_case running"
	h := fnv.New32a()
	m := readMessage(text.NewTokenizer(), sample+"\n\n"+sample)
	for _, t := range m.terms {
		h.Write(binary.LittleEndian.AppendUint32(nil, t))
	}
	h.Write([]byte(fixWords().String()))
	return h.Sum32()
}

// writer lays out the parts of a file.
type writer struct {
	head, commits, others, people, authors, names, paths, terms, files, changes []uint32
	hashes, text                                                                []byte
	at                                                                          map[string]uint32
	nameID                                                                      map[string]uint32
	personID                                                                    map[[2]string]uint32
	parents                                                                     []byte // object names
	changed                                                                     []byte // object names
	nParents                                                                    uint32
}

func (w *writer) ref(dst []uint32, s string) []uint32 {
	off, ok := w.at[s]
	if !ok {
		off = uint32(len(w.text))
		w.at[s] = off
		w.text = append(w.text, s...)
	}
	return append(dst, off, uint32(len(s)))
}

func (w *writer) name(s string) uint32 {
	id, ok := w.nameID[s]
	if !ok {
		id = uint32(len(w.nameID))
		w.nameID[s] = id
		w.names = w.ref(w.names, s)
	}
	return id
}

func (w *writer) person(name, mail string) uint32 {
	k := [2]string{name, mail}
	id, ok := w.personID[k]
	if !ok {
		id = uint32(len(w.personID))
		w.personID[k] = id
		w.people = w.ref(w.ref(w.people, name), mail)
	}
	return id
}

func (w *writer) addParents(c *git.Commit) uint32 {
	for _, p := range c.Parents {
		w.parents = append(w.parents, p[:]...)
		w.nParents++
	}
	return w.nParents
}

func time64(dst []uint32, t int64) []uint32 { return append(dst, uint32(t), uint32(t>>32)) }

// encode writes h, which was assembled from p, as a file.
func encode(h *History, p *git.Past, limit int) []byte {
	w := &writer{at: map[string]uint32{}, nameID: map[string]uint32{}, personID: map[[2]string]uint32{}}
	w.hashes = append(w.hashes, h.Tip[:]...)
	for i, c := range p.Commits {
		w.commit(&h.Commits[i], c)
	}
	for _, c := range p.Others {
		w.hashes = append(w.hashes, c.Hash[:]...)
		w.others = append(time64(w.others, c.Time), commitFlags(c, false), w.addParents(c))
	}
	for _, a := range h.Authors {
		w.authors = w.ref(w.authors, a)
	}
	for _, path := range h.Paths {
		w.paths = append(w.paths, w.name(path))
	}
	w.hashes = append(append(w.hashes, w.parents...), w.changed...)
	flags := uint32(0)
	if h.Extent.Shallow {
		flags |= flagShallow
	}
	if h.Extent.Limited {
		flags |= flagLimited
	}
	w.head = []uint32{uint32(limit), flags, uint32(len(p.Commits)), uint32(len(p.Others)), uint32(len(w.personID)), uint32(len(w.nameID)), uint32(len(h.Paths)),
		uint32(len(h.Authors)), uint32(len(w.terms)), uint32(len(w.files)), uint32(len(w.changes) / perChange), w.nParents, uint32(len(w.hashes) / 20), uint32(len(w.text)), uint32(h.Extent.Commits)}
	w.head = time64(w.head, h.Now)
	return w.bytes()
}

func (w *writer) commit(out *Commit, c *git.Commit) {
	w.hashes = append(w.hashes, c.Hash[:]...)
	w.terms = append(w.terms, out.Terms...)
	for _, id := range out.Files {
		w.files = append(w.files, uint32(id))
	}
	for _, ch := range c.Changes {
		w.changes = append(w.changes, w.name(ch.Path), uint32(ch.Status), uint32(ch.OldMode), uint32(ch.NewMode))
		w.changed = append(append(w.changed, ch.Old[:]...), ch.New[:]...)
	}
	row := append(time64(w.commits, c.Time), w.person(c.Author, c.Email))
	row = w.ref(w.ref(row, out.Subject), out.Body)
	row = append(row, commitFlags(c, out.Fix), uint32(out.InTitle))
	w.commits = append(row, uint32(len(w.terms)), uint32(len(w.files)), uint32(len(w.changes)/perChange), w.addParents(c), uint32(out.Author))
}

func commitFlags(c *git.Commit, fix bool) uint32 {
	flags := uint32(0)
	if fix {
		flags |= flagFix
	}
	if c.Boundary {
		flags |= flagBoundary
	}
	if c.Oversize {
		flags |= flagOversize
	}
	return flags
}

func (w *writer) bytes() []byte {
	buf := append([]byte(magic), 0, 0, 0, 0)
	for _, part := range [][]uint32{w.head, w.commits, w.others, w.people, w.authors, w.names, w.paths, w.terms, w.files, w.changes} {
		for _, v := range part {
			buf = binary.LittleEndian.AppendUint32(buf, v)
		}
	}
	buf = append(append(buf, w.hashes...), w.text...)
	binary.LittleEndian.PutUint32(buf[len(magic):], crc32.Checksum(buf[len(magic)+4:], castagnoli()))
	return buf
}

// file is a file that was read: its parts lie in the bytes that were read.
type file struct {
	limit, flags                                                          uint32
	commits, others, people, authors, names, paths, terms, files, changes []uint32
	tip                                                                   []byte
	hashes, otherHashes, parents, changed                                 []byte
	text                                                                  []byte
	extent                                                                int
	now                                                                   int64
	nCommits, nOthers                                                     int
	bad                                                                   bool
}

// open takes a file apart; false means that it is damaged or of another version.
func open(data []byte) (*file, bool) {
	fixed := len(magic) + 4
	if len(data) < fixed+4*headWords || string(data[:len(magic)]) != magic || crc32.Checksum(data[fixed:], castagnoli()) != binary.LittleEndian.Uint32(data[len(magic):]) {
		return nil, false
	}
	b := data[fixed:]
	f := &file{}
	take := func(words uint64) []uint32 {
		if f.bad || uint64(len(b)) < 4*words {
			f.bad = true
			return nil
		}
		part := words32(b[:4*words])
		b = b[4*words:]
		return part
	}
	n := take(headWords)
	f.limit, f.flags, f.extent = n[0], n[1], int(n[14])
	f.now = int64(n[15]) | int64(n[16])<<32
	f.nCommits, f.nOthers = int(n[2]), int(n[3])
	f.commits, f.others = take(uint64(n[2])*comWords), take(uint64(n[3])*otherWords)
	f.people, f.authors, f.names, f.paths = take(uint64(n[4])*4), take(uint64(n[7])*2), take(uint64(n[5])*2), take(uint64(n[6]))
	f.terms, f.files, f.changes = take(uint64(n[8])), take(uint64(n[9])), take(uint64(n[10])*perChange)
	nHashes := 1 + uint64(n[2]) + uint64(n[3]) + uint64(n[11]) + 2*uint64(n[10])
	if f.bad || uint64(n[12]) != nHashes || uint64(len(b)) != nHashes*20+uint64(n[13]) {
		return nil, false
	}
	hashes := func(count uint32) []byte {
		part := b[:20*uint64(count)]
		b = b[20*uint64(count):]
		return part
	}
	f.tip, f.hashes, f.otherHashes, f.parents, f.changed = hashes(1), hashes(n[2]), hashes(n[3]), hashes(n[11]), hashes(2*n[10])
	f.text = b
	return f, true
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// words32 reads integers; on little-endian machines they stay where they are.
func words32(b []byte) []uint32 {
	n := len(b) / 4
	if n == 0 {
		return nil
	}
	if littleEndian && uintptr(unsafe.Pointer(&b[0]))%4 == 0 { // #nosec G103 -- aligned, within b
		return unsafe.Slice((*uint32)(unsafe.Pointer(&b[0])), n) // #nosec G103
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

func (f *file) str(ref []uint32) string {
	off, n := uint64(ref[0]), uint64(ref[1])
	if off+n > uint64(len(f.text)) {
		f.bad = true
		return ""
	}
	if n == 0 {
		return ""
	}
	return unsafe.String(&f.text[off], int(n)) // #nosec G103 -- within text, which is never written again
}

func (f *file) strs(refs []uint32) []string {
	out := make([]string, len(refs)/2)
	for i := range out {
		out[i] = f.str(refs[2*i:])
	}
	return out
}

// span returns part[from:to], nothing where that is out of range.
func span[T any](f *file, part []T, from, to uint32) []T {
	if from > to || int64(to) > int64(len(part)) {
		f.bad = true
		return nil
	}
	return part[from:to:to]
}

func hashAt(b []byte, i int) git.Hash { return git.Hash(b[20*i : 20*i+20]) }

// history gives what was written.
func (f *file) history() (*History, bool) {
	h := &History{Tip: hashAt(f.tip, 0), Now: f.now, Commits: make([]Commit, f.nCommits), Authors: f.strs(f.authors),
		Extent: git.Extent{Commits: f.extent, Shallow: f.flags&flagShallow != 0, Limited: f.flags&flagLimited != 0}}
	names := f.strs(f.names)
	h.Paths = make([]string, len(f.paths))
	for i, id := range f.paths {
		if int64(id) >= int64(len(names)) {
			return nil, false
		}
		if h.Paths[i] = names[id]; i > 0 && h.Paths[i-1] >= h.Paths[i] {
			return nil, false
		}
	}
	files := make([]int32, len(f.files))
	for i, id := range f.files {
		if int64(id) >= int64(len(h.Paths)) {
			return nil, false
		}
		files[i] = int32(id)
	}
	changes := f.allChanges(names)
	var terms, file, change uint32
	for i := range h.Commits {
		r := f.commits[comWords*i : comWords*(i+1)]
		if int64(r[13]) >= int64(len(h.Authors)) {
			return nil, false
		}
		h.Commits[i] = Commit{Hash: hashAt(f.hashes, i), Time: int64(r[0]) | int64(r[1])<<32, Author: int32(r[13]), Subject: f.str(r[3:]), Body: f.str(r[5:]),
			Fix: r[7]&flagFix != 0, InTitle: int(r[8])}
		c := &h.Commits[i]
		c.Terms, c.Files, c.Changes = span(f, f.terms, terms, r[9]), span(f, files, file, r[10]), span(f, changes, change, r[11])
		terms, file, change = r[9], r[10], r[11]
		if c.InTitle > len(c.Terms) || !ascending(c.Files) {
			return nil, false
		}
	}
	if f.bad {
		return nil, false
	}
	h.invert()
	return h, true
}

func ascending(ids []int32) bool {
	for i := 1; i < len(ids); i++ {
		if ids[i-1] >= ids[i] {
			return false
		}
	}
	return true
}

func (f *file) allChanges(names []string) []git.Change {
	out := make([]git.Change, len(f.changes)/perChange)
	for i := range out {
		r := f.changes[perChange*i : perChange*(i+1)]
		if int64(r[0]) >= int64(len(names)) {
			f.bad = true
			return out
		}
		out[i] = git.Change{Path: names[r[0]], Status: git.Status(r[1]), Old: hashAt(f.changed, 2*i), New: hashAt(f.changed, 2*i+1), OldMode: git.Mode(r[2]), NewMode: git.Mode(r[3])}
	}
	return out
}

// kept is what is known of past commits from files.
type kept struct {
	whole  map[git.Hash]*git.Commit
	others map[git.Hash]*git.Commit
	words  map[git.Hash]message
}

func newKept() *kept {
	return &kept{whole: map[git.Hash]*git.Commit{}, others: map[git.Hash]*git.Commit{}, words: map[git.Hash]message{}}
}

// add adds the commits of a file; one that is damaged adds nothing.
func (k *kept) add(data []byte) {
	f, ok := open(data)
	if !ok {
		return
	}
	h, ok := f.history()
	if !ok {
		return
	}
	people, parent := f.strs(f.people), uint32(0)
	parents := func(end uint32) []git.Hash {
		if parent > end || 20*uint64(end) > uint64(len(f.parents)) {
			f.bad = true
			return nil
		}
		var out []git.Hash
		for ; parent < end; parent++ {
			out = append(out, hashAt(f.parents, int(parent)))
		}
		return out
	}
	commits := make([]git.Commit, f.nCommits+f.nOthers)
	for i := range h.Commits {
		r, c := f.commits[comWords*i:comWords*(i+1)], &h.Commits[i]
		if 2*int64(r[2])+1 >= int64(len(people)) {
			return
		}
		commits[i] = git.Commit{Hash: c.Hash, Parents: parents(r[12]), Author: people[2*r[2]], Email: people[2*r[2]+1], Time: c.Time,
			Changes: c.Changes, Boundary: r[7]&flagBoundary != 0, Oversize: r[7]&flagOversize != 0}
	}
	for i := range f.nOthers {
		r := f.others[otherWords*i : otherWords*(i+1)]
		commits[f.nCommits+i] = git.Commit{Hash: hashAt(f.otherHashes, i), Parents: parents(r[3]), Time: int64(r[0]) | int64(r[1])<<32, Boundary: r[2]&flagBoundary != 0}
	}
	if f.bad {
		return
	}
	for i := range commits {
		c := &commits[i]
		if i >= f.nCommits {
			k.others[c.Hash] = c
			continue
		}
		k.whole[c.Hash] = c
		x := &h.Commits[i]
		k.words[c.Hash] = message{subject: x.Subject, body: x.Body, terms: x.Terms, inTitle: x.InTitle, fix: x.Fix}
	}
}

func (k *kept) find(h git.Hash) (*git.Commit, bool) {
	if c := k.whole[h]; c != nil {
		return c, true
	}
	return k.others[h], false
}
