package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
	"github.com/ctxt-dev/ctxt/index/synonyms"
)

// manyFiles is the number of files from which init says that narrower ignores may help.
const manyFiles = 5000

// initOptions are the flags of ctxt init.
type initOptions struct {
	Root         string
	Output       string
	SynonymCache string
	Ignore       []string
	Extractor    string
	NoPrompt     bool
	CreateConfig bool
	Verbose      bool
	LLM          llmFlags
}

func newInit(app *App) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init [folder]",
		Short: "Index a folder: every file and folder, symbols, optional synonyms",
		Long: `Index a folder: every file and folder, the symbols that source files declare, and, with an API key,
synonyms from a language model.

The whole index is always rebuilt. A first run writes .ctxt/ctx_config.toml and, on a terminal, waits
for Enter so that you can edit it. Without an API key, or with --offline, no request is made; synonyms
that the cache holds are used.`,
		Example: "  ctxt init .\n  ctxt init . --offline --no-config-prompt\n" +
			"  ctxt init . --output .ctxt/ctx_index.json --synonym-cache .ctxt/ctx_cache.json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Root = "."
			if len(args) == 1 {
				o.Root = args[0]
			}
			p, err := app.firstRun(o)
			if err != nil {
				return err
			}
			o.LLM.overlay(cmd.Flags(), p.Config)
			if !cmd.Flags().Changed("verbose") {
				o.Verbose = p.Config.Common.Verbose
			}
			return runInit(cmd.Context(), app, p, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Output, "output", "", "index file to write (default common.output: "+store.IndexFile+" under the folder)")
	f.StringVar(&o.SynonymCache, "synonym-cache", "", "synonym cache (default common.synonym_cache: "+store.CacheFile+" under the folder)")
	f.StringSliceVar(&o.Ignore, "ignore", nil, "further patterns to leave out, in .gitignore syntax")
	f.StringVar(&o.Extractor, "symbol-extractor", "", "auto, treesitter or regex (default common.symbol_extractor: auto)")
	f.BoolVar(&o.NoPrompt, "no-config-prompt", false, "on a first run, neither write a configuration file nor wait")
	f.BoolVar(&o.CreateConfig, "create-config", false, "on a first run, write the configuration file and do not wait")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print what is skipped, extraction and batches (default common.verbose)")
	o.LLM.add(f)
	complete(cmd, "symbol-extractor", string(symbols.Auto), string(symbols.TreeSitter), string(symbols.Regex))
	return cmd
}

