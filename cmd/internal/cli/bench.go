package cli

import "github.com/spf13/cobra"

func newBench(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Compare engines on the same queries, and replay several repositories",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newBenchReplay(app))
	return cmd
}
