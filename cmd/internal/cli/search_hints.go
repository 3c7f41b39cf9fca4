package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/watch"
)

// searchOptions are the flags of ctxt search-hints.
type searchOptions struct {
	Request     search.Request
	Root        string
	Index       string
	JSON        bool
	Memory      bool
	MemoryOnly  bool
	Runtime     string
	Hybrid      bool
	HybridScore float64
	HybridRoot  string
}

func newSearchHints(app *App) *cobra.Command {
	var o searchOptions
	d := config.Default().Search
	cmd := &cobra.Command{
		Use:   "search-hints QUERY",
		Short: "Rank the paths of the index for a few words",
		Long: `Rank the paths of the index for a few words, with explainable points.

A running watch answers from memory; otherwise the index file is read. Results after a drop of half
the points or more are left out: an exact file or symbol name can give one result, other queries keep
up to three.`,
		Example: "  ctxt search-hints \"update storage\" --json\n" +
			"  ctxt search-hints \"routing auth\" --dir-summary --dir-limit 5 --drill-limit 3\n" +
			"  ctxt search-hints \"loading page\" --explain",
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	r := &o.Request
	f.IntVarP(&r.Limit, "limit", "n", d.Limit, "most results")
	f.Float64Var(&r.MinScore, "min-score", d.MinScore, "leave out results below this score")
	f.StringVar(&r.Type, "type", d.Type, "files, dirs or all")
	f.BoolVar(&r.Explain, "explain", false, "show where the points come from")
	f.BoolVar(&r.ShowTokens, "show-tokens", false, "show the words and stems that are looked for")
	f.BoolVar(&r.DirSummary, "dir-summary", false, "the best folders first, each with its best files")
	f.IntVar(&r.DirLimit, "dir-limit", d.DirLimit, "most folders of --dir-summary")
	f.IntVar(&r.DrillLimit, "drill-limit", d.DrillLimit, "most files of a folder in --dir-summary")
	f.BoolVar(&o.JSON, "json", false, "print JSON (docs/schema/search-hints.json)")
	f.StringVar(&o.Root, "root", "", "project folder (default: the nearest one upwards with a .ctxt folder)")
	f.StringVarP(&o.Index, "index", "i", "", "index file (default common.output)")
	f.BoolVar(&o.Memory, "memory", d.Memory, "ask a running watch first")
	f.BoolVar(&o.MemoryOnly, "memory-only", false, "fail when no watch answers")
	f.StringVar(&o.Runtime, "runtime-file", "", "discovery file of the watch (default "+d.RuntimeFile+" under the root)")
	f.BoolVar(&o.Hybrid, "hybrid", d.Hybrid, "also search the indexed files' text, with ripgrep; reads the index file")
	f.Float64Var(&o.HybridScore, "hybrid-score", d.HybridScore, "score of a file that only its text matches")
	f.StringVar(&o.HybridRoot, "hybrid-root", "", "folder whose files --hybrid reads (default: the index's root)")
	complete(cmd, "type", search.Files, search.Dirs, search.All)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		root, err := findRoot(o.Root)
		if err != nil {
			return err
		}
		p, err := app.openProject(root)
		if err != nil {
			return err
		}
		r.Query = strings.Join(args, " ")
		o.overlay(cmd, p.Config.Search)
		return runSearch(cmd.Context(), app, p, o)
	}
	return cmd
}

// overlay takes from the configuration what no flag gave.
func (o *searchOptions) overlay(cmd *cobra.Command, c config.Search) {
	given := cmd.Flags().Changed
	configured(given("limit"), &o.Request.Limit, c.Limit)
	configured(given("min-score"), &o.Request.MinScore, c.MinScore)
	configured(given("type"), &o.Request.Type, c.Type)
	configured(given("dir-limit"), &o.Request.DirLimit, c.DirLimit)
	configured(given("drill-limit"), &o.Request.DrillLimit, c.DrillLimit)
	configured(given("memory"), &o.Memory, c.Memory)
	configured(given("hybrid"), &o.Hybrid, c.Hybrid)
	configured(given("hybrid-score"), &o.HybridScore, c.HybridScore)
}

