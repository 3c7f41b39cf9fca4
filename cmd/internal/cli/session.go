package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/cmd/internal/job"
)

func newSession(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Anchor the context to a piece of work: what it touched, and how well the bundle fitted",
		Long: `Anchor the context to a piece of work: what it touched, and how well the bundle fitted.

A session remembers the commit and the uncommitted files of its beginning. The files that differ from
that later, committed or not, are what it touched: activate --session ID ranks them higher, progress
lists them, and summary compares them with the bundle.`,
		Example: `  ctxt session init upload-retry
  ctxt activate --session upload-retry --task "retry uploads that time out"
  ctxt session summary upload-retry`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(newSessionInit(app), newSessionProgress(app), newSessionSummary(app), newSessionList(app), newSessionCleanup(app))
	return cmd
}

// sessionFlags are those that every session command has.
type sessionFlags struct {
	root string
	json bool
}

func (s *sessionFlags) add(cmd *cobra.Command, schema string) {
	cmd.Flags().StringVar(&s.root, "root", "", "project folder (default: the nearest one upwards with a .ctxt folder)")
	cmd.Flags().BoolVar(&s.json, "json", false, "print JSON (docs/schema/"+schema+".json)")
}

func newSessionInit(app *App) *cobra.Command {
	var o sessionFlags
	cmd := &cobra.Command{
		Use:     "init [ID]",
		Short:   "Begin a session at the present state of the work tree",
		Example: "  ctxt session init\n  ctxt session init upload-retry",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := app.findProject(o.root)
			if err != nil {
				return err
			}
			if err := makeState(p.Root); err != nil {
				return err
			}
			now, err := app.now()
			if err != nil {
				return err
			}
			s, err := job.NewSession(cmd.Context(), p.Root, first(args), now)
			if err != nil {
				return err
			}
			if o.json {
				return app.printJSON(s)
			}
			at := "before the first commit"
			if s.Base != "" {
				at = "at " + s.Base[:7]
			}
			_, err = fmt.Fprintf(app.Out, "session %s begins %s, %s uncommitted\nuse it with: ctxt activate --session %s --task \"…\"\n", s.ID, at, plural(len(s.Dirty), "file"), s.ID)
			return err
		},
	}
	o.add(cmd, "session")
	return cmd
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// now is the wall clock, or SOURCE_DATE_EPOCH.
func (app *App) now() (time.Time, error) {
	v, ok := app.Getenv("SOURCE_DATE_EPOCH")
	if !ok || v == "" {
		return time.Now(), nil
	}
	sec, err := strconv.ParseInt(v, 10, 64)
	if err != nil || sec < 0 || sec > 253402300799 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q; want seconds since 1970, or unset it", v)
	}
	return time.Unix(sec, 0), nil
}

// openSession loads the session of an argument; without one, the only session there is.
func (app *App) openSession(o sessionFlags, args []string) (*project, *job.Session, error) {
	p, err := app.findProject(o.root)
	if err != nil {
		return nil, nil, err
	}
	id := first(args)
	if id == "" {
		all, err := job.ListSessions(p.Root)
		switch {
		case err != nil:
			return nil, nil, err
		case len(all) == 0:
			return nil, nil, errors.New("there is no session; begin one with: ctxt session init")
		case len(all) > 1:
			return nil, nil, fmt.Errorf("there are %d sessions; name one of those that ctxt session list shows", len(all))
		}
		id = all[0].ID
	}
	s, err := job.LoadSession(p.Root, id)
	return p, s, err
}

// reportOn makes cmd measure a session and show the result.
func reportOn[T any](app *App, cmd *cobra.Command, schema string, measure func(*job.Session, context.Context, string) (*T, error),
	notes func(*T) []string, show func(io.Writer, *T) error) *cobra.Command {
	var o sessionFlags
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, s, err := app.openSession(o, args)
		if err != nil {
			return err
		}
		res, err := measure(s, cmd.Context(), p.Root)
		if err != nil {
			return err
		}
		if o.json {
			return app.printJSON(res)
		}
		for _, n := range notes(res) {
			app.note("%s", n)
		}
		return show(app.Out, res)
	}
	o.add(cmd, schema)
	return cmd
}

func newSessionProgress(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "progress [ID]",
		Short:   "List the files that the session touched, committed or not",
		Example: "  ctxt session progress upload-retry",
	}
	return reportOn(app, cmd, "session-progress", (*job.Session).Progress, func(p *job.SessionProgress) []string { return p.Notes }, printProgress)
}

