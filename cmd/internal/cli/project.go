package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/store"
)

// project is a root folder with its configuration.
type project struct {
	Root     string // absolute
	Config   *config.Config
	Warnings []config.Warning
}

// openProject reads the configuration of a root folder and prints its warnings as notes.
func (app *App) openProject(root string) (*project, error) {
	abs, err := rootFolder(root)
	if err != nil {
		return nil, err
	}
	c, warnings, err := config.Load(abs)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		app.note("%s", w)
	}
	return &project{Root: abs, Config: c, Warnings: warnings}, nil
}

// rootFolder makes a root absolute and checks that it is a folder.
func rootFolder(root string) (string, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("root %s: %w", root, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("root %s: %w; give the project's folder", root, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return "", fmt.Errorf("root %s: not a folder; give the project's folder", root)
	}
	return abs, nil
}

// findRoot returns the folder that reading commands work on: the given one, else the nearest one
// from the current folder upwards, within its repository, that has a .ctxt folder, else the current one.
func findRoot(given string) (string, error) {
	if given != "" {
		return rootFolder(given)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("current folder: %w", err)
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(dir, store.Dir)); err == nil && info.IsDir() {
			return dir, nil
		}
		// A repository's folder is as far as it goes: what lies above is somebody else's.
		if dir == filepath.Dir(dir) || exists(filepath.Join(dir, ".git")) {
			return here, nil
		}
	}
}

// path places a file: a flag's value under the current folder, else the configuration's under the root.
func (p *project) path(flag, configured string) string {
	if flag != "" {
		if abs, err := filepath.Abs(flag); err == nil {
			return abs
		}
		return flag
	}
	return filepath.Join(p.Root, filepath.FromSlash(configured))
}

// shown is a path as messages name it: relative to the root when it lies there.
func (p *project) shown(path string) string {
	if rel, err := filepath.Rel(p.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// rules compiles the ignore rules from the built-in patterns, the root .gitignore, the configuration
// and further patterns.
func (p *project) rules(more []string) (*ignore.Rules, []string, error) {
	var warnings []string
	text, err := store.ReadFile(filepath.Join(p.Root, ".gitignore"), store.MaxConfigBytes)
	if err != nil && !store.IsNotExist(err) {
		warnings = append(warnings, err.Error()+"; its patterns are not used")
		text = nil
	}
	c := &p.Config.Common
	patterns := slices.Concat(c.Ignore, more, p.own(p.path("", c.Output), p.path("", c.SynonymCache)))
	r := ignore.New(ignore.Options{Gitignore: text, Ignore: patterns, DotWhitelist: c.DotWhitelist})
	return r, append(warnings, r.Warnings()...), nil
}

// own makes the patterns that keep files of ours, and what lies beside them, out of the index. A
// .ctxt folder needs none.
func (p *project) own(files ...string) []string {
	var patterns []string
	for _, f := range files {
		rel := p.shown(f)
		if rel == f || strings.HasPrefix(rel, store.Dir+"/") {
			continue
		}
		rel = "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `).Replace(rel)
		patterns = append(patterns, rel, rel+".stat")
	}
	return patterns
}

// indexTime is the timestamp of an index: SOURCE_DATE_EPOCH when set, else the commit's time when the
// files that the rules keep are those of the commit, else the clock.
func (app *App) indexTime(ctx context.Context, root string, rules *ignore.Rules) (time.Time, error) {
	if v, ok := app.Getenv("SOURCE_DATE_EPOCH"); ok && v != "" {
		sec, err := strconv.ParseInt(v, 10, 64)
		if err != nil || sec < 0 || sec > 253402300799 {
			return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q; want seconds since 1970, or unset it", v)
		}
		return time.Unix(sec, 0), nil
	}
	if t, ok := commitTime(ctx, root, rules); ok {
		return t, nil
	}
	return time.Now(), nil
}

// commitTime is the time of the commit that a folder's indexed files are exactly.
func commitTime(ctx context.Context, root string, rules *ignore.Rules) (t time.Time, ok bool) {
	repo, err := git.Open(root, git.Options{})
	if err != nil || repo.Root() == "" {
		return t, false
	}
	top, err1 := filepath.EvalSymlinks(repo.Root())
	real, err2 := filepath.EvalSymlinks(root)
	prefix, err3 := filepath.Rel(top, real)
	if errors.Join(err1, err2, err3) != nil || !filepath.IsLocal(prefix) {
		return t, false
	}
	prefix = filepath.ToSlash(prefix) + "/"
	head, err := repo.Resolve(ctx, "HEAD")
	if err != nil {
		return t, false
	}
	changes, err := repo.Worktree(ctx)
	if err != nil {
		return t, false
	}
	for _, c := range changes {
		path, inside := c.Path, true
		if prefix != "./" {
			path, inside = strings.CutPrefix(c.Path, prefix)
		}
		if inside && !rules.Match(path, false) {
			return t, false
		}
	}
	info, err := repo.CommitInfo(ctx, head)
	if err != nil {
		return t, false
	}
	return time.Unix(info.Time, 0), true
}

// note prints a line for people on standard error, unless --quiet.
func (app *App) note(format string, args ...any) {
	if !app.Quiet {
		fmt.Fprintln(app.Err, "ctxt: "+visible(fmt.Sprintf(format, args...)))
	}
}

// complete gives the shell the values of a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag does not exist: a mistake in the source
	}
}

// printJSON prints a value as indented JSON.
func (app *App) printJSON(v any) error {
	text, err := encodeJSON(v)
	if err == nil {
		_, err = io.WriteString(app.Out, text)
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// encodeJSON is a value as indented JSON. A CI runner may take "##[" anywhere in a line of a log for a
// command, so that is written in another of JSON's forms.
func encodeJSON(v any) (string, error) {
	var w strings.Builder
	e := json.NewEncoder(&w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.ReplaceAll(w.String(), "##[", `#\u0023[`), err
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d kB", (n+512)>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "ry"); ok {
		return fmt.Sprintf("%d %sries", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// exists reports whether a path is there, whatever it is.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}
