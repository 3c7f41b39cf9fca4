package risk

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
)

// sizeSignal says how large and how spread the change is against the repository's own newest changes.
// Entropy is that of the changed lines over the files, in bits (Hassan 2009).
func (a *assessor) sizeSignal() {
	n := len(a.in.Change.Files)
	if n == 0 {
		return
	}
	dirs := folders(a.paths)
	g := Signal{Name: "size", Title: "Size", Level: Info, Command: "git diff --stat " + a.revisions()}
	lines := []Number{{"added", float64(a.added), "lines"}, {"deleted", float64(a.deleted), "lines"}}
	more := []Number{{"files", float64(n), "files"}, {"source added", float64(a.source), "lines"}, {"folders", float64(dirs), "folders"}, {"entropy", round(entropy(a.in.Change.Files)), "bits"}}
	var ranks []Number
	g.Why = fmt.Sprintf("+%d −%d in %s, %s", a.added, a.deleted, count(n, "file"), count(dirs, "folder"))
	if a.out.Assessed {
		size := percentile(a.sample.sizes, a.size())
		spread := percentile(a.sample.files, float64(n))
		g.Level = a.out.Band
		ranks = []Number{{"score", round(100 * a.out.Score), "percentile"}, {"size", round(100 * size), "percentile"},
			{"such lines later fixed", round(a.relative), "times the average"}}
		more = append(more, Number{"spread", round(100 * spread), "percentile"})
		g.Why += fmt.Sprintf(": larger than %.0f%% of this repository's last %d changes", math.Floor(100*size), len(a.sample.scores)) + a.ranked(size)
	}
	g.Numbers = slices.Concat(lines, ranks, more) // the report shows the first six
	g.Files = largest(a.in.Change.Files, 3)
	a.add(g)
}

// notable is from how many times the average the past of the files is worth a word; the inverse, where
// it lowered the band.
const notable = 1.5

// ranked says what else than the size made the score, where that matters.
func (a *assessor) ranked(size float64) string {
	moved := bandOf(size) != a.out.Band
	often := a.relative >= notable || moved && a.relative <= 1/notable
	if !moved && !often {
		return ""
	}
	why := ""
	if often {
		why = fmt.Sprintf("in files whose lines were later fixed %.1f times as often as the average", a.relative)
	}
	if history.IsFix(a.in.Title) {
		why = strings.TrimSpace("as a fix " + why)
	}
	if why == "" {
		why = "with the past of its files"
	}
	return fmt.Sprintf("; %s, it ranks above %.0f%%", why, math.Floor(100*a.out.Score))
}

func entropy(fs []git.FileDiff) float64 {
	total := 0
	for _, f := range fs {
		total += f.Added + f.Deleted
	}
	e := 0.0
	for _, f := range fs {
		if n := f.Added + f.Deleted; n > 0 {
			p := float64(n) / float64(total)
			e -= float64(p * math.Log2(p))
		}
	}
	return e
}

// largest names the files with most changed lines.
func largest(fs []git.FileDiff, n int) []string {
	order := append([]git.FileDiff(nil), fs...)
	sort.SliceStable(order, func(i, j int) bool {
		if x, y := order[i].Added+order[i].Deleted, order[j].Added+order[j].Deleted; x != y {
			return x > y
		}
		return order[i].Path < order[j].Path
	})
	var out []string
	for _, f := range order[:min(n, len(order))] {
		out = append(out, f.Path)
	}
	return out
}

// round keeps two decimals, so that figures are the same on every processor.
func round(v float64) float64 { return math.Round(v*100) / 100 }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits + " " + noun + "s"
}
