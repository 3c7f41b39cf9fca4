package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index/store"
)

func newConfig(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Write the configuration file",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newConfigInit(app))
	return cmd
}

func newConfigInit(app *App) *cobra.Command {
	output := store.ConfigFile
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a documented configuration file with every default",
		Long: `Write a documented configuration file with every default.

A file that is there is overwritten. Order of settings: flag, .ctxt/ctx_config.toml,
.codeledger/config.json, default. Where that JSON file is, its keys are commented out.`,
		Example: "  ctxt config init\n  ctxt config init --output .ctxt/ctx_config.toml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := store.WriteFile(output, []byte(config.StarterFor(".")), 0o644); err != nil {
				return err
			}
			_, err := fmt.Fprintln(app.Out, "wrote "+visible(output))
			return err
		},
	}
	cmd.Flags().StringVar(&output, "output", output, "file to write")
	return cmd
}
