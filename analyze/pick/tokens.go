package pick

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// Encoding is the vocabulary that tokens are counted with.
const Encoding = "cl100k_base"

var encoding = sync.OnceValues(func() (*vocabulary, error) { return parseVocabulary(tokenFile) })

// CountTokens counts with the real tokenizer.
func CountTokens(s string) (int, error) { return counter{}.count(s) }

// counter counts many texts that have pieces in common: it remembers the tokens of each piece. It is
// for one goroutine.
type counter map[string]int

// count cuts s into pieces and adds up their tokens. A byte that is no UTF-8 counts as U+FFFD.
func (c counter) count(s string) (int, error) {
	v, err := encoding()
	if err != nil {
		return 0, fmt.Errorf("count tokens: %w", err)
	}
	if !utf8.ValidString(s) {
		s = strings.Map(func(r rune) rune { return r }, s)
	}
	total := 0
	for len(s) > 0 {
		n := piece(s)
		tokens, ok := c[s[:n]]
		if !ok {
			tokens = v.tokens(s[:n])
			c[s[:n]] = tokens
		}
		total += tokens
		s = s[n:]
	}
	return total, nil
}

// Warm loads the vocabulary. Called early, in a goroutine, it saves the first count that time.
func Warm() { _, _ = encoding() } // the first count says what is wrong

// estimate is a quick guess at the tokens of one line, its end included: every run of letters costs
// one token for each six, every run of digits one for each three, every other visible byte one for
// each two, and runs of spaces one. It only steers packing; the finished bundle is counted.
func estimate(line string) int {
	n, letters, digits, marks := 1, 0, 0, 0
	flush := func() {
		n += (letters+5)/6 + (digits+2)/3 + (marks+1)/2
		letters, digits, marks = 0, 0, 0
	}
	space := true // leading indentation costs one token
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == ' ' || c == '\t':
			if space && i == 0 {
				n++
			}
			flush()
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			if digits+marks > 0 || c <= 'Z' && i > 0 && line[i-1] >= 'a' && line[i-1] <= 'z' {
				flush()
			}
			letters++
		case c >= '0' && c <= '9':
			if letters+marks > 0 {
				flush()
			}
			digits++
		case c >= 0x80:
			marks += 2
		default:
			if letters+digits > 0 {
				flush()
			}
			marks++
		}
	}
	flush()
	return n
}
