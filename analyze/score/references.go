package score

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/text"
)

const (
	// maxNamers is how many files may declare a name that still tells which of them is meant.
	maxNamers = 3
	// minName is how many bytes a name of one part needs to be one.
	minName = 4
	// commonName: a name in more than a share of one by so many of the files is a word like any other.
	commonName = 8
	// referenceHalf is the sum of inverse document frequencies of shared names that is worth half of what
	// any number of them is: two or three rare names.
	referenceHalf = 8
)

// references are the names that the leading files declare or use, and the files that do the same.
type references struct {
	files    []int32    // of code that were read, ascending
	names    *hashTable // as they stand in a text
	decls    [][]uint32 // by name: as it is declared; several when they have one stem
	namers   [][]int32  // by name: the files that declare it, ascending, at most maxNamers
	idf      []float64  // by name: over the files that were read; 0 for a word that is everywhere
	uses     [][]int32  // by file id: distinct names, ascending
	leaders  []int      // file ids
	declares [][]int32  // by leader: the names that it declares, ascending
}

// newReferences reads what the leaders have to do with files by the names that they share.
func newReferences(ctx context.Context, s *index.Snapshot, leaders, files []int) (*references, error) {
	x := &references{leaders: leaders, names: newHashTable(), uses: make([][]int32, len(s.Files)), declares: make([][]int32, len(leaders))}
	for _, i := range files {
		if s.Files[i].Role.Code() {
			x.files = append(x.files, int32(i))
		}
	}
	slices.Sort(x.files)
	declared, terms := namesOf(s, leaders)
	byDecl := make([][]int32, len(terms))
	for i := range s.Files {
		for _, h := range s.Files[i].Doc.Decls {
			k, ok := declared.find(h)
			if !ok {
				continue
			}
			if n := len(byDecl[k]); n <= maxNamers && (n == 0 || byDecl[k][n-1] != int32(i)) {
				byDecl[k] = append(byDecl[k], int32(i))
			}
		}
	}
	for k, files := range byDecl {
		if len(files) == 0 || len(files) > maxNamers || terms[k] == 0 {
			continue
		}
		n := x.names.add(terms[k])
		if n == len(x.namers) {
			x.namers, x.decls = append(x.namers, nil), append(x.decls, nil)
		}
		x.namers[n], x.decls[n] = append(x.namers[n], files...), append(x.decls[n], declared.hashes[k])
	}
	for k, files := range x.namers {
		slices.Sort(files)
		if x.namers[k] = slices.Compact(files); len(x.namers[k]) > maxNamers {
			x.namers[k] = nil
		}
		for l, t := range leaders {
			if slices.Contains(x.namers[k], int32(t)) {
				x.declares[l] = append(x.declares[l], int32(k))
			}
		}
	}
	return x, x.read(ctx, s)
}

// namesOf lists the names of several parts that leaders use, and all that they declare, as they are
// declared; terms are how each stands in a text, 0 when that says nothing.
func namesOf(s *index.Snapshot, leaders []int) (declared *hashTable, terms []uint32) {
	declared = newHashTable()
	put := func(decl, term uint32) {
		if declared.add(decl) == len(terms) {
			terms = append(terms, term)
		}
	}
	for _, t := range leaders {
		for _, h := range s.Files[t].Doc.Tokens {
			if h&text.CompoundBit != 0 {
				put(h, h)
			}
		}
	}
	tk := text.NewTokenizer()
	for _, t := range leaders {
		d := s.Files[t].Doc
		for k, h := range d.Decls {
			if _, ok := declared.find(h); ok {
				continue // of several parts, as the text of the declaration shows
			}
			term := uint32(0)
			if name := d.Symbols[k].Name; len(name) >= minName {
				if hashes := tk.Hashes(name); len(hashes) == 1 {
					term = hashes[0]
				}
			}
			put(h, term)
		}
	}
	return declared, terms
}

// read finds the names in the files.
func (x *references) read(ctx context.Context, s *index.Snapshot) error {
	err := parallel(ctx, len(x.files), func(k int) {
		i := x.files[k]
		x.uses[i] = x.names.distinct(s.Files[i].Doc.Tokens)
	})
	if err != nil {
		return err
	}
	df, code := make([]float64, len(x.namers)), float64(len(x.files))
	for _, i := range x.files {
		for _, k := range x.uses[i] {
			df[k]++
		}
	}
	x.idf = make([]float64, len(df))
	for k, n := range df {
		if n < code/commonName {
			x.idf[k] = math.Log(code / max(n, 1))
		}
	}
	return nil
}

// usesOf is how strongly a file uses what a leader declares, in [0,1).
func (x *references) usesOf(file, leader int) float64 {
	sum := 0.0
	a, b := x.uses[file], x.declares[leader]
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			sum += x.idf[a[i]]
			i++
			j++
		}
	}
	return sum / (sum + referenceHalf)
}

// declaredFor is how strongly files declare what a leader uses, in [0,1), by file id.
func (x *references) declaredFor(leader int) map[int32]float64 {
	sums := make(map[int32]float64)
	for _, k := range x.uses[x.leaders[leader]] {
		for _, f := range x.namers[k] {
			sums[f] += x.idf[k] / float64(len(x.namers[k]))
		}
	}
	for f, v := range sums {
		sums[f] = v / (v + referenceHalf)
	}
	return sums
}

// between lists the rarest names that namer declares and user uses, at most limit.
func (x *references) between(s *index.Snapshot, user, namer, limit int) []string {
	var names []int32
	for _, k := range x.uses[user] {
		if x.idf[k] > 0 && slices.Contains(x.namers[k], int32(namer)) {
			names = append(names, k)
		}
	}
	slices.SortStableFunc(names, func(a, b int32) int { return cmp.Compare(x.idf[b], x.idf[a]) })
	var out []string
	d := s.Files[namer].Doc
	for _, n := range names[:min(len(names), limit)] {
		if k := slices.IndexFunc(d.Decls, func(h uint32) bool { return slices.Contains(x.decls[n], h) }); k >= 0 {
			out = append(out, d.Symbols[k].Name)
		}
	}
	return out
}
