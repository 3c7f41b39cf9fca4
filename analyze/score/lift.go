package score

import (
	"math"
	"slices"
)

// maxTaught is how many files a past change may have touched to teach anything about its words.
const maxTaught = 30

// The prior of a word that few messages say: as if so many changes had said it, with so many times
// the usual share, at most a cap.
const (
	contentPrior, contentTimes, contentCap = 4, 2, 0.9
	pathPrior, pathTimes, pathCap          = 3, 4, 0.5
)

// lift is what each term of the task says about where a change is, learned from the repository's
// own past: of the files that changed under a message with the term, how many more hold it than of
// changed files as such? It is the logarithm of that ratio, the lift of an association rule (Brin,
// Motwani, Ullman and Tsur, 1997), and 0 for a term that says nothing, such as fix or add.
type lift struct {
	content []float64 // the file holds the term anywhere
	path    []float64 // its path does
}

func newLift(in Input, ids []int32, hits []fileHits) lift {
	n := len(in.Task.Terms)
	type held struct{ any, path []uint16 } // distinct terms of a file, ascending
	files := make(map[int32]held)
	terms := func(f int32) held {
		if h, ok := files[f]; ok {
			return h
		}
		h := held{any: distinct(hits[f].content, hits[f].names, hits[f].path), path: distinct(hits[f].path)}
		files[f] = h
		return h
	}
	// usual and said are shares of changed files that hold a term, summed over the changes: over all
	// of them, and over those whose message says the term.
	type counts struct{ usual, said []float64 }
	content, paths := counts{make([]float64, n), make([]float64, n)}, counts{make([]float64, n), make([]float64, n)}
	saying, changes := make([]float64, n), 0.0
	table := newLookup(in.Task.Terms)
	share := make([]float64, n)
	for c := range in.History.Commits {
		commit := &in.History.Commits[c]
		if len(commit.Files) > maxTaught {
			continue
		}
		var code []int32
		for _, id := range commit.Files {
			if f := ids[id]; f >= 0 && in.Snapshot.Files[f].Role.Code() {
				code = append(code, f)
			}
		}
		if len(code) == 0 {
			continue
		}
		changes++
		said := distinct(table.hits(commit.Terms))
		for _, q := range said {
			saying[q]++
		}
		add := func(to counts, held func(f int32) []uint16) {
			for _, f := range code {
				for _, q := range held(f) {
					share[q] += 1 / float64(len(code))
				}
			}
			for _, q := range said {
				to.said[q] += share[q]
			}
			for _, f := range code {
				for _, q := range held(f) {
					to.usual[q] += share[q]
					share[q] = 0
				}
			}
		}
		add(content, func(f int32) []uint16 { return terms(f).any })
		add(paths, func(f int32) []uint16 { return terms(f).path })
	}
	l := lift{make([]float64, n), make([]float64, n)}
	for q := range n {
		l.content[q] = logLift(content.said[q], saying[q], (content.usual[q]+0.5)/(changes+1), contentPrior, contentTimes, contentCap)
		l.path[q] = logLift(paths.said[q], saying[q], (paths.usual[q]+0.5)/(changes+1), pathPrior, pathTimes, pathCap)
	}
	return l
}

func logLift(said, saying, usual, prior, times, most float64) float64 {
	p := (said + prior*min(times*usual, most)) / (saying + prior)
	return max(0, math.Log(p/usual))
}

// distinct lists the terms of some hits, ascending.
func distinct(lists ...[]hit) []uint16 {
	var out []uint16
	for _, l := range lists {
		for _, h := range l {
			out = append(out, h.q)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
