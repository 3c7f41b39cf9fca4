package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/watch"
)

// watchOptions are the flags of ctxt watch.
type watchOptions struct {
	Debounce     time.Duration
	LLMOnWatch   bool
	SearchLog    bool
	QueryMax     int
	Persist      string
	Poll         bool
	Output       string
	SynonymCache string
	Runtime      string
	Ignore       []string
	Extractor    string
	Verbose      bool
	LLM          llmFlags
}

func newWatch(app *App) *cobra.Command {
	var o watchOptions
	d := config.Default().Watch
	cmd := &cobra.Command{
		Use:   "watch [folder]",
		Short: "Keep the index in memory, current, and answer searches from it",
		Long: `Keep the index in memory and current with the files, and answer searches from it on a loopback
endpoint that .ctxt/ctx_runtime.json names. search-hints finds it by itself.

At the start the files are compared with the index by modification time and size. The index file is
written when the watch ends: stop it with Ctrl+C or SIGTERM. No request to a language model is made
unless --llm-on-watch is given. When the system has no file watches left, the whole folder is compared
from time to time instead.`,
		Example: "  ctxt watch .\n  ctxt watch . --debounce 750ms --verbose\n  ctxt watch . --poll   # network drives send no events",
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
			o.overlay(cmd, p.Config)
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return runWatch(ctx, app, p, o)
		},
	}
	f := cmd.Flags()
	f.DurationVar(&o.Debounce, "debounce", d.Debounce.Duration, "pause in the changes after which they are applied")
	f.BoolVar(&o.LLMOnWatch, "llm-on-watch", d.LLMOnWatch, "ask a language model for synonyms of files that change")
	f.BoolVar(&o.SearchLog, "search-log", d.SearchLog, "log the searches; queries may be sensitive")
	f.IntVar(&o.QueryMax, "search-log-query-max", d.SearchLogQueryMax, "characters of a query that are logged")
	f.StringVar(&o.Persist, "persist", d.Persist, "when the index file is written: shutdown")
	f.BoolVar(&o.Poll, "poll", false, "compare the whole folder every two seconds instead of listening to the system's events")
	f.StringVar(&o.Output, "output", "", "index file (default common.output: "+store.IndexFile+" under the folder)")
	f.StringVar(&o.SynonymCache, "synonym-cache", "", "synonym cache (default common.synonym_cache: "+store.CacheFile+" under the folder)")
	f.StringVar(&o.Runtime, "runtime-file", "", "discovery file to write (default search.runtime_file: "+store.RuntimeFile+" under the folder)")
	f.StringSliceVar(&o.Ignore, "ignore", nil, "further patterns to leave out, in .gitignore syntax")
	f.StringVar(&o.Extractor, "symbol-extractor", "", "auto, treesitter or regex (default common.symbol_extractor: auto)")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "name the files that changed (default common.verbose)")
	o.LLM.add(f)
	return cmd
}

// overlay takes from the configuration what no flag gave.
func (o *watchOptions) overlay(cmd *cobra.Command, c *config.Config) {
	given := cmd.Flags().Changed
	configured(given("debounce"), &o.Debounce, c.Watch.Debounce.Duration)
	configured(given("llm-on-watch"), &o.LLMOnWatch, c.Watch.LLMOnWatch)
	configured(given("search-log"), &o.SearchLog, c.Watch.SearchLog)
	configured(given("search-log-query-max"), &o.QueryMax, c.Watch.SearchLogQueryMax)
	configured(given("persist"), &o.Persist, c.Watch.Persist)
	configured(given("verbose"), &o.Verbose, c.Common.Verbose)
	o.LLM.overlay(cmd.Flags(), c)
}

func (o *watchOptions) check() error {
	switch {
	case o.Debounce < time.Millisecond || o.Debounce > time.Hour:
		return fmt.Errorf("flag --debounce: got %s, want 1ms to 1h", o.Debounce)
	case o.QueryMax < 0 || o.QueryMax > 10000:
		return fmt.Errorf("flag --search-log-query-max: got %d, want 0 to 10000", o.QueryMax)
	case o.Persist != "shutdown":
		return fmt.Errorf("flag --persist: got %q, want shutdown", o.Persist)
	}
	return nil
}

func runWatch(ctx context.Context, app *App, p *project, o watchOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	mode, err := extractorMode(o.Extractor, p.Config)
	if err != nil {
		return err
	}
	var lines sync.Mutex
	w := watch.Options{
		Root: p.Root, IndexFile: p.path(o.Output, p.Config.Common.Output), CacheFile: p.path(o.SynonymCache, p.Config.Common.SynonymCache),
		RuntimeFile: p.path(o.Runtime, p.Config.Search.RuntimeFile),
		Rules:       func() (*ignore.Rules, []string, error) { return reloadRules(p.Root, o.Ignore) },
		Mode:        mode, MaxFiles: p.Config.Common.MaxFiles, Debounce: o.Debounce, Poll: o.Poll,
		Verbose: o.Verbose, SearchLog: o.SearchLog, SearchLogQueryMax: o.QueryMax, SynonymsMin: p.Config.Common.SynonymsMin,
		Time: func() time.Time { return app.nowOrCommit(context.WithoutCancel(ctx), p.Root, o.Ignore) },
		Log: func(s string) {
			lines.Lock()
			defer lines.Unlock()
			app.note("%s", s)
		},
	}
	if o.LLMOnWatch {
		client, why, err := o.LLM.client(app, p.Config)
		if err != nil {
			return err
		}
		if client == nil {
			app.note("no synonyms are generated: %s", why)
		} else {
			defer client.Close()
			w.Synonyms = client
		}
	}
	return watch.Run(ctx, w)
}

// reloadRules reads the configuration and .gitignore as they are now.
func reloadRules(root string, more []string) (*ignore.Rules, []string, error) {
	c, warnings, err := config.Load(root)
	if err != nil {
		return nil, nil, err
	}
	p := project{Root: root, Config: c}
	rules, notes, err := p.rules(more)
	for _, w := range warnings {
		notes = append(notes, w.String())
	}
	return rules, notes, err
}

// nowOrCommit is the timestamp of an index that is written now.
func (app *App) nowOrCommit(ctx context.Context, root string, more []string) time.Time {
	rules, _, err := reloadRules(root, more)
	if err != nil {
		return time.Now()
	}
	t, err := app.indexTime(ctx, root, rules)
	if err != nil {
		return time.Now()
	}
	return t
}
