package task

import (
	"slices"
	"strings"
)

var (
	// number is an issue's or a pull request's number, with the project where it is said: #12, GH-12,
	// owner/name#12, https://host/owner/name/issues/12.
	number = lazily(`(?:([\w.-]+/[\w.-]+)(?:#|/(?:issues|pull|pulls|merge_requests)/)|(?:^|[^\w&/])#|\bGH-)(\d{2,7})\b`)
	hexes  = lazily(`\b[0-9a-f]{7,40}\b`)
)

const maxCited = 20

// Citation is the number of an issue or a pull request that a text cites.
type Citation struct {
	Project string // owner/name, lower case; empty when the text does not say
	Number  string
}

// Meets reports whether two citations may be of the same issue: the number is the same, and so is the
// project, if both say one.
func (c Citation) Meets(d Citation) bool {
	return c.Number == d.Number && (c.Project == "" || d.Project == "" || c.Project == d.Project)
}

// Citations lists the issues and pull requests that a text cites, each once, at most maxCited.
func Citations(s string) []Citation {
	if !strings.ContainsAny(s, "#/") && !strings.Contains(s, "GH-") {
		return nil
	}
	var out []Citation
	for _, m := range number.FindAllStringSubmatch(s, maxCited) {
		if c := (Citation{Project: strings.ToLower(m[1]), Number: m[2]}); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// commitNames lists the abbreviated commit names in a text. A name without a digit may be a word, and
// one without a letter a number.
func commitNames(s string) []string {
	var out []string
	for _, m := range hexes.FindAllString(s, maxCited) {
		if strings.ContainsAny(m, "0123456789") && strings.ContainsAny(m, "abcdef") && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}
