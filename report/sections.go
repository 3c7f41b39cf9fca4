package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/risk"
)

// findings is the table above the first fold.
func (p *page) findings() {
	rows := p.rows()
	if len(rows) == 0 || p.d.rows == 0 {
		return
	}
	shown := min(len(rows)-p.infos(), p.d.rows)
	if shown > 0 {
		p.line("", "| | |", "|---|---|")
		p.line(rows[:shown]...)
	}
	rest := rows[shown:]
	if p.d.evidence && !p.quiet() && len(rest) <= p.infos() {
		return // what only informs stands beside its figures
	}
	if len(rest) > 0 {
		end := p.fold(plural(len(rest), "more finding"))
		p.line("| | |", "|---|---|")
		p.line(rest...)
		end()
	}
}

// informs reports whether a signal stands only in the fold: information, the size and the scope apart,
// which tell what the change is.
func informs(s risk.Signal) bool {
	return s.Level == risk.Info && s.Name != "size" && s.Name != "scope"
}

// infos counts the signals that only inform; rows has them last.
func (p *page) infos() int {
	n := 0
	if p.r.Risk != nil {
		for _, s := range head(p.r.Risk.Signals) {
			if informs(s) && (s.Name != "companions" || len(p.r.Risk.Companions) == 0) && s.Why != p.r.Verdict.Reason && !p.gated(s.Name) {
				n++
			}
		}
	}
	return n
}

// rows are the findings, what blocks first: gates that did not pass, companions, signals, gates that
// passed.
func (p *page) rows() []string {
	var rows, info []string
	row := func(title, body string) string { return "| **" + text(title) + "** | " + body + " |" }
	for _, g := range head(p.r.Gates) {
		if gateSpeaks(g) {
			rows = append(rows, row("Gate "+g.State, gateLine(g, p.names)))
		}
	}
	if r := p.r.Risk; r != nil {
		if len(r.Companions) > 0 {
			rows = append(rows, row("Missing companion", p.companions(r.Companions)))
		}
		for _, s := range head(r.Signals) {
			if s.Name == "companions" && len(r.Companions) > 0 {
				continue
			}
			if s.Why == p.r.Verdict.Reason || p.gated(s.Name) {
				continue // the heading, or the gate, says the same
			}
			line := row(s.Title, prose(s.Why, p.names...))
			if informs(s) {
				info = append(info, line)
			} else {
				rows = append(rows, line)
			}
		}
	}
	var pass []string
	for _, g := range head(p.r.Gates) {
		if g.State == GatePass {
			pass = append(pass, gateLine(g, p.names))
		}
	}
	if n := len(pass); n > 0 {
		if n > 4 {
			pass = append(pass[:3:3], fmt.Sprintf("%d more", n-3))
		}
		line := row("Gates", strings.Join(pass, "; ")+": pass")
		at := min(len(rows), max(p.d.rows-1, 0)) // the last line above the fold
		rows = append(rows[:at:at], append([]string{line}, rows[at:]...)...)
	}
	return append(rows, info...)
}

// gated reports whether a gate of the signal's name says already what the signal says.
func (p *page) gated(signal string) bool {
	if signal != "control-plane" && signal != "tests" {
		return false
	}
	return slices.ContainsFunc(head(p.r.Gates), func(g Gate) bool { return g.Name == signal && gateSpeaks(g) })
}

// companions is one line: the strongest in full, the others by their figures.
func (p *page) companions(cs []risk.Companion) string {
	var b strings.Builder
	for i, c := range cs {
		if i == 3 {
			fmt.Fprintf(&b, "; %d more", len(cs)-3)
			break
		}
		if i > 0 {
			fmt.Fprintf(&b, "; %s: %d of %d", code(c.Path), c.Joint, c.Of)
			switch {
			case c.Partner == "":
				b.WriteString(" " + prose(c.Because, p.names...))
			case c.Partner != cs[0].Partner:
				b.WriteString(" of " + code(c.Partner))
			}
			fmt.Fprintf(&b, " (%s)", percent(c.Confidence))
			continue
		}
		if c.Partner == "" { // a rule, not a file, predicts it
			fmt.Fprintf(&b, "%s: in %d of the last %d %s (%s)", code(c.Path), c.Joint, c.Of, prose(c.Because, p.names...), percent(c.Confidence))
		} else {
			fmt.Fprintf(&b, "%s: in %d of the last %s of %s (%s)", code(c.Path), c.Joint, plural(c.Of, "change"), code(c.Partner), percent(c.Confidence))
		}
		if c.LastCommit != "" {
			b.WriteString(", last " + code(short(c.LastCommit)))
		}
		if s := p.ago(c.LastTime); s != "" {
			b.WriteString(", " + s)
		}
	}
	return b.String()
}

