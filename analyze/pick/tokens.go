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
	n, _ := estimateTo(line, byteKinds)
	return n
}

// estimateTo estimates s up to and with the first mark of the kind last, and returns that length, too.
func estimateTo[text string | []byte](s text, last uint8) (tokens, length int) {
	n, i := 1, 0
	if len(s) > 0 && kinds[s[0]] == byteBlank {
		n++ // leading indentation costs one token
	}
	for i < len(s) {
		from := i
		switch kinds[s[i]] {
		case byteBlank:
			i++
		case byteUpper, byteLower:
			before := kinds[s[i]]
			for i++; i < len(s); i++ {
				k := kinds[s[i]]
				if k > byteLower || k == byteUpper && before == byteLower {
					break // fooBar is two runs
				}
				before = k
			}
			n += (i - from + 5) / 6
		case byteDigit:
			for i++; i < len(s) && kinds[s[i]] == byteDigit; {
				i++
			}
			n += (i - from + 2) / 3
		default:
			wide := 0
			for i < len(s) && kinds[s[i]] >= byteMark {
				k := kinds[s[i]]
				i++
				if k == byteHigh {
					wide++ // a byte of a character beyond ASCII counts twice
				} else if k == last {
					return n + (i-from+wide+1)/2, i
				}
			}
			n += (i - from + wide + 1) / 2
		}
	}
	return n, i
}

// The kinds of bytes that estimate tells apart.
const (
	byteUpper = iota
	byteLower
	byteDigit
	byteBlank
	byteMark
	byteHigh
	byteEnd // of a line, a mark like others
	byteKinds
)

var kinds = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c == ' ' || c == '\t':
			t[c] = byteBlank
		case c >= 'A' && c <= 'Z':
			t[c] = byteUpper
		case c >= 'a' && c <= 'z':
			t[c] = byteLower
		case c >= '0' && c <= '9':
			t[c] = byteDigit
		case c >= 0x80:
			t[c] = byteHigh
		case c == '\n':
			t[c] = byteEnd
		default:
			t[c] = byteMark
		}
	}
	return t
}()
