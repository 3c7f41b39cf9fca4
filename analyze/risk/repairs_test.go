package risk

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

// mended makes a history in which every change of store/lock.go is fixed the day after, and no change
// of store/key.go ever is.
func mended(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	var b strings.Builder
	for i := range 80 {
		file, message := "store/lock.go", "lock: wait less"
		switch i % 4 {
		case 1:
			message = "fix the wait"
		case 2, 3:
			file, message = "store/key.go", "key: another one"
		}
		imported(&b, i, "A. Author <author@example.com>", message, []string{file})
	}
	importAll(t, r, &b, 80)
	return r
}

func TestFilesThatAreFixedAgainRankHigher(t *testing.T) {
	var scores []float64
	for _, c := range []struct {
		file, title, why string
		above            bool
	}{
		{"store/key.go", "one more", "lines were later fixed 0.", false},
		{"store/lock.go", "one more", "lines were later fixed 1.", true},
		{"store/lock.go", "fix the wait again", "; as a fix in files whose lines were later fixed 1.", true},
	} {
		r := mended(t)
		r.Write(c.file, strings.Repeat("x := 1\n", 6))
		r.Commit(c.title)
		a := assess(t, build(t, r))
		g := signal(a, "size")
		if g == nil || !strings.Contains(g.Why, c.why) || !strings.Contains(g.Why, "times as often as the average, it ranks above") {
			t.Errorf("%s, %q: size %+v, want %q", c.file, c.title, g, c.why)
		}
		for _, n := range g.Numbers {
			if n.Name == "such lines later fixed" && (n.Value > 1) != c.above {
				t.Errorf("%s: %v times the average", c.file, n.Value)
			}
		}
		scores = append(scores, a.Score)
	}
	if !(scores[0] < scores[1] && scores[1] < scores[2]) {
		t.Errorf("scores %v of the same lines in a file that is never fixed, in one that is, and as a fix: want them to rise", scores)
	}
}

func TestRepairedFilesAreNoted(t *testing.T) {
	r := gittest.New(t)
	r.Write("a/lock.go", "one\ntwo\n")
	r.Write("a/notes.md", "word\n")
	r.Write("a/kept.go", "three\n")
	r.Commit("all of it")
	r.Remove("a/lock.go")
	r.Write("b/lock.go", "one\ntwo\n")
	r.Commit("move")
	r.Write("b/lock.go", "one\n2\n")
	r.Write("a/notes.md", "words\n")
	r.Commit("fix two things")
	r.Write("b/lock.go", "1\n2\n")
	r.Commit("fix another")
	r.Write("a/kept.go", "3\n")
	r.Commit("another word")
	r.Write("tip.go", "x\n")
	r.Commit("tip")
	b := build(t, r)
	past, err := ReadPast(context.Background(), b.repo, b.hist, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := past.Changes[len(past.Changes)-1]
	got := fmt.Sprint(first.Repaired)
	if want := "[{a/notes.md 2} {b/lock.go 2}]"; got != want {
		t.Errorf("repaired files of the first change: %s, want %s", got, want)
	}
}

// TestScoreKnowsOnlyThePast: the score that a change has in a window is the one that it would have had
// on its day.
func TestScoreKnowsOnlyThePast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		p := &Past{Changes: make([]PastChange, n)}
		for i := n - 1; i >= 0; i-- {
			c := &p.Changes[i]
			c.Commit, c.Fix = i, rapid.Bool().Draw(t, "fix")
			for f := range 3 {
				if rapid.Bool().Draw(t, "changed") {
					c.Lines = append(c.Lines, Lines{Path: fmt.Sprintf("d%d/f.go", f), Role: index.Source, Added: rapid.IntRange(0, 30).Draw(t, "added")})
				}
			}
			if len(c.Lines) > 0 && i > 0 && rapid.Bool().Draw(t, "repaired") {
				c.Repaired = []Repaired{{c.Lines[0].Path, rapid.IntRange(0, i-1).Draw(t, "by")}}
			}
		}
		l := newLedger(p)
		r := l.repairs()
		all := l.window(r, 0, n)
		for i := range all {
			cut := &Past{Changes: append([]PastChange(nil), p.Changes[i:]...)}
			for k := range cut.Changes {
				c := &cut.Changes[k]
				c.Repaired = nil
				for _, f := range p.Changes[i+k].Repaired {
					if f.By >= i {
						c.Repaired = append(c.Repaired, Repaired{f.Path, f.By - i})
					}
				}
			}
			day := newLedger(cut)
			got := day.window(day.repairs(), 0, len(day.rows))[0]
			if got != all[i] && !(math.IsNaN(got) && math.IsNaN(all[i])) {
				t.Fatalf("change %d of %d: %v in the window, %v on its day", i, n, all[i], got)
			}
			if l.rows[i].ok && (math.IsInf(got, 0) || math.IsNaN(got)) {
				t.Fatalf("change %d: score %v", i, got)
			}
		}
	})
}

func TestNothingKnownIsAverage(t *testing.T) {
	l := newLedger(&Past{Changes: []PastChange{{Lines: []Lines{{Path: "a.go", Role: index.Source, Added: 9}}}}})
	r := l.repairs()
	l.window(r, 0, 1)
	for _, files := range [][]member{nil, {l.member("x/other.py", index.Test, 5, false)}, {l.member("a.go", index.Source, 0, false)}} {
		if got := r.relative(files); math.Abs(got-1) > 0.01 {
			t.Errorf("%v: %v times the average, want 1", files, got)
		}
	}
}
