package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxt-dev/ctxt/index/store"
)

// The points.
const (
	ptExact         = 12 // term is a folder's name
	ptBasename      = 7  // term is in a file's name
	ptExactBasename = 15 // the whole query is a file's name
	ptSegment       = 4  // term is in a segment of the path
	ptPrefix        = 5  // term begins a segment of the path
	ptSynExact      = 8  // term is a synonym
	ptSynOverlap    = 5  // term overlaps a synonym
	ptSymExact      = 24 // term is a symbol's name
	ptSymContains   = 5  // term is in a symbol's name
	ptSymToken      = 4  // term is a word of a symbol's name
	ptFurther       = 4  // each matching term after the first

	maxSymbols = 3 // distinct symbols that give points, per term
	minOverlap = 3 // characters below which a term or a synonym must match as a whole word
)

// Index is a prepared index. It does not change and may be searched concurrently.
type Index struct {
	nodes     []node
	timestamp string
}

// node is a file or folder with what the matchers read, lower case.
type node struct {
	path    string // as it is
	dir     bool
	lower   string // path
	name    string // last segment
	stem    string // name without its extension
	symbols []string
	symText string // a newline, then the symbols in lower case, each followed by a newline
	syns    []string
	synText string // likewise
}

// Prepare readies an index for searching. The index must not change afterwards; node strings are shared.
func Prepare(x *store.Index) *Index {
	files, dirs := x.Counts()
	p := &Index{nodes: make([]node, 0, files+dirs), timestamp: x.Timestamp}
	x.Walk(func(n *store.Node) {
		lower := strings.ToLower(n.FullPath)
		name := lower[strings.LastIndexByte(lower, '/')+1:]
		p.nodes = append(p.nodes, node{
			path: n.FullPath, dir: n.IsDir(), lower: lower, name: name, stem: stemOf(name),
			symbols: n.Symbols, symText: lines(n.Symbols), syns: n.Synonyms, synText: lines(n.Synonyms),
		})
	})
	return p
}

// stemOf cuts the extension off; a leading dot begins none.
func stemOf(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i]
	}
	return name
}

// lines joins names in lower case: a newline, then each ended by a newline.
func lines(names []string) string {
	if len(names) == 0 {
		return ""
	}
	n := 1
	for _, s := range names {
		n += len(s) + 1
	}
	b := append(make([]byte, 0, n), '\n')
	for _, s := range names {
		b = appendLower(b, s)
		b = append(b, '\n')
	}
	return string(b)
}

// appendLower appends s in lower case without newlines.
func appendLower(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c == '\n' {
			return append(b, strings.ReplaceAll(strings.ToLower(s), "\n", " ")...)
		}
	}
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// score gives a node its points. They are appended to scratch, which the caller may reuse.
func (n *node) score(q query, scratch []Points) (h hit, points []Points) {
	h = hit{node: n, path: n.path, dir: n.dir}
	points = scratch
	matched := 0
	for i := range q.terms {
		t := &q.terms[i]
		before := len(points)
		if p, ok := n.pathPoints(t); ok {
			points = append(points, p)
		}
		if p, ok := n.synonymPoints(t); ok {
			points = append(points, p)
		}
		points = n.symbolPoints(t, points)
		if len(points) == before {
			continue
		}
		for _, p := range points[before:] {
			h.exact = h.exact || p.Points == ptSymExact
		}
		if !t.generated {
			if matched++; matched > 1 {
				points = append(points, Points{"further term", ptFurther, t.text, t.text})
			}
		}
	}
	if !n.dir && (q.text == n.name || q.text == n.stem || q.text == n.lower) {
		h.exact = true
		points = append(points, Points{"exact basename", ptExactBasename, base(n.path), ""})
	}
	for _, p := range points {
		h.score += p.Points
	}
	return h, points
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// pathPoints is the strongest path match of a term.
func (n *node) pathPoints(t *term) (best Points, ok bool) {
	if t.symbolOnly {
		return best, false
	}
	for _, f := range t.forms {
		if !strings.Contains(n.lower, f) {
			continue
		}
		if p := n.pathMatch(f); p.Points > best.Points {
			best, ok = p, true
			best.Term = t.text
		}
	}
	return best, ok
}

// pathMatch matches one form of a term, which occurs somewhere in the path.
func (n *node) pathMatch(f string) Points {
	name := base(n.path)
	switch {
	case n.dir && f == n.name:
		return Points{Matcher: "exact", Points: ptExact, Match: name}
	case !n.dir && (f == n.name || within(n.stem, f)):
		return Points{Matcher: "basename", Points: ptBasename, Match: name}
	}
	var best Points
	path := n.path
	for rest, more := n.lower, true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		var shown string
		shown, path, _ = strings.Cut(path, "/")
		switch {
		case best.Points < ptPrefix && strings.HasPrefix(segment, f) && (len(f) >= minOverlap || wholeWordPrefix(segment, f)):
			best = Points{Matcher: "segment prefix", Points: ptPrefix, Match: shown}
		case best.Points < ptSegment && within(segment, f):
			best = Points{Matcher: "path segment", Points: ptSegment, Match: shown}
		}
	}
	return best
}

