package task

import (
	"slices"
	"strings"

	"github.com/ctxt-dev/ctxt/index/text"
)

var (
	conventional = lazily(`^\s*([A-Za-z]+)(?:\(([^()\s]{1,80})\))?!?:\s+(\S.*)$`)
	bracketed    = lazily(`^\s*\[([A-Za-z0-9 ._/-]{1,40})\]\s*`)
	issueTail    = lazily(`\s*\((?:#\d+(?:,\s*)?)+\)\s*$`)
	htmlComment  = lazily(`(?s)<!--.*?(?:-->|$)`)
	htmlTag      = lazily(`</?[A-Za-z][^<>\n]{0,300}>`)
	link         = lazily(`\[([^\]\n]{0,300})\]\([^)\s]{0,500}\)`)
	image        = lazily(`!\[[^\]\n]{0,300}\]\([^)\n]{0,500}\)`)
	url          = lazily(`https?://[^\s<>)\]]+`)
	trailer      = lazily(`(?i)^\s*(signed-off-by|co-authored-by|reviewed-by|acked-by|cc|reported-by|tested-by|helped-by|suggested-by|change-id|backport|pr-url)\s*:`)
	checkbox     = lazily(`^\s*[-*+]\s+\[[ xX]\]\s*`)
	closes       = lazily(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see|related to|part of)\s*:?\s+(?:[\w.-]+/[\w.-]+)?#\d+`)
	mention      = lazily(`(^|\s)@[A-Za-z0-9][\w-]*(/[\w-]+)?`)
	reference    = lazily(`(?:[\w.-]+/[\w.-]+)?#\d+\b|\bGH-\d+\b`)
)

// titleParts splits a title into its text, the conventional scope and the type that its prefix names.
func titleParts(title string) (text, scope string, typ Type) {
	text = strings.TrimSpace(issueTail.ReplaceAllString(strings.Join(strings.Fields(title), " "), ""))
	if m := conventional.FindStringSubmatch(text); m != nil {
		if name, ok := conventionalTypes[strings.ToLower(m[1])]; ok {
			return reference.ReplaceAllString(m[3], " "), m[2], Type{Name: name, Evidence: m[1] + " in the title's prefix"}
		}
	}
	if m := bracketed.FindStringSubmatch(text); m != nil && len(text) > len(m[0]) {
		return reference.ReplaceAllString(text[len(m[0]):], " "), m[1], Type{}
	}
	return reference.ReplaceAllString(text, " "), "", Type{}
}

// before is what a title says before its text, in brackets or with a colon: [web] … and tsdb/wlog[perf]: …
var (
	before     = lazily(`^\s*(?:\[[^\]]{1,40}\]\s*)?([A-Za-z][^:\[\]]{0,60}?)\s*(?:\[[^\]]{1,40}\])?:\s`)
	inBrackets = lazily(`^\s*\[([^\]]{1,40})\]`)
	scoped     = lazily(`^\s*([A-Za-z]+)\s*\(([^()]{1,60})\)!?:\s`)
)

// maxAreaTerms is how many terms an area's name has at most; what is longer is a sentence.
const maxAreaTerms = 5

// areasOf lists the parts of the project that a title names before its text: router of "fix(router): …",
// promql and tsdb of "promql, tsdb: …", web of "[web] …", config get of "config get: …".
func areasOf(title string) []Area {
	var named []string
	if m := scoped.FindStringSubmatch(title); m != nil && conventionalTypes[strings.ToLower(m[1])] != "" {
		named = append(named, m[2])
	} else if m := before.FindStringSubmatch(title); m != nil && conventionalTypes[strings.TrimSuffix(strings.ToLower(m[1]), "!")] == "" {
		named = append(named, m[1])
	}
	if m := inBrackets.FindStringSubmatch(title); m != nil {
		named = append(named, m[1])
	}
	tk := text.NewTokenizer()
	var out []Area
	for _, n := range named {
		for part := range strings.FieldsFuncSeq(strings.ToLower(n), func(r rune) bool { return r == ',' || r == '&' }) {
			a := Area{Text: strings.TrimSpace(part)}
			for _, h := range tk.Hashes(a.Text) {
				if h&text.CompoundBit == 0 && !slices.Contains(a.Terms, h) {
					a.Terms = append(a.Terms, h)
				}
			}
			if len(a.Terms) > 0 && len(a.Terms) <= maxAreaTerms {
				out = append(out, a)
			}
		}
	}
	return out
}

// cleanBody removes what is not about the code: comments, links, trailers, ticked lists of templates.
func cleanBody(body string) string {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	body = htmlComment.ReplaceAllString(body, " ")
	body = image.ReplaceAllString(body, " ")
	body = link.ReplaceAllString(body, "$1")
	body = url.ReplaceAllString(body, " ")
	var out []string
	fenced := false
	for line := range strings.SplitSeq(body, "\n") {
		if s := strings.TrimSpace(line); strings.HasPrefix(s, "```") || strings.HasPrefix(s, "~~~") {
			fenced = !fenced
			continue
		}
		if !fenced {
			if trailer.MatchString(line) || checkbox.MatchString(line) {
				continue
			}
			line = closes.ReplaceAllString(line, " ")
			line = htmlTag.ReplaceAllString(line, " ")
			line = mention.ReplaceAllString(line, " ")
			line = reference.ReplaceAllString(line, " ")
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
