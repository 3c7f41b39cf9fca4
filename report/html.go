package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's parts are files
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"strings"
	"sync"

	"github.com/ctxt-dev/ctxt/analyze/score"
)

var (
	//go:embed page/style.css
	pageStyle string
	//go:embed page/script.js
	pageScript string
	//go:embed page/body.html
	pageBody string

	bodyTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("body").Parse(pageBody)) })
)

// What the page shows of long lists; the JSON has them all.
const (
	htmlFiles   = 500
	htmlChanged = 500
)

// HTML is the report as one self-contained page: no network (its content policy allows only its own
// style and script, by their hashes), readable on a phone and in the dark, and complete without
// script, which only sorts and filters the table of the context.
func HTML(r *Report) string {
	var b bytes.Buffer
	title := Plain(r.Title, 120)
	if title == "" {
		title = short(r.Head)
	}
	fmt.Fprintf(&b, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<title>ctxt: %s</title>
<style>%s</style>
</head>
<body>
`, hash(pageStyle), hash(pageScript), template.HTMLEscapeString(title), pageStyle)
	if err := bodyTemplate().Execute(&b, viewOf(r)); err != nil {
		fmt.Fprintf(&b, "<p>The report could not be rendered: %s</p>\n", template.HTMLEscapeString(err.Error()))
	}
	fmt.Fprintf(&b, "<script>%s</script>\n</body>\n</html>\n", pageScript)
	return b.String()
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// view is what the page's template reads: texts made plain, numbers made lengths.
type view struct {
	Level, Words, Reason, Title, Base, Head, Changed, Commits, Band, Worth string
	Added, Deleted, Percent, ScoreWidth                                    int
	Assessed                                                               bool
	Notes                                                                  []string
	Companions                                                             []viewCompanion
	Signals                                                                []viewSignal
	Gates                                                                  []viewGate
	Graph                                                                  drawing
	ContextSize                                                            string
	Keys                                                                   []string
	Files                                                                  []viewFile
	Knowers                                                                []viewKnower
	ChangedFiles                                                           []viewChanged
	ChangedMore                                                            int
	Reproduce, History, Tool                                               string
}

type (
	viewCompanion struct {
		Path, Partner, Percent string
		Joint, Of, Width       int
	}
	viewSignal struct{ Level, Title, Why, Numbers, Command string }
	viewGate   struct{ Name, State, Mode, Value, Base, Detail, Spark string }
	viewFile   struct {
		Rank, Tokens           int
		Path, Tier, Why, Score string
		Changed                bool
		Parts                  []viewPart
	}
	viewPart struct {
		K    int
		X, W string
		Name string
	}
	viewKnower struct {
		Name, Percent string
		Width         int
	}
	viewChanged struct {
		Path, Old, Status string
		Added, Deleted    int
	}
)

// words is a sentence for the page: plain, without the backticks that mark names elsewhere.
func words(s string) string { return strings.ReplaceAll(Plain(s, maxText), "`", "") }

func share(x float64) int {
	if math.IsNaN(x) {
		return 0
	}
	return int(math.Round(100 * min(max(x, 0), 1)))
}

func viewOf(r *Report) view {
	v := view{
		Level: Plain(r.Verdict.Level, 20), Words: "Not assessed", Reason: words(r.Verdict.Reason), Title: Plain(r.Title, maxText),
		Base: Plain(short(r.Base), 40), Head: Plain(short(r.Head), 40), Added: r.Change.Added, Deleted: r.Change.Deleted,
		Changed: plural(len(r.Change.Files), "file"), Commits: plural(r.Change.Commits, "commit"),
		Reproduce: Plain(r.Reproduce, 600), Tool: Plain(r.Tool, 100), Graph: draw(r.Graph),
	}
	switch r.Verdict.Level {
	case "low", "medium", "high":
		v.Words = strings.ToUpper(v.Level[:1]) + v.Level[1:] + " risk"
	case "blocked":
		v.Words = "Blocked"
	}
	if v.Reason == "" {
		v.Reason = v.Words
	}
	if h := r.History; h.Commits > 0 {
		v.History = "History: " + plural(h.Commits, "commit")
		if h.Shallow {
			v.History += " (shallow clone; set fetch-depth: 0)"
		}
		v.History += "."
	}
	for _, p := range head(r.Problems) {
		v.Notes = append(v.Notes, "Could not be made: "+words(p.Section)+": "+words(p.Message))
	}
	for _, n := range head(r.Notes) {
		v.Notes = append(v.Notes, words(n))
	}
	v.risk(r)
	v.gates(r)
	v.context(r)
	for _, f := range r.Change.Files[:min(len(r.Change.Files), htmlChanged)] {
		c := viewChanged{Path: Plain(f.Path, 300), Status: Plain(f.Status, 20), Added: f.Added, Deleted: f.Deleted}
		if f.OldPath != f.Path {
			c.Old = Plain(f.OldPath, 300)
		}
		v.ChangedFiles = append(v.ChangedFiles, c)
	}
	v.ChangedMore = len(r.Change.Files) - len(v.ChangedFiles)
	return v
}

func (v *view) risk(r *Report) {
	a := r.Risk
	if a == nil {
		return
	}
	v.Assessed, v.Band, v.Worth, v.Percent = a.Assessed, Plain(string(a.Band), 20), words(a.Worth), share(math.Floor(100*a.Score)/100)
	v.ScoreWidth = v.Percent * 220 / 100
	for _, n := range head(a.Notes) {
		v.Notes = append(v.Notes, words(n))
	}
	for _, c := range head(a.Companions) {
		by := c.Partner
		if by == "" {
			by = c.Because
		}
		v.Companions = append(v.Companions, viewCompanion{Plain(c.Path, 300), Plain(by, 300), percent(c.Confidence), c.Joint, c.Of, share(c.Confidence)})
	}
	for _, s := range head(a.Signals) {
		var in []string
		for _, n := range head(s.Numbers) {
			in = append(in, Plain(n.Name+" "+quantity(n), 80))
		}
		v.Signals = append(v.Signals, viewSignal{Plain(string(s.Level), 20), Plain(s.Title, 80), words(s.Why), strings.Join(in, ", "), Plain(s.Command, 300)})
	}
	for _, k := range head(a.Knowers) {
		v.Knowers = append(v.Knowers, viewKnower{Plain(k.Name, 80), percent(k.Share), share(k.Share)})
	}
}

func (v *view) gates(r *Report) {
	for _, g := range head(r.Gates) {
		x := viewGate{Name: Plain(g.Name+" "+g.Metric, 100), State: Plain(g.State, 20), Mode: Plain(g.Mode, 20), Detail: words(g.Detail)}
		if g.Value != nil {
			x.Value = num(*g.Value)
		}
		if g.BaseValue != nil {
			x.Base = num(*g.BaseValue)
		}
		if len(g.Past) > 1 {
			x.Spark = spark(g.Past[max(len(g.Past)-50, 0):])
		}
		v.Gates = append(v.Gates, x)
	}
}

// spark is a line of values in a field of 100 by 24.
func spark(values []float64) string {
	lo, hi := values[0], values[0]
	for _, x := range values {
		lo, hi = min(lo, x), max(hi, x)
	}
	if hi == lo {
		hi = lo + 1
	}
	var pts []string
	for i, x := range values {
		pts = append(pts, fmt.Sprintf("%.1f,%.1f", 2+96*float64(i)/float64(len(values)-1), 22-20*(x-lo)/(hi-lo)))
	}
	return strings.Join(pts, " ")
}

func (v *view) context(r *Report) {
	b := r.Context
	if b == nil {
		return
	}
	v.ContextSize = plural(len(b.Files), "file")
	if b.Budget.Tokens > 0 {
		v.ContextSize += fmt.Sprintf(", %s of %s tokens", count(b.Used.Tokens), count(b.Budget.Tokens))
	}
	for i := range score.NumSignals {
		v.Keys = append(v.Keys, strings.ReplaceAll(score.Signal(i).String(), "_", " "))
	}
	changed := map[string]bool{}
	for _, f := range r.Change.Files {
		changed[f.Path] = true
	}
	top := 0.0
	for _, f := range b.Files {
		top = max(top, f.Score)
	}
	for _, f := range b.Files[:min(len(b.Files), htmlFiles)] {
		x := viewFile{Rank: f.Rank, Tokens: f.Tokens, Path: Plain(f.Path, 300), Tier: Plain(string(f.Tier), 20), Why: words(f.Why()), Score: fmt.Sprintf("%.4f", f.Score), Changed: changed[f.Path]}
		if s := f.Shadow; s != nil && f.Reason == "" {
			x.Why = fmt.Sprintf("changed with %s %d times (%s)", Plain(s.Partner, 300), s.Joint, percent(s.Confidence))
		}
		at := 0.0
		part := func(k int, name string, c float64) {
			if top <= 0 || !(c > 0) {
				return
			}
			w := min(100*c/top, 100-at)
			x.Parts = append(x.Parts, viewPart{k, fmt.Sprintf("%.1f", at), fmt.Sprintf("%.1f", w), fmt.Sprintf("%s %.3f", name, c)})
			at += w
		}
		for k, p := range f.Parts[:min(len(f.Parts), score.NumSignals)] {
			part(k, Plain(p.Signal, 40), p.Contribution)
		}
		if len(f.Parts) == 0 {
			part(0, "score", f.Score)
		}
		v.Files = append(v.Files, x)
	}
}