// within reports whether f is in s; a short one only as a whole word.
func within(s, f string) bool {
	if len(f) >= minOverlap {
		return strings.Contains(s, f)
	}
	for at := 0; ; {
		i := strings.Index(s[at:], f)
		if i < 0 {
			return false
		}
		i += at
		if boundary(s, i) && boundary(s, i+len(f)) {
			return true
		}
		at = i + len(f)
	}
}

func wholeWordPrefix(s, f string) bool { return boundary(s, len(f)) }

// boundary reports whether a word can begin or end at byte i of a lower-case name.
func boundary(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	return !(unicode.IsLetter(before) && unicode.IsLetter(after) || unicode.IsDigit(before) && unicode.IsDigit(after))
}

// synonymPoints is the strongest synonym match of a term.
func (n *node) synonymPoints(t *term) (best Points, ok bool) {
	if n.synText == "" || t.symbolOnly {
		return best, false
	}
	i := 0
	for syn := range strings.SplitSeq(strings.Trim(n.synText, "\n"), "\n") {
		shown := n.syns[i]
		i++
		for _, f := range t.forms {
			switch {
			case best.Points < ptSynExact && syn == f:
				best, ok = Points{"syn exact", ptSynExact, shown, t.text}, true
			case best.Points < ptSynOverlap && overlaps(syn, f):
				best, ok = Points{"syn overlap", ptSynOverlap, shown, t.text}, true
			}
		}
	}
	return best, ok
}

// overlaps reports whether a synonym and a term share more than a low-signal word.
func overlaps(syn, f string) bool {
	if len(syn) < minOverlap || len(f) < minOverlap || lowSignal[syn] {
		return false
	}
	return strings.Contains(syn, f) || strings.Contains(f, syn)
}

// symbolPoints appends the strongest matches of a term among the symbols, at most three.
func (n *node) symbolPoints(t *term, points []Points) []Points {
	if n.symText == "" {
		return points
	}
	first := len(points)
	add := func(line int, matcher string, pt float64) (full bool) {
		symbol := n.symbols[line]
		for _, p := range points[first:] {
			if p.Match == symbol {
				return false
			}
		}
		points = append(points, Points{matcher, pt, symbol, t.text})
		return len(points)-first == maxSymbols
	}
	for _, f := range t.lines {
		if i := strings.Index(n.symText, f); i >= 0 && add(strings.Count(n.symText[:i], "\n"), "sym exact", ptSymExact) {
			return points
		}
	}
	for _, f := range t.forms {
		line, at := -1, 0
		for {
			i := strings.Index(n.symText[at:], f)
			if i < 0 {
				break
			}
			line += strings.Count(n.symText[at:at+i], "\n")
			end := at + i + strings.IndexByte(n.symText[at+i:], '\n')
			switch {
			case len(f) >= minOverlap:
				if add(line, "sym contains", ptSymContains) {
					return points
				}
			case slices.Contains(splitWords(n.symbols[line]), f):
				if add(line, "sym token", ptSymToken) {
					return points
				}
			}
			at = end
		}
	}
	return points
}
