package history

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/text"
)

func sample() []byte {
	a := &git.Commit{Hash: git.Hash{1}, Parents: []git.Hash{{2}, {3}}[:1], Author: "A", Email: "a@x", Time: 1 << 33, Message: "fix: a thing\n\nbody", Changes: []git.Change{{Path: "a.go", Status: git.Modified, Old: git.Hash{7}, New: git.Hash{8}, OldMode: git.ModeFile, NewMode: git.ModeExec}}}
	b := &git.Commit{Hash: git.Hash{2}, Author: "B", Email: "b@x", Time: 5, Message: "root", Changes: []git.Change{{Path: "a.go", Status: git.Added}, {Path: "b.go", Status: git.Added}}}
	p := &git.Past{Commits: []*git.Commit{a, b}, Others: []*git.Commit{{Hash: git.Hash{3}, Parents: []git.Hash{{2}}, Time: 9}}, Time: a.Time, Extent: git.Extent{Commits: 2, Limited: true}, Whole: true}
	h := assemble(a.Hash, p.Time, p.Commits, p.Extent, func(c *git.Commit) message { return readMessage(text.NewTokenizer(), c.Message) })
	return encode(h, p, 2)
}

// Any bytes, their checksum right or not, are read as a history that holds together, or as none.
func FuzzPast(f *testing.F) {
	f.Add(sample())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		if n := len(magic) + 4; len(data) >= n {
			binary.LittleEndian.PutUint32(data[len(magic):], crc32.Checksum(data[n:], castagnoli()))
		}
		k := newKept()
		k.add(data)
		past, ok := open(data)
		if !ok {
			return
		}
		h, ok := past.history()
		if !ok {
			return
		}
		for i := range h.Commits {
			c := &h.Commits[i]
			_ = c.Terms[:c.InTitle]
			_ = h.Authors[c.Author]
			for _, id := range c.Files {
				if got := h.CommitsOf(h.Paths[id]); len(got) == 0 {
					t.Fatalf("%q has no commit", h.Paths[id])
				}
			}
		}
	})
}
