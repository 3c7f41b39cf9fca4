package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/cmd/internal/agent"
)

// agentResult is what agent install --json and agent remove --json print, version 1.
type agentResult struct {
	Version int            `json:"version"`
	DryRun  bool           `json:"dry_run"`
	Files   []agent.Change `json:"files"`
}

func newAgent(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Tell coding agents how to use ctxt, in the files that they read",
		Long: `Tell coding agents how to use ctxt, in the files that they read.

Keeps one section, between two markers, in CLAUDE.md, AGENTS.md, .cursor/rules/ctxt.mdc and
.github/copilot-instructions.md. Nothing outside the markers is touched, and remove gives back the
bytes that were there before.`,
		Example: "  ctxt agent install\n  ctxt agent remove",
		Args:    cobra.NoArgs,
	}
	cmd.AddCommand(
		newAgentCommand(app, "install", "Write or update the section", agent.Install),
		newAgentCommand(app, "remove", "Cut the section out again", agent.Remove))
	return cmd
}

func newAgentCommand(app *App, name, short string, do func(root string, agents []string, dry bool) ([]agent.Change, error)) *cobra.Command {
	var root string
	var agents []string
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use:     name + " [folder]",
		Short:   short,
		Example: "  ctxt agent " + name + "\n  ctxt agent " + name + " --agent claude,cursor --dry-run",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				root = args[0]
			}
			dir, err := findRoot(root)
			if err != nil {
				return err
			}
			changes, err := do(dir, agents, dry)
			if err != nil {
				return err
			}
			if asJSON {
				return app.printJSON(agentResult{1, dry, changes})
			}
			for _, c := range changes {
				if _, err := fmt.Fprintf(app.Out, "%-9s  %s\n", c.Action, c.Path); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&root, "root", "", "project folder (default: the nearest one upwards with a .ctxt folder)")
	f.StringSliceVar(&agents, "agent", nil, "only these: claude, codex (or agents), cursor, copilot (default all)")
	f.BoolVar(&dry, "dry-run", false, "say what would be done, and write nothing")
	f.BoolVar(&asJSON, "json", false, "print JSON (docs/schema/agent.json)")
	complete(cmd, "agent", "claude", "codex", "cursor", "copilot")
	return cmd
}
