package pick

import (
	"bytes"

	"github.com/ctxt-dev/ctxt/analyze/score"
	"github.com/ctxt-dev/ctxt/index"
)

// windowLines is how many lines a window has: longer definitions are cut into windows, and windows
// that touch are joined again in the bundle. Small windows reach more of the places that a change
// touches; docs/quality.md has the figures.
const windowLines = 6

// unit is a run of lines that enters the bundle as a whole.
type unit struct {
	file   int // index into packer.files
	start  int // lines, 1-based, inclusive
	end    int
	tokens int // estimated
	gain   float64
	terms  []int
	name   string
	head   bool // the first lines of a definition
}

// text is one file's content, by lines.
type text struct {
	data   []byte
	starts []int // of the lines, in bytes, and the end of the last
	tokens []int // estimated, running sums: tokens[i] is the cost of the first i lines
}

func newText(data []byte) *text {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	t := &text{data: data, starts: make([]int, 1, n+1), tokens: make([]int, 1, n+1)}
	for at := 0; at < len(data); {
		tokens, length := estimateTo(data[at:], byteEnd)
		at += length
		t.starts = append(t.starts, at)
		t.tokens = append(t.tokens, t.tokens[len(t.tokens)-1]+tokens)
	}
	return t
}

// count is the number of lines.
func (t *text) count() int { return len(t.starts) - 1 }

// cost is the estimated tokens of lines start to end.
func (t *text) cost(start, end int) int {
	if start > end || start < 1 || end > t.count() {
		return 0
	}
	return t.tokens[end] - t.tokens[start-1]
}

// join returns lines start to end as they are.
func (t *text) join(start, end int) string { return string(t.data[t.starts[start-1]:t.starts[end]]) }

// units cuts a file into windows, each scored as a document of its own.
func units(r *score.Ranking, f *index.File, id, at int, t *text) []unit {
	stretches := r.Stretches(id)
	out := make([]unit, 0, t.count()/windowLines+len(stretches))
	for _, s := range stretches {
		end := trimBlank(t, s.Start, min(s.End, t.count()))
		for start := s.Start; start <= end; {
			stop := min(start+windowLines-1, end)
			if end-stop < windowLines/3 {
				stop = end
			}
			w := r.Window(id, start, stop)
			u := unit{file: at, start: start, end: stop, gain: w.Score, terms: w.Terms, tokens: t.cost(start, stop), head: start == s.Start}
			if s.Symbol >= 0 {
				u.name = f.Doc.Symbols[s.Symbol].Name
			}
			out = append(out, u)
			start = stop + 1
		}
	}
	return out
}

// trimBlank moves end up over blank lines.
func trimBlank(t *text, start, end int) int {
	for end > start && len(bytes.TrimSpace(t.data[t.starts[end-1]:t.starts[end]])) == 0 {
		end--
	}
	return end
}
