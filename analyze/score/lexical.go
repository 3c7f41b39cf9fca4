package score

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/text"
)

// BM25 constants (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009).
const (
	k1       = 1.2
	bContent = 0.75
	bChunk   = 0.6
	nameTF   = 2.0 // a declared name counts as so many occurrences in the content
	pathTF   = 6.0
)

// lexical holds what the texts of the files say about the task.
type lexical struct {
	hits []fileHits
	df   []int     // files that hold each term of the task
	idf  []float64 // of each term of the task, over the files that hold it in any field

	content  []float64 // BM25F over content, names and path
	title    []float64 // the same for the title's terms alone
	path     []float64 // path: idf-weighted
	chunk    []float64 // the best single definition's BM25
	chunkSym []int     // its index into Doc.Symbols, or -1
	phrase   []float64 // neighbouring pairs of terms found side by side

	lift         lift
	learned      []float64 // as content, each term weighed by its lift in place of its idf
	learnedTitle []float64 // the same for the title's terms alone
	learnedPath  []float64 // path, weighed by the lift of terms in paths
}

func newLexical(ctx context.Context, in Input, ids []int32) (*lexical, error) {
	s, terms := in.Snapshot, in.Task.Terms
	x := &lexical{}
	var err error
	if x.hits, err = scan(ctx, s, newLookup(terms)); err != nil {
		return nil, err
	}
	df := make([]int, len(terms))
	last := make([]int, len(terms))
	for i := range last {
		last[i] = -1
	}
	var total float64
	for i := range x.hits {
		h := &x.hits[i]
		for _, list := range [...][]hit{h.content, h.names, h.path} {
			for _, t := range list {
				if last[t.q] != i {
					last[t.q] = i
					df[t.q]++
				}
			}
		}
		total += float64(len(s.Files[i].Doc.Tokens))
	}
	n := float64(len(s.Files))
	x.idf = make([]float64, len(terms))
	for q, d := range df {
		x.idf[q] = math.Log(1 + (n-float64(d)+0.5)/(float64(d)+0.5))
	}
	x.df = df
	avg := max(total/max(n, 1), 1)
	x.lift = newLift(in, ids, x.hits)
	for _, col := range [...]*[]float64{&x.content, &x.title, &x.path, &x.chunk, &x.phrase, &x.learned, &x.learnedTitle, &x.learnedPath} {
		*col = make([]float64, len(s.Files))
	}
	x.chunkSym = make([]int, len(s.Files))
	pairs := in.pairTable()
	err = parallel(ctx, len(s.Files), func(i int) { x.file(in, i, avg, pairs) })
	return x, err
}

// file fills in one file's columns.
func (x *lexical) file(in Input, i int, avg float64, pairs map[[2]uint16]float64) {
	f, h, terms := &in.Snapshot.Files[i], &x.hits[i], in.Task.Terms
	x.chunkSym[i] = -1
	if len(h.content)+len(h.names)+len(h.path) == 0 {
		return
	}
	tf := make([]float64, len(terms))
	inPath := make([]bool, len(terms))
	norm := 1 / (1 - bContent + bContent*float64(len(f.Doc.Tokens))/avg)
	for _, t := range h.content {
		tf[t.q] += norm
	}
	nameNorm := nameTF / (1 + math.Log1p(float64(len(f.Doc.Names))/64))
	for _, t := range h.names {
		tf[t.q] += nameNorm
	}
	for _, t := range h.path {
		if !inPath[t.q] {
			tf[t.q] += pathTF
		}
		inPath[t.q] = true
	}
	for q, v := range tf {
		if v == 0 {
			continue
		}
		w := x.idf[q] * terms[q].Weight
		much := v * (k1 + 1) / (v + k1)
		learned := x.lift.content[q] * terms[q].Weight * much
		x.content[i] += w * much
		x.learned[i] += learned
		if terms[q].InTitle {
			x.title[i] += w * much
			x.learnedTitle[i] += learned
		}
		if inPath[q] {
			x.path[i] += w
			x.learnedPath[i] += x.lift.path[q] * terms[q].Weight
		}
	}
	x.chunk[i], x.chunkSym[i] = x.bestChunk(in, f, h.content)
	x.phrase[i] = x.phrases(f, h.content, pairs)
}

