package score

import (
	"context"
	"math"
	"sort"

	"github.com/ctxt-dev/ctxt/index"
)

// Weights are the weights of the six signals; they are normalised to sum to 1. The zero value means
// the built-in weights.
type Weights [NumSignals]float64

// Ranking is the order of a snapshot's files for a task.
type Ranking struct {
	Order  []int     // file ids, best first; ties by path; files with nothing in their favour left out
	Scores []float64 // by file id

	in       Input
	tab      *Table
	mix      mix
	weights  Weights
	relation []related   // by file id: how the file hangs together with the best ones
	refs     *references // the names that the best files share with others; nil when nothing is ranked
	place    map[int]int // file id → index into Order
}

// related is the second pass's evidence of one file: how strongly, and with which file.
type related struct {
	value [numRelations]float64
	with  [numRelations]int32
}

// relation names one feature of the second pass.
type relation int

// The relations to the files that the first pass ranks best.
const (
	rPair    relation = iota // same stem: a test and its source, a header and its body
	rPath                    // a test and a source with similar paths
	rUses                    // a test and a source joined by an import
	rImport                  // any other two joined by an import
	rChange                  // changed together in the past
	rTestRef                 // a test uses names that the source declares, or the other way round
	rUser                    // uses names that the other declares, both tests or both sources
	rNamer                   // declares names that the other uses
	numRelations
)

// Rank orders the files. The sum is linear, in two passes: the second adds what relates a file to
// the files that the first puts on top.
func Rank(ctx context.Context, in Input, w Weights) (*Ranking, error) {
	tab, err := Features(ctx, in)
	if err != nil {
		return nil, err
	}
	r := &Ranking{in: in, tab: tab, mix: mixOf(in.Task.Kind)}
	r.weights = r.mix.weights(w)
	n := len(in.Snapshot.Files)
	first := make([]float64, n)
	for i := range first {
		first[i] = r.base(i)
	}
	if err := r.relate(ctx, first); err != nil {
		return nil, err
	}
	r.Scores = make([]float64, n)
	for i := range r.Scores {
		for s := range NumSignals {
			r.Scores[i] += r.weights[s] * r.raw(i, Signal(s))
		}
		if r.Scores[i] > 0 {
			r.Order = append(r.Order, i)
		}
	}
	sort.SliceStable(r.Order, func(a, b int) bool { return r.Scores[r.Order[a]] > r.Scores[r.Order[b]] })
	r.place = make(map[int]int, len(r.Order))
	for k, i := range r.Order {
		r.place[i] = k
	}
	return r, nil
}

// base is the first pass's score of a file: all signals but what relates it to other files.
func (r *Ranking) base(i int) float64 {
	sum := 0.0
	for f, m := range r.mix.features {
		if m.weight > 0 {
			sum += r.weights[m.signal] / r.mix.total[m.signal] * m.weight * r.tab.Cols[f][i]
		}
	}
	return sum * r.role(i)
}

// role is the factor for what a file is for: the task's change touches code, rarely anything else. A file
// that the title names is what it is about, whatever it is.
func (r *Ranking) role(i int) float64 {
	if r.tab.titled[i] {
		return 1
	}
	switch r.in.Snapshot.Files[i].Role {
	case index.Source:
		return 1
	case index.Test:
		return r.mix.test
	}
	return r.mix.other
}

// raw is a signal's value in [0,1].
func (r *Ranking) raw(i int, s Signal) float64 {
	sum := 0.0
	for f, m := range r.mix.features {
		if m.signal == s && m.weight > 0 {
			sum += m.weight * r.tab.Cols[f][i]
		}
	}
	for k, m := range r.mix.relations {
		if m.signal == s {
			sum += m.weight * r.relation[i].value[k]
		}
	}
	if s == Recent && r.in.Touched[r.in.Snapshot.Files[i].Path] {
		return 1
	}
	if r.mix.total[s] == 0 {
		return 0
	}
	return min(sum/r.mix.total[s], 1) * r.role(i)
}

const (
	relateTop   = 10   // files of the first pass that others may relate to
	relateFew   = 5    // of which so many lend their stem
	relateAll   = 300  // files of the first pass whose names are looked at
	leastChance = 0.05 // of a leader to be the first file meant, for its names to be looked for
	jointSmooth = 1    // added to the number of changes when a joint share is taken
)

// relate fills r.relation from the first pass's best files. It fails only when ctx ends.
func (r *Ranking) relate(ctx context.Context, first []float64) error {
	n := len(first)
	r.relation = make([]related, n)
	for i := range r.relation {
		for k := range r.relation[i].with {
			r.relation[i].with[k] = -1
		}
	}
	top := best(first, relateTop)
	if len(top) == 0 || first[top[0]] <= 0 {
		return ctx.Err()
	}
	files := r.in.Snapshot.Files
	stem := make([]string, n)
	for i := range files {
		stem[i] = index.Stem(files[i].Path)
	}
	vectors := newPathVectors(r.in.Snapshot)
	for k, t := range top {
		if err := ctx.Err(); err != nil {
			return err
		}
		lead := first[t] / first[top[0]]
		for i := range files {
			if i == t {
				continue
			}
			if k < relateFew && stem[i] == stem[t] {
				r.put(i, rPair, lead, t)
			}
			if files[i].Role.Code() && files[t].Role.Code() && files[i].Role != files[t].Role {
				if c := vectors.cosine(i, t); c > 0 {
					r.put(i, rPath, lead*c, t)
				}
			}
		}
		r.imports(t, lead)
		r.changes(t, lead)
	}
	for i := range r.relation {
		x := &r.relation[i]
		if t := x.with[rImport]; t >= 0 && files[i].Role.Code() && files[t].Role.Code() && files[i].Role != files[t].Role {
			x.value[rUses], x.with[rUses] = x.value[rImport], t
			x.value[rImport], x.with[rImport] = 0, -1
		}
	}
	return r.refer(ctx, top, first)
}

