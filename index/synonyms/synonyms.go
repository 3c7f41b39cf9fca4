// Package synonyms asks an OpenAI-compatible language model for the words by which people may look
// for a file or a folder. It is off unless a client is made, and nothing else in the product
// connects to a model.
//
//  1. Cut the wanted entries into batches: up to 60 a request, fewer when their symbols and imports
//     are long.
//  2. Send the batches in parallel; retry what may pass later, with a growing and bounded wait.
//  3. Read each answer as strict JSON and keep what fits: known names, plain words, within the
//     counts. Whatever does not fit is counted, never stored.
//  4. Report what is missing; what was answered is kept even when other batches failed.
//
// Names, symbols and imports come from the repository and answers come from a server: both are
// hostile. The key is sent in one header to one origin, over TLS except on loopback, redirects are
// never followed, and no error, report or synonym repeats a part of the key.
package synonyms

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of one synonym, in characters.
const (
	minLen = 2
	maxLen = 40
)

// Item is one file or folder that wants synonyms.
type Item struct {
	Path     string   // project-relative, slash-separated; the name in requests and the key of results
	Dir      bool     //
	Symbols  []string // names that the file declares
	Imports  []string // for the JavaScript and TypeScript family: its ESM imports
	Children []string // for a folder: names of its entries, as context; no part of the fingerprint
}

// ESM reports whether the imports of a file with this name belong to its context: the JavaScript
// and TypeScript family and the component formats that embed it.
func ESM(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".astro":
		return true
	}
	return false
}

// Fingerprint identifies what synonyms were made from: the set of symbols and, for the JavaScript
// and TypeScript family, the set of imports. Order and repetition do not matter; a body edit that
// leaves both sets alone leaves the fingerprint alone. It is 32 hexadecimal digits.
func Fingerprint(it Item) string {
	h := sha256.New()
	section := func(title string, names []string) {
		io.WriteString(h, title+"\x00")
		for _, s := range sortedSet(names) {
			io.WriteString(h, s+"\x00")
		}
	}
	section("symbols", it.Symbols)
	if ESM(it.Path) {
		section("imports", it.Imports)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func sortedSet(names []string) []string {
	s := slices.Clone(names)
	slices.Sort(s)
	return slices.Compact(s)
}

// normalise makes raw answers into synonyms: lower case, trimmed, inner white space single, 2 to 40
// characters, no duplicates, at most limit, in the order given. Rejected counts those that are not
// plain words (control or invisible characters, markup, wrong length); duplicates and the surplus
// are not counted.
func normalise(raw []string, limit int, secret string) (words []string, rejected int) {
	seen := make(map[string]bool, len(raw))
	for _, s := range raw {
		if len(words) == limit {
			break
		}
		w, ok := word(s)
		if !ok || repeatsKey(w, secret, 16) {
			rejected++
			continue
		}
		if !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words, rejected
}

// word normalises one synonym; ok is false when it is none.
func word(s string) (w string, ok bool) {
	if len(s) > 8*maxLen || !utf8.ValidString(s) {
		return "", false
	}
	w = strings.ToLower(strings.Trim(s, " \t\r\n"))
	letter := false
	for _, r := range w {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r):
			letter = true
		case unicode.IsMark(r), strings.ContainsRune(" -_.+#/'&", r):
		default:
			return "", false
		}
	}
	w = strings.Join(strings.Fields(w), " ")
	n := utf8.RuneCountInString(w)
	return w, letter && n >= minLen && n <= maxLen
}
