package ignore

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// pattern is one compiled line, in the syntax of gitignore(5).
type pattern struct {
	at       int    // place in its list
	negate   bool   // began with "!"
	dirOnly  bool   // ended with "/"
	rooted   bool   // holds a "/" before its end: matches the path from the root, otherwise the name
	literal  bool   // text has no wildcard
	text     string // literal text, or the literal after the one leading "*" when suffix is set
	suffix   bool
	head     string // what a match begins with: the pattern up to its first special character
	wildcard *regexp.Regexp
}

// list is an ordered list of patterns, of which the last match counts.
type list struct {
	n       int
	names   map[string][]*pattern // literal, not rooted: by name; ascending
	paths   map[string][]*pattern // literal, rooted: by path; ascending
	general []*pattern            // the others; ascending
}

func newList() *list {
	return &list{names: map[string][]*pattern{}, paths: map[string][]*pattern{}}
}

// add compiles a line and appends it. A line of nothing is left out without an error.
func (l *list) add(line string) error {
	p, err := compilePattern(line)
	if p == nil || err != nil {
		return err
	}
	if p.wildcard != nil && len(l.general) >= maxGeneral {
		return fmt.Errorf("more than %d patterns have wildcards", maxGeneral)
	}
	p.at = l.n
	l.n++
	switch {
	case p.literal && p.rooted:
		l.paths[p.text] = append(l.paths[p.text], p)
	case p.literal:
		l.names[p.text] = append(l.names[p.text], p)
	default:
		l.general = append(l.general, p)
	}
	return nil
}

// last returns the last pattern that matches, or nil.
func (l *list) last(path, name string, dir bool) *pattern {
	best := newest(newest(nil, l.names[name], dir), l.paths[path], dir)
	for i := len(l.general) - 1; i >= 0; i-- {
		p := l.general[i]
		if best != nil && p.at < best.at {
			break
		}
		if p.match(path, name, dir) {
			return p
		}
	}
	return best
}

func newest(best *pattern, among []*pattern, dir bool) *pattern {
	for i := len(among) - 1; i >= 0; i-- {
		if p := among[i]; (dir || !p.dirOnly) && (best == nil || p.at > best.at) {
			return p
		}
	}
	return best
}

func (p *pattern) match(path, name string, dir bool) bool {
	switch {
	case p.dirOnly && !dir:
		return false
	case p.suffix:
		return strings.HasSuffix(name, p.text)
	case p.rooted:
		return strings.HasPrefix(path, p.head) && p.wildcard.MatchString(path)
	}
	return strings.HasPrefix(name, p.head) && p.wildcard.MatchString(name)
}

