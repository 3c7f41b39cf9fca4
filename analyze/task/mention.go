package task

import (
	"path"
	"sort"
	"strconv"
	"strings"
)

var (
	codeSpan  = lazily("`([^`\n]{1,200})`")
	pathLike  = lazily(`[A-Za-z0-9_@~+-][A-Za-z0-9_.@~+/\\-]*(?:[/\\][A-Za-z0-9_.@~+-]+|\.[A-Za-z][A-Za-z0-9]{0,7})(?::(\d+))?`)
	frameLine = lazily(`File "([^"\n]{1,300})", line (\d+)`)
	identLike = lazily(`[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|::|->|#)[A-Za-z_$][A-Za-z0-9_$]*)*(\(\))?`)
)

const maxMentions = 200

// mention collects the paths and identifiers that the title and the body name.
func (t *Task) mention() {
	paths, idents := make(map[string]Mention), make(map[string]Mention)
	put := func(m map[string]Mention, text string, weight float64, line int) {
		if old, ok := m[text]; (!ok && len(m) < maxMentions) || ok && old.Weight < weight {
			m[text] = Mention{Text: text, Weight: weight, Line: max(line, old.Line)}
		}
	}
	for _, part := range []struct {
		text  string
		title bool
	}{{t.Title, true}, {t.Body, false}} {
		weight := func(marked bool) float64 {
			switch {
			case part.title:
				return 1
			case marked:
				return 0.7
			}
			return 0.4
		}
		for _, m := range frameLine.FindAllStringSubmatch(part.text, maxMentions) {
			line, _ := strconv.Atoi(m[2])
			put(paths, normalPath(m[1]), 0.7, line)
		}
		for _, m := range codeSpan.FindAllStringSubmatch(part.text, maxMentions) {
			scanMentions(m[1], weight(true), true, paths, idents, put)
		}
		scanMentions(codeSpan.ReplaceAllString(part.text, " "), weight(false), false, paths, idents, put)
	}
	t.Paths, t.Idents = sorted(paths), sorted(idents)
}

func scanMentions(s string, weight float64, marked bool, paths, idents map[string]Mention, put func(map[string]Mention, string, float64, int)) {
	for _, m := range pathLike.FindAllStringSubmatch(s, maxMentions) {
		line, _ := strconv.Atoi(m[1])
		p := normalPath(strings.TrimSuffix(m[0], ":"+m[1]))
		if strings.Contains(p, "/") || plausibleExt(path.Ext(p)) {
			put(paths, p, weight, line)
		}
	}
	for _, m := range identLike.FindAllStringSubmatch(s, 4*maxMentions) {
		for name := range strings.FieldsFuncSeq(strings.TrimSuffix(m[0], "()"), func(r rune) bool {
			return r == '.' || r == ':' || r == '>' || r == '-' || r == '#' || r == '$'
		}) {
			called := strings.HasSuffix(m[0], "()")
			if len(name) > 2 && (marked || called || looksLikeCode(name)) && !stopWords[strings.ToLower(name)] {
				put(idents, strings.ReplaceAll(strings.ToLower(name), "_", ""), weight, 0)
			}
		}
	}
}

// looksLikeCode reports whether a word of prose is spelled as an identifier: inner capitals or
// underscores. The first capital of a sentence does not count.
func looksLikeCode(name string) bool {
	if strings.Contains(strings.Trim(name, "_"), "_") || strings.HasPrefix(name, "__") {
		return true
	}
	lower, upper := false, false
	for i := 1; i < len(name); i++ {
		c := name[i]
		upper = upper || c >= 'A' && c <= 'Z' && (lower || name[0] >= 'a')
		lower = lower || c >= 'a' && c <= 'z'
		if upper && lower {
			return true
		}
	}
	return false
}

func normalPath(p string) string {
	p = strings.ToLower(strings.ReplaceAll(p, "\\", "/"))
	p = strings.TrimPrefix(strings.TrimPrefix(p, "./"), "/")
	for strings.HasPrefix(p, "../") {
		p = p[3:]
	}
	return strings.TrimRight(p, "./-")
}

// plausibleExt keeps words such as e.g. and foo.bar out of the paths: extensions are known or short.
func plausibleExt(ext string) bool {
	switch ext {
	case ".go", ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".rs", ".java", ".kt", ".kts", ".rb", ".php", ".c", ".h", ".cc", ".cpp",
		".hpp", ".cs", ".swift", ".scala", ".svelte", ".vue", ".astro", ".tcl", ".lua", ".m", ".mm", ".json", ".yaml", ".yml", ".toml",
		".md", ".rst", ".txt", ".sh", ".sql", ".proto", ".html", ".css", ".scss", ".cfg", ".ini", ".xml", ".gradle", ".conf", ".lock", ".ex", ".exs":
		return true
	}
	return false
}

func sorted(m map[string]Mention) []Mention {
	out := make([]Mention, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Text < out[j].Text })
	return out
}
