package report

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pieces are what markup, mentions, references, links and tables are made of.
var pieces = []string{
	"@", "#", "1", "GH-", "gh-", "a", "org/team", "owner/repo", "http", "https", ":", "//", "www", ".", "example.com", "mailto:", "xmpp:", "ftp://", "-", "--", "<", ">", "<!--", "-->", "<a href=x>", "</code>", "</details>",
	"`", "``", "```", "~~~", "|", "\\", "\\|", "*", "**", "_", "__", "[", "]", "(", ")", "!", "![", "](", "[^1]", "&", "&#64;", "&lt;", ";", "$", "{", "}", "\n", "\r", "\t", " ", "  ", "\u00a0", "\u2028", "\u200b", "\u202e", "\xff", "\x00",
	"deadbeef", "0123456", "abcdef0123456789abcdef0123456789abcdef01", ":tada:", "+", "=", "===", "---", "1. ", "> ", "日本", "𐍈", "\u0301", "ª", "²", "٣",
}

// TestEscaperProperty holds, for anything made of the pieces, that each form of the escaper is one
// line and inert, in a heading, in a table, in a list, in a fold's summary and in running text.
func TestEscaperProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "s"), "")
		c := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "name"), "")
		forms := []string{code(s), text(s), prose(s), prose(s, c), prose(c+" "+s+" `"+c+"`", c)}
		var b strings.Builder
		for _, f := range forms {
			if strings.ContainsAny(f, "\n\r|") {
				t.Fatalf("%q gives %q", s, f)
			}
			b.WriteString("### x: " + f + "\n\n| | |\n|---|---|\n| **" + text(s) + "** | " + f + " |\n\n- **" + text(c) + "** (" + f + "): " + f + "\n\n<sub>" + f + "</sub>\n\nx: " + f + ", " + f + "\n\n")
		}
		b.WriteString("```mermaid\ngraph LR\n  n0[\"" + mermaidLabel(s) + "\"]\n```\n")
		checkMarkdown(t, b.String())
	})
}

// TestEmojiForm checks that the selector of a sign's coloured form is not shown, and that anywhere else
// the invisible character is.
func TestEmojiForm(t *testing.T) {
	for in, want := range map[string]string{
		"\u267b\ufe0f Update":   "\u267b Update",
		"a\ufe0fb":              "a⟨U+FE0F⟩b",
		"\u267b\ufe0f\ufe0f":    "\u267b⟨U+FE0F⟩",
		"\ufe0f":                "⟨U+FE0F⟩",
		"\u267b\ufe0e old form": "\u267b⟨U+FE0E⟩ old form",
	} {
		if got := visible(in, 100); got != want {
			t.Errorf("%+q: %+q, want %+q", in, got, want)
		}
	}
}
