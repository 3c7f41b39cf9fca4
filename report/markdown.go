package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxt-dev/ctxt/analyze/risk"
)

// The platform's limits.
const (
	CommentLimit = 65536   // characters of a comment; counted in UTF-16 units, which are never fewer
	SummaryLimit = 1048576 // bytes of a job summary
)

// MarkdownOptions change the comment's frame, never its findings.
type MarkdownOptions struct {
	Marker     string // an HTML comment that is put first, as it is; counts towards the limit
	Limit      int    // in characters; 0: CommentLimit
	Provenance string // our own sentence about where the figures come from, put last
}

// detail is one rung of the size ladder: how much of each section is shown.
type detail struct {
	top, rest int  // context lines before and after the inner fold
	files     int  // changed files listed; a comment lists none, the platform shows them
	evidence  bool // the figures and commands behind the findings
	graph     bool
	knowers   bool
	rows      int // findings above the fold
}

var commentLadder = []detail{
	{top: 10, rest: 90, evidence: true, graph: true, knowers: true, rows: 6},
	{top: 10, rest: 40, evidence: true, knowers: true, rows: 6},
	{top: 10, rest: 10, knowers: true, rows: 6},
	{top: 10, knowers: true, rows: 6},
	{top: 5, rows: 6},
	{rows: 4},
	{},
}

var summaryLadder = []detail{
	{top: 50, rest: 1000, files: 2000, evidence: true, graph: true, knowers: true, rows: 12},
	{top: 50, rest: 200, files: 300, evidence: true, graph: true, knowers: true, rows: 12},
	{top: 20, files: 50, evidence: true, knowers: true, rows: 12},
	{top: 10, rows: 6},
	{rows: 4},
	{},
}

// Markdown is the comment: the verdict and its reason first, at most seven lines above the first
// fold, a section with nothing to say absent. It is at most o.Limit characters of valid UTF-8, and
// its folds and fences are closed: what does not fit is counted, not cut.
func Markdown(r *Report, o MarkdownOptions) string {
	limit := o.Limit
	if limit <= 0 || limit > CommentLimit {
		limit = CommentLimit
	}
	return fitted(r, o, commentLadder, func(s string) bool { return units(s) <= limit })
}

// Summary is the job summary: the comment with longer lists, at most SummaryLimit bytes.
func Summary(r *Report) string { return SummaryMax(r, SummaryLimit) }

// SummaryMax is Summary within fewer bytes, where a summary already holds text.
func SummaryMax(r *Report, limit int) string {
	s := fitted(r, MarkdownOptions{}, summaryLadder, func(s string) bool { return len(s) <= limit })
	if len(s) > limit {
		return ""
	}
	return s
}

// shownMost is how many findings, gates, notes or problems a page looks at; the JSON has them all.
const shownMost = 40

// head is the first shownMost elements.
func head[T any](s []T) []T { return s[:min(len(s), shownMost)] }

func fitted(r *Report, o MarkdownOptions, ladder []detail, fits func(string) bool) string {
	var s string
	for _, d := range ladder {
		if s = render(r, o, d); fits(s) {
			return s
		}
	}
	return s
}

// units counts UTF-16 units, of which there are at least as many as characters.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// page is a report on its way to Markdown.
type page struct {
	r       *Report
	d       detail
	names   []string        // paths that sentences may quote
	changed map[string]bool // paths of the change
	b       strings.Builder
}

func render(r *Report, o MarkdownOptions, d detail) string {
	p := &page{r: r, d: d, changed: map[string]bool{}}
	for _, f := range r.Change.Files {
		p.changed[f.Path] = true
		if len(p.names) < 64 {
			p.names = append(p.names, f.Path)
		}
	}
	if r.Risk != nil {
		for _, c := range head(r.Risk.Companions) {
			p.names = append(p.names, c.Path, c.Partner)
		}
		for _, s := range head(r.Risk.Signals) {
			p.names = append(p.names, s.Files[:min(len(s.Files), 8)]...)
		}
	}
	if o.Marker != "" {
		p.line(o.Marker)
	}
	p.section("verdict", p.heading)
	if p.quiet() {
		p.section("details", p.oneFold)
		p.section("notes", p.notes)
	} else {
		p.section("findings", p.findings)
		p.section("context", p.context)
		p.section("authors", p.knowers)
		p.section("graph", p.graph)
		p.section("evidence", p.evidence)
		p.section("files", p.files)
		p.section("notes", p.notes)
		p.section("origin", p.origin)
	}
	if o.Provenance != "" {
		p.line("", "<sub>"+text(o.Provenance)+"</sub>")
	}
	return strings.ToValidUTF8(p.b.String(), "\ufffd")
}

// section runs one part; a part that fails is named, and the others stand.
func (p *page) section(name string, f func()) {
	mark := p.b.String()
	defer func() {
		if v := recover(); v != nil {
			p.b.Reset()
			p.b.WriteString(mark)
			p.line("", "<sub>The section "+name+" could not be rendered.</sub>")
		}
	}()
	f()
}

func (p *page) line(lines ...string) {
	for _, l := range lines {
		p.b.WriteString(l)
		p.b.WriteByte('\n')
	}
}

