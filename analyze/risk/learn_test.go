package risk

import (
	"bytes"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxt-dev/ctxt/index/git"
)

func TestFitLogisticSeparates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(10, 80).Draw(t, "n")
		var rows [][]float64
		var y []bool
		for i := range n {
			v := rapid.Float64Range(-5, 5).Draw(t, "v")
			rows = append(rows, []float64{1, v, rapid.Float64Range(-1, 1).Draw(t, "noise")})
			y = append(y, v > 0 || i == 0)
		}
		w := fitLogistic(rows, y, 5, nil)
		if all := !slices.Contains(y, false); all != (w == nil) {
			t.Fatalf("weights %v for labels %v", w, y)
		}
		for _, v := range w {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("weights %v", w)
			}
		}
		if again := fitLogistic(rows, y, 5, nil); !slices.Equal(w, again) {
			t.Fatalf("%v and then %v", w, again)
		}
	})
	rows := [][]float64{{1, -2}, {1, -1}, {1, 1}, {1, 2}}
	if w := fitLogistic(rows, []bool{false, false, true, true}, 1, nil); w[1] <= 0 {
		t.Errorf("weights %v, want a positive slope", w)
	}
}

func TestPercentileAndBand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		past := rapid.SliceOfN(rapid.IntRange(0, 300), 1, 200).Draw(t, "past")
		sorted := make([]float64, len(past))
		for i, v := range past {
			sorted[i] = extent{added: v, source: v / 2, files: 1}.size()
		}
		sort.Float64s(sorted)
		a, s := rapid.IntRange(0, 400).Draw(t, "added"), rapid.IntRange(0, 400).Draw(t, "source")
		low := percentile(sorted, extent{added: a, source: s, files: 1}.size())
		if low < 0 || low > 1 {
			t.Fatalf("percentile %v", low)
		}
		more := percentile(sorted, extent{added: a + rapid.IntRange(0, 50).Draw(t, "more"), source: s, files: 1}.size())
		if more < low || gravity[bandOf(more)] > gravity[bandOf(low)] {
			t.Fatalf("a larger change has a lower percentile: %v after %v", more, low)
		}
	})
}

// TestTenthOfThePastIsHigh checks the calibration: of a past's own changes, about a tenth is high.
func TestTenthOfThePastIsHigh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(50, 500).Draw(t, "n")
		scores := make([]float64, n)
		for i := range scores {
			scores[i] = rapid.Float64Range(0, 10).Draw(t, "score") + float64(i)/1e6
		}
		sort.Float64s(scores)
		high := 0
		for _, s := range scores {
			high += int(b2f(bandOf(percentile(scores, s)) == High))
		}
		if float64(high) > 0.1*float64(n)+1 || float64(high) < 0.1*float64(n)-1 {
			t.Fatalf("%d of %d are high", high, n)
		}
	})
}

func TestBarKeepsFalseAlarmsLow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-3, 3), 1, 300).Draw(t, "scores")
		share := rapid.Float64Range(0, 0.3).Draw(t, "share")
		bar := upper(v, share)
		n := 0
		for _, s := range v {
			n += int(b2f(s >= bar))
		}
		if float64(n) > share*float64(len(v)) {
			t.Fatalf("%d of %d reach the bar, %.2f may", n, len(v), share)
		}
	})
	if !math.IsInf(upper(nil, 0.05), -1) {
		t.Error("no scores, and yet a bar")
	}
}

func TestWilsonBound(t *testing.T) {
	for _, c := range []struct{ j, n, want float64 }{{0, 0, 0}, {0, 5, 0}, {3, 3, 0.75}, {90, 100, 0.866}} {
		if got := wilson(c.j, c.n); math.Abs(got-c.want) > 5e-4 {
			t.Errorf("%v of %v: %.4f, want %v", c.j, c.n, got, c.want)
		}
	}
}

func TestAreaUnderCurve(t *testing.T) {
	yes := []bool{false, true, false, true}
	for _, c := range []struct {
		scores []float64
		want   float64
	}{{[]float64{1, 2, 1, 2}, 1}, {[]float64{2, 1, 2, 1}, 0}, {[]float64{1, 1, 1, 1}, 0.5}, {[]float64{1, 2, 3, 4}, 0.75}} {
		if got, _ := areaUnderCurve(c.scores, yes); got != c.want {
			t.Errorf("%v: %v, want %v", c.scores, got, c.want)
		}
	}
}

func TestMoveOriginsKeepsLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) []byte {
			var b []byte
			for _, c := range rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "\n", "c d\n"}), 0, 30).Draw(t, name) {
				b = append(b, c...)
			}
			return b
		}
		before, after := text("before"), text("after")
		origin := make([]int32, len(splitLines(before)))
		for i := range origin {
			origin[i] = 7
		}
		hunks, added, deleted := diff(before, after)
		got := moveOrigins(origin, hunks, 3)
		if len(got) != len(splitLines(after)) {
			t.Fatalf("%d origins for %d lines", len(got), len(splitLines(after)))
		}
		mine := 0
		for _, o := range got {
			mine += int(b2f(o == 3))
		}
		if mine != added || len(origin)-deleted+added != len(got) {
			t.Fatalf("%d new lines, want %d", mine, added)
		}
	})
}

func splitLines(b []byte) [][]byte {
	return bytes.SplitAfter(b, []byte("\n"))[:bytes.Count(b, []byte("\n"))]
}

func diff(a, b []byte) ([]git.Hunk, int, int) {
	h, added, deleted, _ := git.LineDiff(a, b)
	return h, added, deleted
}

func TestTrimmedDifferenceIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := func(name string) []byte {
			return []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "\n", "c d\n", "x", "\x00", strings.Repeat("long ", 300) + "\n"}), 0, 12).Draw(t, name), ""))
		}
		head, tail := part("head"), part("tail")
		old := slices.Concat(head, part("old"), tail)
		new := slices.Concat(head, part("new"), tail)
		hunks, added, deleted, binary := lineDiff(old, new)
		wantHunks, wantAdded, wantDeleted, wantBinary := git.LineDiff(old, new)
		if !slices.Equal(hunks, wantHunks) || added != wantAdded || deleted != wantDeleted || binary != wantBinary {
			t.Fatalf("%q to %q: %v, want %v", old, new, hunks, wantHunks)
		}
	})
}
