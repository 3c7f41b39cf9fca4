package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/watch"
)

// statusResult is what status --json prints, version 1.
type statusResult struct {
	Version  int          `json:"version"`
	Root     string       `json:"root"`
	Config   fileStatus   `json:"config"`
	Index    indexStatus  `json:"index"`
	Cache    cacheStatus  `json:"cache"`
	Watch    watchStatus  `json:"watch"`
	Writer   writerStatus `json:"writer"`
	Findings []finding    `json:"findings"` // what is wrong; empty when all is well
}

// finding is something wrong, and the command that mends it.
type finding struct {
	Text    string `json:"text"`
	Command string `json:"command"`
}

type fileStatus struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

type indexStatus struct {
	fileStatus
	Valid        bool   `json:"valid"`
	Bytes        int64  `json:"bytes"`
	Timestamp    string `json:"timestamp,omitempty"` // RFC 3339
	Files        int    `json:"files"`
	Folders      int    `json:"folders"`
	Symbols      int    `json:"symbols"`
	WithSynonyms int    `json:"with_synonyms"` // files and folders that have some
	Faults       int    `json:"faults"`        // files that their grammar could not read
	Added        int    `json:"added"`         // files since the index was made
	Changed      int    `json:"changed"`
	Removed      int    `json:"removed"`
}

type cacheStatus struct {
	fileStatus
	Valid   bool `json:"valid"`
	Entries int  `json:"entries"`
}

type watchStatus struct {
	fileStatus
	Running bool   `json:"running"`
	PID     int    `json:"pid,omitempty"`
	Address string `json:"address,omitempty"`
	Watcher string `json:"watcher,omitempty"` // events or polling
	Rounds  int    `json:"rounds,omitempty"`
}

type writerStatus struct {
	Held bool `json:"held"`
	PID  int  `json:"pid,omitempty"` // of the holder, or of one that ended without releasing the lock
}

func newStatus(app *App) *cobra.Command {
	var root, index string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status [folder]",
		Short:   "Show the index, the watch and the paths in use",
		Long:    "Show the state of the index, what changed since it was made, whether a watch runs, and the paths in use. Each finding names the command that mends it.",
		Example: "  ctxt status\n  ctxt status --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				root = args[0]
			}
			dir, err := findRoot(root)
			if err != nil {
				return err
			}
			p, err := app.openProject(dir)
			if err != nil {
				return err
			}
			res, err := projectStatus(cmd.Context(), p, index)
			if err != nil {
				return err
			}
			if asJSON {
				return app.printJSON(res)
			}
			return printStatus(app.Out, p, res)
		},
	}
	f := cmd.Flags()
	f.StringVar(&root, "root", "", "project folder (default: the nearest one upwards with a .ctxt folder)")
	f.StringVarP(&index, "index", "i", "", "index file (default common.output)")
	f.BoolVar(&asJSON, "json", false, "print JSON (docs/schema/status.json)")
	return cmd
}

// projectStatus looks at everything; what is wrong becomes a finding.
func projectStatus(ctx context.Context, p *project, index string) (*statusResult, error) {
	res := &statusResult{Version: 1, Root: p.Root, Findings: []finding{}}
	find := func(command, format string, args ...any) {
		res.Findings = append(res.Findings, finding{fmt.Sprintf(format, args...), command})
	}
	res.Config.set(p.path("", store.ConfigFile))
	res.lookAtWatch(ctx, p, find)
	if err := res.lookAtIndex(ctx, p, p.path(index, p.Config.Common.Output), find); err != nil {
		return nil, err
	}
	res.Cache.set(p.path("", p.Config.Common.SynonymCache))
	if cache, err := store.LoadCache(res.Cache.Path); err != nil {
		find("rm "+quoted(p.shown(res.Cache.Path))+" && ctxt init .", "the synonym cache cannot be read: %v", err)
	} else {
		res.Cache.Valid, res.Cache.Entries = true, len(cache.Entries)
	}
	return res, nil
}

func (f *fileStatus) set(path string) { f.Path, f.Exists = path, exists(path) }

type findFunc func(command, format string, args ...any)

