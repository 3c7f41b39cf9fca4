package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible writes text from a repository so that a terminal shows it and does nothing else: control,
// invisible and direction-changing characters become escapes such as \x1b and \u202e. So do the colon
// that text begins with and the bracket by which a CI runner knows its commands in a log, "::" at the
// start of a line and "##[" anywhere in it.
func visible(s string) string {
	s = strings.ReplaceAll(shown(s), "##[", `##\x5b`)
	if rest := strings.TrimLeft(s, " "); strings.HasPrefix(rest, "::") {
		s = s[:len(s)-len(rest)] + `\x3a` + rest[1:]
	}
	return s
}

// shown is visible but for commands.
func shown(s string) string {
	clean := true
	for _, r := range s {
		if !plain(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && s[i] != 0xef: // an invalid byte
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case plain(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// plain reports whether a character is shown as itself. The replacement character counts as not, so
// that invalid bytes are looked at.
func plain(r rune) bool {
	return r == ' ' || r != utf8.RuneError && unicode.IsPrint(r)
}
