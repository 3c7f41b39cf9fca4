package risk

import (
	"path"
	"strings"
	"time"
)

// pathArgs quotes paths for a POSIX shell, after a --. A path with a control character is replaced by
// its folder or, failing that, left out.
func pathArgs(paths ...string) string {
	var b strings.Builder
	b.WriteString("--")
	seen := map[string]bool{}
	for _, p := range paths {
		for hasControl(p) && p != "." {
			p = path.Dir(p)
		}
		if p != "" && !seen[p] {
			seen[p] = true
			b.WriteString(" " + quote(p))
		}
	}
	return b.String()
}

func hasControl(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x2028 && r <= 0x202e }) >= 0
}

// quote makes one shell word; a leading colon would be git's pathspec magic.
func quote(s string) string {
	if strings.HasPrefix(s, ":") {
		s = "./" + s
	}
	plain := strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-+@%=,", r)
	}) < 0
	if plain && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// date is a Unix time as git's --since reads it, UTC.
func date(unix int64) string { return time.Unix(unix, 0).UTC().Format("2006-01-02") }

// first cuts a list.
func first(paths []string, n int) []string { return paths[:min(n, len(paths))] }
