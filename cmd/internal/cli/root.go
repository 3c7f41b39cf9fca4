// Package cli holds the commands: one file each, flags into an Options struct, nothing deeper.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"

	"github.com/ctxt-dev/ctxt/index/synonyms"
)

// Streams are the process's standard streams.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// App is what every command gets: streams and a look at the environment.
type App struct {
	Streams
	Getenv func(string) (string, bool)
	Quiet  bool
	LLM    func(*synonyms.Config) // adjusts how the language model is reached; nil: as configured
}

// The exit codes, everywhere in the product.
const (
	ExitOK    = 0
	ExitBar   = 1 // an absolute bar is missed or a gate blocks
	ExitError = 2 // it could not be evaluated, or wrong use
	ExitWorse = 3 // worse than the baseline beyond the tolerance
)

// ExitCode is an error that carries a gate's verdict; its message, if any, is printed.
type ExitCode struct {
	Code int
	Msg  string
}

func (e *ExitCode) Error() string { return e.Msg }

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, args []string, s Streams, getenv func(string) (string, bool)) int {
	return (&App{Streams: s, Getenv: getenv}).run(ctx, args)
}

func (app *App) run(ctx context.Context, args []string) int {
	s := app.Streams
	root := newRoot(app)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	var code *ExitCode
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &code):
		if code.Msg != "" {
			fmt.Fprintln(s.Err, "ctxt: "+oneLine(code.Msg))
		}
		return code.Code
	default:
		fmt.Fprintln(s.Err, "ctxt: "+oneLine(err.Error()))
		return ExitError
	}
}

// commands lists the constructors; one file each.
var commands = []func(*App) *cobra.Command{
	newAction(job.RunPR, pick.Markdown),
	newActivate,
	newAgent,
	newBench,
	newClean,
	newCompanions,
	newConfig,
	newDoctor,
	newEval,
	newInit,
	newMan,
	newMCP,
	newPR,
	newRefine,
	newReport,
	newScan,
	newSearchHints,
	newSession,
	newStatus,
	newSync,
	newVersion,
	newWatch,
}

// firstSteps is what a newcomer needs.
const firstSteps = `.

In a git repository:

  ctxt pr --base HEAD~1 --head HEAD --title-from-head   what the pull request comment would say of the last commit
  ctxt activate --task "what you want to do"            the files and regions that a task is about
  ctxt doctor                                           whether everything that ctxt needs is there

All commands: ctxt --help. All flags of one: ctxt pr --help.
`

func newRoot(app *App) *cobra.Command {
	root := &cobra.Command{
		Use:           "ctxt",
		Short:         "Context for a change: what it is about, what usually changes with it, how risky it is",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), cmd.Short+firstSteps)
			return err
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; %s --help lists the flags", err, cmd.CommandPath())
	})
	root.PersistentFlags().BoolVarP(&app.Quiet, "quiet", "q", false, "print no progress and no notes")
	for _, c := range commands {
		root.AddCommand(c(app))
	}
	strict(root)
	return root
}

// strict lets no command take arguments that it does not know, and says what there is. A group of commands
// alone shows its help; with the name of none of them it is wrong use, not a request for help.
func strict(c *cobra.Command) {
	c.SuggestionsMinimumDistance = 2
	takes := c.Args
	c.Args = func(cmd *cobra.Command, args []string) error {
		if takes == nil || takes(cmd, args) == nil {
			return nil
		}
		if !cmd.HasSubCommands() {
			return fmt.Errorf("wrong arguments %.80q; usage: %s", strings.Join(args, " "), cmd.UseLine())
		}
		if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
			return fmt.Errorf("unknown command %.60q; did you mean %s?", args[0], strings.Join(like, " or "))
		}
		return fmt.Errorf("unknown command %.60q; %s --help lists them", args[0], cmd.CommandPath())
	}
	if c.HasSubCommands() && !c.Runnable() {
		c.Use += " COMMAND"
		c.DisableFlagsInUseLine = true
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range c.Commands() {
		strict(sub)
	}
}
