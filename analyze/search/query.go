package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// query is a parsed query.
type query struct {
	text  string // lower case, trimmed: compared with whole file names
	terms []term
}

// term is one word to look for.
type term struct {
	text       string
	forms      []string // the word, then its stem when that is another one
	lines      []string // the forms between newlines, as a symbol is in node.symText
	generated  bool     // made from other terms: gives no bonus
	symbolOnly bool     // a compound such as aof_rewrite: compared with symbols only
}

// parseQuery lower-cases and splits a query. When every word is low-signal, all count.
func parseQuery(s string) query {
	q := query{text: strings.ToLower(strings.TrimSpace(s))}
	words := split(q.text)
	kept := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return lowSignal[w] || len(w) == 1 && w[0] < 0x80 })
	if len(kept) == 0 {
		kept = words
	}
	for _, w := range kept {
		if len(q.terms) == maxTerms {
			break
		}
		if slices.ContainsFunc(q.terms, func(t term) bool { return t.text == w }) {
			continue
		}
		q.terms = append(q.terms, term{text: w, forms: forms(w)})
	}
	for field := range strings.FieldsSeq(q.text) {
		compound := strings.TrimFunc(field, func(r rune) bool { return !wordRune(r) && r != '_' })
		if strings.Contains(strings.Trim(compound, "_"), "_") && len(q.terms) < maxTerms &&
			!strings.ContainsFunc(compound, func(r rune) bool { return !wordRune(r) && r != '_' }) {
			q.terms = append(q.terms, term{text: compound, forms: []string{compound}, generated: true, symbolOnly: true})
		}
	}
	for i := range q.terms {
		for _, f := range q.terms[i].forms {
			q.terms[i].lines = append(q.terms[i].lines, "\n"+f+"\n")
		}
	}
	return q
}

// tokens are the terms and their stems, for --show-tokens.
func (q query) tokens() []string {
	out := []string{}
	for _, t := range q.terms {
		for _, f := range t.forms {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// forms returns a word and, when it is another one of three letters or more, its stem.
func forms(w string) []string {
	for _, r := range w {
		if r < 'a' || r > 'z' {
			return []string{w}
		}
	}
	if s := english.Stem(w, false); s != w && len(s) >= minOverlap && !lowSignal[s] {
		return []string{w, s}
	}
	return []string{w}
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// split cuts lower-case text into words, and drops the extension of what looks like a file name: its
// other part says more.
func split(s string) []string {
	var words []string
	for field := range strings.FieldsSeq(s) {
		parts := strings.FieldsFunc(field, func(r rune) bool { return !wordRune(r) })
		if n := len(parts); n > 1 && extensions[parts[n-1]] && strings.HasSuffix(field, "."+parts[n-1]) {
			parts = parts[:n-1]
		}
		words = append(words, parts...)
	}
	return words
}

// splitWords cuts an identifier into its lower-case words: at case changes, digits and underscores.
func splitWords(s string) []string {
	var words []string
	runes := []rune(s)
	start := 0
	cut := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(string(runes[start:end])))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case !wordRune(r):
			cut(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			cut(i)
		case i > start && unicode.IsDigit(r) != unicode.IsDigit(runes[i-1]):
			cut(i)
		}
	}
	cut(len(runes))
	return words
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// lowSignal are words that say nothing about where to look.
var lowSignal = set(`a about after all also an and any are as at be been but by can could did do does done each
	for from had has have how i if in into is it its just let me more most must my need no not of on one only or other
	our out over own please should so some such than that the their them then there these they this those through to too
	under up us use used uses using very want was way we were what when where which while who why will with would you your`)

// extensions are dropped from file names in a query.
var extensions = set(`astro bash c cc cfg cjs conf cpp cs css cts cxx go h hpp html ini java js json jsx kt kts less lua
	md mdx mjs mts php pl proto py rb rs rst sass scala scss sh sql svelte swift toml ts tsx txt vue xml yaml yml`)
