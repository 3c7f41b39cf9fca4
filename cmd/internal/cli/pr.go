package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/report"
)

// prOptions are the flags of pr.
type prOptions struct {
	job.PROptions
	BodyFile  string
	JSON      bool
	Format    string
	HTMLFile  string
	SARIFFile string
	NoCache   bool
}

func newPR(app *App) *cobra.Command {
	var o prOptions
	cmd := &cobra.Command{
		Use:   "pr --base REV --head REV --title TEXT",
		Short: "Analyse a change as the GitHub Action does, and print the report",
		Long: `Analyse a change as the GitHub Action does, and print the report.

Reads the two revisions and the history behind the base from git objects; the checkout is not touched.
Configuration, cases and baseline come from the base commit, so that a change cannot loosen its gates.

Exit code: 0; 1 or 3 when a blocking gate fails and --mode is block; 2 when the change could not be
evaluated.`,
		Example: `  ctxt pr --base HEAD~1 --head HEAD --title-from-head
  ctxt pr --base origin/main --head HEAD --title "Retry uploads" --body-file body.md --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runPR(cmd.Context(), app, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Dir, "repo", ".", "repository, or any folder inside it")
	f.StringVar(&o.Base, "base", "", "revision that the change is to be merged into")
	f.StringVar(&o.Head, "head", "HEAD", "revision with the change")
	f.StringVar(&o.Title, "title", "", "title of the change")
	f.StringVar(&o.Body, "body", "", "description of the change")
	f.StringVar(&o.BodyFile, "body-file", "", "read the description from a file; - reads standard input")
	f.BoolVar(&o.FromHead, "title-from-head", false, "take title and description from the head commit's message")
	f.StringVar(&o.ConfigFile, "config", "", "configuration file inside the base commit (default .ctxt/ctx_config.toml)")
	f.StringVar(&o.CasesFile, "cases", "", "case file inside the base commit (default .ctxt/cases.json)")
	f.StringVar(&o.BaselineFile, "baseline", "", "baseline inside the base commit (default .ctxt/baseline.json)")
	f.StringVar(&o.Mode, "mode", "warn", "observe, warn or block; observe and warn turn the exit codes 1 and 3 into 0, never 2")
	f.IntVar(&o.HistoryCommits, "history-commits", 0, "newest commits to read (default 3000)")
	f.IntVar(&o.Budget.Tokens, "budget-tokens", 0, "most tokens of the context (default 8000)")
	f.IntVar(&o.Budget.Files, "budget-files", 0, "most files of the context (default 25)")
	f.StringVar(&o.CacheDir, "cache-dir", "", "folder of the cache (default .ctxt/cache where .ctxt exists)")
	f.BoolVar(&o.NoCache, "no-cache", false, "read and write no cache")
	f.BoolVar(&o.JSON, "json", false, "short for --format json")
	f.StringVar(&o.Format, "format", "md", "md, json, html or sarif")
	f.StringVar(&o.HTMLFile, "html-file", "", "also write the report as one HTML page")
	f.StringVar(&o.SARIFFile, "sarif-file", "", "also write the findings as SARIF")
	return cmd
}

func runPR(ctx context.Context, app *App, o prOptions) error {
	if err := o.prepare(app.In); err != nil {
		return err
	}
	done := app.working("reading the repository and its history")
	r, err := job.RunPR(ctx, o.PROptions)
	done()
	if err != nil {
		return err
	}
	text, err := renderReport(r, o.Format)
	if err != nil {
		return err
	}
	for _, p := range r.Problems {
		fmt.Fprintf(app.Err, "ctxt: warning: %s: %s\n", visible(p.Section), visible(p.Message))
	}
	if len(r.Change.Files) == 0 {
		app.note("nothing changed between %.7s and %.7s; --base wants the branch that the change is to be merged into, or HEAD~1", r.MergeBase, r.Head)
	}
	if o.HTMLFile != "" {
		if err := store.WriteFile(o.HTMLFile, []byte(report.HTML(r)), 0o644); err != nil {
			return err
		}
	}
	if o.SARIFFile != "" {
		data, err := report.SARIF(r)
		if err == nil {
			err = store.WriteFile(o.SARIFFile, data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if _, err := io.WriteString(app.Out, text); err != nil {
		return err
	}
	code := report.ExitCode(r)
	if o.Mode != "block" && code != ExitError {
		code = ExitOK
	}
	if code != ExitOK {
		return &ExitCode{Code: code, Msg: visible(report.Culprit(r))}
	}
	return nil
}

func renderReport(r *report.Report, format string) (string, error) {
	switch format {
	case "json":
		data, err := report.JSON(r)
		return string(data), err
	case "html":
		return report.HTML(r), nil
	case "sarif":
		data, err := report.SARIF(r)
		return string(data), err
	}
	return strings.TrimRight(report.Markdown(r, report.MarkdownOptions{}), "\n") + "\n", nil
}

// prepare checks the flags and reads the texts.
func (o *prOptions) prepare(in io.Reader) error {
	if o.JSON {
		o.Format = "json"
	}
	switch o.Format {
	case "md", "json", "html", "sarif":
	default:
		return fmt.Errorf("flag --format: got %q, want md, json, html or sarif", o.Format)
	}
	switch o.Mode {
	case "observe", "warn", "block":
	default:
		return fmt.Errorf("flag --mode: got %q, want observe, warn or block", o.Mode)
	}
	if o.Base == "" {
		return errors.New("flag --base is missing; name the revision to merge into, as in: ctxt pr --base origin/main --head HEAD --title-from-head")
	}
	if o.BodyFile != "" {
		if o.Body != "" {
			return errors.New("give --body or --body-file, not both")
		}
		body, err := readTask(in, "", o.BodyFile)
		if err != nil {
			return err
		}
		o.Body = body
	}
	if o.FromHead && o.Title+o.Body != "" {
		return errors.New("give --title-from-head, or --title and a description, not both")
	}
	if !o.FromHead && strings.TrimSpace(o.Title+o.Body) == "" {
		return errors.New("the title and the description are both empty; give --title, --body-file or --title-from-head")
	}
	if o.HistoryCommits < 0 || o.Budget.Tokens < 0 || o.Budget.Files < 0 {
		return errors.New("--history-commits, --budget-tokens and --budget-files want a positive number")
	}
	o.Version = Version
	repo, err := git.Open(o.Dir, git.Options{})
	if err != nil {
		return err
	}
	if o.NoCache {
		o.CacheDir = ""
	} else if dir := filepath.Join(repo.Root(), store.Dir); o.CacheDir == "" && repo.Root() != "" && exists(dir) {
		o.CacheDir = filepath.Join(dir, "cache")
	}
	return nil
}
