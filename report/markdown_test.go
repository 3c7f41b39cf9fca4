package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gmtext "github.com/yuin/goldmark/text"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/risk"
)

const marker = "<!-- ctxt:comment key=ctxt head=" + headSHA + " run=7 attempt=1 -->"

// update rewrites the golden files: UPDATE=1 go test ./report.
var update = os.Getenv("UPDATE") != ""

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	p := filepath.Join("testdata", name)
	if update {
		if err := os.WriteFile(p, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (UPDATE=1 rewrites it); got:\n%s", p, got)
	}
}

func sortedCases() []string {
	var names []string
	for n := range cases() {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func TestMarkdownGolden(t *testing.T) {
	for _, name := range sortedCases() {
		t.Run(name, func(t *testing.T) {
			r := cases()[name]
			got := Markdown(r, MarkdownOptions{Marker: marker})
			golden(t, name+".md", []byte(got))
			checkMarkdown(t, got)
			checkMarkdown(t, Summary(r))
			if again := Markdown(cases()[name], MarkdownOptions{Marker: marker}); again != got {
				t.Error("a second rendering differs")
			}
		})
	}
}

// TestFirstScreen holds the form: seven lines above the first fold, each with a number or a file.
func TestFirstScreen(t *testing.T) {
	hasFact := regexp.MustCompile("[0-9]|`")
	for _, name := range sortedCases() {
		md := Markdown(cases()[name], MarkdownOptions{})
		above, _, _ := strings.Cut(md, "<details>")
		n := 0
		for _, l := range strings.Split(above, "\n") {
			if l == "" || l == "| | |" || l == "|---|---|" {
				continue
			}
			n++
			if !hasFact.MatchString(l) {
				t.Errorf("%s: no number and no file: %s", name, l)
			}
		}
		if !strings.Contains(md, "<details>") {
			continue // nothing folded: a short page, its notes and its origin
		}
		if n > 7 {
			t.Errorf("%s: %d lines above the first fold", name, n)
		}
		if !strings.HasPrefix(md, "### ") {
			t.Errorf("%s: the first line is not the verdict", name)
		}
	}
	for _, name := range []string{"low", "bot"} {
		md := Markdown(cases()[name], MarkdownOptions{})
		lines := strings.Split(strings.TrimSpace(md), "\n")
		if lines[0] == "" || lines[2] != "<details><summary>"+strings.TrimPrefix(lines[2], "<details><summary>") || lines[len(lines)-1] != "</details>" {
			t.Errorf("%s: more than a verdict and one fold:\n%s", name, md)
		}
	}
}

var (
	// ownHTML is all the HTML that a comment may hold.
	ownHTML = regexp.MustCompile(`^(?:</?details>|</?summary>|</?sub>|</?code>)$`)
	tag     = regexp.MustCompile(`<[^<>]*>`)

	// What the platform links in rendered text outside of code. Lookbehind is written as a group.
	active = map[string]*regexp.Regexp{
		"mention":   regexp.MustCompile(`(?:^|[^\w])@[A-Za-z0-9]`),
		"reference": regexp.MustCompile(`(?i)(?:^|[^\w&])(?:[\w./-]*#|gh-)[0-9]`),
		"commit":    regexp.MustCompile(`\b[0-9a-f]{7,40}\b`),
		"URL":       regexp.MustCompile(`(?i)(?:https?|ftp)://|www\.[a-z0-9]`),
		"emoji":     regexp.MustCompile(`:[a-z0-9_+-]+:`),
	}
)

// checkMarkdown parses a page as GitHub would and fails on anything that only input could have put
// there.
func checkMarkdown(t interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}, md string) {
	t.Helper()
	if !utf8.ValidString(md) {
		t.Fatal("not valid UTF-8")
	}
	if units(md) > CommentLimit && len(md) > SummaryLimit {
		t.Fatalf("%d units, %d bytes", units(md), len(md))
	}
	if strings.Contains(md, "$") { // the platform finds formulas in the source
		t.Fatal("a dollar sign")
	}
	if open, shut := strings.Count(md, "<details>"), strings.Count(md, "</details>"); open != shut {
		t.Fatalf("%d details opened, %d closed", open, shut)
	}
	if n := strings.Count(md, "```"); n%2 != 0 || n != 2*strings.Count(md, "```mermaid\n") {
		t.Fatalf("fences: %d", n)
	}
	for _, r := range md {
		if hidden(r) && r != '\n' && r != '\u200b' {
			t.Fatalf("hidden character %U", r)
		}
	}
	src := []byte(md)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser().Parse(gmtext.NewReader(src))
	var words strings.Builder
	inCode := 0
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				words.WriteByte('\n')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link, *ast.AutoLink, *ast.Image:
			return 0, fmt.Errorf("%s in the page", n.Kind())
		case *ast.CodeSpan, *ast.CodeBlock:
			words.WriteByte(' ') // texts before and after are searched apart
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock:
			if string(n.Language(src)) != "mermaid" {
				return 0, fmt.Errorf("a fence of %q", n.Language(src))
			}
			return ast.WalkSkipChildren, nil
		case *ast.RawHTML:
			h := string(n.Segments.Value(src))
			if !ownHTML.MatchString(h) {
				return 0, fmt.Errorf("raw HTML %q", h)
			}
			switch h {
			case "<code>":
				inCode++
			case "</code>":
				inCode--
				words.WriteByte(' ')
			}
		case *ast.HTMLBlock:
			h := string(n.Lines().Value(src))
			if strings.HasPrefix(h, marker) {
				break
			}
			for _, x := range tag.FindAllString(h, -1) {
				if !ownHTML.MatchString(x) {
					return 0, fmt.Errorf("HTML %q in %q", x, h)
				}
			}
			words.WriteString(tag.ReplaceAllString(h, "") + "\n")
		case *ast.Heading:
			if n.Level != 3 {
				return 0, fmt.Errorf("heading of level %d", n.Level)
			}
		case *ast.Text:
			if inCode == 0 {
				words.Write(n.Segment.Value(src))
				if n.SoftLineBreak() || n.HardLineBreak() {
					words.WriteByte('\n')
				}
			}
		case *ast.String:
			if inCode == 0 {
				words.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, md)
	}
	if inCode != 0 {
		t.Fatal("<code> is not closed")
	}
	seen := unentity(words.String())
	for name, re := range active {
		if m := re.FindString(seen); m != "" {
			t.Fatalf("%s %q in the text %q", name, m, around(seen, m))
		}
	}
}

