package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

func newScan(app *App) *cobra.Command {
	var o job.ActivateOptions
	var root, cacheDir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "scan [folder]",
		Short: "Build or refresh what activate reads: words, declarations, imports, tests, history",
		Long: `Build or refresh what activate reads: words, declarations, imports, tests, history.

Contents that an earlier run has parsed come from .ctxt/cache, whatever branch they are on; the rest is
parsed now. activate does the same by itself, so scan is for warming the cache, as in a CI job, and
for looking at what there is.`,
		Example: "  ctxt scan\n  ctxt scan --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				root = args[0]
			}
			p, err := app.findProject(root)
			if err != nil {
				return err
			}
			if err := checkExtractor(o.Extractor); err != nil {
				return err
			}
			o.Dir, o.Config, o.CacheDir = p.Root, p.Config, p.cacheDir(cacheDir, false)
			if cacheDir == "" {
				if err := makeState(p.Root); err != nil {
					return err
				}
			}
			done := app.working("reading the repository and its history")
			res, err := job.Scan(cmd.Context(), o)
			done()
			if err != nil {
				return err
			}
			if asJSON {
				return app.printJSON(res)
			}
			return printScan(app.Out, p, res)
		},
	}
	f := cmd.Flags()
	f.StringVar(&root, "root", "", "project folder (default: the nearest one upwards with a .ctxt folder)")
	f.IntVar(&o.HistoryCommits, "history-commits", 0, "newest commits to read (default 3000)")
	f.StringVar((*string)(&o.Extractor), "symbol-extractor", string(symbols.Auto), "auto, treesitter or regex")
	f.StringVar(&cacheDir, "cache-dir", "", "folder of the cache (default .ctxt/cache)")
	f.BoolVar(&asJSON, "json", false, "print JSON (docs/schema/scan.json)")
	return cmd
}

// maxShownSkips is how many left-out files scan names.
const maxShownSkips = 10

func printScan(w io.Writer, p *project, r *job.ScanResult) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-8s %s\n", name, visible(fmt.Sprintf(format, args...)))
	}
	line("files", "%d; %d contents parsed, %d from the cache", r.Files, r.Parsed, r.FromCache)
	line("text", "%s, %s", plural(r.Symbols, "declaration"), plural(r.Terms, "word"))
	line("imports", "%s between files", plural(r.Edges, "edge"))
	line("tests", "%s, %d of them mapped to a source file", plural(r.Tests, "file"), r.TestsMapped)
	switch {
	case r.Commit == "":
		line("history", "none: this folder is no git repository, or has no commit yet")
	case r.Shallow:
		line("history", "%s up to %.7s; the clone is shallow: git fetch --unshallow brings the rest", plural(r.Commits, "commit"), r.Commit)
	default:
		line("history", "%s up to %.7s", plural(r.Commits, "commit"), r.Commit)
	}
	line("cache", "%s", p.shown(r.Cache))
	for i, s := range r.Skipped {
		if i == maxShownSkips {
			line("", "and %d more", len(r.Skipped)-i)
			break
		}
		line("skipped", "%s: %s", s.Path, s.Reason)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
