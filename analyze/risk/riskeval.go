package risk

import (
	"math"
	"sort"
)

// sizeGroups is how many groups of equal size the changes are cut into, by lines added.
const sizeGroups = 10

// Ranking says how well a score ranks the changes that were later fixed above the others.
type Ranking struct {
	AUC    float64 `json:"auc"`         // area under the receiver operating characteristic curve
	Within float64 `json:"auc_by_size"` // the same among changes of like size: the ten groups, weighted by their pairs
	Lift   float64 `json:"high_lift"`   // how many times as often as the average the highest tenth was later fixed
}

// LabelFigures are the rankings under one definition of later fixed.
type LabelFigures struct {
	Fixed      int     `json:"fixed"`        // changes later fixed or reverted
	Share      float64 `json:"fixed_share"`  // of all
	Score      Ranking `json:"score"`        // what the band ranks by
	LinesAdded Ranking `json:"lines_added"`  // the baseline
	Source     Ranking `json:"source_added"` // source lines added alone
}

// BandFigures says what the band is worth on a repository's own past.
type BandFigures struct {
	Changes   int          `json:"changes"`
	HighShare float64      `json:"high_share"` // changes that were in the high band when they came
	HighLift  float64      `json:"high_lift"`  // how many times as often as the average those were later fixed (code lines)
	Source    LabelFigures `json:"source_lines"`
	Code      LabelFigures `json:"code_lines"` // source and tests
	AnyLines  LabelFigures `json:"any_lines"`
}

// EvalBand measures the band on the newest n changes of p. Each change is judged as a run of its day
// would have judged it: its score and its percentile come from the PastChanges changes before it, and
// from the fixes that had been made by then.
func EvalBand(p *Past, n int) *BandFigures {
	var scores, lines, sources []float64 // newest first
	var fixed [fixedKinds][]bool
	f := &BandFigures{}
	high, hits, all, seen := 0, 0, 0, 0
	l := newLedger(p)
	r := l.repairs()
	for i := range l.rows {
		c := &l.rows[i]
		if !c.ok {
			continue
		}
		if len(scores) == n {
			break
		}
		past := sampled(l.window(r, i+1, min(len(l.rows), i+1+PastChanges)))
		s := l.score(r, i)
		scores = append(scores, s)
		lines = append(lines, float64(c.added))
		sources = append(sources, float64(c.source))
		for k := range fixed {
			fixed[k] = append(fixed[k], p.Changes[i].FixedBy[k] >= 0)
		}
		if len(past) < fewestSample {
			continue
		}
		seen++
		sort.Float64s(past)
		later := int(b2f(p.Changes[i].FixedBy[FixedCode] >= 0))
		all += later
		if bandOf(percentile(past, s)) == High {
			high++
			hits += later
		}
	}
	f.Changes = len(scores)
	f.HighShare = fine(ratio(high, seen))
	if all > 0 && high > 0 {
		f.HighLift = fine(ratio(hits, high) / ratio(all, seen))
	}
	for k, to := range [...]*LabelFigures{FixedSource: &f.Source, FixedCode: &f.Code, FixedAny: &f.AnyLines} {
		*to = label(scores, lines, sources, fixed[k])
	}
	return f
}

func label(scores, lines, sources []float64, positive []bool) LabelFigures {
	f := LabelFigures{Score: ranking(scores, lines, positive), LinesAdded: ranking(lines, lines, positive),
		Source: ranking(sources, lines, positive)}
	for _, y := range positive {
		f.Fixed += int(b2f(y))
	}
	f.Share = fine(ratio(f.Fixed, len(positive)))
	return f
}

func ranking(scores, lines []float64, positive []bool) Ranking {
	r := Ranking{Within: withinSize(scores, lines, positive)}
	r.AUC, _ = areaUnderCurve(scores, positive)
	n, tenth, hits, all := topTenth(scores, positive)
	if tenth > 0 && all > 0 {
		r.Lift = fine(ratio(hits, tenth) / ratio(all, n))
	}
	r.AUC, r.Within = fine(r.AUC), fine(r.Within)
	return r
}

// areaUnderCurve is the share of pairs (positive, negative) that the score orders rightly, ties
// counted half; and the number of pairs. Without a pair it is 0.5.
func areaUnderCurve(scores []float64, positive []bool) (area, pairs float64) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return scores[order[a]] < scores[order[b]] })
	var ranks, pos float64
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && scores[order[j]] == scores[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			if positive[k] {
				ranks += float64(i+j+1) / 2
				pos++
			}
		}
		i = j
	}
	pairs = pos * (float64(len(scores)) - pos)
	if pairs == 0 {
		return 0.5, 0
	}
	return (ranks - pos*(pos+1)/2) / pairs, pairs
}

// withinSize is the area under the curve among changes of like size.
func withinSize(scores, lines []float64, positive []bool) float64 {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return lines[order[a]] < lines[order[b]] })
	var sum, weight float64
	for g := range sizeGroups {
		var s []float64
		var y []bool
		for _, k := range order[g*len(order)/sizeGroups : (g+1)*len(order)/sizeGroups] {
			s, y = append(s, scores[k]), append(y, positive[k])
		}
		area, pairs := areaUnderCurve(s, y)
		sum += area * pairs
		weight += pairs
	}
	if weight == 0 || math.IsNaN(sum) {
		return 0.5
	}
	return sum / weight
}

// fine keeps four decimals, so that figures are the same on every processor.
func fine(v float64) float64 { return math.Round(v*1e4) / 1e4 }