var numeric = regexp.MustCompile(`&#([0-9]+);`)

// unentity resolves the escaper's entities, as a browser shows them.
func unentity(s string) string {
	return numeric.ReplaceAllStringFunc(s, func(m string) string {
		var c rune
		fmt.Sscanf(m, "&#%d;", &c)
		return string(c)
	})
}

func around(s, m string) string {
	i := strings.Index(s, m)
	return strings.ToValidUTF8(s[max(i-40, 0):min(i+len(m)+40, len(s))], "?")
}

// TestTables holds that no cell is split or lost: every row has its table's number of cells.
func TestTables(t *testing.T) {
	md := Markdown(hostile(companionReport(), smuggled), MarkdownOptions{})
	rows := 0
	for _, l := range strings.Split(md, "\n") {
		if !strings.HasPrefix(l, "| ") {
			continue
		}
		rows++
		if n := strings.Count(l, "|"); n != 3 && n != 4 {
			t.Errorf("%d pipes in %s", n, l)
		}
	}
	if rows < 15 {
		t.Errorf("%d rows", rows)
	}
}

func TestEscapeForms(t *testing.T) {
	for _, c := range []struct{ in, code, text string }{
		{"store/lock.go", "`store/lock.go`", "store/lock.go"},
		{"x@1.2/y", "`x@1.2/y`", "x&#64;\u200b1.2/y"},
		{"a|b", "<code>a&#124;b</code>", "a&#124;b"},
		{"@org/team", "<code>&#64;\u200borg/team</code>", "&#64;\u200borg/team"},
		{"x/@vue/core.ts", "<code>x/&#64;\u200bvue/core.ts</code>", "x/&#64;\u200bvue/core.ts"},
		{"a\nb", "<code>a⟨U+000A⟩b</code>", "a b"},
		{"a\u202eb", "<code>a⟨U+202E⟩b</code>", "a⟨U+202E⟩b"},
		{"a\xffb", "<code>a⟨xFF⟩b</code>", "a⟨xFF⟩b"},
		{"GH-12", "`GH-12`", "GH-\u200b12"},
		{"deadbeefdeadbeef", "`deadbeefdeadbeef`", "deadbe\u200befdead\u200bbeef"},
		{"", "`⟨empty⟩`", ""},
		{"日本/語.go", "<code>日本/語.go</code>", "日本/語.go"},
	} {
		if got := code(c.in); got != c.code {
			t.Errorf("code(%q) = %q, want %q", c.in, got, c.code)
		}
		if got := text(c.in); got != c.text {
			t.Errorf("text(%q) = %q, want %q", c.in, got, c.text)
		}
	}
	if got, want := prose("see `a|b` and store/lock.go, not xstore/lock.go", "store/lock.go"), "see <code>a&#124;b</code> and `store/lock.go`, not xstore/lock.go"; got != want {
		t.Errorf("prose = %q, want %q", got, want)
	}
	if got, want := prose("odd ` tick @me"), "odd &#96; tick &#64;\u200bme"; unentity(got) != unentity(want) {
		t.Errorf("prose = %q", got)
	}
}

