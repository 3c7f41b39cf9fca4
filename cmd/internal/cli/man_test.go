package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestManPages checks every command's page: each flag is in it, and no line is a request but those that
// the page is made of.
func TestManPages(t *testing.T) {
	known := []string{".TH", ".SH", ".TP", ".B", ".BR", ".PP", ".nf", ".fi"}
	pages := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		pages++
		page := manPage(c)
		for line := range strings.Lines(page) {
			word, _, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !slices.Contains(known, word) {
				t.Errorf("%s: a line that is a request: %s", c.CommandPath(), line)
			}
		}
		if m := regexp.MustCompile(`\\[^e\-&]`).FindString(page); m != "" {
			t.Errorf("%s: an unknown escape %q", c.CommandPath(), m)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !strings.Contains(page, roff("--"+f.Name)) {
				t.Errorf("%s: the page lacks --%s", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			if documented(sub) {
				walk(sub)
			}
		}
	}
	walk(newRoot(&App{}))
	if pages < 30 {
		t.Errorf("only %d pages", pages)
	}
	if got := roff(".x\n'y\na\\b -c"); got != "\\&.x\n\\&'y\na\\eb \\-c" {
		t.Errorf("escaped as %q", got)
	}
}
