package git

import (
	"bytes"
	"hash/maphash"
)

// What a line comparison is bounded by. Beyond them the result is still correct (the hunks turn old
// into new) and no longer the shortest.
const (
	maxSplitCost = 256        // edits looked ahead in search of one split
	maxDiffSteps = 40_000_000 // diagonal steps in one comparison
	sniffBytes   = 8000       // where a NUL byte makes a file binary, as in git
)

var lineSeed = maphash.MakeSeed()

// LineDiff compares two texts by lines. Hunks are maximal runs of changed lines, in order. Where
// either text is binary (a NUL byte in its first 8000 bytes), binary is true and nothing else is set.
func LineDiff(old, new []byte) (hunks []Hunk, added, deleted int, binary bool) {
	if isBinary(old) || isBinary(new) {
		return nil, 0, 0, true
	}
	hunks = diffLines(hashLines(old), hashLines(new))
	added, deleted = countLines(hunks)
	return hunks, added, deleted, false
}

func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), sniffBytes)], 0) >= 0 }

func countLines(hunks []Hunk) (added, deleted int) {
	for _, h := range hunks {
		added += h.NewLines
		deleted += h.OldLines
	}
	return added, deleted
}

// hashLines hashes each line with its line end; a last line without one differs from one with it.
func hashLines(b []byte) []uint64 {
	lines := make([]uint64, 0, bytes.Count(b, []byte("\n"))+1)
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n') + 1
		if n == 0 {
			n = len(b)
		}
		lines = append(lines, maphash.Bytes(lineSeed, b[:n]))
		b = b[n:]
	}
	return lines
}

// diffLines compares two lists of line hashes: equal ends are set aside, lines that the other side
// does not have are changed for sure, and the rest is compared by Myers' linear-space algorithm.
func diffLines(a, b []uint64) []Hunk {
	pre := 0
	for pre < len(a) && pre < len(b) && a[pre] == b[pre] {
		pre++
	}
	post := 0
	for post < len(a)-pre && post < len(b)-pre && a[len(a)-1-post] == b[len(b)-1-post] {
		post++
	}
	d := &lineDiff{changedA: make([]bool, len(a)), changedB: make([]bool, len(b)), steps: maxDiffSteps}
	midA, midB := a[pre:len(a)-post], b[pre:len(b)-post]
	d.a, d.indexA = shared(midA, midB, pre, d.changedA)
	d.b, d.indexB = shared(midB, midA, pre, d.changedB)
	size := len(d.a) + len(d.b) + 3
	d.forward, d.backward, d.zero = make([]int, size), make([]int, size), len(d.b)+1
	d.compare(0, len(d.a), 0, len(d.b))
	slide(a, d.changedA, d.changedB)
	slide(b, d.changedB, d.changedA)
	return hunksOf(d.changedA, d.changedB)
}

// shared returns the lines of a that b has too, with their places, and marks the others as changed.
func shared(a, b []uint64, offset int, changed []bool) (lines []uint64, index []int) {
	in := make(map[uint64]struct{}, len(b))
	for _, h := range b {
		in[h] = struct{}{}
	}
	for i, h := range a {
		if _, ok := in[h]; ok {
			lines, index = append(lines, h), append(index, offset+i)
		} else {
			changed[offset+i] = true
		}
	}
	return lines, index
}

// lineDiff is one comparison. forward and backward hold, by diagonal x-y shifted by zero, how far
// along a the search got from either end.
type lineDiff struct {
	a, b               []uint64
	indexA, indexB     []int
	changedA, changedB []bool
	forward, backward  []int
	zero, steps        int
}

// compare marks what differs between a[a0:a1] and b[b0:b1].
func (d *lineDiff) compare(a0, a1, b0, b1 int) {
	for {
		for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
			a0, b0 = a0+1, b0+1
		}
		for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
			a1, b1 = a1-1, b1-1
		}
		if a0 == a1 || b0 == b1 || d.steps <= 0 {
			for _, i := range d.indexA[a0:a1] {
				d.changedA[i] = true
			}
			for _, i := range d.indexB[b0:b1] {
				d.changedB[i] = true
			}
			return
		}
		x, y := d.split(a0, a1, b0, b1)
		// The smaller part by recursion, the larger one by this loop: the stack stays shallow.
		if x-a0+y-b0 < a1-x+b1-y {
			d.compare(a0, x, b0, y)
			a0, b0 = x, y
		} else {
			d.compare(x, a1, y, b1)
			a1, b1 = x, y
		}
	}
}

