package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/score"
	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/bench/cases"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
)

// Check is the intent check of a query alone, without a bundle.
func (e *Engine) Check(ctx context.Context, s *index.Snapshot, h *history.History, q Query) (task.Intent, error) {
	t := task.Parse(q.Title, q.Body, q.Kind)
	r, err := score.Rank(ctx, score.Input{Snapshot: s, History: h, Task: t}, q.Weights)
	if err != nil {
		return task.Intent{}, fmt.Errorf("rank: %w", err)
	}
	return t.Check(task.Vocabulary{Files: len(s.Files), Found: r.Found, Named: r.Named()}, q.Threshold), nil
}

// IntentFigures is how well the intent check tells real texts from made ones.
type IntentFigures struct {
	Real   int     // texts of changes
	Made   int     // vague or contradictory texts, one for each real one
	AUC    float64 // chance that a real text scores higher than a made one, in [0,1]
	Warned float64 // share of the real texts that are not sufficient
	Caught float64 // share of the made texts that are not

	real, made               []float64
	realWarned, madeWarned   int
	realWarnings, madePassed []string
}

// vagueTexts say nothing about any place; contradictory ones ask for two opposite things of one object (%[1]s).
var (
	vagueTexts = []string{
		"Fix bug", "Various improvements", "Update code", "Clean up", "Misc fixes", "Small changes", "WIP", "Address review comments",
		"Refactor some things", "Make it work", "Minor tweaks", "Fix the issue", "Make it better", "Final fixes", "More work on this",
		"Changes requested in review", "Update stuff", "Improve things a bit", "Handle problems better", "Fixes and improvements",
	}
	contradictoryTexts = []string{
		"Add %[1]s and remove %[1]s", "Enable %[1]s but disable %[1]s", "Increase %[1]s, decrease %[1]s", "Allow %[1]s; forbid %[1]s",
		"Show %[1]s and hide %[1]s", "Keep %[1]s, then remove %[1]s", "Start %[1]s while we stop %[1]s", "Lock %[1]s yet unlock %[1]s",
		"Include %[1]s and exclude %[1]s", "Raise %[1]s but lower %[1]s",
	}
)

// madeText is the made counterpart of the n-th case: every other one is contradictory about what the
// case's own title ends with.
func madeText(n int, title string) string {
	if n%2 == 0 {
		return vagueTexts[n/2%len(vagueTexts)]
	}
	words := strings.Fields(title)
	return fmt.Sprintf(contradictoryTexts[n/2%len(contradictoryTexts)], "the "+strings.Join(words[max(0, len(words)-2):], " "))
}

// Add checks each case's text, and a made one, against the case's base.
func (f *IntentFigures) Add(ctx context.Context, repo *git.Repo, cs []cases.Replay) error {
	e, err := NewEngine(ctx, repo, EngineOptions{})
	if err != nil {
		return err
	}
	for _, c := range cs {
		base, err := git.ParseHash(c.Base)
		if err != nil {
			return fmt.Errorf("case %s: base: %w", c.SHA, err)
		}
		s, err := e.Snapshot(ctx, index.Tree(repo, base))
		if err != nil {
			return fmt.Errorf("case %s: %w", c.SHA, err)
		}
		real, err := e.Check(ctx, s, &history.History{}, Query{Title: c.Title, Body: c.Body})
		if err != nil {
			return err
		}
		text := madeText(f.Made, c.Title)
		made, err := e.Check(ctx, s, &history.History{}, Query{Title: text})
		if err != nil {
			return err
		}
		f.Real++
		f.Made++
		f.real, f.made = append(f.real, real.Score), append(f.made, made.Score)
		if real.Level != task.Sufficient {
			f.realWarned++
			f.realWarnings = append(f.realWarnings, c.Title)
		}
		if made.Level != task.Sufficient {
			f.madeWarned++
		} else {
			f.madePassed = append(f.madePassed, text)
		}
	}
	f.summarize()
	return nil
}

func (f *IntentFigures) summarize() {
	f.Warned = float64(f.realWarned) / float64(max(f.Real, 1))
	f.Caught = float64(f.madeWarned) / float64(max(f.Made, 1))
	made := slices.Sorted(slices.Values(f.made))
	sum := 0.0
	for _, v := range f.real {
		below, _ := slices.BinarySearch(made, v)
		upTo := below
		for upTo < len(made) && made[upTo] == v {
			upTo++
		}
		sum += (float64(below) + float64(upTo)) / 2
	}
	f.AUC = sum / float64(max(len(f.real)*len(made), 1))
}

// Warnings lists the titles of real texts that were not sufficient, and the made ones that were.
func (f *IntentFigures) Warnings() (real, made []string) { return f.realWarnings, f.madePassed }
