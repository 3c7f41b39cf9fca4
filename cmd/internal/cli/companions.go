package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/cmd/internal/job"
)

func newCompanions(app *App) *cobra.Command {
	var o job.CompanionsOptions
	var root string
	var asJSON, strict bool
	cmd := &cobra.Command{
		Use:   "companions [PATH…]",
		Short: "Name files that usually change with the changed ones, and did not",
		Long: `Name files that usually change with the changed ones, and did not.

The changed files are the uncommitted ones of the work tree, with --base also those that the branch
committed since it left that revision, or the given paths. What usually changes together is learned
from the repository's past; ctxt eval companions measures how often it is right.`,
		Example: `  ctxt companions
  ctxt companions --base main --title "store: keep entries sorted" --json
  ctxt companions store/store.go --strict`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := app.findProject(root)
			if err != nil {
				return err
			}
			o.Dir, o.Paths = p.Root, args
			done := app.working("reading the history")
			res, err := job.Companions(cmd.Context(), o)
			done()
			if err != nil {
				return err
			}
			if asJSON {
				err = app.printJSON(res)
			} else {
				for _, n := range res.Notes {
					app.note("%s", n)
				}
				if n := len(res.Changed); n > 0 && len(res.Companions) == 0 {
					app.note("%s: nothing that usually changes along is missing", plural(n, "changed file"))
				}
				err = printCompanions(app.Out, res)
			}
			if err == nil && strict && len(res.Companions) > 0 {
				return &ExitCode{Code: ExitBar}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&root, "root", "", "project folder (default: the nearest one upwards with a .ctxt folder)")
	f.StringVar(&o.Base, "base", "", "revision that the branch left; its commits count, too (default: only uncommitted changes)")
	f.StringVar(&o.Title, "title", "", "what the change is about")
	f.IntVar(&o.HistoryCommits, "history-commits", 0, "newest commits to read (default 3000)")
	f.BoolVar(&strict, "strict", false, "exit with 1 when a file is named")
	f.BoolVar(&asJSON, "json", false, "print JSON (docs/schema/missing-companions.json)")
	return cmd
}

func printCompanions(w io.Writer, r *job.CompanionsResult) error {
	var b strings.Builder
	for _, c := range r.Companions {
		why := "changed with " + c.Partner
		if c.Partner == "" {
			why = c.Because
		}
		fmt.Fprintf(&b, "%s\n    %s: %d of %d times (%.0f%%), last in %.7s\n", visible(c.Path), visible(why), c.Joint, c.Of, 100*c.Confidence, c.LastCommit)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
