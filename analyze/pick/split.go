package pick

import (
	"unicode"
	"unicode/utf8"
)

// piece returns the length in bytes of the piece that starts s, which must be valid UTF-8 and not
// empty. It cuts as the expression of cl100k_base does, whose alternatives are tried in this order:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func piece(s string) int {
	if n := contraction(s); n > 0 {
		return n
	}
	r, size := utf8.DecodeRuneInString(s)
	first := kindOf(r)
	if first == letter {
		return size + run(s[size:], letter)
	}
	if first != digit && r != '\r' && r != '\n' {
		if n := run(s[size:], letter); n > 0 {
			return size + n
		}
	}
	if first == digit {
		n := size
		for range 2 {
			r, size := utf8.DecodeRuneInString(s[n:])
			if size == 0 || kindOf(r) != digit {
				break
			}
			n += size
		}
		return n
	}
	skip := 0
	if r == ' ' {
		skip = 1
	}
	if n := run(s[skip:], mark); n > 0 {
		for n += skip; n < len(s) && (s[n] == '\r' || s[n] == '\n'); {
			n++
		}
		return n
	}
	return blank(s)
}

// contraction is the length of an English ending such as 've.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	const longS = "ſ" // its upper case is S
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s) > len(longS) && s[1:1+len(longS)] == longS {
		return 1 + len(longS)
	}
	if len(s) < 3 {
		return 0
	}
	switch string([]byte{s[1] | 0x20, s[2] | 0x20}) {
	case "re", "ve", "ll":
		return 3
	}
	return 0
}

// blank is the length of the piece that starts with white space: up to the end of the first run of line
// ends where there is one, else all of it, less the last character where something follows. The
// expression read by the book goes on to the last line end; the codec does not, and its count, which is
// never the smaller one, holds.
func blank(s string) int {
	end, last := 0, 0
	for end < len(s) {
		if lineEnd(s[end]) {
			for end < len(s) && lineEnd(s[end]) {
				end++
			}
			return end
		}
		r, size := utf8.DecodeRuneInString(s[end:])
		if kindOf(r) != space {
			break
		}
		last = end
		end += size
	}
	if end < len(s) && last > 0 {
		return last
	}
	return end
}

func lineEnd(c byte) bool { return c == '\r' || c == '\n' }

type runeKind uint8

const (
	mark runeKind = iota // neither of the others
	letter
	digit
	space
)

var asciiKind = func() (t [utf8.RuneSelf]runeKind) {
	for r := range rune(utf8.RuneSelf) {
		t[r] = slowKind(r)
	}
	return t
}()

func kindOf(r rune) runeKind {
	if r < utf8.RuneSelf {
		return asciiKind[r]
	}
	return slowKind(r)
}

func slowKind(r rune) runeKind {
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return digit
	case unicode.IsSpace(r):
		return space
	}
	return mark
}

// run is how many bytes of s are of one kind, from its start.
func run(s string, k runeKind) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if kindOf(r) != k {
			break
		}
		n += size
	}
	return n
}