func (res *statusResult) lookAtIndex(ctx context.Context, p *project, file string, find findFunc) error {
	s := &res.Index
	s.set(file)
	if !s.Exists {
		find("ctxt init .", "there is no index")
		return nil
	}
	s.Bytes = fileSize(file)
	x, err := store.Load(file)
	if err != nil {
		find("ctxt init .", "the index cannot be read: %v", err)
		return nil
	}
	s.Valid, s.Timestamp, s.Symbols = true, x.Timestamp, countSymbols(x)
	s.Files, s.Folders = x.Counts()
	x.Walk(func(n *store.Node) {
		if len(n.Synonyms) > 0 {
			s.WithSynonyms++
		}
		if n.Fault != "" {
			s.Faults++
		}
	})
	if err := s.compare(ctx, p, x); err != nil {
		return err
	}
	// A running watch has the changes in memory and writes them when it ends.
	if s.Added+s.Changed+s.Removed > 0 && !res.Watch.Running {
		find("ctxt init .", "the index is stale: %d files added, %d changed, %d removed since it was made", s.Added, s.Changed, s.Removed)
	}
	return nil
}

// compare counts the files that differ from the index by time or size, as the bootstrap of watch does.
func (s *indexStatus) compare(ctx context.Context, p *project, x *store.Index) error {
	rules, _, err := p.rules(nil)
	if err != nil {
		return err
	}
	dir, err := os.OpenRoot(p.Root)
	if err != nil {
		return fmt.Errorf("open %s: %w", p.Root, errors.Unwrap(err))
	}
	defer dir.Close()
	same := 0
	_, err = rules.Walk(ctx, dir, func(e ignore.Entry) error {
		if e.Dir {
			return nil
		}
		switch n := x.Find(e.Path); {
		case n == nil || n.IsDir():
			s.Added++
		case n.Size != e.Size || n.ModTime != 0 && n.ModTime != e.ModTime:
			s.Changed++
		default:
			same++
		}
		return nil
	})
	s.Removed = max(s.Files-same-s.Changed, 0)
	return err
}

func (res *statusResult) lookAtWatch(ctx context.Context, p *project, find findFunc) {
	s := &res.Watch
	s.set(p.path("", p.Config.Search.RuntimeFile))
	r, err := watch.LoadRuntime(s.Path)
	if err == nil {
		var st *watch.Status
		if st, err = r.Status(ctx); err == nil {
			s.Running, s.PID, s.Address, s.Watcher, s.Rounds = true, r.PID, r.Address, st.Watcher, st.Rounds
		}
	}
	if err != nil && s.Exists {
		find("rm "+quoted(p.shown(s.Path)), "the discovery file is left from a watch that ended: %v", err)
	}
	state, err := store.Inspect(p.Root)
	if err != nil {
		find("rm -r "+store.LockDir, "the writer lock cannot be read: %v", err)
		return
	}
	res.Writer.Held, res.Writer.PID = state.Held, state.PID
	if !state.Held && state.PID != 0 {
		find("ctxt init .", "process %d ended without releasing the writer lock; the next writer takes it over", state.PID)
	}
}

// quoted writes a path for a shell command.
func quoted(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:", r))
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

func printStatus(w io.Writer, p *project, res *statusResult) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-8s %s\n", name, visible(fmt.Sprintf(format, args...)))
	}
	line("root", "%s", res.Root)
	line("config", "%s", state(p.shown(res.Config.Path), res.Config.Exists, "defaults are used"))
	x := &res.Index
	line("index", "%s", state(p.shown(x.Path), x.Exists, "none"))
	if x.Valid {
		line("", "%s, %s, %s, %s with synonyms; %s, %s, of %s", plural(x.Files, "file"), plural(x.Folders, "folder"),
			plural(x.Symbols, "symbol"), plural(x.WithSynonyms, "entry"), size(x.Bytes), plural(x.Faults, "file")+" with a grammar fault", x.Timestamp)
	}
	line("cache", "%s, %s", state(p.shown(res.Cache.Path), res.Cache.Exists, "none"), plural(res.Cache.Entries, "entry"))
	if s := &res.Watch; s.Running {
		line("watch", "running: process %d on %s, by %s", s.PID, s.Address, s.Watcher)
	} else {
		line("watch", "not running")
	}
	if res.Writer.Held {
		line("writer", "process %d", res.Writer.PID)
	}
	printFindings(&b, res.Findings)
	_, err := io.WriteString(w, b.String())
	return err
}

func state(path string, exists bool, otherwise string) string {
	if exists {
		return path
	}
	return path + " (" + otherwise + ")"
}

func printFindings(b *strings.Builder, list []finding) {
	if len(list) == 0 {
		b.WriteString("all is well\n")
	}
	for _, f := range list {
		fmt.Fprintf(b, "! %s\n  mend it with: %s\n", visible(f.Text), visible(f.Command))
	}
}

// age writes how long ago a time was, for people.
func age(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "less than a minute"
	case d < 2*time.Hour:
		return plural(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return plural(int(d/time.Hour), "hour")
	}
	return plural(int(d/(24*time.Hour)), "day")
}
