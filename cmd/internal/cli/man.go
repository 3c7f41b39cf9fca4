package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ctxt-dev/ctxt/index/store"
)

func newMan(app *App) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man [command…]",
		Short: "Print a command's manual page, or write all of them to a folder",
		Long: `Print a command's manual page, or write all of them to a folder.

The pages are made from what the commands say of themselves, as --help is. Releases hold them in man/.`,
		Example: "  ctxt man pr | man -l -\n  ctxt man --dir man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.InitDefaultCompletionCmd(args...)
			if dir != "" {
				if len(args) > 0 {
					return fmt.Errorf("--dir writes all pages; leave out %q", strings.Join(args, " "))
				}
				return writeManPages(root, dir)
			}
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return fmt.Errorf("no command %q; ctxt --help lists them", strings.Join(args, " "))
			}
			_, err = io.WriteString(app.Out, manPage(c))
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write every command's page to this `folder`, as NAME.1")
	return cmd
}

// writeManPages writes the page of a command and those of its own commands.
func writeManPages(c *cobra.Command, dir string) error {
	if err := store.WriteFile(filepath.Join(dir, manName(c)+".1"), []byte(manPage(c)), 0o644); err != nil {
		return err
	}
	for _, sub := range c.Commands() {
		if documented(sub) {
			if err := writeManPages(sub, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// documented says whether a command has a page of its own.
func documented(c *cobra.Command) bool {
	return c.IsAvailableCommand() && c.Name() != "help" && c.Name() != "completion"
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is a command's page in man(7) macros. It has no date: the same source gives the same bytes.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"ctxt %s\" \"ctxt\"\n", strings.ToUpper(roff(manName(c))), roff(Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(c)), roff(strings.TrimSuffix(c.Short, ".")))
	b.WriteString(".SH SYNOPSIS\n")
	if c.Runnable() {
		fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(c.UseLine()))
	} else {
		fmt.Fprintf(&b, ".nf\n%s COMMAND\n.fi\n", roff(c.CommandPath()))
	}
	long := strings.TrimSpace(c.Long)
	if long == "" {
		long = strings.TrimSuffix(c.Short, ".") + "."
	}
	b.WriteString(".SH DESCRIPTION\n")
	paragraphs(&b, long)
	manOptions(&b, "OPTIONS", c.LocalNonPersistentFlags())
	if c.HasParent() {
		manOptions(&b, "OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	} else {
		manOptions(&b, "OPTIONS OF ALL COMMANDS", c.PersistentFlags())
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() && sub.Name() != "help" {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
			}
		}
		exitStatus(&b)
	}
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.TrimRight(c.Example, "\n")))
	}
	var also []string
	if c.HasParent() {
		also = append(also, manName(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if documented(sub) {
			also = append(also, manName(sub))
		}
	}
	b.WriteString(".SH SEE ALSO\n")
	for i, name := range also {
		comma := ","
		if i == len(also)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(name), comma)
	}
	return b.String()
}

// exitStatus explains the exit codes, which are the same everywhere.
func exitStatus(b *strings.Builder) {
	b.WriteString(".SH EXIT STATUS\n")
	for _, s := range [...]struct {
		code int
		text string
	}{{ExitOK, "Nothing that was asked for is missed."}, {ExitBar, "A bar is missed, or a gate blocks."},
		{ExitError, "It could not be evaluated, or wrong use."}, {ExitWorse, "Worse than the baseline by more than the tolerance."}} {
		fmt.Fprintf(b, ".TP\n.B %d\n%s\n", s.code, s.text)
	}
}

// paragraphs writes running text; lines that are indented keep their ends.
func paragraphs(b *strings.Builder, text string) {
	for i, p := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(p, " ") {
			fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff(strings.TrimRight(p, "\n")))
			continue
		}
		b.WriteString(roff(p) + "\n")
	}
}

func manOptions(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		left := "--" + f.Name
		if f.Shorthand != "" {
			left = "-" + f.Shorthand + ", " + left
		}
		fmt.Fprintf(b, ".TP\n.B %s\n", roff(strings.TrimSpace(left+" "+name)))
		if def := shownDefault(f, usage); def != "" {
			usage += " (default " + def + ")"
		}
		fmt.Fprintf(b, "%s\n", roff(usage))
	})
}

// shownDefault is the default that is worth showing.
func shownDefault(f *pflag.Flag, usage string) string {
	switch def := f.DefValue; {
	case def == "" || def == "[]" || def == "false" || def == "0" && strings.Contains(usage, "default"):
		return ""
	default:
		return def
	}
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`)

// roff escapes text: nothing in it is a request.
func roff(text string) string {
	lines := strings.Split(roffEscapes.Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
