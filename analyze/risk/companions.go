package risk

import (
	"context"
	"math"
	"runtime"
	"sort"
	"strings"
	"sync"

	"github.com/ctxt-dev/ctxt/index/text"
)

// How the companions are learned and calibrated.
const (
	fitChanges    = 700  // past changes that the weights are fitted on
	barChanges    = 400  // newer ones that the bar is set on
	barNewest     = 100  // of these, once more by themselves
	fewestFit     = 120  // with fewer left-out questions the fixed rule is used
	falseAlarms   = 0.05 // share of complete past changes that may be warned about
	companionsMax = 3
	fixedShare    = 0.6 // the fixed rule: lower bound of the share
	fixedJoint    = 4   // and joint changes
	rowRidge      = 10
	wholeRidge    = 5
)

// answer is a question with its candidates, best first.
type answer struct {
	seq   int32
	left  int32 // the file left out, or -1: the complete change
	multi bool  // complete, and at least one left-out question was asked of it
	size  int
	cands []candidate
	score float64 // of warning at all
}

// companionModel says which files usually change along. The zero weights mean the fixed rule.
type companionModel struct {
	rows  []float64 // weights of a candidate's columns
	whole []float64 // weights of wholeColumns
	bar   float64
	asked int // complete changes behind the bar
}

// answers asks the changes numbered [lo, hi), oldest first: each complete and, with leave, each older
// file of it left out once. The order does not depend on the number of processors.
func (c *coChanges) answers(ctx context.Context, lo, hi int, leave bool) ([]answer, error) {
	lo = max(lo, 0)
	if hi <= lo {
		return nil, nil
	}
	per := make([][]answer, hi-lo)
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8) {
		workers.Go(func() {
			s := newSearcher(c)
			for seq := range next {
				per[seq-lo] = s.askChange(seq, leave)
			}
		})
	}
	var err error
	for seq := lo; seq < hi && err == nil; seq++ {
		if err = ctx.Err(); err == nil {
			next <- seq
		}
	}
	close(next)
	workers.Wait()
	out := make([]answer, 0, 4*len(per))
	for _, a := range per {
		out = append(out, a...)
	}
	return out, err
}

func (s *searcher) askChange(seq int, leave bool) (out []answer) {
	k := &s.c.h.Commits[len(s.c.h.Commits)-1-seq]
	if n := len(k.Files); n == 0 || n > maxChangeFiles {
		return nil
	}
	fs := s.c.asked(seq)
	q := question{seq: int32(seq), words: k.Terms[:k.InTitle], author: s.c.h.Authors[k.Author], time: k.Time,
		text: strings.ToLower(k.Subject + "\n" + k.Body)}
	multi := false
	for i, f := range fs {
		if f.add || len(fs) < 2 {
			continue
		}
		multi = true
		if leave {
			q.files = append(append(make([]fileChange, 0, len(fs)), fs[:i]...), fs[i+1:]...)
			out = append(out, answer{seq: q.seq, left: f.id, size: len(q.files), cands: s.candidates(&q)})
		}
	}
	q.files = fs
	return append(out, answer{seq: q.seq, left: -1, multi: multi, size: len(fs), cands: s.candidates(&q)})
}

// fitCompanions learns from answers; it gives the fixed rule when they are too few.
func fitCompanions(as []answer) companionModel {
	var rows [][]float64
	var hit []bool
	asked := 0
	for i := range as {
		if as[i].left >= 0 {
			asked++
		}
		for k := range as[i].cands {
			rows = append(rows, as[i].cands[k].x[:])
			hit = append(hit, as[i].cands[k].file == as[i].left)
		}
	}
	if asked < fewestFit {
		return companionModel{}
	}
	m := companionModel{rows: fitLogistic(rows, hit, rowRidge, nil)}
	if m.rows == nil {
		return companionModel{}
	}
	rows, hit = rows[:0], hit[:0]
	for i := range as {
		m.rank(&as[i])
		if len(as[i].cands) == 0 || as[i].left >= 0 && !among(as[i].cands[:min(companionsMax, len(as[i].cands))], as[i].left) {
			continue
		}
		rows = append(rows, wholeColumns(&as[i]))
		hit = append(hit, as[i].left >= 0)
	}
	if m.whole = fitLogistic(rows, hit, wholeRidge, nil); m.whole == nil {
		return companionModel{}
	}
	return m
}

