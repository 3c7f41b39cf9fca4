package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/index/symbols"
)

// Version is the product's version; releases set it by -ldflags.
var Version = "0.1.0-dev"

func newVersion(app *App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and what this binary was built with",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			grammars := "with the tree-sitter grammars"
			if !symbols.HasTreeSitter() {
				grammars = "without the tree-sitter grammars (no C compiler): go/parser and regular expressions"
			}
			_, err := fmt.Fprintf(app.Out, "ctxt %s\n%s, %s/%s, %s\n", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, grammars)
			return err
		},
	}
}
