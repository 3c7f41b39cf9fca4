package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
	"github.com/ctxt-dev/ctxt/index/synonyms"
)

// syncOptions are the flags of ctxt sync.
type syncOptions struct {
	Path         string
	Force        bool
	Output       string
	SynonymCache string
	Extractor    string
	Verbose      bool
	LLM          llmFlags
}

func newSync(app *App) *cobra.Command {
	var o syncOptions
	cmd := &cobra.Command{
		Use:   "sync [folder]",
		Short: "Generate the synonyms that the index lacks",
		Long: `Generate synonyms for indexed files and folders that have none, have fewer than synonyms_min, or whose
symbols or imports have changed since.

The file tree is not rebuilt: run init, or restart watch, after adding files. Symbols are read again
from disk first. What a request brings is saved even when another one fails; the command then ends
with exit code 2, and running it again asks for the rest only. Use --force after changing the model,
and after edits that leave symbols and imports as they were.`,
		Example: "  ctxt sync .\n  ctxt sync . --path command_sync.go\n  ctxt sync . --path docs --force\n  ctxt sync . --batch-size 0",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := "."
			if len(args) == 1 {
				root = args[0]
			}
			p, err := app.openProject(root)
			if err != nil {
				return err
			}
			o.LLM.overlay(cmd.Flags(), p.Config)
			configured(cmd.Flags().Changed("verbose"), &o.Verbose, p.Config.Common.Verbose)
			return runSync(cmd.Context(), app, p, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Path, "path", "", "indexed file or folder to look at (default: the whole index)")
	f.BoolVar(&o.Force, "force", false, "ask again for entries that are complete and current")
	f.StringVar(&o.Output, "output", "", "index file (default common.output: "+store.IndexFile+" under the folder)")
	f.StringVar(&o.SynonymCache, "synonym-cache", "", "synonym cache (default common.synonym_cache: "+store.CacheFile+" under the folder)")
	f.StringVar(&o.Extractor, "symbol-extractor", "", "auto, treesitter or regex (default common.symbol_extractor: auto)")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print batch completion and what is wrong with answers (default common.verbose)")
	o.LLM.add(f)
	return cmd
}

func runSync(ctx context.Context, app *App, p *project, o syncOptions) (err error) {
	mode, err := extractorMode(o.Extractor, p.Config)
	if err != nil {
		return err
	}
	client, why, err := o.LLM.client(app, p.Config)
	if err != nil {
		return err
	}
	if client == nil && !o.LLM.Offline {
		return fmt.Errorf("no synonyms can be generated: %s; --offline reads the symbols again without any request", why)
	}
	if client != nil {
		defer client.Close()
	}
	lock, err := app.lock(p.Root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()

	indexFile, cacheFile := p.path(o.Output, p.Config.Common.Output), p.path(o.SynonymCache, p.Config.Common.SynonymCache)
	x, err := store.Load(indexFile)
	if store.IsNotExist(err) {
		return fmt.Errorf("%w; make the index with: ctxt init .", err)
	}
	if err != nil {
		return err
	}
	cache, err := store.LoadCache(cacheFile)
	if err != nil {
		return err
	}
	scope, err := indexedPath(p, x, o.Path)
	if err != nil {
		return err
	}
	if err := app.refresh(ctx, p.Root, x, scope, mode); err != nil {
		return err
	}
	synonyms.Reuse(x, cache)
	wants := synonyms.Options{Scope: scope, Force: o.Force, Min: p.Config.Common.SynonymsMin,
		Save: func(c *store.Cache) error { return store.SaveCache(cacheFile, c) }}
	fillErr := app.generate(ctx, client, x, cache, wants, o.Verbose)
	if err := store.Save(indexFile, x); err != nil {
		return errors.Join(fillErr, err)
	}
	return fillErr
}

// indexedPath finds what --path means in the index: relative to the root, or absolute in it.
func indexedPath(p *project, x *store.Index, given string) (string, error) {
	if given == "" {
		return ".", nil
	}
	rel := given
	if filepath.IsAbs(given) {
		var err error
		if rel, err = filepath.Rel(p.Root, given); err != nil {
			return "", fmt.Errorf("flag --path: %s lies outside %s", given, p.Root)
		}
	}
	rel = path.Clean(filepath.ToSlash(rel))
	if x.Find(rel) == nil {
		return "", fmt.Errorf("flag --path: %s is not in the index; add new files with: ctxt init .", given)
	}
	return rel, nil
}

// refresh reads the symbols and imports of the source files in scope again. Files that are gone keep
// what the index says of them.
func (app *App) refresh(ctx context.Context, root string, x *store.Index, scope string, mode symbols.Mode) error {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("open folder %s: %w", root, errors.Unwrap(err))
	}
	defer dir.Close()
	var nodes []*store.Node // gathered first: a walk reads the nodes that are written here
	x.Walk(func(n *store.Node) {
		in := scope == "." || n.FullPath == scope || strings.HasPrefix(n.FullPath, scope+"/")
		if !n.IsDir() && in && store.Extractable(n.FullPath) {
			nodes = append(nodes, n)
		}
	})
	gone := make([]bool, len(nodes))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, n := range nodes {
		g.Go(func() error {
			gone[i] = !readAgain(dir, n, mode)
			return ctx.Err()
		})
	}
	err = g.Wait()
	if i := slices.Index(gone, true); i >= 0 {
		app.note("%s, and possibly more, cannot be read any more; bring the index up to date with: ctxt init .", nodes[i].FullPath)
	}
	return err
}

// readAgain brings one node up to date with its file, size and time included.
func readAgain(dir *os.Root, n *store.Node, mode symbols.Mode) bool {
	info, err := dir.Lstat(n.FullPath)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	fresh := *n
	if store.Extract(dir, &fresh, mode) != nil {
		return false
	}
	fresh.Size, fresh.ModTime = info.Size(), info.ModTime().UnixNano()
	*n = fresh
	return true
}

// generate asks for what is wanted and prints what came of it. Without a client it only counts.
func (app *App) generate(ctx context.Context, client *synonyms.Client, x *store.Index, cache *store.Cache, o synonyms.Options, verbose bool) error {
	wanted := len(synonyms.Want(x, cache, o))
	if client == nil {
		_, err := fmt.Fprintf(app.Out, "synonyms: %s missing, short or out of date; no request was made\n", plural(wanted, "entry"))
		return err
	}
	report, finish := app.progressBar("synonyms")
	o.Each = func(b synonyms.Batch) {
		if report != nil {
			report(b.Done, b.Total)
		} else if verbose {
			app.note("synonyms: %d of %d", b.Done, b.Total)
		}
	}
	res, err := synonyms.Fill(ctx, client, x, cache, o)
	finish()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %s answered and saved; run it again for the rest", plural(len(res.Synonyms), "entry"))
	}
	if err != nil {
		return err
	}
	if verbose {
		app.describeAnswers(res)
	}
	if err := res.Err(); err != nil {
		return fmt.Errorf("%w; the answers that came are saved; run it again for the rest", err)
	}
	_, err = fmt.Fprintf(app.Out, "synonyms: %s generated in %s; the rest was current\n", plural(len(res.Synonyms), "entry"), plural(res.Requests, "request"))
	return err
}

// describeAnswers prints what was odd about the answers.
func (app *App) describeAnswers(res *synonyms.Result) {
	for _, part := range []struct {
		n    int
		what string
	}{
		{len(res.Skipped), "never asked for: the path cannot be written in a request"},
		{len(res.Short), "with fewer synonyms than synonyms_min"},
		{len(res.Missing), "left out by the model"},
	} {
		if part.n > 0 {
			app.note("%s %s", plural(part.n, "entry"), part.what)
		}
	}
	if res.Unknown > 0 {
		app.note("%s in the answers that nobody asked for, ignored", plural(res.Unknown, "name"))
	}
	if res.Rejected > 0 {
		app.note("%s that are no plain words, ignored", plural(res.Rejected, "synonym"))
	}
	for i, f := range res.Failures {
		if i == maxNames {
			app.note("%d more batches failed", len(res.Failures)-maxNames)
			break
		}
		app.note("a batch of %d failed (%s …): %s", len(f.Paths), f.Paths[0], f.Reason)
	}
}