// fold opens a folded part; the caller writes its content and calls the result. summary is inert.
func (p *page) fold(summary string) (end func()) {
	p.line("", "<details><summary>"+summary+"</summary>", "")
	return func() { p.line("", "</details>") }
}

var symbols = map[string]string{"low": "🟢", "medium": "🟠", "high": "🔴", "blocked": "⛔"}

func (p *page) heading() {
	level := p.r.Verdict.Level
	words := "Not assessed"
	switch level {
	case "low", "medium", "high":
		words = strings.ToUpper(level[:1]) + level[1:] + " risk"
	case "blocked":
		words = "Blocked"
	}
	symbol := symbols[level]
	if symbol == "" {
		symbol = "⚪"
	}
	s := "### " + symbol + " " + words
	if reason := prose(p.r.Verdict.Reason, p.names...); reason != "" {
		s += ": " + reason
	}
	p.line(s)
}

// quiet reports whether two lines are enough: a low verdict, nothing missing, no signal above low,
// no gate with anything to say; or a program's change of that kind, or one of lock files alone.
func (p *page) quiet() bool {
	r := p.r
	if slices.ContainsFunc(r.Gates, gateSpeaks) || len(r.Problems) > 0 {
		return false
	}
	if r.Verdict.Level != "low" {
		return (r.Change.LockOnly || r.Change.Automated != "") && r.Verdict.Level != "high" && r.Verdict.Level != "blocked"
	}
	if r.Change.LockOnly || r.Change.Automated != "" {
		return true
	}
	return r.Risk != nil && len(r.Risk.Companions) == 0 && !slices.ContainsFunc(r.Risk.Signals, func(s risk.Signal) bool {
		return s.Level == risk.Medium || s.Level == risk.High
	})
}

// gateSpeaks reports whether a gate did not simply pass.
func gateSpeaks(g Gate) bool { return g.State != GatePass && g.State != GateNotConfigured }

// oneFold is the second line of a quiet comment: everything else behind one line of figures.
func (p *page) oneFold() {
	var head []string
	if b := p.r.Context; b != nil && len(b.Files) > 0 && !p.r.Change.LockOnly {
		head = append(head, "context of "+plural(len(b.Files), "file"))
	}
	if n := passed(p.r.Gates); n > 0 {
		head = append(head, plural(n, "gate")+" passed")
	}
	if n := len(p.rows()) - min(passed(p.r.Gates), 1); n > 0 && p.d.rows > 0 {
		head = append(head, plural(n, "finding"))
	}
	head = append(head, "how to reproduce")
	end := p.fold("Details: " + strings.Join(head, ", "))
	p.findings()
	p.contextTable()
	p.knowers()
	p.evidence()
	p.files()
	p.origin()
	end()
}

func passed(gates []Gate) int {
	n := 0
	for _, g := range gates {
		if g.State == GatePass {
			n++
		}
	}
	return n
}

// notes says what could not be made, and the limits of what was.
func (p *page) notes() {
	var lines []string
	for _, x := range head(p.r.Problems) {
		lines = append(lines, "Could not be made: "+text(x.Section)+": "+prose(x.Message, p.names...))
	}
	for _, n := range head(p.r.Notes) {
		lines = append(lines, prose(n, p.names...))
	}
	if p.r.Risk != nil {
		for _, n := range head(p.r.Risk.Notes) {
			if p.r.History.Shallow && strings.HasPrefix(n, "history limited to ") {
				continue // said below
			}
			lines = append(lines, prose(n, p.names...))
		}
	}
	if h := p.r.History; h.Shallow {
		what := "companions and hotspots rest on little"
		if p.r.Risk == nil || !p.r.Risk.Assessed {
			what = "companions and hotspots not assessed"
		}
		lines = append(lines, fmt.Sprintf("History limited to %s: %s; set `fetch-depth: 0`", plural(h.Commits, "commit"), what))
	}
	if n := len(p.r.IndexSkips); n > 0 {
		s := p.r.IndexSkips[0]
		lines = append(lines, fmt.Sprintf("%s not indexed, first %s: %s", plural(n, "file"), code(s.Path), text(s.Reason)))
	}
	if len(lines) > 5 {
		lines = append(lines[:4:4], fmt.Sprintf("%d more in the full report", len(lines)-4))
	}
	for _, l := range lines {
		p.line("", "<sub>"+l+"</sub>")
	}
}

// origin is the last line: how to get the same result.
func (p *page) origin() {
	var parts []string
	if p.r.Reproduce != "" {
		parts = append(parts, "Same result on your machine: "+codeMax(p.r.Reproduce, 600))
	}
	if h := p.r.History; h.Commits > 0 && !h.Shallow {
		s := "history: " + plural(h.Commits, "commit")
		if h.Tip != "" {
			s += " to " + code(short(h.Tip))
		}
		parts = append(parts, s)
	}
	if p.r.Tool != "" {
		parts = append(parts, text(p.r.Tool))
	}
	if len(parts) > 0 {
		p.line("", "<sub>"+strings.Join(parts, ", ")+"</sub>")
	}
}

func short(commit string) string {
	if len(commit) > 7 && utf8.ValidString(commit[:7]) {
		return commit[:7]
	}
	return commit
}

// plural is "1 file" or "1,234 files".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// count writes a whole number with commas.
func count(n int) string {
	if n < 0 {
		return "−" + count(-n)
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