// ago is a time against the history's tip, so that it never depends on the clock.
func (p *page) ago(t int64) string {
	now := p.r.History.TipTime
	switch {
	case t <= 0:
		return ""
	case now < t:
		return time.Unix(t, 0).UTC().Format("2006-01-02")
	case now-t < 86400:
		return "the same day"
	}
	return plural(int((now-t)/86400), "day") + " before"
}

func percent(x float64) string {
	if math.IsNaN(x) || x < 0 || x > 1 {
		return "?"
	}
	return strconv.Itoa(int(math.Round(100*x))) + "%"
}

// gateLine is a gate's value, and its change against the baseline or its bar.
func gateLine(g Gate, names []string) string {
	s := text(g.Name)
	if g.Metric != "" && g.Metric != g.Name+"_score" {
		s += " " + text(g.Metric)
	}
	if g.Value == nil {
		if g.Detail != "" && g.State != GatePass {
			s += ": " + prose(g.Detail, names...)
		}
		return s
	}
	s += " " + num(*g.Value)
	var in []string
	if g.BaseValue != nil {
		in = append(in, signed(*g.Value-*g.BaseValue))
	}
	if g.Bar != nil {
		in = append(in, "bar "+num(*g.Bar))
	}
	if g.Tolerance != nil {
		in = append(in, "tolerance "+num(*g.Tolerance))
	}
	if len(in) > 0 {
		s += " (" + strings.Join(in, ", ") + ")"
	}
	if gateSpeaks(g) && g.Detail != "" {
		s += ": " + prose(g.Detail, names...)
	}
	return s
}

