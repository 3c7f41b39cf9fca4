package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Version is the product's version; releases set it by -ldflags.
var Version = "0.1.0-dev"

func newVersion(app *App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and what this binary was built with",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(app.Out, "ctxt "+Version)
			return err
		},
	}
}
