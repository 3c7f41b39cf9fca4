package symbols

import "bytes"

// syntax says how a language writes comments and strings.
type syntax struct {
	line   []string // openers of comments that end with the line
	block  [2]string
	quotes string // quotes of strings that end with the line
	long   string // quotes of strings that may span lines: ` or the letter t for triple quotes
	noChar bool   // ' opens a string only when it closes within three bytes (Rust lifetimes, C digits)
}

// mask blanks comments and strings, and records lines and pairs of braces, in one pass.
func (f *scanned) mask() {
	src := f.src
	out := bytes.Clone(src)
	f.masked = out
	f.starts = append(make([]int, 0, bytes.Count(src, []byte{'\n'})+1), 0)
	var open []int // indices into braces
	line := 0
	newline := func(i int) {
		line++
		f.starts = append(f.starts, i+1)
	}
	blank := func(from, to int) {
		for k := from; k < to; k++ {
			if src[k] == '\n' {
				newline(k)
			} else {
				out[k] = ' '
			}
		}
	}
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '\n':
			newline(i)
			i++
			continue
		case isWordByte(c) || c == ' ' || c == '\t':
			i++
			continue
		case c == '{':
			open = append(open, len(f.braces))
			f.braces = append(f.braces, brace{open: i, line: line, close: line})
			i++
			continue
		case c == '}':
			if n := len(open); n > 0 {
				f.braces[open[n-1]].close = line
				open = open[:n-1]
			}
			i++
			continue
		}
		if to := f.syntax.comment(src, i); to > i {
			blank(i, to)
			i = to
			continue
		}
		if from, to := f.syntax.str(src, i); to > i {
			blank(from, max(to-1, from))
			i = to
			continue
		}
		i++
	}
	for _, k := range open {
		f.braces[k].close = line
	}
}

// comment is the end of a comment that begins at i, or i.
func (s *syntax) comment(src []byte, i int) int {
	for _, open := range s.line {
		if hasPrefixAt(src, i, open) {
			if open == "#" && i > 0 && (src[i-1] == '$' || src[i-1] == '{') {
				return i
			}
			if n := bytes.IndexByte(src[i:], '\n'); n >= 0 {
				return i + n
			}
			return len(src)
		}
	}
	if s.block[0] != "" && hasPrefixAt(src, i, s.block[0]) {
		from := i + len(s.block[0])
		if n := bytes.Index(src[from:], []byte(s.block[1])); n >= 0 {
			return from + n + len(s.block[1])
		}
		return len(src)
	}
	return i
}

func hasPrefixAt(src []byte, i int, prefix string) bool {
	return i+len(prefix) <= len(src) && string(src[i:i+len(prefix)]) == prefix
}

// str is the content and the end of a string that begins at i; the end is i when none does.
func (s *syntax) str(src []byte, i int) (from, to int) {
	c := src[i]
	for k := range len(s.long) {
		q := s.long[k]
		if q == 't' {
			if c != '"' && c != '\'' || !hasPrefixAt(src, i, string([]byte{c, c, c})) {
				continue
			}
			if n := bytes.Index(src[i+3:], []byte{c, c, c}); n >= 0 {
				return i + 3, i + 3 + n + 3
			}
			return i + 3, len(src)
		}
		if c == q {
			return i + 1, closing(src, i+1, q, false)
		}
	}
	for k := range len(s.quotes) {
		if c != s.quotes[k] {
			continue
		}
		if c == '\'' && s.noChar {
			end := closing(src, i+1, c, true)
			if end-i > 12 || end-i < 3 || src[end-1] != c || end-i > 3 && src[i+1] != '\\' && src[i+1] < 0x80 {
				return i, i
			}
			return i + 1, end
		}
		return i + 1, closing(src, i+1, c, true)
	}
	return i, i
}

// closing is the index after the quote that closes a string; with oneLine the string ends at the
// latest before the line break.
func closing(src []byte, i int, quote byte, oneLine bool) int {
	for ; i < len(src); i++ {
		switch src[i] {
		case '\\':
			if i+1 < len(src) && (src[i+1] != '\n' || !oneLine) {
				i++
			}
		case quote:
			return i + 1
		case '\n':
			if oneLine {
				return i
			}
		}
	}
	return len(src)
}
