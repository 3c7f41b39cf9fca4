package score

import (
	"math"
	"slices"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/text"
)

// pathVectors are the paths as unit vectors of inverse document frequencies.
type pathVectors struct {
	terms  [][]uint32 // sorted
	weight [][]float64
}

// commonPath is the weight under which a path term says nothing: it is in half the paths.
const commonPath = 0.7

func newPathVectors(s *index.Snapshot) *pathVectors {
	df := make(map[uint32]int)
	v := &pathVectors{terms: make([][]uint32, len(s.Files)), weight: make([][]float64, len(s.Files))}
	for i := range s.Files {
		t := slices.DeleteFunc(slices.Clone(s.Files[i].PathTerms), func(h uint32) bool { return h&text.CompoundBit != 0 })
		slices.Sort(t)
		v.terms[i] = slices.Compact(t)
		for _, h := range v.terms[i] {
			df[h]++
		}
	}
	n := float64(len(s.Files))
	for i, terms := range v.terms {
		kept := terms[:0]
		sum := 0.0
		for _, h := range terms {
			if w := math.Log(n / float64(df[h])); w >= commonPath {
				kept = append(kept, h)
				v.weight[i] = append(v.weight[i], w)
				sum += w * w
			}
		}
		v.terms[i] = kept
		for k := range v.weight[i] {
			v.weight[i][k] /= math.Sqrt(sum)
		}
	}
	return v
}

// cosine is the similarity of two paths in [0,1].
func (v *pathVectors) cosine(a, b int) float64 {
	ta, tb := v.terms[a], v.terms[b]
	sum := 0.0
	for i, j := 0, 0; i < len(ta) && j < len(tb); {
		switch {
		case ta[i] < tb[j]:
			i++
		case ta[i] > tb[j]:
			j++
		default:
			sum += v.weight[a][i] * v.weight[b][j]
			i++
			j++
		}
	}
	return sum
}
