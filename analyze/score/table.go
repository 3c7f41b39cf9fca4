package score

import (
	"math/bits"

	"github.com/ctxt-dev/ctxt/analyze/task"
)

// hashTable numbers hashes in the order in which they are added, by open addressing.
type hashTable struct {
	hashes []uint32
	slots  []int32 // index into hashes, plus one
	maybe  [1024]uint64
}

func newHashTable() *hashTable { return &hashTable{slots: make([]int32, 1024)} }

func (t *hashTable) slot(h uint32) uint32 {
	mask := uint32(len(t.slots) - 1)
	s := h & mask
	for t.slots[s] != 0 && t.hashes[t.slots[s]-1] != h {
		s = (s + 1) & mask
	}
	return s
}

func (t *hashTable) find(h uint32) (int32, bool) {
	if t.maybe[h>>6%1024]&(1<<(h%64)) == 0 { // most hashes end here
		return 0, false
	}
	k := t.slots[t.slot(h)]
	return k - 1, k != 0
}

// add returns the hash's number, a new one if need be.
func (t *hashTable) add(h uint32) int {
	s := t.slot(h)
	if k := t.slots[s]; k != 0 {
		return int(k) - 1
	}
	t.maybe[h>>6%1024] |= 1 << (h % 64)
	t.hashes = append(t.hashes, h)
	t.slots[s] = int32(len(t.hashes))
	if 4*len(t.hashes) > len(t.slots) {
		t.slots = make([]int32, 4*len(t.slots))
		for k, h := range t.hashes {
			t.slots[t.slot(h)] = int32(k) + 1
		}
	}
	return len(t.hashes) - 1
}

// distinct lists the numbers of the terms that are in the table, ascending.
func (t *hashTable) distinct(terms []uint32) []int32 {
	seen := make([]uint64, len(t.hashes)/64+1)
	n := 0
	for _, h := range terms {
		if k, ok := t.find(h); ok && seen[k/64]&(1<<(k%64)) == 0 {
			seen[k/64] |= 1 << (k % 64)
			n++
		}
	}
	out := make([]int32, 0, n)
	for w, word := range seen {
		for ; word != 0; word &= word - 1 {
			out = append(out, int32(w*64+bits.TrailingZeros64(word)))
		}
	}
	return out
}

// newLookup numbers the terms of a task as they stand there.
func newLookup(terms []task.Term) *hashTable {
	t := newHashTable()
	for i := range terms {
		t.add(terms[i].Hash)
	}
	return t
}

// hits are the places at which terms of the table stand.
func (t *hashTable) hits(tokens []uint32) []hit {
	var out []hit
	for i, h := range tokens {
		if q, ok := t.find(h); ok {
			out = append(out, hit{uint32(i), uint16(q)})
		}
	}
	return out
}