// configured replaces a flag's default by the configuration's value.
func configured[T any](given bool, flag *T, value T) {
	if !given {
		*flag = value
	}
}

func runSearch(ctx context.Context, app *App, p *project, o searchOptions) error {
	for flag, n := range map[string]int{"limit": o.Request.Limit, "dir-limit": o.Request.DirLimit, "drill-limit": o.Request.DrillLimit} {
		if n < 1 {
			return fmt.Errorf("flag --%s: got %d, want 1 to %d", flag, n, search.MaxLimit)
		}
	}
	if o.Hybrid && !(o.HybridScore >= 0 && o.HybridScore <= 1e9) {
		return fmt.Errorf("flag --hybrid-score: got %v, want 0 or more", o.HybridScore)
	}
	if o.Hybrid && o.MemoryOnly {
		return errors.New("--hybrid reads the index file, so it does not go with --memory-only; leave one of them out")
	}
	res, err := answer(ctx, p, o)
	if err != nil {
		return err
	}
	if o.JSON {
		return app.printJSON(res)
	}
	for _, w := range res.Warnings {
		app.note("%s", w)
	}
	if len(res.Results)+len(res.Dirs) == 0 {
		app.note("nothing matches %q; try other words, or --hybrid to search file contents", o.Request.Query)
	}
	return printSearch(app.Out, res)
}

// answer asks the watch, else the index file.
func answer(ctx context.Context, p *project, o searchOptions) (*search.Response, error) {
	var warnings []string
	if (o.Memory || o.MemoryOnly) && !o.Hybrid && o.Index == "" {
		res, err := askWatch(ctx, p, o)
		switch {
		case err == nil:
			return res, nil
		case o.MemoryOnly:
			return nil, err
		case !errors.Is(err, watch.ErrNotRunning):
			warnings = append(warnings, err.Error()+"; the index file is used instead")
		}
	}
	file := p.path(o.Index, p.Config.Common.Output)
	stored, err := store.Load(file)
	if store.IsNotExist(err) {
		return nil, fmt.Errorf("%w; make the index with: ctxt init .", err)
	}
	if err != nil {
		return nil, err
	}
	x := search.Prepare(stored)
	var found []search.Result
	if o.Hybrid {
		root := p.Root
		if o.HybridRoot != "" {
			if root, err = rootFolder(o.HybridRoot); err != nil {
				return nil, err
			}
		}
		var warning string
		found, warning, err = x.Content(ctx, root, o.Request.Query, o.HybridScore)
		if err != nil {
			return nil, err
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	res, err := x.SearchWith(o.Request, found)
	if err != nil {
		return nil, err
	}
	res.Warnings = append(res.Warnings, warnings...)
	return res, nil
}

// askWatch asks the watch of the project, if one runs.
func askWatch(ctx context.Context, p *project, o searchOptions) (*search.Response, error) {
	file := p.path(o.Runtime, p.Config.Search.RuntimeFile)
	r, err := watch.LoadRuntime(file)
	if err != nil {
		return nil, err
	}
	if o.Runtime == "" && filepath.Clean(r.Root) != p.Root {
		return nil, fmt.Errorf("%s belongs to %s, not to this project", file, r.Root)
	}
	return r.Search(ctx, o.Request)
}

// printSearch prints results for people.
func printSearch(w io.Writer, res *search.Response) error {
	var b strings.Builder
	if res.Tokens != nil {
		fmt.Fprintf(&b, "tokens: %s\n", visible(strings.Join(res.Tokens, " ")))
	}
	for i, r := range res.Results {
		printResult(&b, fmt.Sprintf("%2d. ", i+1), r)
	}
	for i, d := range res.Dirs {
		fmt.Fprintf(&b, "%2d. %s/  %g  (%s)\n", i+1, visible(d.Path), d.Score, plural(d.Matches, "matching file"))
		for _, r := range d.Top {
			printResult(&b, "      ", r)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func printResult(b *strings.Builder, lead string, r search.Result) {
	slash := ""
	if r.Type == store.TypeDirectory {
		slash = "/"
	}
	fmt.Fprintf(b, "%s%s%s  %g\n", lead, visible(r.Path), slash, r.Score)
	for _, p := range r.Explain {
		fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", len(lead)+2), visible(p.String()))
	}
}
