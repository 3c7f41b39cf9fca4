package risk

import (
	"fmt"
	"math"
	"sort"

	"github.com/ctxt-dev/ctxt/index"
)

// The band is a percentile of the change's score among the repository's own newest changes.
const (
	sampleChanges = 500  // newest past changes that are compared with
	fewestSample  = 50   // with fewer there is no band
	highFrom      = 0.90 // percentile: a tenth of the own past is high
	mediumFrom    = 0.65 // and the next quarter medium
	fewestFixed   = 15   // later-fixed changes in the sample, to say what the band is worth
)

// extent is how much a change changes.
type extent struct{ added, deleted, source, files int }

// size is ln(1+added) + ¼·ln(1+source added) + ¼·ln(1+deleted) + ¼·ln(files).
func (e extent) size() float64 {
	return math.Log1p(float64(e.added)) + float64(0.25*math.Log1p(float64(e.source))) +
		float64(0.25*math.Log1p(float64(e.deleted))) + float64(0.25*math.Log(float64(max(e.files, 1))))
}

// score is what the band ranks by: the size, half the logarithm of how often lines in such files were
// later fixed (repairs.relative), and half for a change that repairs something itself. The weights come
// from six public repositories (docs/risk.md).
func score(e extent, relative float64, fix bool) float64 {
	s := e.size() + float64(0.5*math.Log(relative))
	if fix {
		s += 0.5
	}
	return s
}

// extent sums a past change, and reports whether anything was compared.
func (c *PastChange) extent() (e extent, ok bool) {
	for _, l := range c.Lines {
		e.added += l.Added
		e.deleted += l.Deleted
		if l.Role == index.Source {
			e.source += l.Added
		}
	}
	e.files = len(c.Lines)
	return e, !c.Skipped && len(c.Lines) > 0
}

// sample is the repository's own newest changes, for percentiles.
type sample struct {
	scores, sizes, files []float64 // each sorted
	now                  *repairs  // what the past says of files
	ledger               *ledger
}

func newSample(p *Past) *sample {
	s := &sample{ledger: newLedger(p)}
	s.now = s.ledger.repairs()
	s.scores = sampled(s.ledger.window(s.now, 0, len(s.ledger.rows)))
	for i := range s.ledger.rows {
		if r := &s.ledger.rows[i]; r.ok && len(s.sizes) < sampleChanges {
			s.sizes = append(s.sizes, r.size())
			s.files = append(s.files, float64(r.files))
		}
	}
	for _, v := range [...][]float64{s.scores, s.sizes, s.files} {
		sort.Float64s(v)
	}
	return s
}

// sampled keeps the scores of the newest sampleChanges changes that have one.
func sampled(scores []float64) []float64 {
	out := make([]float64, 0, sampleChanges)
	for _, v := range scores {
		if len(out) < sampleChanges && !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
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

// worth says in one line what the band is worth in this repository, measured on its own past: each
// change's score is the one that it had when it came.
func worth(p *Past) string {
	var scores []float64
	var fixed []bool
	l := newLedger(p)
	for i, v := range l.window(l.repairs(), 0, len(l.rows)) {
		if !math.IsNaN(v) && len(scores) < sampleChanges {
			scores = append(scores, v)
			fixed = append(fixed, p.Changes[i].FixedBy[FixedCode] >= 0)
		}
	}
	n, tenth, hits, all := topTenth(scores, fixed)
	if n < 4*fewestSample || all < fewestFixed {
		return fmt.Sprintf("what the band is worth cannot be measured here: %d of the last %d changes were later fixed or reverted", all, n)
	}
	lift := float64(hits) / float64(tenth) / (float64(all) / float64(n))
	return fmt.Sprintf("of the last %d changes the highest tenth was later fixed or reverted %.1f times as often as the average (%d of %d, against %d of %d)",
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
