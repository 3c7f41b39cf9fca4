package pick

import (
	"container/heap"
	_ "embed"
	"errors"
	"math"
)

// tokenFile is the vocabulary cl100k_base, by OpenAI under the MIT licence (cl100k_base.LICENSE): each
// token, in the order of its number, as a byte that gives its length, and its bytes. As a Go literal, which
// the libraries for it have, the same takes four times as much of the binary.
//
//go:embed cl100k_base.tokens
var tokenFile string

const vocabularySize = 100256

// vocabulary ranks tokens; a lower rank is merged first. The rank of a token is where it stands in the
// file, which orders tokens as their numbers do. The table is an open hash table of them: a Go map of
// so many strings takes nearly three times as long to fill (5.2 ms, 2.0 ms), and as much more memory, at
// each start of the program.
type vocabulary struct {
	file  string
	slots []uint32 // rank + 1; 0: free
}

const slotBits = 18 // twice as many slots as tokens, and more

func parseVocabulary(file string) (*vocabulary, error) {
	v := &vocabulary{file, make([]uint32, 1<<slotBits)}
	damaged := errors.New("the vocabulary in this binary is damaged; install it anew")
	at, count := 0, 0
	for ; at < len(file) && count < vocabularySize; count++ {
		n := int(file[at])
		if n == 0 || at+n >= len(file) {
			return nil, damaged
		}
		slot, found := v.find(file[at+1 : at+1+n])
		if found {
			return nil, damaged
		}
		v.slots[slot] = uint32(at) + 1 // #nosec G115 -- the file has 700 KB
		at += 1 + n
	}
	if at != len(file) || count != vocabularySize {
		return nil, damaged
	}
	return v, nil
}

// find returns the slot of a token, or the one where it would be. There always is a free one.
func (v *vocabulary) find(token string) (slot uint32, found bool) {
	h := uint32(2166136261)
	for i := 0; i < len(token); i++ {
		h = (h ^ uint32(token[i])) * 16777619
	}
	for slot = h * 2654435769 >> (32 - slotBits); ; slot = (slot + 1) % (1 << slotBits) {
		at := int(v.slots[slot]) - 1
		if at < 0 {
			return slot, false
		}
		if n := int(v.file[at]); n == len(token) && v.file[at+1:at+1+n] == token {
			return slot, true
		}
	}
}

func (v *vocabulary) rank(token string) (uint32, bool) {
	slot, found := v.find(token)
	return v.slots[slot] - 1, found
}

// tokens is how many tokens byte-pair encoding makes of a piece: as long as two neighbours form a token,
// the pair of the lowest rank is joined, the leftmost first.
func (v *vocabulary) tokens(piece string) int {
	if _, ok := v.rank(piece); ok {
		return 1
	}
	if len(piece) <= scanMost {
		return v.scan(piece)
	}
	return v.join(piece)
}

const (
	noRank   = math.MaxUint32
	scanMost = 96 // bytes of a piece up to which looking at all pairs for each join is quicker
)

func (v *vocabulary) scan(piece string) int {
	var at [scanMost + 1]int // where each part begins, and the end
	var rank [scanMost]uint32
	n := len(piece) // parts
	for i := range n + 1 {
		at[i] = i
	}
	pair := func(i int) uint32 {
		if i+2 <= n {
			if r, ok := v.rank(piece[at[i]:at[i+2]]); ok {
				return r
			}
		}
		return noRank
	}
	for i := range n {
		rank[i] = pair(i)
	}
	for {
		best, k := uint32(noRank), 0
		for i, r := range rank[:n] {
			if r < best {
				best, k = r, i
			}
		}
		if best == noRank {
			return n
		}
		copy(at[k+1:n], at[k+2:n+1])
		copy(rank[k+1:n-1], rank[k+2:n])
		n--
		rank[k] = pair(k)
		if k > 0 {
			rank[k-1] = pair(k - 1)
		}
	}
}

// join does the same for a long piece, in n·log n steps.
func (v *vocabulary) join(piece string) int {
	n := len(piece)
	parts := make([]part, n+1)
	var waiting pairs
	look := func(i int32) {
		p := &parts[i]
		p.rank = noRank
		if int(p.next) < n {
			if r, ok := v.rank(piece[i:parts[p.next].next]); ok {
				p.rank = r
				heap.Push(&waiting, joint{r, i})
			}
		}
	}
	for i := range parts {
		parts[i] = part{int32(i) - 1, int32(i) + 1, noRank}
	}
	for i := range int32(n) {
		look(i)
	}
	count := n
	for len(waiting) > 0 {
		c := heap.Pop(&waiting).(joint)
		p := &parts[c.at]
		if p.rank != c.rank {
			continue // joined meanwhile, or with another
		}
		gone := p.next
		p.next = parts[gone].next
		parts[p.next].prev = c.at
		parts[gone].rank = noRank
		count--
		look(c.at)
		if p.prev >= 0 {
			look(p.prev)
		}
	}
	return count
}

// part begins at its index in the piece.
type part struct {
	prev, next int32
	rank       uint32 // of the token that it forms with the next part
}

type joint struct {
	rank uint32
	at   int32
}

// pairs is a heap, the lowest rank first, of equal ones the leftmost.
type pairs []joint

func (p pairs) Len() int { return len(p) }
func (p pairs) Less(i, j int) bool {
	return p[i].rank < p[j].rank || p[i].rank == p[j].rank && p[i].at < p[j].at
}
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *pairs) Push(x any)   { *p = append(*p, x.(joint)) }
func (p *pairs) Pop() any {
	old := *p
	x := old[len(old)-1]
	*p = old[:len(old)-1]
	return x
}
