package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCommandReference checks that docs/commands.md says what the commands say of themselves.
// UPDATE=1 rewrites it between its markers.
func TestCommandReference(t *testing.T) {
	var b strings.Builder
	writeCommand(&b, newRoot(&App{}))
	updateGenerated(t, filepath.Join("..", "..", "..", "docs", "commands.md"), b.String())
}

// writeCommand appends a command's section and those of its own commands.
func writeCommand(b *strings.Builder, c *cobra.Command) {
	path := c.CommandPath()
	fmt.Fprintf(b, "## %s\n\n", path)
	long := c.Long
	if long == "" {
		long = strings.TrimSuffix(c.Short, ".") + "."
	}
	fmt.Fprintf(b, "%s\n\n", strings.TrimSpace(long))
	if c.Runnable() {
		fmt.Fprintf(b, "```text\n%s\n```\n\n", c.UseLine())
	}
	if c.Example != "" {
		fmt.Fprintf(b, "<!-- not run: examples; the commands and flags are checked -->\n```sh\n%s\n```\n\n", unindented(c.Example))
	}
	flags := c.LocalFlags()
	if flags.HasAvailableFlags() {
		b.WriteString("| flag | default | meaning |\n|---|---|---|\n")
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				writeFlag(b, f)
			}
		})
		b.WriteString("\n")
	}
	for _, sub := range c.Commands() {
		if documented(sub) {
			writeCommand(b, sub)
		}
	}
}

func writeFlag(b *strings.Builder, f *pflag.Flag) {
	name, usage := pflag.UnquoteUsage(f)
	left := "`--" + f.Name
	if f.Shorthand != "" {
		left = "`-" + f.Shorthand + "`, " + left
	}
	if name != "" {
		left += " " + name
	}
	def := shownDefault(f, usage)
	if def != "" {
		def = "`" + def + "`"
	}
	fmt.Fprintf(b, "| %s` | %s | %s |\n", left, def, strings.ReplaceAll(usage, "|", "\\|"))
}

// unindented takes the two spaces off an example's lines.
func unindented(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "  ")
	}
	return strings.Join(lines, "\n")
}

// The lines between which a page is generated.
const (
	generatedFrom = "<!-- generated from here; UPDATE=1 go test writes it -->\n"
	generatedTo   = "<!-- generated up to here -->\n"
)

// updateGenerated compares a page's generated part with what it should be, or writes it.
func updateGenerated(t *testing.T, file, want string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), generatedFrom)
	got, after, ok2 := strings.Cut(rest, generatedTo)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the lines %q and %q", file, generatedFrom, generatedTo)
	}
	want = "\n" + strings.TrimSpace(want) + "\n\n"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(before+generatedFrom+want+generatedTo+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s is not what the code says, from line %d of the generated part on: run UPDATE=1 go test on this package\nhas  %q\nwant %q",
				file, i, at(g, i), at(w, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}
