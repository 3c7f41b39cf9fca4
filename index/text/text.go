// Package text holds the one tokenizer for documents and queries.
//
//  1. Split text into words: runs of letters, digits and underscores.
//  2. Split words into parts at underscores and case changes: HTTPServer_name → http, server, name.
//     Scripts without spaces between words give pairs of neighbouring characters.
//  3. Lower-case and stem each part (Snowball English). A word of several parts also yields a
//     compound term, so that fooBar, FooBar and foo_bar meet as a whole too.
//  4. Hash: documents keep 32-bit terms, never strings.
package text

import (
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// CompoundBit is set in the terms of whole words that have several parts, and clear in all others.
const CompoundBit uint32 = 1 << 31

const (
	maxWord  = 96  // bytes; longer words (hashes, encoded data) are left out
	maxParts = 16  // of one word
	maxCache = 1e5 // stems remembered by one Tokenizer
	minPart  = 2   // bytes
	fnvBasis = 2166136261
	fnvPrime = 16777619
)

// Term is one term of a query, with its text.
type Term struct {
	Text string // lower case; of a part: before stemming
	Hash uint32
	Word int // index of the word in the text that it came from
	Pos  int // byte offset of that word
}

// Compound reports whether the term is a whole word of several parts.
func (t Term) Compound() bool { return t.Hash&CompoundBit != 0 }

// Tokenizer turns text into terms. It remembers stems, so use one per goroutine; the result does not
// depend on what it has seen before.
type Tokenizer struct {
	stems map[string]uint32
	lower []byte
	parts []span
}

type span struct{ start, end int }

// NewTokenizer returns an empty Tokenizer.
func NewTokenizer() *Tokenizer { return &Tokenizer{stems: make(map[string]uint32, 256)} }

// Document returns the terms of src in order and, for each line, the index of its first term, with
// len(terms) as the last element. A final line without a newline counts; an empty src has no line.
func (t *Tokenizer) Document(src []byte) (terms, lines []uint32) {
	terms = make([]uint32, 0, len(src)/6+8)
	lines = make([]uint32, 0, len(src)/32+8)
	lines = append(lines, 0)
	for i := 0; i < len(src); {
		c := src[i]
		if c == '\n' {
			i++
			if i < len(src) {
				lines = append(lines, uint32(len(terms)))
			}
			continue
		}
		n := wordLen(src[i:])
		if n == 0 {
			_, size := utf8.DecodeRune(src[i:])
			i += size
			continue
		}
		if n <= maxWord {
			terms = t.word(terms, src[i:i+n])
		}
		i += n
	}
	if len(src) == 0 {
		return nil, []uint32{0}
	}
	return terms, append(lines, uint32(len(terms)))
}

// Terms returns the terms of s in order, with their texts.
func (t *Tokenizer) Terms(s string) []Term {
	var out []Term
	src := []byte(s)
	word := 0
	for i := 0; i < len(src); {
		n := wordLen(src[i:])
		if n == 0 {
			_, size := utf8.DecodeRune(src[i:])
			i += size
			continue
		}
		if n <= maxWord {
			hashes := t.word(nil, src[i:i+n])
			texts := t.texts()
			if len(hashes) == len(texts)+1 {
				out = append(out, Term{Text: string(compact(t.lower)), Hash: hashes[0], Word: word, Pos: i})
				hashes = hashes[1:]
			}
			for k, h := range hashes {
				out = append(out, Term{Text: texts[k], Hash: h, Word: word, Pos: i})
			}
			word++
		}
		i += n
	}
	return out
}

// Hashes returns the terms of s in order, without their texts.
func (t *Tokenizer) Hashes(s string) []uint32 { return t.Append(nil, s) }

// Append appends the terms of s to dst.
func (t *Tokenizer) Append(dst []uint32, s string) []uint32 {
	src := []byte(s)
	for i := 0; i < len(src); {
		n := wordLen(src[i:])
		if n == 0 {
			_, size := utf8.DecodeRune(src[i:])
			i += size
			continue
		}
		if n <= maxWord {
			dst = t.word(dst, src[i:i+n])
		}
		i += n
	}
	return dst
}

// wordLen is the length in bytes of the word that starts src, or 0.
func wordLen(src []byte) int {
	i := 0
	for i < len(src) {
		c := src[i]
		if c < utf8.RuneSelf {
			if !asciiWord[c] {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 || !(unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)) {
			return i
		}
		i += size
	}
	return i
}

var asciiWord = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
	}
	return t
}()

// word appends the terms of one word; t.lower and t.parts are left describing it.
func (t *Tokenizer) word(dst []uint32, w []byte) []uint32 {
	ascii := t.split(w)
	if !ascii && unspaced(w) {
		return t.pairs(dst, w)
	}
	kept := t.parts[:0]
	for _, p := range t.parts {
		if p.end-p.start >= minPart {
			kept = append(kept, p)
		}
	}
	several := len(t.parts) > 1
	t.parts = kept
	if len(kept) == 0 && !several {
		return dst
	}
	if several {
		dst = append(dst, hash(t.lower, true)|CompoundBit)
	}
	for _, p := range kept {
		dst = append(dst, t.stem(t.lower[p.start:p.end]))
	}
	return dst
}

