package risk

import (
	"fmt"
	"math"
	"sort"

	"github.com/ctxt-dev/ctxt/index"
)

// The band is a percentile of the change's size among the repository's own newest changes.
const (
	sampleChanges = 500  // newest past changes that are compared with
	fewestSample  = 50   // with fewer there is no band
	highFrom      = 0.90 // percentile: a tenth of the own past is high
	mediumFrom    = 0.65 // and the next quarter medium
	fewestFixed   = 15   // later-fixed changes in the sample, to say what the band is worth
)

// sizeScore is the size that the band ranks by: ln(1+lines added) + ½·ln(1+source lines added). The
// weights come from six public repositories (docs/risk.md).
func sizeScore(added, source int) float64 {
	return math.Log1p(float64(added)) + float64(0.5*math.Log1p(float64(source)))
}

// totals gives a past change's lines and source lines added, and whether anything was compared.
func (c *PastChange) totals() (added, deleted, source int, ok bool) {
	for _, l := range c.Lines {
		added += l.Added
		deleted += l.Deleted
		if l.Role == index.Source {
			source += l.Added
		}
	}
	return added, deleted, source, !c.Skipped && len(c.Lines) > 0
}

// sample is the repository's own newest changes, for percentiles.
type sample struct {
	scores, files, folders, lines []float64 // each sorted
}

func newSample(p *Past) *sample {
	s := &sample{}
	if p == nil {
		return s
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		added, deleted, source, ok := c.totals()
		if !ok {
			continue
		}
		if len(s.scores) == sampleChanges {
			break
		}
		paths := make([]string, len(c.Lines))
		for k, l := range c.Lines {
			paths[k] = l.Path
		}
		s.scores = append(s.scores, sizeScore(added, source))
		s.lines = append(s.lines, float64(added+deleted))
		s.files = append(s.files, float64(len(paths)))
		s.folders = append(s.folders, float64(folders(paths)))
	}
	for _, v := range [...][]float64{s.scores, s.lines, s.files, s.folders} {
		sort.Float64s(v)
	}
	return s
}

// percentile is the share of sorted values below v, ties counted half; in [0,1].
func percentile(sorted []float64, v float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	below := sort.SearchFloat64s(sorted, v)
	upTo := sort.Search(len(sorted), func(i int) bool { return sorted[i] > v })
	return float64(below+upTo) / float64(2*len(sorted))
}

// bandOf grades a percentile.
func bandOf(score float64) Level {
	switch {
	case score >= highFrom:
		return High
	case score >= mediumFrom:
		return Medium
	}
	return Low
}

// worth says in one line what the band is worth in this repository, measured on its own past.
func worth(p *Past) string {
	var scores []float64
	var fixed []bool
	if p != nil {
		for i := range p.Changes {
			added, _, source, ok := p.Changes[i].totals()
			if ok && len(scores) < sampleChanges {
				scores = append(scores, sizeScore(added, source))
				fixed = append(fixed, p.Changes[i].FixedBy[FixedCode] >= 0)
			}
		}
	}
	n, tenth, hits, all := topTenth(scores, fixed)
	if n < 4*fewestSample || all < fewestFixed {
		return fmt.Sprintf("what the band is worth cannot be measured here: %d of the last %d changes were later fixed or reverted", all, n)
	}
	lift := float64(hits) / float64(tenth) / (float64(all) / float64(n))
	return fmt.Sprintf("of the last %d changes the largest tenth was later fixed or reverted %.1f times as often as the average (%d of %d, against %d of %d)",
		n, lift, hits, tenth, all, n)
}

// topTenth counts the positives in the highest-scored tenth and in all. Ties keep their order.
func topTenth(scores []float64, positive []bool) (n, tenth, hits, all int) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return scores[order[a]] > scores[order[b]] })
	n = len(order)
	tenth = (n + 5) / 10
	for i, k := range order {
		if positive[k] {
			all++
			if i < tenth {
				hits++
			}
		}
	}
	return n, tenth, hits, all
}
