package risk

import (
	"context"
	"sort"

	"github.com/ctxt-dev/ctxt/index/history"
)

// refitEvery is after how many changes the evaluation fits the weights again.
const refitEvery = 50

// CompanionFigures says how well missing companions are found in a repository's own past: each older
// file of each of the newest changes is left out once. Changes of over 15 files are passed over; the
// weights and the bar of a change come from older changes only.
type CompanionFigures struct {
	Commits     int     `json:"commits"`      // of history
	Changes     int     `json:"changes"`      // complete changes of two or more files, at least one of them older
	AllChanges  int     `json:"all_changes"`  // complete changes of any size up to 15 files
	Cases       int     `json:"cases"`        // files left out
	Warned      float64 `json:"warned"`       // share of the cases
	Right       float64 `json:"right"`        // of the warned cases: the left-out file is among the three named
	Found       float64 `json:"found"`        // of all cases
	FalseAlarms float64 `json:"false_alarms"` // of the complete changes of two or more files
	FalseAll    float64 `json:"false_alarms_all"`
	Learned     bool    `json:"learned"` // false: the fixed rule was used throughout
}

// EvalCompanions measures the missing companions on the newest changes of h.
func EvalCompanions(ctx context.Context, h *history.History, changes int) (*CompanionFigures, error) {
	c := newCoChanges(h)
	end := len(h.Commits)
	start := max(0, end-changes)
	as, err := c.answers(ctx, start-barChanges-fitChanges, end, true)
	if err != nil {
		return nil, err
	}
	f := &CompanionFigures{Commits: end}
	var t companionTally
	for b := start; b < end; b += refitEvery {
		m := fitCompanions(between(as, b-barChanges-fitChanges, b-barChanges))
		f.Learned = f.Learned || m.rows != nil
		block := between(as, b-barChanges, min(b+refitEvery, end))
		for i := range block {
			m.rank(&block[i])
		}
		for seq := b; seq < min(b+refitEvery, end); seq++ {
			m.setBar(completeOf(between(block, seq-barChanges, seq)))
			t.add(between(block, seq, seq+1), &m)
		}
	}
	t.fill(f)
	return f, nil
}

// between gives the answers of the changes numbered [lo, hi); they are in ascending order.
func between(as []answer, lo, hi int) []answer {
	from := sort.Search(len(as), func(i int) bool { return int(as[i].seq) >= lo })
	to := sort.Search(len(as), func(i int) bool { return int(as[i].seq) >= hi })
	return as[from:to]
}

func completeOf(as []answer) (all, multi []float64) {
	for i := range as {
		if as[i].left >= 0 {
			continue
		}
		all = append(all, as[i].score)
		if as[i].multi {
			multi = append(multi, as[i].score)
		}
	}
	return all, multi
}

type companionTally struct{ cases, warned, right, multi, falseMulti, all, falseAll int }

func (t *companionTally) add(as []answer, m *companionModel) {
	for i := range as {
		a := &as[i]
		warned := a.score >= m.bar
		switch {
		case a.left >= 0:
			t.cases++
			if warned {
				t.warned++
				if among(named(a), a.left) {
					t.right++
				}
			}
		default:
			t.all++
			t.falseAll += int(b2f(warned))
			if a.multi {
				t.multi++
				t.falseMulti += int(b2f(warned))
			}
		}
	}
}

func (t *companionTally) fill(f *CompanionFigures) {
	f.Cases, f.Changes, f.AllChanges = t.cases, t.multi, t.all
	f.Warned = fine(ratio(t.warned, t.cases))
	f.Right = fine(ratio(t.right, t.warned))
	f.Found = fine(ratio(t.right, t.cases))
	f.FalseAlarms = fine(ratio(t.falseMulti, t.multi))
	f.FalseAll = fine(ratio(t.falseAll, t.all))
}

func ratio(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}