// texts returns the texts of the parts of the last word.
func (t *Tokenizer) texts() []string {
	out := make([]string, len(t.parts))
	for i, p := range t.parts {
		out[i] = string(t.lower[p.start:p.end])
	}
	return out
}

// split fills t.lower with the lower-cased word and t.parts with its parts, and reports whether the
// word is ASCII.
func (t *Tokenizer) split(w []byte) (ascii bool) {
	t.lower, t.parts = t.lower[:0], t.parts[:0]
	ascii = true
	start := 0
	flush := func() {
		if len(t.lower) > start && len(t.parts) < maxParts {
			t.parts = append(t.parts, span{start, len(t.lower)})
		}
		start = len(t.lower)
	}
	for i := 0; i < len(w); i++ {
		c := w[i]
		switch {
		case c >= utf8.RuneSelf:
			ascii = false
			r, size := utf8.DecodeRune(w[i:])
			t.lower = utf8.AppendRune(t.lower, unicode.ToLower(r))
			i += size - 1
		case c == '_':
			flush()
			t.lower = append(t.lower, '_')
			start = len(t.lower)
		case c >= 'A' && c <= 'Z':
			prevLower := i > 0 && (w[i-1] >= 'a' && w[i-1] <= 'z' || w[i-1] >= '0' && w[i-1] <= '9')
			// The last capital of a run starts a part when a lower-case letter follows: HTTPServer.
			ends := i > 0 && w[i-1] >= 'A' && w[i-1] <= 'Z' && i+1 < len(w) && w[i+1] >= 'a' && w[i+1] <= 'z' && !pluralEnd(w[i+1:])
			if prevLower || ends {
				flush()
			}
			t.lower = append(t.lower, c+'a'-'A')
		default:
			t.lower = append(t.lower, c)
		}
	}
	flush()
	return ascii
}

// pluralEnd reports whether the rest is the plural s of an abbreviation (IDs, URLs).
func pluralEnd(rest []byte) bool {
	return rest[0] == 's' && (len(rest) == 1 || rest[1] == '_' || rest[1] >= 'A' && rest[1] <= 'Z')
}

// unspaced reports whether the word is in a script that puts no spaces between words.
func unspaced(w []byte) bool {
	for len(w) > 0 {
		r, size := utf8.DecodeRune(w)
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			return true
		}
		w = w[size:]
	}
	return false
}

// pairs appends one term for each pair of neighbouring characters.
func (t *Tokenizer) pairs(dst []uint32, w []byte) []uint32 {
	t.parts = t.parts[:0]
	text := t.lower
	_, first := utf8.DecodeRune(text)
	if first == len(text) {
		t.parts = append(t.parts, span{0, first})
		return append(dst, hash(text, false))
	}
	for i := 0; i < len(text); {
		_, a := utf8.DecodeRune(text[i:])
		_, b := utf8.DecodeRune(text[i+a:])
		if b == 0 {
			break
		}
		t.parts = append(t.parts, span{i, i + a + b})
		dst = append(dst, hash(text[i:i+a+b], false))
		i += a
	}
	return dst
}

// stem returns the term of one lower-case part.
func (t *Tokenizer) stem(part []byte) uint32 {
	if h, ok := t.stems[string(part)]; ok {
		return h
	}
	h := hash([]byte(Stem(string(part))), false)
	if len(t.stems) < maxCache {
		t.stems[string(part)] = h
	}
	return h
}

// Stem returns the stem of a lower-case word (Snowball English; words with digits or non-ASCII
// letters are their own stems).
func Stem(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := range len(word) {
		if c := word[i]; c < 'a' || c > 'z' {
			return word
		}
	}
	return english.Stem(word, true)
}

// Hash returns the term of one lower-case, already stemmed part.
func Hash(stem string) uint32 { return hash([]byte(stem), false) }

// CompoundHash returns the compound term of a lower-case word; underscores do not count.
func CompoundHash(word string) uint32 { return hash([]byte(word), true) | CompoundBit }

// hash is FNV-1a, 31 bits, over b without its underscores when skip is set.
func hash(b []byte, skip bool) uint32 {
	h := uint32(fnvBasis)
	for _, c := range b {
		if skip && c == '_' {
			continue
		}
		h = (h ^ uint32(c)) * fnvPrime
	}
	// FNV's high bits mix well, its low ones less; fold before dropping one.
	return (h ^ h>>15) &^ CompoundBit
}

// compact returns b without underscores.
func compact(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if c != '_' {
			out = append(out, c)
		}
	}
	return out
}