// num writes a measurement with at most four significant digits.
func num(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// signed is a difference: ±0, +0.01, −0.01.
func signed(x float64) string {
	x = math.Round(x*1e4) / 1e4
	switch {
	case x > 0:
		return "+" + num(x)
	case x < 0:
		return "−" + num(-x)
	}
	return "±0"
}

// context is the fold with the ranked files.
func (p *page) context() {
	b := p.r.Context
	if b == nil || len(b.Files) == 0 || p.r.Change.LockOnly {
		return
	}
	s := "Context for this change: " + plural(len(b.Files), "file")
	if b.Budget.Tokens > 0 {
		s += fmt.Sprintf(", %s of %s tokens", count(b.Used.Tokens), count(b.Budget.Tokens))
	}
	end := p.fold(s)
	p.contextTable()
	end()
}

func (p *page) contextTable() {
	b := p.r.Context
	if b == nil || len(b.Files) == 0 || p.r.Change.LockOnly { // nobody reads code beside a lock file
		return
	}
	top := min(p.d.top, len(b.Files))
	if top > 0 {
		p.fileRows(b.Files[:top], 0)
	}
	rest := b.Files[top:]
	switch show := min(p.d.rest, len(rest)); {
	case len(rest) == 0:
	case show == 0:
		p.line("", plural(len(rest), "more file")+" in the full report.")
	default:
		end := p.fold(plural(len(rest), "more file"))
		p.fileRows(rest[:show], top)
		if n := len(rest) - show; n > 0 {
			p.line("", plural(n, "more file")+" in the full report.")
		}
		end()
	}
}

// fileRows numbers the files by their place in the bundle: a companion's rank says little.
func (p *page) fileRows(files []pick.File, from int) {
	p.line("", "| # | file | why |", "|--:|---|---|")
	for i, f := range files {
		name := code(f.Path)
		if p.changed[f.Path] {
			name += " changed"
		}
		p.line(fmt.Sprintf("| %d | %s | %s |", from+i+1, name, p.why(f)))
	}
}

func (p *page) why(f pick.File) string {
	if f.Why() == "" && f.Shadow != nil {
		s := f.Shadow
		return fmt.Sprintf("changed with %s %d times (%s)", code(s.Partner), s.Joint, percent(s.Confidence))
	}
	names := p.names
	if f.Shadow != nil {
		names = append(names[:len(names):len(names)], f.Shadow.Partner)
	}
	return prose(f.Why(), names...)
}

// knowers names people by their share, from history, without mentioning them.
func (p *page) knowers() {
	if p.r.Risk == nil || len(p.r.Risk.Knowers) == 0 || !p.d.knowers {
		return
	}
	var who []string
	for i, k := range p.r.Risk.Knowers {
		if i == 5 {
			who = append(who, fmt.Sprintf("%d more", len(p.r.Risk.Knowers)-5))
			break
		}
		who = append(who, textMax(k.Name, 80)+" ("+percent(k.Share)+")")
	}
	end := p.fold("Who knows these files")
	p.line("Authors of their recent changes: " + strings.Join(who, ", "))
	end()
}

// MaxGraph is the number of nodes above which a graph is no longer read at a glance.
const MaxGraph = 20

// graph is the neighbourhood of the change, when it is small enough to read.
func (p *page) graph() {
	g := p.r.Graph
	if g == nil || !p.d.graph || len(g.Nodes) < 2 || len(g.Nodes) > MaxGraph || len(g.Edges) == 0 {
		return
	}
	end := p.fold(fmt.Sprintf("How the changed files hang together: %s, %s", plural(len(g.Nodes), "file"), plural(len(g.Edges), "tie")))
	p.line("```mermaid", "graph LR")
	for i, n := range g.Nodes {
		open, shut := "[", "]"
		if n.Kind == "changed" {
			open, shut = "([", "])"
		}
		p.line(fmt.Sprintf("  n%d%s\"%s\"%s", i, open, mermaidLabel(n.Path), shut))
	}
	for _, e := range g.Edges {
		if e.From < 0 || e.To < 0 || e.From >= len(g.Nodes) || e.To >= len(g.Nodes) {
			continue
		}
		arrow := "-->"
		if e.Kind == "changes_with" {
			arrow = "-.->"
		}
		p.line(fmt.Sprintf("  n%d %s n%d", e.From, arrow, e.To))
	}
	p.line("```", "", "Rounded: changed. Solid: imports. Dotted: usually changes with.")
	end()
}

// evidence is the figures behind each finding, and the commands that show them.
func (p *page) evidence() {
	r := p.r.Risk
	if r == nil || !p.d.evidence {
		return
	}
	var lines []string
	for _, s := range head(r.Signals) {
		var in []string
		for i, n := range s.Numbers {
			if i == 6 {
				in = append(in, fmt.Sprintf("%d more", len(s.Numbers)-6))
				break
			}
			in = append(in, figure(n))
		}
		l := "- **" + text(s.Title) + "** (" + text(string(s.Level)) + "): " + strings.Join(in, ", ")
		if informs(s) && s.Why != "" {
			l += "; " + prose(s.Why, p.names...)
		}
		if s.Command != "" {
			l += "; " + codeMax(s.Command, 300)
		}
		lines = append(lines, l)
	}
	for _, g := range head(p.r.Gates) {
		if g.Command != "" {
			lines = append(lines, "- gate "+text(g.Name)+" ("+text(g.Mode)+"): "+codeMax(g.Command, 300))
		}
	}
	if r.Worth != "" {
		lines = append(lines, "- The band: "+prose(r.Worth, p.names...))
	}
	if len(lines) == 0 {
		return
	}
	end := p.fold("The figures, and the commands that show them")
	p.line(lines...)
	end()
}

// figure is a number with its name and unit: "added 12 lines", "auth 1 file", "files 2".
func figure(n risk.Number) string {
	return strings.TrimSpace(textMax(n.Name, 60) + " " + textMax(quantity(n), 60))
}

// quantity is a number with its unit, which is left out where the name says it.
func quantity(n risk.Number) string {
	u := n.Unit
	if n.Value == 1 && (u == "lines" || u == "files" || u == "commits") {
		u = u[:len(u)-1]
	}
	if u == "" || n.Name == n.Unit || strings.HasPrefix(n.Name, n.Unit+" ") || strings.HasSuffix(n.Name, " "+n.Unit) {
		return num(n.Value)
	}
	return num(n.Value) + " " + u
}

// files lists the change itself; only where no other page does.
func (p *page) files() {
	fs := p.r.Change.Files
	if p.d.files == 0 || len(fs) == 0 {
		return
	}
	end := p.fold(fmt.Sprintf("Changed files: %s, +%s −%s", count(len(fs)), count(p.r.Change.Added), count(p.r.Change.Deleted)))
	p.line("| file | | + | − |", "|---|---|--:|--:|")
	show := min(len(fs), p.d.files)
	for _, f := range fs[:show] {
		name := code(f.Path)
		if f.OldPath != "" && f.OldPath != f.Path {
			name += " from " + code(f.OldPath)
		}
		p.line(fmt.Sprintf("| %s | %s | %s | %s |", name, text(f.Status), count(f.Added), count(f.Deleted)))
	}
	if n := len(fs) - show; n > 0 {
		p.line("", plural(n, "more file")+".")
	}
	end()
}
