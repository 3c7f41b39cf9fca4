package report

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The escaper: the one way by which text of a repository, an event or a history reaches Markdown.
//
// Three forms exist. code shows a name exactly, as a code span. text shows words, inert. prose is
// text in which `backtick pairs` and known paths become code spans. All three give one line that is
// safe in a heading, a table cell, a paragraph and a <summary>, whatever the input.

// zws breaks a mention, a reference or a URL without being seen.
const zws = "\u200b"

// visible replaces what a reader could not see or what would break a line: control and format
// characters (bidirectional marks and zero-width characters among them), unusual spaces, private-use
// characters and invalid UTF-8. Each becomes a mark like ⟨U+202E⟩ or ⟨xFF⟩.
func visible(s string, limit int) string {
	if plain(s) && len(s) <= limit {
		return s
	}
	var b strings.Builder
	n := 0
	for i := 0; i < len(s); {
		if n >= limit {
			b.WriteString("…")
			break
		}
		n++
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨x%02X⟩", s[i])
		case r == emojiForm && pictogram(s[:i]):
			// The form of the sign before it, which shows without.
		case hidden(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// emojiForm asks for a sign's coloured form.
const emojiForm = 0xfe0f

// pictogram reports whether s ends in a sign that may be followed by emojiForm.
func pictogram(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r != utf8.RuneError && unicode.Is(unicode.So, r)
}

// plain reports whether every byte is printable ASCII.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// hidden reports whether r has no glyph of its own. The combining variation selectors and the
// fillers of Hangul and Braille count: they are invisible and used to smuggle text.
func hidden(r rune) bool {
	switch {
	case r == ' ':
		return false
	case r == 0x3164, r == 0x115f, r == 0x1160, r == 0xffa0, r == 0x2800:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	case unicode.IsPrint(r): // the quick answer for nearly all text
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Zs)
}

// The longest names and sentences that a report shows, in characters; longer ones are cut with "…".
const (
	maxName = 160
	maxText = 400
)

// code shows s as a code span. Names of ordinary characters take backticks; anything else is a
// <code> element of entities, so that no character of s has a meaning in Markdown, tables or HTML.
// Code is where the platform makes no mention and no reference.
func code(s string) string { return codeMax(s, maxName) }

func codeMax(s string, limit int) string {
	if len(s) > 4096 { // the middle is cut anyway; cut it where it still costs nothing
		s = s[:1024] + "…" + s[len(s)-2048:]
	}
	s = middle(visible(s, 4096), limit)
	if s == "" {
		return "`⟨empty⟩`"
	}
	if simpleName(s) {
		return "`" + s + "`"
	}
	var b strings.Builder
	b.WriteString("<code>")
	prev := rune(0)
	for _, r := range s {
		switch {
		case r == '@' || r == '#':
			entity(&b, r)
			b.WriteString(zws) // e-mail addresses; and quoted in an e-mail, the code span is lost
		case r == ':', r == '.' && (prev == 'w' || prev == 'W'):
			entity(&b, r) // URLs are found in the source, before entities are resolved
		default:
			writeInert(&b, r)
		}
		prev = r
	}
	b.WriteString("</code>")
	return b.String()
}

// simpleName reports whether s can stand between backticks anywhere: no character of it could end
// the span, split a table or, outside of the span, mention or link.
func simpleName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("/._-+=(),~^%", c) >= 0:
		case c == ' ' && i > 0 && i < len(s)-1:
		case c == '@' && i > 0 && wordRune(rune(s[i-1])):
		default:
			return false
		}
	}
	return true
}

// middle cuts the middle out of a long name: its ends tell more.
func middle(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	r := []rune(s)
	head := limit / 3
	return string(r[:head]) + "…" + string(r[len(r)-(limit-head-1):])
}

