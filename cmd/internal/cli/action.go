package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/cmd/internal/action"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/report"
)

// newAction makes the container Action's entry from the function that makes a report, the same that
// pr calls, and the one that renders a context bundle (nil: as JSON).
func newAction(runPR func(context.Context, job.PROptions) (*report.Report, error), bundle func(*pick.Bundle) string) func(*App) *cobra.Command {
	return func(app *App) *cobra.Command {
		var publish bool
		c := &cobra.Command{
			Use:   "action",
			Short: "Run as a GitHub Action: the runner's event to a comment, a summary and outputs",
			Long: `Reads the event, the inputs and the runner's files from the environment, as the runner sets them for a
container Action, makes the report of the change and writes the pull request's comment, the job
summary, annotations and outputs. With the event workflow_run, or --publish, it only publishes the
report that another run left in report-dir.

Exit code: 0; 1 or 3 when a blocking gate fails; 2 when the change could not be evaluated.`,
			Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				code := action.Run(cmd.Context(), action.Options{
					Getenv: app.Getenv, Out: app.Out, Err: app.Err, Version: Version, Publish: publish, RunPR: runPR, BundleText: bundle,
				})
				if code != ExitOK {
					return &ExitCode{Code: code} // the line that says why is written
				}
				return nil
			},
		}
		c.Flags().BoolVar(&publish, "publish", false, "only publish the report in report-dir; implied by the event workflow_run")
		return c
	}
}