// firstRun opens the project; on a first run it writes the starter configuration before.
func (app *App) firstRun(o initOptions) (*project, error) {
	root, err := rootFolder(o.Root)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(root, filepath.FromSlash(store.ConfigFile))
	if !exists(file) && (!o.NoPrompt || o.CreateConfig) {
		if err := store.WriteFile(file, []byte(config.StarterFor(root)), 0o644); err != nil {
			return nil, err
		}
		app.note("first run: wrote %s", store.ConfigFile)
		if !o.NoPrompt && !o.CreateConfig && isTerminal(app.In) {
			fmt.Fprintf(app.Err, "Edit %s if you like, then press Enter to continue. ", store.ConfigFile)
			if _, err := bufio.NewReader(app.In).ReadString('\n'); err != nil && !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("wait for Enter: %w; use --no-config-prompt where nobody answers", err)
			}
		}
	}
	return app.openProject(root)
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func runInit(ctx context.Context, app *App, p *project, o initOptions) (err error) {
	mode, err := extractorMode(o.Extractor, p.Config)
	if err != nil {
		return err
	}
	client, why, err := o.LLM.client(app, p.Config)
	if err != nil {
		return err
	}
	if client != nil {
		defer client.Close()
	}
	lock, err := app.lock(p.Root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()

	cacheFile := p.path(o.SynonymCache, p.Config.Common.SynonymCache)
	cache, err := store.LoadCache(cacheFile)
	if err != nil {
		return err
	}
	began := time.Now()
	out := p.path(o.Output, p.Config.Common.Output)
	x, skipped, err := app.scan(ctx, p, append(o.Ignore, p.own(out, cacheFile)...), mode, o.Verbose)
	if err != nil {
		return err
	}
	files, dirs := x.Counts()
	if o.Verbose {
		app.describeScan(x, skipped, time.Since(began))
	}
	if files >= manyFiles {
		app.note("%d files: narrower ignores may help (ignore under [common] in %s)", files, store.ConfigFile)
	}
	synonyms.Reuse(x, cache)
	var fillErr error
	if client == nil {
		if strings.HasPrefix(why, "no API key") {
			why += "; search-hints works without them"
		}
		app.note("no synonyms are generated: %s", why)
	} else {
		fillErr = app.fill(ctx, client, x, cache, cacheFile, o, p)
	}
	if err := store.Save(out, x); err != nil {
		return errors.Join(fillErr, err)
	}
	if fillErr != nil {
		return fmt.Errorf("%w; the index and the answers that came are saved; ask for the rest with: ctxt sync .", fillErr)
	}
	left := ""
	if len(skipped) > 0 {
		left = fmt.Sprintf(", %d skipped", len(skipped)) // links and what cannot be read; verbose names them
	}
	_, err = fmt.Fprintf(app.Out, "indexed %s, %s and %s%s in %.1f s: %s (%s)\n", plural(files, "file"), plural(dirs, "folder"),
		plural(countSymbols(x), "symbol"), left, time.Since(began).Seconds(), visible(p.shown(out)), size(fileSize(out)))
	return err
}

// fill asks the language model for what the cache lacks, and keeps what it answers whatever fails.
func (app *App) fill(ctx context.Context, client *synonyms.Client, x *store.Index, cache *store.Cache, cacheFile string, o initOptions, p *project) error {
	report, finish := app.progressBar("synonyms")
	defer finish()
	res, err := synonyms.Fill(ctx, client, x, cache, synonyms.Options{
		Min:  p.Config.Common.SynonymsMin,
		Save: func(c *store.Cache) error { return store.SaveCache(cacheFile, c) },
		Each: func(b synonyms.Batch) {
			if report != nil {
				report(b.Done, b.Total)
			} else if o.Verbose {
				app.note("synonyms: %d of %d", b.Done, b.Total)
			}
		},
	})
	if err == nil {
		err = res.Err()
	}
	return err
}

// extractorMode is the mode of --symbol-extractor, else of the configuration.
func extractorMode(flag string, c *config.Config) (symbols.Mode, error) {
	switch m := symbols.Mode(flag); m {
	case "":
		return symbols.Mode(c.Common.SymbolExtractor), nil
	case symbols.Auto, symbols.TreeSitter, symbols.Regex:
		return m, nil
	}
	return "", fmt.Errorf("flag --symbol-extractor: got %q, want auto, treesitter or regex", flag)
}

// lock takes the writer lock and says when it was a dead owner's.
func (app *App) lock(root string) (*store.Writer, error) {
	w, err := store.Lock(root)
	if err == nil && w.Stale != 0 {
		app.note("process %d ended without releasing %s; the lock is taken over", w.Stale, store.LockDir)
	}
	return w, err
}

// progressStep is how many source files pass between two lines of a verbose run without a bar.
const progressStep = 1000

// scan walks the project and extracts symbols.
func (app *App) scan(ctx context.Context, p *project, more []string, mode symbols.Mode, verbose bool) (*store.Index, []ignore.Skip, error) {
	rules, warnings, err := p.rules(more)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range warnings {
		app.note("%s", w)
	}
	at, err := app.indexTime(ctx, p.Root, rules)
	if err != nil {
		return nil, nil, err
	}
	report, finish := app.progressBar("symbols")
	defer finish()
	if report == nil && verbose {
		report = func(done, total int) {
			if done%progressStep == 0 {
				app.note("symbols: %d of %d source files", done, total)
			}
		}
	}
	return store.Scan(ctx, p.Root, store.ScanOptions{Rules: rules, Mode: mode, MaxFiles: p.Config.Common.MaxFiles, Time: at, Progress: report})
}

// maxNames is how many names of one kind a verbose run prints.
const maxNames = 10

// describeScan prints what a verbose run shows about the walk and the extraction.
func (app *App) describeScan(x *store.Index, skipped []ignore.Skip, took time.Duration) {
	sources, faults := 0, 0
	x.Walk(func(n *store.Node) {
		if n.IsDir() || !store.Extractable(n.FullPath) {
			return
		}
		sources++
		if n.Fault != "" {
			if faults++; faults <= maxNames {
				app.note("symbols of %s are incomplete: %s", n.FullPath, n.Fault)
			}
		}
	})
	if faults > maxNames {
		app.note("symbols of %d more files are incomplete", faults-maxNames)
	}
	if faults > 0 {
		app.note("ctxt init . --symbol-extractor regex reads them by regular expressions, which give fewer symbols but stop at no fault")
	}
	for i, s := range skipped {
		if i == maxNames {
			app.note("%d more entries skipped", len(skipped)-maxNames)
			break
		}
		app.note("skipped %s: %s", s.Path, s.Reason)
	}
	app.note("symbols extracted from %s in %.1f s", plural(sources, "source file"), took.Seconds())
}

func countSymbols(x *store.Index) (n int) {
	x.Walk(func(m *store.Node) { n += len(m.Symbols) })
	return n
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