// TestSizeLadder holds the limits for a change of 20,000 files with four-byte names, and for every
// text at its longest.
func TestSizeLadder(t *testing.T) {
	long := strings.Repeat("𐍈", 120)
	big := companionReport()
	big.Change.Files = nil
	for i := range 20000 {
		big.Change.Files = append(big.Change.Files, ChangedFile{Path: fmt.Sprintf("%s/%05d", long, i), Status: "modified", Added: 1})
		big.Risk.Signals[0].Files = append(big.Risk.Signals[0].Files, big.Change.Files[i].Path)
	}
	big.Context.Files = nil
	for i := range 20000 {
		big.Context.Files = append(big.Context.Files, pick.File{Path: big.Change.Files[i].Path, Rank: i + 1, Reason: strings.Repeat("𐍈 ", 200)})
	}
	worst := hostile(companionReport(), strings.Repeat("\u202e@", 60000))
	worst.Risk.Signals = slices.Repeat(worst.Risk.Signals, 100)
	worst.Gates = slices.Repeat(worst.Gates, 100)
	worst.Notes = slices.Repeat(worst.Notes, 100)
	worst.Problems = slices.Repeat(worst.Problems, 100)
	worst.Risk.Companions = slices.Repeat(worst.Risk.Companions, 100)
	for name, r := range map[string]*Report{"20,000 files": big, "60,000 characters everywhere": worst} {
		md := Markdown(r, MarkdownOptions{Marker: marker})
		if n := units(md); n > CommentLimit {
			t.Errorf("%s: a comment of %d units", name, n)
		}
		if !strings.HasPrefix(md, marker+"\n### ") {
			t.Errorf("%s: the marker is not whole", name)
		}
		checkMarkdown(t, md)
		s := Summary(r)
		if len(s) > SummaryLimit || s == "" {
			t.Errorf("%s: a summary of %d bytes", name, len(s))
		}
		checkMarkdown(t, s)
		for _, limit := range []int{0, 20000} {
			if got := SummaryMax(r, limit); len(got) > limit {
				t.Errorf("%s: %d bytes of %d", name, len(got), limit)
			}
		}
	}
	if md := Markdown(big, MarkdownOptions{}); !strings.Contains(md, "more file") {
		t.Error("what was left out is not counted")
	}
}

