package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/score"
	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// maxTask caps a task file, in bytes.
const maxTask = 1 << 20

// activateOptions are the flags of activate.
type activateOptions struct {
	Root     string
	Task     string
	TaskFile string
	Kind     string
	Format   string
	Stdout   bool
	JSON     bool
	Explain  string
	Strict   bool
	Expand   bool
	CacheDir string
	NoCache  bool
	job.ActivateOptions
}

func newActivate(app *App) *cobra.Command {
	var o activateOptions
	cmd := &cobra.Command{
		Use:   "activate --task TEXT",
		Short: "Select the files and regions that a task is about, into a token budget",
		Long: `Select the files and regions that a task is about, into a token budget.

Ranks the files of the work tree by six signals, adds the files that history says change along with
them, and packs the best regions. The bundle goes to .ctxt/active-bundle.md and .json, or with
--stdout to standard output. Without a language model: the same task on the same commit gives the
same bytes.`,
		Example: `  ctxt activate --task "retry uploads that time out"
  ctxt activate --task-file issue.txt --format paths --stdout
  ctxt activate --task "retry uploads" --explain internal/upload/retry.go`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runActivate(cmd.Context(), app, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Root, "root", "", "project folder (default: the current one)")
	f.StringVar(&o.Task, "task", "", "what is to be done; the first line is the title")
	f.StringVar(&o.TaskFile, "task-file", "", "read the task from a file; - reads standard input")
	f.StringVar(&o.Kind, "kind", string(task.Auto), "what the text describes: change, issue or auto")
	f.IntVar(&o.Pick.Budget.Tokens, "budget-tokens", 0, "most tokens of the bundle (default 8000)")
	f.IntVar(&o.Pick.Budget.Files, "budget-files", 0, "most files of the bundle (default 25)")
	f.BoolVar(&o.Expand, "expand", false, "double the tokens and raise the files to 50")
	f.StringSliceVar(&o.Pick.Scope, "scope", nil, "only files under these folders")
	f.IntVar(&o.Pick.NearMisses, "near-misses", 0, "list so many files that just missed")
	f.StringVar(&o.Pick.Pack, "pack", "", "tiered (regions of many files) or full (whole files first)")
	f.BoolVar(&o.Pick.LayerOrder, "layer-order", false, "order the files so that imported ones come first")
	f.BoolVar(&o.Pick.BlastRadius, "blast-radius", false, "make the importers of the best files candidates too")
	f.BoolVar(&o.BranchAware, "branch-aware", false, "count the files that this branch changed as touched")
	f.StringVar(&o.Session, "session", "", "count the files that a session touched (ctxt session init) as touched")
	f.BoolVar(&o.Strict, "strict", false, "exit with 1 when the task text is not sufficient")
	f.StringVar(&o.Format, "format", "md", "md, json, paths or xml; what --stdout prints")
	f.BoolVar(&o.Stdout, "stdout", false, "print the bundle instead of writing files")
	f.BoolVar(&o.JSON, "json", false, "short for --format json --stdout (docs/schema/bundle.json)")
	f.StringVar(&o.Explain, "explain", "", "print why a file has its place, selected or not (a path, or 'all' for the selected)")
	f.IntVar(&o.HistoryCommits, "history-commits", 0, "newest commits to read (default 3000)")
	f.StringVar((*string)(&o.Extractor), "symbol-extractor", string(symbols.Auto), "auto, treesitter or regex")
	f.StringVar(&o.CacheDir, "cache-dir", "", "folder of the cache (default .ctxt/cache)")
	f.BoolVar(&o.NoCache, "no-cache", false, "read and write no cache")
	return cmd
}

// prepare checks the flags and fills in what the configuration says.
func (o *activateOptions) prepare(app *App) error {
	root, err := findRoot(o.Root)
	if err != nil {
		return err
	}
	p, err := app.openProject(root)
	if err != nil {
		return err
	}
	o.Dir, o.Config = p.Root, p.Config
	if o.ActivateOptions.Task, err = readTask(app.In, o.Task, o.TaskFile); err != nil {
		return err
	}
	switch o.ActivateOptions.Kind = task.Kind(o.Kind); o.ActivateOptions.Kind {
	case task.Auto, task.Change, task.Issue:
	default:
		return fmt.Errorf("flag --kind: got %q, want change, issue or auto", o.Kind)
	}
	switch o.Pick.Pack {
	case "", pick.PackTiered, pick.PackFull:
	default:
		return fmt.Errorf("flag --pack: got %q, want tiered or full", o.Pick.Pack)
	}
	switch o.Extractor {
	case symbols.Auto, symbols.TreeSitter, symbols.Regex:
	default:
		return fmt.Errorf("flag --symbol-extractor: got %q, want auto, treesitter or regex", o.Extractor)
	}
	if o.JSON {
		o.Format, o.Stdout = "json", true
	}
	if _, ok := formats[o.Format]; !ok {
		return fmt.Errorf("flag --format: got %q, want md, json, paths or xml", o.Format)
	}
	if b := o.Pick.Budget; b.Tokens < 0 || b.Files < 0 {
		return fmt.Errorf("a budget of %d tokens and %d files: both must be at least 1", b.Tokens, b.Files)
	}
	if o.Expand {
		if o.Pick.Budget.Tokens == 0 {
			o.Pick.Budget.Tokens = o.Config.Selector.DefaultBudget.Tokens
		}
		o.Pick.Budget.Tokens *= 2
		o.Pick.Budget.Files = max(o.Pick.Budget.Files, 50)
	}
	o.Pick.Explain = o.Format == "json"
	switch {
	case o.NoCache:
		o.ActivateOptions.CacheDir = ""
	case o.CacheDir != "":
		o.ActivateOptions.CacheDir = o.CacheDir
	case !o.Stdout || exists(filepath.Join(o.Dir, store.Dir)):
		o.ActivateOptions.CacheDir = filepath.Join(o.Dir, store.Dir, "cache")
	}
	return nil
}

// readTask takes the task from the flag, a file or standard input.
func readTask(in io.Reader, text, file string) (string, error) {
	switch {
	case text != "" && file != "":
		return "", errors.New("give --task or --task-file, not both")
	case file == "-":
		data, err := io.ReadAll(io.LimitReader(in, maxTask+1))
		if err != nil {
			return "", fmt.Errorf("read the task from standard input: %w", err)
		}
		if len(data) > maxTask {
			return "", fmt.Errorf("the task on standard input is larger than %d bytes", maxTask)
		}
		return string(data), nil
	case file != "":
		data, err := store.ReadFile(file, maxTask)
		if err != nil {
			return "", fmt.Errorf("task file: %w", err)
		}
		return string(data), nil
	}
	return text, nil
}

func runActivate(ctx context.Context, app *App, o activateOptions) error {
	if err := o.prepare(app); err != nil {
		return err
	}
	done := app.working("reading the repository and its history")
	s, err := job.Activate(ctx, o.ActivateOptions)
	done()
	if err != nil {
		return err
	}
	if s.Intent.Level != task.Sufficient && len(s.Snapshot.Files) > 0 { // without files no text could say more
		fmt.Fprintf(app.Err, "ctxt: warning: the task text is %s (%.2f): %s\n", s.Intent.Level, s.Intent.Score, visible(strings.Join(s.Intent.Reasons, "; ")))
		fmt.Fprintln(app.Err, "ctxt: say which part of the program it is about, then run activate again")
	}
	for _, w := range s.Bundle.Warnings {
		fmt.Fprintln(app.Err, "ctxt: warning: "+visible(w))
	}
	if o.Strict && s.Intent.Level != task.Sufficient {
		return &ExitCode{Code: ExitBar, Msg: "nothing was written: --strict wants a sufficient task text"}
	}
	if o.Explain != "" {
		return app.explain(s, o.Explain)
	}
	if o.Stdout {
		text, err := formats[o.Format](s.Bundle)
		if err == nil {
			_, err = io.WriteString(app.Out, text)
		}
		return err
	}
	if err := keepActive(o.Dir, s.Bundle); err != nil {
		return err
	}
	return app.describeBundle(s)
}

// formats render a bundle.
var formats = map[string]func(*pick.Bundle) (string, error){
	"md":    func(b *pick.Bundle) (string, error) { return pick.Markdown(b), nil },
	"paths": func(b *pick.Bundle) (string, error) { return pick.Paths(b), nil },
	"xml":   func(b *pick.Bundle) (string, error) { return pick.XML(b), nil },
	"json":  bundleJSON,
}

func bundleJSON(b *pick.Bundle) (string, error) { return encodeJSON(b) }

// keepBundle writes the bundle for readers and for programs.
func keepBundle(root string, b *pick.Bundle) error {
	if err := makeState(root); err != nil {
		return err
	}
	dir := filepath.Join(root, store.Dir)
	js, err := bundleJSON(b)
	if err != nil {
		return err
	}
	if err := store.WriteFile(filepath.Join(dir, "active-bundle.md"), []byte(pick.Markdown(b)), 0o644); err != nil {
		return err
	}
	return store.WriteFile(filepath.Join(dir, "active-bundle.json"), []byte(js), 0o644)
}

// stateIgnore keeps derived files out of commits; what people write stays in.
const stateIgnore = "# Made by ctxt: derived state stays out of commits.\n*\n!cases.json\n!baseline.json\n!ctx_config.toml\n"

// makeState makes the state folder of a project.
func makeState(root string) error {
	dir := filepath.Join(root, store.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", dir, errors.Unwrap(err))
	}
	file := filepath.Join(dir, ".gitignore")
	if exists(file) {
		return nil
	}
	return store.WriteFile(file, []byte(stateIgnore), 0o644)
}

// wholeReason is why a file is there, in full: the bundle cuts the reasons of lower ranks short, since they
// cost tokens.
func wholeReason(s *job.Selected, path, short string) string {
	if id, ok := s.Snapshot.Find(path); ok && strings.HasSuffix(short, "…") {
		return pick.Reason(s.Ranking.Explain(id))
	}
	return short
}

// describeBundle prints the short summary.
func (app *App) describeBundle(s *job.Selected) error {
	b := s.Bundle
	var w strings.Builder
	fmt.Fprintf(&w, "%s (%s text, %s)\n", visible(s.Task.Title), b.TaskKind, visible(b.TaskType))
	fmt.Fprintf(&w, "%d of %d files, %d of %d tokens → %s\n\n", b.Used.Files, b.Budget.Files, b.Used.Tokens, b.Budget.Tokens, filepath.Join(store.Dir, "active-bundle.md"))
	for _, f := range b.Files {
		mark := ""
		if f.Shadow != nil {
			mark = " (shadow)"
		}
		fmt.Fprintf(&w, "%3d  %.3f  %-10s %s%s\n", f.Rank, f.Score, f.Tier, visible(f.Path), mark)
		if why := wholeReason(s, f.Path, f.Reason); why != "" {
			fmt.Fprintf(&w, "                       %s\n", visible(why))
		}
	}
	if len(b.NearMiss) > 0 {
		fmt.Fprintf(&w, "\nJust missed:\n")
		for _, f := range b.NearMiss {
			fmt.Fprintf(&w, "%3d  %.3f  %s\n                       %s\n", f.Rank, f.Score, visible(f.Path), visible(f.Reason))
		}
	}
	_, err := io.WriteString(app.Out, w.String())
	return err
}

// explain prints why files have their place.
func (app *App) explain(s *job.Selected, path string) error {
	if path == "all" {
		for _, f := range s.Bundle.Files {
			id, _ := s.Snapshot.Find(f.Path)
			if err := app.explainOne(s, s.Ranking.Explain(id)); err != nil {
				return err
			}
		}
		return nil
	}
	id, ok := s.Snapshot.Find(filepath.ToSlash(path))
	if !ok {
		return fmt.Errorf("%s is not in the tree that was ranked; give a path relative to the project's root", path)
	}
	return app.explainOne(s, s.Ranking.Explain(id))
}

func (app *App) explainOne(s *job.Selected, x score.Scored) error {
	var w strings.Builder
	place := "not ranked: nothing in the task or the past speaks for it"
	if x.Rank > 0 {
		place = fmt.Sprintf("rank %d of %d", x.Rank, len(s.Ranking.Order))
	}
	in := false
	for _, f := range s.Bundle.Files {
		in = in || f.Path == x.Path
	}
	fmt.Fprintf(&w, "%s: score %.4f, %s\n", visible(x.Path), x.Score, place)
	for _, p := range x.Parts {
		var why []string
		for _, e := range p.Evidence {
			why = append(why, fmt.Sprintf("%s %.3f: %s", e.Kind, e.Share, e.Text))
		}
		fmt.Fprintf(&w, "  %-15s %.3f × %.3f = %.4f  %s\n", p.Signal, p.Raw, p.Weight, p.Contribution, visible(strings.Join(why, "; ")))
	}
	if n := len(s.Bundle.Files); !in && n > 0 {
		if lacks := s.Lacks(x.Score); lacks > 0 {
			fmt.Fprintf(&w, "  not selected: it lacks %.4f to the last of the %d selected files\n", lacks, n)
		} else {
			fmt.Fprintf(&w, "  not selected: others filled the limits of files and tokens, or it is out of the scope\n")
		}
	}
	_, err := io.WriteString(app.Out, w.String())
	return err
}