// compilePattern reads one line. It returns nil for a line of nothing.
func compilePattern(line string) (*pattern, error) {
	p := new(pattern)
	line = trimRight(line)
	line, p.negate = strings.CutPrefix(line, "!")
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		line, p.dirOnly = rest, true
	}
	if line == "" {
		return nil, nil
	}
	p.rooted = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if strings.ContainsRune(line, 0) {
		return nil, errors.New("it holds a zero byte")
	}
	if text, ok := unescape(line); ok {
		p.literal, p.text = true, text
		return p, nil
	}
	if rest, ok := strings.CutPrefix(line, "*"); ok && !p.rooted && rest != "" && !strings.ContainsAny(rest, `*?[\`) {
		p.suffix, p.text = true, rest
		return p, nil
	}
	if strings.Count(line, "*")+strings.Count(line, "?") > maxWildcards {
		return nil, fmt.Errorf("it has more than %d wildcards", maxWildcards)
	}
	expr, err := translate(line)
	if err != nil {
		return nil, err
	}
	p.head = line[:strings.IndexAny(line, `*?[\`)]
	p.wildcard, err = regexp.Compile(expr)
	if err != nil {
		return nil, errors.New("it is not a valid pattern")
	}
	return p, nil
}

// These bound the work of matching: wildcards of one pattern, and patterns with wildcards (those of
// the form "*.ext" are cheap, but count) of one list.
const (
	maxWildcards = 16
	maxGeneral   = 500
)

// trimRight cuts trailing spaces that no backslash quotes.
func trimRight(s string) string {
	end := len(s)
	for end > 0 && s[end-1] == ' ' {
		slashes := 0
		for i := end - 2; i >= 0 && s[i] == '\\'; i-- {
			slashes++
		}
		if slashes%2 == 1 {
			break
		}
		end--
	}
	return s[:end]
}

// unescape returns the text of a pattern without wildcards.
func unescape(s string) (string, bool) {
	if strings.ContainsAny(s, "*?[") {
		return "", false
	}
	if !strings.Contains(s, `\`) {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			if i++; i == len(s) {
				return "", false
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), true
}

// translate writes a pattern as a regular expression over a whole path or name.
func translate(s string) (string, error) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '*':
			i = stars(&b, s, i)
		case '?':
			b.WriteString(`[^/]`)
			i++
		case '[':
			n, err := class(&b, s[i:])
			if err != nil {
				return "", err
			}
			i += n
		case '\\':
			if i++; i == len(s) {
				return "", errors.New("it ends with a backslash")
			}
			i += literal(&b, s[i:])
		default:
			i += literal(&b, s[i:])
		}
	}
	b.WriteString(`\z`)
	return b.String(), nil
}

// literal writes one character of s, quoted, and returns its length in bytes.
func literal(b *strings.Builder, s string) int {
	n := 1
	for n < len(s) && s[n]&0xc0 == 0x80 {
		n++
	}
	b.WriteString(regexp.QuoteMeta(s[:n]))
	return n
}

// stars writes a run of asterisks at i and returns where the run, with the slash that it takes, ends.
// Two or more between slashes (or at an end) stand for any number of folders; any other run for one segment's part.
func stars(b *strings.Builder, s string, i int) int {
	j := i
	for j < len(s) && s[j] == '*' {
		j++
	}
	start := i == 0 || s[i-1] == '/'
	switch {
	case j-i >= 2 && start && j == len(s):
		if i == 0 {
			b.WriteString(`.*`) // "**" alone
		} else {
			b.WriteString(`.+`) // "a/**": everything inside
		}
	case j-i >= 2 && start && s[j] == '/':
		b.WriteString(`(?:.*/)?`)
		return j + 1
	default:
		b.WriteString(`[^/]*`)
	}
	return j
}

// class writes a bracket expression that never matches a slash, and returns its length.
func class(b *strings.Builder, s string) (int, error) {
	i := 1
	negate := i < len(s) && (s[i] == '!' || s[i] == '^')
	if negate {
		i++
	}
	var set strings.Builder
	for first := true; ; first = false {
		if i >= len(s) {
			return 0, errors.New("a bracket is not closed")
		}
		if s[i] == ']' && !first {
			break
		}
		if rest := s[i:]; strings.HasPrefix(rest, "[:") {
			end := strings.Index(rest, ":]")
			if end < 0 {
				return 0, errors.New("a character class is not closed")
			}
			set.WriteString(rest[:end+2])
			i += end + 2
			continue
		}
		n, err := member(&set, s[i:])
		if err != nil {
			return 0, err
		}
		i += n
	}
	switch {
	case negate:
		b.WriteString(`[^/` + set.String() + `]`)
	case set.Len() == 0:
		b.WriteString(`[^\x00-\x{10ffff}]`) // held nothing but a slash: matches nothing
	default:
		b.WriteString(`[` + set.String() + `]`)
	}
	return i + 1, nil
}

// member writes one character or range of a bracket expression and returns its length.
func member(set *strings.Builder, s string) (int, error) {
	lo, n, err := bracketRune(s)
	if err != nil {
		return 0, err
	}
	if len(s) > n+1 && s[n] == '-' && s[n+1] != ']' {
		hi, m, err := bracketRune(s[n+1:])
		if err != nil {
			return 0, err
		}
		writeRange(set, lo, hi)
		return n + 1 + m, nil
	}
	writeRange(set, lo, lo)
	return n, nil
}

// writeRange writes a range without the slash in it.
func writeRange(set *strings.Builder, lo, hi rune) {
	if lo <= '/' && '/' <= hi {
		writeRange(set, lo, '/'-1)
		writeRange(set, '/'+1, hi)
		return
	}
	if lo > hi {
		return
	}
	set.WriteString(quoteRune(lo))
	if hi > lo {
		set.WriteByte('-')
		set.WriteString(quoteRune(hi))
	}
}

func quoteRune(r rune) string {
	if r < 0x80 && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') {
		const hex = "0123456789abcdef"
		return `\x` + string(hex[r>>4]) + string(hex[r&15])
	}
	return string(r)
}

func bracketRune(s string) (rune, int, error) {
	quoted := 0
	if s[0] == '\\' {
		quoted = 1
		if len(s) == 1 {
			return 0, 0, errors.New("it ends with a backslash")
		}
	}
	r, n := utf8.DecodeRuneInString(s[quoted:])
	return r, quoted + n, nil
}