// chunkStarts returns, for the stretches from one declaration to the next, the index of the first
// token and the symbol that starts it. What stands before the first declaration has symbol -1.
func chunkStarts(d *index.Doc) (starts []uint32, syms []int) {
	starts, syms = append(starts, 0), append(syms, -1)
	for k, s := range d.Symbols {
		if s.Start < 1 || s.Start > d.NumLines() {
			continue
		}
		at := d.Lines[s.Start-1]
		if n := len(starts); starts[n-1] == at {
			syms[n-1] = k
			continue
		} else if at < starts[n-1] {
			continue
		}
		starts, syms = append(starts, at), append(syms, k)
	}
	return starts, syms
}

// bestChunk scores each definition as a document of its own and returns the best.
func (x *lexical) bestChunk(in Input, f *index.File, hits []hit) (best float64, sym int) {
	sym = -1
	if len(hits) == 0 || !f.Role.Code() {
		return 0, sym
	}
	starts, syms := chunkStarts(f.Doc)
	const avgLen = 120 // tokens of a usual definition
	tf := make(map[uint16]float64, 16)
	order := make([]uint16, 0, 16)
	for c, k := 0, 0; c < len(starts) && k < len(hits); c++ {
		end := uint32(len(f.Doc.Tokens))
		if c+1 < len(starts) {
			end = starts[c+1]
		}
		clear(tf)
		order = order[:0]
		for ; k < len(hits) && hits[k].tok < end; k++ {
			if _, ok := tf[hits[k].q]; !ok {
				order = append(order, hits[k].q)
			}
			tf[hits[k].q]++
		}
		norm := 1 - bChunk + bChunk*float64(end-starts[c])/avgLen
		slices.Sort(order)
		sum := 0.0
		for _, q := range order {
			v := tf[q] / norm
			sum += x.idf[q] * in.Task.Terms[q].Weight * v * (k1 + 1) / (v + k1)
		}
		if sum > best {
			best, sym = sum, syms[c]
		}
	}
	return best, sym
}

// pairTable maps neighbouring terms to their weight.
func (in Input) pairTable() map[[2]uint16]float64 {
	m := make(map[[2]uint16]float64, len(in.Task.Pairs))
	for _, p := range in.Task.Pairs {
		m[[2]uint16{uint16(p.A), uint16(p.B)}] = p.Weight
	}
	return m
}

// phrases sums, over the distinct pairs found side by side, weight × the rarer term's idf.
func (x *lexical) phrases(f *index.File, hits []hit, pairs map[[2]uint16]float64) float64 {
	if len(pairs) == 0 {
		return 0
	}
	found := make(map[[2]uint16]int)
	prev := -1
	for k := range hits {
		if f.Doc.Tokens[hits[k].tok]&text.CompoundBit != 0 {
			continue
		}
		if prev >= 0 && adjacent(f.Doc.Tokens, hits[prev].tok, hits[k].tok) {
			key := [2]uint16{hits[prev].q, hits[k].q}
			if _, ok := pairs[key]; ok {
				found[key]++
			}
		}
		prev = k
	}
	keys := make([][2]uint16, 0, len(found))
	for k := range found {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(a, b int) bool {
		return keys[a][0] < keys[b][0] || keys[a][0] == keys[b][0] && keys[a][1] < keys[b][1]
	})
	sum := 0.0
	for _, k := range keys {
		tf := float64(found[k])
		sum += pairs[k] * (x.idf[k[0]] + x.idf[k[1]]) / 2 * tf * (k1 + 1) / (tf + k1)
	}
	return sum
}

// adjacent reports whether nothing but compounds stands between two tokens.
func adjacent(tokens []uint32, a, b uint32) bool {
	for i := a + 1; i < b; i++ {
		if tokens[i]&text.CompoundBit == 0 {
			return false
		}
		if i > a+2 {
			return false
		}
	}
	return true
}