// split finds a point that a shortest edit script goes through, searching from both ends at once
// (Myers, An O(ND) Difference Algorithm and Its Variations, 1986, section 4b). Past maxSplitCost
// edits it takes the point that is farthest along. The ranges are not empty and differ at both ends.
func (d *lineDiff) split(a0, a1, b0, b1 int) (int, int) {
	f, r, z := d.forward, d.backward, d.zero
	lo, hi := a0-b1, a1-b0 // the diagonals that cross the box
	fmid, rmid := a0-b0, a1-b1
	odd := (fmid-rmid)&1 != 0
	flo, fhi, rlo, rhi := fmid, fmid, rmid, rmid
	f[z+fmid], r[z+rmid] = a0, a1
	for cost := 1; ; cost++ {
		flo, fhi = widen(f, z, flo, fhi, lo, hi, -1)
		for k := fhi; k >= flo; k -= 2 {
			x := max(f[z+k-1]+1, f[z+k+1])
			y := x - k
			for x < a1 && y < b1 && d.a[x] == d.b[y] {
				x, y = x+1, y+1
				d.steps--
			}
			f[z+k] = x
			if odd && rlo <= k && k <= rhi && r[z+k] <= x {
				return x, y
			}
		}
		rlo, rhi = widen(r, z, rlo, rhi, lo, hi, int(^uint(0)>>1))
		for k := rhi; k >= rlo; k -= 2 {
			x := min(r[z+k-1], r[z+k+1]-1)
			y := x - k
			for x > a0 && y > b0 && d.a[x-1] == d.b[y-1] {
				x, y = x-1, y-1
				d.steps--
			}
			r[z+k] = x
			if !odd && flo <= k && k <= fhi && x <= f[z+k] {
				return x, y
			}
		}
		d.steps -= fhi - flo + rhi - rlo + 2
		if cost >= maxSplitCost || d.steps <= 0 {
			return d.farthest(a0, a1, b0, b1, flo, fhi, rlo, rhi)
		}
	}
}

// widen extends a range of diagonals by one at both ends, inside [lo, hi]; the places beyond the
// range are filled so that they are never chosen.
func widen(v []int, z, from, to, lo, hi, never int) (int, int) {
	if from > lo {
		from--
		v[z+from-1] = never
	} else {
		from++
	}
	if to < hi {
		to++
		v[z+to+1] = never
	} else {
		to--
	}
	return from, to
}

// farthest returns the end point, of the searches from both ends, that has the most lines behind it.
func (d *lineDiff) farthest(a0, a1, b0, b1, flo, fhi, rlo, rhi int) (int, int) {
	bestX, bestY, best := a0, b0, -1
	for k := fhi; k >= flo; k -= 2 {
		x := min(d.forward[d.zero+k], a1)
		y := x - k
		if y > b1 {
			x, y = b1+k, b1
		}
		if x >= a0 && y >= b0 && x-a0+y-b0 > best {
			bestX, bestY, best = x, y, x-a0+y-b0
		}
	}
	for k := rhi; k >= rlo; k -= 2 {
		x := max(d.backward[d.zero+k], a0)
		y := x - k
		if y < b0 {
			x, y = b0+k, b0
		}
		if x <= a1 && y <= b1 && a1-x+b1-y > best {
			bestX, bestY, best = x, y, a1-x+b1-y
		}
	}
	return bestX, bestY
}

// slide moves each run of changed lines as far down as equal lines allow, where the other side has
// no change at that place, and joins runs that meet: the usual place of a hunk.
func slide(lines []uint64, changed, other []bool) {
	j := 0 // in other: the place that pairs with i
	for i := 0; i < len(lines); {
		if !changed[i] {
			for j < len(other) && other[j] {
				j++
			}
			i, j = i+1, j+1
			continue
		}
		start, end := i, i
		for end < len(lines) && changed[end] {
			end++
		}
		// Sliding is only for pure insertions and deletions.
		for (j >= len(other) || !other[j]) && end < len(lines) && lines[start] == lines[end] {
			changed[start], changed[end] = false, true
			start, end, j = start+1, end+1, j+1
			for end < len(lines) && changed[end] {
				end++
			}
		}
		i = end
	}
}

// hunksOf pairs the unchanged lines of both sides and returns the runs between them.
func hunksOf(a, b []bool) []Hunk {
	var hunks []Hunk
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		x, y := i, j
		for i < len(a) && a[i] {
			i++
		}
		for j < len(b) && b[j] {
			j++
		}
		if x == i && y == j {
			i, j = i+1, j+1
			continue
		}
		h := Hunk{x + 1, i - x, y + 1, j - y}
		if h.OldLines == 0 {
			h.OldStart--
		}
		if h.NewLines == 0 {
			h.NewStart--
		}
		hunks = append(hunks, h)
	}
	return hunks
}
