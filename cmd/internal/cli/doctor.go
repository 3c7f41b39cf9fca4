package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// The states of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn" // works, with less
	checkFail = "fail" // something does not work
)

// doctorResult is what doctor --json prints, version 1.
type doctorResult struct {
	Version int     `json:"version"`
	Root    string  `json:"root"`
	Healthy bool    `json:"healthy"` // no check failed
	Checks  []check `json:"checks"`
}

// check is one thing that was looked at.
type check struct {
	Name    string `json:"name"`
	State   string `json:"state"` // ok, warn or fail
	Text    string `json:"text"`
	Command string `json:"command,omitempty"` // what mends it
}

func newDoctor(app *App) *cobra.Command {
	var root string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [folder]",
		Short: "Check configuration, root, index, cache, API key and tools",
		Long: `Check configuration, root, index, cache, API key, tools, and the workflows here that use the Action:
triggers, permissions, fetch depth. In a CI job also its event, token, rights and history. Each finding
names what mends it. Exit code 1 when a check fails.`,
		Example: "  ctxt doctor\n  ctxt doctor --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				root = args[0]
			}
			dir, err := findRoot(root)
			if err != nil {
				return err
			}
			res := diagnose(cmd.Context(), app, dir)
			if asJSON {
				err = app.printJSON(res)
			} else {
				err = printDoctor(app.Out, res)
			}
			if err == nil && !res.Healthy {
				return &ExitCode{Code: ExitBar}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&root, "root", "", "project folder (default: the nearest one upwards with a .ctxt folder)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (docs/schema/doctor.json)")
	return cmd
}

// diagnosis collects checks.
type diagnosis struct {
	app  *App
	root string
	res  doctorResult
}

func (d *diagnosis) add(name, state, command, format string, args ...any) {
	d.res.Checks = append(d.res.Checks, check{name, state, fmt.Sprintf(format, args...), command})
}

// diagnose makes every check. A broken configuration is a finding; the others go on with defaults.
func diagnose(ctx context.Context, app *App, root string) *doctorResult {
	d := &diagnosis{app: app, root: root, res: doctorResult{Version: 1, Root: root}}
	p := d.config()
	d.rootFolder()
	d.index(ctx, p)
	d.apiKey(p.Config)
	d.tools(ctx)
	d.workflows()
	d.ci(ctx)
	d.res.Healthy = true
	for _, c := range d.res.Checks {
		d.res.Healthy = d.res.Healthy && c.State != checkFail
	}
	return &d.res
}

func (d *diagnosis) config() *project {
	c, warnings, err := config.Load(d.root)
	file := store.ConfigFile
	switch {
	case err != nil:
		d.add("config", checkFail, "ctxt config init", "%v", err)
		return &project{Root: d.root, Config: config.Default()}
	case len(warnings) > 0:
		for _, w := range warnings {
			d.add("config", checkWarn, "edit "+w.File, "%s", w)
		}
	case !exists(filepath.Join(d.root, filepath.FromSlash(file))):
		d.add("config", checkOK, "", "no %s: defaults are used", file)
	default:
		d.add("config", checkOK, "", "%s", file)
	}
	return &project{Root: d.root, Config: c, Warnings: warnings}
}

func (d *diagnosis) rootFolder() {
	probe := filepath.Join(d.root, store.Dir)
	info, err := os.Lstat(probe)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.add("root", checkOK, "", "%s (no %s folder yet)", d.root, store.Dir)
	case err != nil:
		d.add("root", checkFail, "ls -ld "+store.Dir, "%s: %v", d.root, errors.Unwrap(err))
	case !info.IsDir():
		d.add("root", checkFail, "rm "+store.Dir, "%s is not a folder; nothing is read or written through it", probe)
	default:
		d.add("root", checkOK, "", "%s", d.root)
	}
}