func TestEverySectionAbsent(t *testing.T) {
	md := Markdown(&Report{}, MarkdownOptions{})
	if strings.TrimSpace(md) != "### ⚪ Not assessed" {
		t.Errorf("an empty report: %q", md)
	}
	checkMarkdown(t, Summary(&Report{Risk: &risk.Assessment{}, Context: &pick.Bundle{}, Graph: &Graph{}}))
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		gates []Gate
		code  int
		state string
	}{
		{nil, 0, GateNotConfigured},
		{[]Gate{{Mode: "block", State: GatePass}}, 0, GatePass},
		{[]Gate{{Mode: "warn", State: GateFail}, {Mode: "observe", State: GateWorse}}, 0, GateFail},
		{[]Gate{{Mode: "block", State: GateWorse}}, 3, GateWorse},
		{[]Gate{{Mode: "block", State: GateWorse}, {Mode: "block", State: GateFail}}, 1, GateFail},
		{[]Gate{{Mode: "block", State: GateFail}, {Mode: "observe", State: GateError}}, 2, GateError},
	} {
		r := &Report{Gates: c.gates, Verdict: Verdict{Level: "high"}}
		if got := ExitCode(r); got != c.code {
			t.Errorf("%v: exit %d, want %d", c.gates, got, c.code)
		}
		if got := GateState(r); got != c.state {
			t.Errorf("%v: state %s, want %s", c.gates, got, c.state)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(smuggled, "a/b.go")
	f.Add("@a `@b", "`|\\")
	f.Add("` `` ``` ~~~", "-->")
	f.Add("&#64;x <", "\\`<code>")
	f.Fuzz(func(t *testing.T, a, b string) {
		r := hostile(companionReport(), a)
		r.Verdict.Reason = b
		r.Change.Files[0].Path = b
		r.Risk.Companions[0].Path = b
		r.Risk.Signals[0].Why = a + " " + b + " `" + a + "` " + b
		md := Markdown(r, MarkdownOptions{Marker: marker})
		if units(md) > CommentLimit {
			t.Fatal("over the limit")
		}
		checkMarkdown(t, md)
		for _, l := range strings.Split(md, "\n") {
			if strings.HasPrefix(l, "| ") && strings.Count(l, "|") > 4 {
				t.Fatalf("split row %q", l)
			}
		}
	})
}

// TestSectionStandsAlone holds that a section that fails takes no other with it.
func TestSectionStandsAlone(t *testing.T) {
	p := &page{r: &Report{}}
	p.section("first", func() { p.line("one") })
	p.section("second", func() { p.line("lost"); panic("x") })
	p.section("third", func() { p.line("three") })
	if got, want := p.b.String(), "one\n\n<sub>The section second could not be rendered.</sub>\nthree\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFigures(t *testing.T) {
	for want, n := range map[string]risk.Number{
		"added 12 lines":               {Name: "added", Value: 12, Unit: "lines"},
		"added 1 line":                 {Name: "added", Value: 1, Unit: "lines"},
		"auth 1 file":                  {Name: "auth", Value: 1, Unit: "files"},
		"files 2":                      {Name: "files", Value: 2, Unit: "files"},
		"source files 3":               {Name: "source files", Value: 3, Unit: "files"},
		"files new to the author 2":    {Name: "files new to the author", Value: 2, Unit: "files"},
		"score 88.2 percentile":        {Name: "score", Value: 88.2, Unit: "percentile"},
		"minor contributors 0.33":      {Name: "minor contributors", Value: 0.33},
		"changes in 180 days 1 commit": {Name: "changes in 180 days", Value: 1, Unit: "commits"},
	} {
		if got := figure(n); got != want {
			t.Errorf("%+v: %q, want %q", n, got, want)
		}
	}
}