func among(cs []candidate, file int32) bool {
	for i := range cs {
		if cs[i].file == file {
			return true
		}
	}
	return false
}

// rank scores the candidates and sorts them, best first.
func (m *companionModel) rank(a *answer) {
	for i := range a.cands {
		k := &a.cands[i]
		switch {
		case m.rows != nil:
			k.score = dot(m.rows, k.x[:])
		case k.partner >= 0 && k.joint >= fixedJoint:
			k.score = k.x[colShare]
		default:
			k.score = math.Inf(-1)
		}
	}
	sort.Slice(a.cands, func(i, j int) bool {
		if a.cands[i].score != a.cands[j].score {
			return a.cands[i].score > a.cands[j].score
		}
		return a.cands[i].file < a.cands[j].file
	})
	a.score = math.Inf(-1)
	switch {
	case len(a.cands) == 0:
	case m.whole != nil:
		a.score = dot(m.whole, wholeColumns(a))
	default:
		a.score = a.cands[0].score
	}
}

// wholeColumns describes a ranked answer: its best scores, how much is expected in all, its size.
func wholeColumns(a *answer) []float64 {
	best := [companionsMax]float64{-8, -8, -8}
	for i := 0; i < companionsMax && i < len(a.cands); i++ {
		best[i] = max(best[i], a.cands[i].score)
	}
	sum := 0.0
	for i := range a.cands {
		sum += sigmoid(a.cands[i].score)
	}
	size := math.Log(float64(max(1, a.size)))
	top := &a.cands[0].x
	return []float64{1, best[0], best[1], best[2], math.Log(sum + 0.01), size, size * size, best[0] * best[0] / 10,
		size * best[0], b2f(a.size == 1), top[colStreak], top[colNear]}
}

// named gives the candidates that a warning names: at most three, and no further one that is clearly
// weaker than the best.
func named(a *answer) []candidate {
	n := 0
	for n < len(a.cands) && n < companionsMax && (n == 0 || a.cands[n].score >= -1 || a.cands[n].score >= a.cands[0].score-1.5) {
		n++
	}
	return a.cands[:n]
}

// setBar sets the bar so that, of these complete changes, oldest first, at most falseAlarms are warned
// about: of all of them, of those that touch two or more files, and of the newest of the latter, since
// habits shift.
func (m *companionModel) setBar(scores, multi []float64) {
	m.asked = len(scores)
	m.bar = max(upper(scores, falseAlarms), upper(multi, falseAlarms), upper(newestScores(multi), falseAlarms))
	if m.rows == nil {
		m.bar = max(m.bar, logOdds(fixedShare))
	}
}

func newestScores(v []float64) []float64 { return v[max(0, len(v)-barNewest):] }

// upper gives the smallest bar that at most a share of the values reaches.
func upper(values []float64, share float64) float64 {
	if len(values) == 0 {
		return math.Inf(-1)
	}
	v := append([]float64(nil), values...)
	sort.Float64s(v)
	k := len(v) - 1 - int(float64(len(v))*share)
	return math.Nextafter(v[max(k, 0)], math.Inf(1))
}

// completeScores ranks answers and splits the scores of the complete ones.
func (m *companionModel) completeScores(as []answer) (all, multi []float64) {
	for i := range as {
		if as[i].left >= 0 {
			continue
		}
		m.rank(&as[i])
		all = append(all, as[i].score)
		if as[i].multi {
			multi = append(multi, as[i].score)
		}
	}
	return all, multi
}

// learnCompanions fits the weights and sets the bar for a change that comes after the whole past.
func learnCompanions(ctx context.Context, c *coChanges) (companionModel, error) {
	end := len(c.h.Commits)
	bar := min(barChanges, end*barChanges/(barChanges+fitChanges))
	past, err := c.answers(ctx, end-bar-fitChanges, end-bar, true)
	if err != nil {
		return companionModel{}, err
	}
	m := fitCompanions(past)
	recent, err := c.answers(ctx, end-bar, end, false)
	if err != nil {
		return companionModel{}, err
	}
	m.setBar(m.completeScores(recent))
	return m, nil
}

// titleWords gives the words of a title as History.Terms has them.
func titleWords(title string) []uint32 { return text.NewTokenizer().Append(nil, title) }
