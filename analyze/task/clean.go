package task

import (
	"strings"
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

// area is what a title says before its first colon, or in brackets or parentheses.
var area = lazily(`^\s*(?:[A-Za-z]+\(([^()]{1,60})\)!?:|\[([^\]]{1,40})\]|([A-Za-z][\w./*-]*(?:\s*[,&/]\s*[\w./*-]+){0,3}):\s)`)

// areasOf lists the parts of the project that a title names before its text, lower case: router of
// "fix(router): …", promql and tsdb of "promql, tsdb: …", web of "[web] …".
func areasOf(title string) []string {
	m := area.FindStringSubmatch(title)
	if m == nil {
		return nil
	}
	named := strings.ToLower(m[1] + m[2] + m[3])
	if _, ok := conventionalTypes[named]; ok && m[3] != "" {
		return nil
	}
	return strings.FieldsFunc(named, func(r rune) bool { return r == ',' || r == '&' || r == ' ' })
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