// index checks index, cache, watch and lock by the findings of status.
func (d *diagnosis) index(ctx context.Context, p *project) {
	st, err := projectStatus(ctx, p, "")
	if err != nil {
		d.add("index", checkFail, "ctxt init .", "%v", err)
		return
	}
	x := &st.Index
	switch {
	case !x.Exists:
		d.add("index", checkWarn, "ctxt init .", "there is no index: search-hints needs one; pr and activate do not")
	case !x.Valid:
		d.add("index", checkFail, "ctxt init .", "%s", firstFinding(st, "the index cannot be read"))
	case x.Added+x.Changed+x.Removed > 0 && !st.Watch.Running:
		d.add("index", checkWarn, "ctxt init .", "%s", firstFinding(st, "the index is stale"))
	default:
		made, _ := time.Parse(time.RFC3339, x.Timestamp)
		d.add("index", checkOK, "", "version %d, %s, of %s (%s ago)", store.Version, plural(x.Files, "file"), x.Timestamp, age(made, time.Now()))
	}
	if x.Faults > 0 {
		d.add("grammars", checkWarn, "ctxt init . --symbol-extractor regex", "%s could not be read by their grammar; their symbols are incomplete", plural(x.Faults, "file"))
	} else if x.Valid {
		d.add("grammars", checkOK, "", "every source file was read by its extractor")
	}
	switch {
	case !st.Cache.Valid:
		d.add("cache", checkFail, "rm "+quoted(p.shown(st.Cache.Path))+" && ctxt init .", "%s", firstFinding(st, "the synonym cache"))
	default:
		d.add("cache", checkOK, "", "%s of synonyms", plural(st.Cache.Entries, "entry"))
	}
	if st.Watch.Running {
		d.add("watch", checkOK, "", "running: process %d on %s", st.Watch.PID, st.Watch.Address)
	} else if text := firstFinding(st, "the discovery file"); text != "" {
		d.add("watch", checkWarn, "rm "+quoted(p.shown(st.Watch.Path)), "%s", text)
	} else {
		d.add("watch", checkOK, "", "not running")
	}
	if text := firstFinding(st, "process "); text != "" {
		d.add("lock", checkWarn, "ctxt init .", "%s", text)
	} else if text := firstFinding(st, "the writer lock"); text != "" {
		d.add("lock", checkFail, "rm -r "+store.LockDir, "%s", text)
	}
}

func firstFinding(st *statusResult, prefix string) string {
	for _, f := range st.Findings {
		if strings.HasPrefix(f.Text, prefix) {
			return f.Text
		}
	}
	return ""
}

func (d *diagnosis) apiKey(c *config.Config) {
	var flags llmFlags
	quiet := *d.app
	quiet.Quiet = true
	client, why, err := flags.client(&quiet, c)
	switch {
	case err != nil:
		d.add("api key", checkFail, "edit "+store.ConfigFile, "%v", err)
	case client == nil && strings.HasPrefix(why, "no API key"):
		d.add("api key", checkWarn, "export OPENROUTER_API_KEY=…", "%s; everything but synonyms works without one", why)
	case client == nil && strings.HasPrefix(why, unconfirmedPrefix):
		d.add("api key", checkWarn, "export "+trustVariable+"=…", "%s", why)
	case client == nil:
		d.add("api key", checkOK, "", "%s", why)
	default:
		defer client.Close()
		d.add("api key", checkOK, "", "synonyms can be asked of %s (%s)", client.Host(), c.LLM.Model)
	}
}

func (d *diagnosis) tools(ctx context.Context) {
	if symbols.HasGrammar("python") {
		d.add("tree-sitter", checkOK, "", "built in")
	} else {
		d.add("tree-sitter", checkWarn, "CGO_ENABLED=1 go install ./cmd/ctxt", "this binary was built without it: symbols come from go/parser and regular expressions")
	}
	if path := search.Ripgrep(); path != "" {
		d.add("ripgrep", checkOK, "", "%s", path)
	} else {
		d.add("ripgrep", checkWarn, "install ripgrep", "no rg program: search-hints --hybrid does not work")
	}
	repo, err := git.Open(d.root, git.Options{})
	switch {
	case errors.Is(err, git.ErrNotRepository):
		d.add("repository", checkWarn, "git init", "not a git repository: there is no history to rank by")
		return
	case err != nil:
		d.add("repository", checkFail, "git -C . status", "%v", err)
		return
	}
	if repo.Backend() == "git" {
		d.add("git", checkOK, "", "the git program is used")
	} else {
		d.add("git", checkWarn, "install git", "no git program: history is read more slowly")
	}
	head, err := repo.Resolve(ctx, "HEAD")
	switch {
	case err != nil:
		d.add("repository", checkWarn, "git commit", "%v", err)
	case repo.Shallow():
		d.add("repository", checkWarn, "git fetch --unshallow", "the clone is shallow: history is cut off (commit %s)", head.Short())
	default:
		d.add("repository", checkOK, "", "commit %s", head.Short())
	}
}

func printDoctor(w io.Writer, res *doctorResult) error {
	var b strings.Builder
	for _, c := range res.Checks {
		fmt.Fprintf(&b, "%-5s %-15s %s\n", c.State, c.Name, visible(c.Text))
		if c.Command != "" {
			fmt.Fprintf(&b, "      %-15s mend it with: %s\n", "", visible(c.Command))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