// refer relates files by the names that they share with the best ones, each of these counting by the
// chance that it is the first of the files that are meant.
func (r *Ranking) refer(ctx context.Context, top []int, first []float64) error {
	scale, all := 0.0, 0.0 // the weights are those of a softmax over the files
	for _, v := range r.mix.total {
		scale += v
	}
	for _, v := range first {
		all += math.Exp(scale * (v - first[top[0]]))
	}
	files := r.in.Snapshot.Files
	var leaders []int
	var chance []float64
	for _, t := range top {
		if p := math.Exp(scale*(first[t]-first[top[0]])) / all; p >= leastChance && files[t].Role.Code() {
			leaders, chance = append(leaders, t), append(chance, p)
		}
	}
	var err error
	if r.refs, err = newReferences(ctx, r.in.Snapshot, leaders, best(first, relateAll)); err != nil {
		return err
	}
	strongest := make([][numRelations]float64, len(files))
	add := func(i int, k relation, v float64, with int) {
		x := &r.relation[i]
		x.value[k] = min(x.value[k]+v, 1)
		if v > strongest[i][k] {
			strongest[i][k], x.with[k] = v, int32(with)
		}
	}
	err = parallel(ctx, len(r.refs.files), func(k int) {
		i := int(r.refs.files[k])
		for l, t := range leaders {
			if i == t {
				continue
			}
			kind := rUser
			if files[i].Role != files[t].Role {
				kind = rTestRef
			}
			if v := r.refs.usesOf(i, l); v > 0 {
				add(i, kind, chance[l]*v, t)
			}
		}
	})
	if err != nil {
		return err
	}
	for l, t := range leaders {
		for i, v := range r.refs.declaredFor(l) {
			if int(i) != t && files[i].Role.Code() && v > 0 {
				add(int(i), rNamer, chance[l]*v, t)
			}
		}
	}
	return ctx.Err()
}

// put keeps the strongest value of a relation.
func (r *Ranking) put(i int, k relation, v float64, with int) {
	if v = min(v, 1); v > r.relation[i].value[k] {
		r.relation[i].value[k], r.relation[i].with[k] = v, int32(with)
	}
}

// imports relates the files that import t or that t imports. A file with many neighbours gives each
// of them less.
func (r *Ranking) imports(t int, lead float64) {
	s := r.in.Snapshot
	deg := math.Sqrt(float64(len(s.Imports[t]) + len(s.Importers[t]) + 1))
	for _, list := range [...][]int32{s.Imports[t], s.Importers[t]} {
		for _, id := range list {
			r.put(int(id), rImport, lead*2/(1+deg), t)
		}
	}
}

// changes relates the files that changed with t, by the share of t's changes, larger changes
// counting less.
func (r *Ranking) changes(t int, lead float64) {
	h := r.in.History
	commits := h.CommitsOf(r.in.Snapshot.Files[t].Path)
	joint := make(map[int32]float64)
	total := 0.0
	for _, c := range commits {
		files := h.Commits[c].Files
		if len(files) > maxCommitFiles/2 {
			continue
		}
		total++
		w := min(1, 2/math.Sqrt(float64(len(files))))
		for _, id := range files {
			joint[id] += w
		}
	}
	for id, v := range joint {
		if i := r.tab.ids[id]; i >= 0 && int(i) != t {
			r.put(int(i), rChange, lead*v/(total+jointSmooth), t)
		}
	}
}

// best returns the ids of the k largest positive values, largest first, ties by id.
func best(v []float64, k int) []int {
	var out []int
	for i, x := range v {
		if x <= 0 || len(out) == k && x <= v[out[k-1]] {
			continue
		}
		at := sort.Search(len(out), func(j int) bool { return v[out[j]] < x })
		out = append(out, 0)
		copy(out[at+1:], out[at:])
		out[at] = i
		out = out[:min(len(out), k)]
	}
	return out
}

// Found is how many files hold a term of the task, in content, names or path.
func (r *Ranking) Found(term int) int { return r.tab.lex.df[term] }

// Named is how many files the text names outright, by path or by an identifier that they declare.
func (r *Ranking) Named() int {
	n := 0
	for i := range r.Scores {
		if r.tab.Cols[FMention][i] > 0 || r.tab.Cols[FDeclares][i] > 0 {
			n++
		}
	}
	return n
}

// Damping is the factor of a file's role in its score, in (0, 1]: 1 for source.
func (r *Ranking) Damping(file int) float64 { return r.role(file) }

// Score is a file's score, by id.
func (r *Ranking) Score(file int) float64 { return r.Scores[file] }

// Top is the best file's score; 0 when there is none.
func (r *Ranking) Top() float64 {
	if len(r.Order) == 0 {
		return 0
	}
	return r.Scores[r.Order[0]]
}
