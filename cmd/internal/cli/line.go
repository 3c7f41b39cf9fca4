package cli

import "strings"

// oneLine makes a message safe for a terminal and for a CI log: one line, no control characters, and no
// command, which a runner finds behind "##[" anywhere in a line.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case r < 0x20, r == 0x7f, r >= 0x80 && r < 0xa0, r == 0x2028, r == 0x2029:
			return -1
		}
		return r
	}, s)
	return strings.ReplaceAll(s, "##[", `##\x5b`)
}