func printProgress(w io.Writer, p *job.SessionProgress) error {
	var b strings.Builder
	fmt.Fprintf(&b, "session %s: %s since it began, in %s\n", p.Session, plural(len(p.Changed), "file")+" changed", plural(p.Commits, "commit"))
	for _, c := range p.Changed {
		state, in := "uncommitted", ""
		if c.Committed {
			state = "committed"
		}
		if c.InBundle {
			in = ", in the bundle"
		}
		fmt.Fprintf(&b, "%-8s  %s (%s%s)\n", c.Status, visible(c.Path), state, in)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newSessionSummary(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "summary [ID]",
		Short: "Compare the session's bundle with what was really changed",
		Long: `Compare the session's bundle with what was really changed.

Recall is the share of the changed files that the bundle held; files that the session made are left out,
since no bundle could have held them. Precision is the share of the bundle's files that changed.`,
		Example: "  ctxt session summary upload-retry",
	}
	return reportOn(app, cmd, "session-summary", (*job.Session).Summary, func(s *job.SessionSummary) []string { return s.Notes }, printSummary)
}

func printSummary(w io.Writer, s *job.SessionSummary) error {
	var b strings.Builder
	fmt.Fprintf(&b, "session %s: %s\n", s.Session, visible(s.Task))
	if s.Recall == nil {
		fmt.Fprintf(&b, "nothing that existed before has changed yet\n")
	} else {
		fmt.Fprintf(&b, "recall    %.2f  (%d of %d changed files were in the bundle)\n", *s.Recall, len(s.Hit), s.Changed)
		if s.Precision != nil {
			fmt.Fprintf(&b, "precision %.2f  (%d of %d files of the bundle changed)\n", *s.Precision, len(s.Hit), s.Bundle)
		}
	}
	for _, part := range []struct {
		name  string
		paths []string
	}{{"hit", s.Hit}, {"missed", s.Missed}, {"created", s.Created}, {"unused", s.Unused}} {
		for _, p := range part.paths {
			fmt.Fprintf(&b, "%-8s  %s\n", part.name, visible(p))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sessionList is what session list --json prints, version 1.
type sessionList struct {
	Version  int                `json:"version"`
	Sessions []job.SessionEntry `json:"sessions"`
}

func newSessionList(app *App) *cobra.Command {
	var o sessionFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the sessions of the project",
		Example: "  ctxt session list --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := app.findProject(o.root)
			if err != nil {
				return err
			}
			all, err := job.ListSessions(p.Root)
			if err != nil {
				return err
			}
			if o.json {
				return app.printJSON(sessionList{job.SessionVersion, all})
			}
			if len(all) == 0 {
				app.note("there is no session; begin one with: ctxt session init")
			}
			for _, s := range all {
				line := fmt.Sprintf("%s  began %s at %.7s, %s", s.ID, s.Started, s.Base, plural(s.Bundles, "bundle"))
				if s.Fault != "" {
					line = s.ID + "  cannot be read: " + s.Fault
				}
				if _, err := fmt.Fprintln(app.Out, visible(line)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	o.add(cmd, "session-list")
	return cmd
}

// sessionCleanup is what session cleanup --json prints, version 1.
type sessionCleanup struct {
	Version int      `json:"version"`
	DryRun  bool     `json:"dry_run"`
	Removed []string `json:"removed"`
	Kept    []string `json:"kept"`
}

func newSessionCleanup(app *App) *cobra.Command {
	var o sessionFlags
	var older string
	var all, dry bool
	cmd := &cobra.Command{
		Use:   "cleanup [ID…]",
		Short: "Remove sessions: the named ones, or those that began long ago",
		Long: `Remove sessions: the named ones, or those that began long ago. A session that cannot be read counts
as old. Nothing but files of .ctxt/sessions is removed.`,
		Example: "  ctxt session cleanup upload-retry\n  ctxt session cleanup --older-than 7d --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := app.findProject(o.root)
			if err != nil {
				return err
			}
			if len(args) > 0 && (all || cmd.Flags().Changed("older-than")) {
				return errors.New("give ids, --older-than or --all; one of them")
			}
			age, err := parseAge(older)
			if err != nil {
				return err
			}
			now, err := app.now()
			if err != nil {
				return err
			}
			if all {
				age = -100 * 365 * 24 * time.Hour
			}
			res, err := cleanSessions(p.Root, args, now.Add(-age), dry)
			if err != nil {
				return err
			}
			if o.json {
				return app.printJSON(res)
			}
			verb := "removed"
			if dry {
				verb = "would remove"
			}
			_, err = fmt.Fprintf(app.Out, "%s %s, kept %d\n", verb, visible(strings.Join(append([]string{plural(len(res.Removed), "session")}, res.Removed...), " ")), len(res.Kept))
			return err
		},
	}
	o.add(cmd, "session-cleanup")
	cmd.Flags().StringVar(&older, "older-than", "30d", "age from which sessions are removed: days as in 30d, or hours as in 12h")
	cmd.Flags().BoolVar(&all, "all", false, "remove every session")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be removed, and remove nothing")
	return cmd
}

// parseAge reads 30d or 12h.
func parseAge(s string) (time.Duration, error) {
	for unit, d := range map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour} {
		if digits, ok := strings.CutSuffix(s, unit); ok {
			if n, err := strconv.Atoi(digits); err == nil && n >= 0 && n <= 36500 {
				return time.Duration(n) * d, nil
			}
		}
	}
	return 0, fmt.Errorf("flag --older-than: got %q, want days as in 30d or hours as in 12h", s)
}

// cleanSessions removes the sessions of ids; without any, those that began before a time.
func cleanSessions(root string, ids []string, before time.Time, dry bool) (*sessionCleanup, error) {
	res := &sessionCleanup{Version: job.SessionVersion, DryRun: dry, Removed: []string{}, Kept: []string{}}
	all, err := job.ListSessions(root)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, id := range ids {
		if err := job.CheckSessionID(id); err != nil {
			return nil, err
		}
		named[id] = true
	}
	for _, s := range all {
		began, err := time.Parse(time.RFC3339, s.Started)
		old := err != nil || began.Before(before)
		if len(ids) > 0 {
			old = named[s.ID]
			delete(named, s.ID)
		}
		if !old {
			res.Kept = append(res.Kept, s.ID)
			continue
		}
		res.Removed = append(res.Removed, s.ID)
	}
	for _, id := range ids {
		if named[id] {
			return nil, fmt.Errorf("there is no session %s; list them with: ctxt session list", id)
		}
	}
	for _, id := range res.Removed {
		if dry {
			break
		}
		if err := job.RemoveSession(root, id); err != nil {
			return nil, err
		}
	}
	return res, nil
}
