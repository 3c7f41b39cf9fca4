package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/cmd/internal/mcp"
	"github.com/ctxt-dev/ctxt/index/store"
)

func newMCP(app *App) *cobra.Command {
	var root, cacheDir string
	var noCache bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to a coding agent over standard input and output",
		Long: `Serve the tools to a coding agent over standard input and output, by the Model Context Protocol.

Tools: search_hints, activate, refine, explain, missing_companions, risk, status. They answer with the
JSON of the commands of the same names, cut where it is too long for a model. Nothing is written but
the cache and, when a call asks for it, the active bundle; nothing is sent anywhere. A running watch
answers the searches.`,
		Example: "  ctxt mcp --root /path/to/project\n  claude mcp add ctxt -- ctxt mcp",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := app.findProject(root)
			if err != nil {
				return err
			}
			dir := p.cacheDir(cacheDir, noCache || cacheDir == "" && !exists(filepath.Join(p.Root, store.Dir)))
			return mcp.Serve(cmd.Context(), app.In, app.Out, app.mcpOptions(p, dir))
		},
	}
	f := cmd.Flags()
	f.StringVar(&root, "root", "", "project folder (default: the nearest one upwards with a .ctxt folder)")
	f.StringVar(&cacheDir, "cache-dir", "", "folder of the cache (default .ctxt/cache where .ctxt exists)")
	f.BoolVar(&noCache, "no-cache", false, "read and write no cache")
	return cmd
}

// mcpOptions let the tools run what the commands run.
func (app *App) mcpOptions(p *project, cacheDir string) mcp.Options {
	return mcp.Options{
		Version: Version, Root: p.Root, CacheDir: cacheDir,
		Config: func() (*config.Config, error) {
			c, _, err := config.Load(p.Root)
			return c, err
		},
		Search: func(ctx context.Context, r search.Request) (*search.Response, error) {
			return answer(ctx, p, searchOptions{Request: r, Memory: true})
		},
		Status: func(ctx context.Context) (any, error) { return projectStatus(ctx, p, "") },
		Load:   func() (*pick.Bundle, error) { return loadActive(p) },
		Keep:   func(b *pick.Bundle) error { return keepActive(p.Root, b) },
		Log:    func(text string) { fmt.Fprintln(app.Err, "ctxt: "+text) },
	}
}
