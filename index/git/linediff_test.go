package git

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// patched applies hunks: the lines outside them must be those of old.
func patched(old, new []string, hunks []Hunk) ([]string, error) {
	var out []string
	i := 0
	for n, h := range hunks {
		start := h.OldStart - 1
		if h.OldLines == 0 {
			start++
		}
		newStart := h.NewStart - 1
		if h.NewLines == 0 {
			newStart++
		}
		if start < i || n > 0 && start == i || start+h.OldLines > len(old) || newStart+h.NewLines > len(new) || h.OldLines+h.NewLines == 0 {
			return nil, fmt.Errorf("hunk %d out of place: %+v", n, h)
		}
		out = append(out, old[i:start]...)
		if len(out) != newStart {
			return nil, fmt.Errorf("hunk %d: new start %d, want %d", n, newStart, len(out))
		}
		out = append(out, new[newStart:newStart+h.NewLines]...)
		i = start + h.OldLines
	}
	return append(out, old[i:]...), nil
}

// shortest is the least number of changed lines, by the quadratic textbook algorithm.
func shortest(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return len(a) + len(b) - 2*row[len(b)]
}

func TestLineDiffIsShortestAndApplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "d\n"})
		old := rapid.SliceOfN(line, 0, 60).Draw(t, "old")
		new := rapid.SliceOfN(line, 0, 60).Draw(t, "new")
		hunks, added, deleted, binary := LineDiff([]byte(strings.Join(old, "")), []byte(strings.Join(new, "")))
		if binary {
			t.Fatal("text taken for binary")
		}
		got, err := patched(old, new, hunks)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "") != strings.Join(new, "") {
			t.Fatalf("hunks %v give %q", hunks, got)
		}
		if want := shortest(old, new); added+deleted != want {
			t.Fatalf("%d changed lines, the least is %d", added+deleted, want)
		}
	})
}

func TestLineDiffHunks(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		want           []Hunk
	}{
		{"equal", "a\nb\n", "a\nb\n", nil},
		{"both empty", "", "", nil},
		{"created", "", "a\nb\n", []Hunk{{0, 0, 1, 2}}},
		{"emptied", "a\nb\n", "", []Hunk{{1, 2, 0, 0}}},
		{"insertion at the top", "b\n", "a\nb\n", []Hunk{{0, 0, 1, 1}}},
		{"insertion names the line before", "a\nc\n", "a\nb\nc\n", []Hunk{{1, 0, 2, 1}}},
		{"replacement", "a\nb\nc\n", "a\nx\nc\n", []Hunk{{2, 1, 2, 1}}},
		{"line end added", "a\nb", "a\nb\n", []Hunk{{2, 1, 2, 1}}},
		{"slides down", "f\n}\n\n", "f\n}\n\nf\n}\n\n", []Hunk{{3, 0, 4, 3}}},
		{"carriage return counts", "a\r\n", "a\n", []Hunk{{1, 1, 1, 1}}},
	} {
		hunks, _, _, _ := LineDiff([]byte(c.old), []byte(c.new))
		if fmt.Sprint(hunks) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, hunks, c.want)
		}
	}
	if _, _, _, binary := LineDiff([]byte("a\x00b"), []byte("c")); !binary {
		t.Error("a NUL byte is not taken for binary")
	}
}

// Hostile texts: many equal lines in another order are the worst case of the algorithm.
func TestLineDiffOfHostileTextsIsBounded(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	text := func(lines, distinct int) []byte {
		var b bytes.Buffer
		for range lines {
			fmt.Fprintf(&b, "%d\n", rnd.IntN(distinct))
		}
		return b.Bytes()
	}
	for _, distinct := range []int{2, 100, 100_000} {
		old, new := text(50_000, distinct), text(50_000, distinct)
		start := time.Now()
		hunks, _, _, _ := LineDiff(old, new)
		t.Logf("%d distinct lines: %v, %d hunks", distinct, time.Since(start), len(hunks))
		a, b := strings.SplitAfter(string(old), "\n"), strings.SplitAfter(string(new), "\n")
		got, err := patched(a[:len(a)-1], b[:len(b)-1], hunks)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "") != string(new) {
			t.Fatal("hunks do not give the new text")
		}
	}
}

func FuzzLineDiff(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("b\nc\n"))
	f.Add([]byte(""), []byte("\n\n\n"))
	f.Add([]byte("x\ny\nx\ny"), []byte("y\nx\ny\nx\n"))
	f.Fuzz(func(t *testing.T, old, new []byte) {
		hunks, _, _, binary := LineDiff(old, new)
		if binary {
			return
		}
		a, b := splitLines(old), splitLines(new)
		got, err := patched(a, b, hunks)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "") != string(new) {
			t.Fatal("hunks do not give the new text")
		}
	})
}

func splitLines(b []byte) []string {
	lines := strings.SplitAfter(string(b), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