func alnum(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// text shows s as inert words: no markup, mention, reference, autolink, emoji name or formula.
func text(s string) string { return textMax(s, maxText) }

func textMax(s string, limit int) string {
	s = visible(joined(s, limit), limit)
	var b strings.Builder
	rs := []rune(s)
	for i := 0; i < len(rs); i++ {
		r := rs[i]
		switch {
		case r == '@' || r == '#' || r == '$':
			entity(&b, r)
			b.WriteString(zws)
		case r == ':' && (i+1 == len(rs) || rs[i+1] != ' '):
			b.WriteString(":" + zws) // URLs, emoji names, workflow commands
		case r == '.' && i >= 3 && strings.EqualFold(string(rs[i-3:i]), "www"):
			b.WriteString(zws + ".")
		case r == '_' && i > 0 && i+1 < len(rs) && alnum(rs[i-1]) && alnum(rs[i+1]):
			b.WriteRune(r) // within a word it is no markup, and names stay readable where Markdown is not rendered
		case r == '-' && i >= 2 && i+1 < len(rs) && unicode.IsDigit(rs[i+1]) && strings.EqualFold(string(rs[i-2:i]), "gh"):
			b.WriteString("-" + zws)
		case isHex(r) && (i == 0 || rs[i-1] >= 0x80 || !wordRune(rs[i-1])): // as the platform's \b, which knows ASCII
			n := hexRun(rs[i:])
			for k, c := range rs[i : i+n] { // a commit name would become a link
				if k > 0 && k%6 == 0 {
					b.WriteString(zws)
				}
				b.WriteRune(c)
			}
			i += n - 1
		default:
			writeInert(&b, r)
		}
	}
	return b.String()
}

// joined is s on one line with single spaces, cut where it is far longer than limit characters so
// that its length costs nothing.
func joined(s string, limit int) string {
	if most := 8*limit + 64; len(s) > most {
		s = s[:most] + "…" // a character cut in two shows as invalid; limit cuts before it
	}
	return strings.Join(strings.Fields(s), " ")
}

// hexRun is the length of the run of hexadecimal digits at the start, at least 1.
func hexRun(rs []rune) int {
	n := 1
	for n < len(rs) && isHex(rs[n]) {
		n++
	}
	return n
}

func isHex(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// writeInert writes a character so that Markdown and HTML take it as itself.
func writeInert(b *strings.Builder, r rune) {
	if r < 0x80 && strings.ContainsRune("\\`*_{}[]<>&|~!$@#^", r) {
		entity(b, r)
		return
	}
	b.WriteRune(r)
}

func entity(b *strings.Builder, r rune) { fmt.Fprintf(b, "&#%d;", r) }

// prose is text in which `backtick pairs` become code spans, and so do the given names where they
// stand alone. The parts are escaped each for itself, so an unbalanced backtick does no harm.
func prose(s string, names ...string) string {
	s = joined(s, maxText)
	if utf8.RuneCountInString(s) > maxText {
		s = string([]rune(s)[:maxText]) + "…"
	}
	parts := strings.Split(s, "`")
	var b strings.Builder
	for i, p := range parts {
		last := i%2 == 1 && i == len(parts)-1
		if last { // a backtick without its partner stands for itself
			entity(&b, '`')
		}
		switch {
		case p == "" && i%2 == 1 && !last: // an empty pair still parts what it stands between
			entity(&b, '`')
			entity(&b, '`')
		case p == "":
		case i%2 == 1 && !last:
			b.WriteString(code(p))
		default:
			// Text next to a cut loses its outer spaces in text(); keep them.
			if strings.HasPrefix(p, " ") {
				b.WriteByte(' ')
			}
			b.WriteString(named(strings.TrimSpace(p), names))
			if strings.HasSuffix(p, " ") && strings.TrimSpace(p) != "" {
				b.WriteByte(' ')
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// named escapes s and makes code spans of the names in it.
func named(s string, names []string) string {
	at, which := -1, ""
	for _, n := range names {
		if len(n) < 3 || len(n) > 4096 {
			continue
		}
		i := strings.Index(s, n)
		if i < 0 || !alone(s, i, i+len(n)) {
			continue
		}
		if at < 0 || i < at || i == at && len(n) > len(which) {
			at, which = i, n
		}
	}
	if at < 0 {
		return commits(s)
	}
	before, after := s[:at], s[at+len(which):]
	out := commits(before)
	if strings.HasSuffix(before, " ") && out != "" {
		out += " "
	}
	out += code(which)
	if strings.HasPrefix(after, " ") {
		out += " "
	}
	return out + named(after, names)
}

var commitName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-f]{7,40}\b`) })

// commits escapes s and makes code spans of commit names, which stay whole and do not link there.
func commits(s string) string {
	at := commitName().FindStringIndex(s)
	if at == nil {
		return text(s)
	}
	before, after := s[:at[0]], s[at[1]:]
	out := text(before)
	if strings.HasSuffix(before, " ") && out != "" {
		out += " "
	}
	out += code(s[at[0]:at[1]])
	if strings.HasPrefix(after, " ") {
		out += " "
	}
	return out + commits(after)
}

// alone reports whether s[i:j] is not a part of a longer word or path.
func alone(s string, i, j int) bool {
	if i > 0 {
		if r, _ := utf8.DecodeLastRuneInString(s[:i]); wordRune(r) || strings.ContainsRune("/.-", r) {
			return false
		}
	}
	if j < len(s) {
		if r, _ := utf8.DecodeRuneInString(s[j:]); wordRune(r) || strings.ContainsRune("/-", r) {
			return false
		}
	}
	return true
}

// Plain is s for a place that shows plain text on one line (SARIF, annotations, logs, HTML): hidden
// characters marked, white space joined, at most limit characters.
func Plain(s string, limit int) string {
	return visible(joined(s, limit), limit)
}

// mermaidLabel is a name for a node of a Mermaid graph: letters, digits and a few signs; the rest as
// Mermaid's own numeric entities, or left out where Mermaid would still read it as markup.
func mermaidLabel(s string) string {
	s = shortPath(visible(s, 1024), 48)
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune("/._- ", r):
			b.WriteRune(r)
		case strings.ContainsRune("⟨⟩…", r):
			b.WriteRune(r)
		case strings.ContainsRune("@+,=()[]{}!~^", r):
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune('·')
		}
	}
	return b.String()
}
