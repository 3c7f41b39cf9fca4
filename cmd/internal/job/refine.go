package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/index/store"
)

// ActiveBundle is the file of the last bundle, in a project's .ctxt folder. Its format is pick.Bundle.
const ActiveBundle = "active-bundle.json"

// The caps of a bundle that is read, and of what refine adds to its task.
const (
	maxBundle       = 16 << 20 // bytes of the file
	maxBundleFiles  = 10_000
	maxBundleTokens = 10_000_000
	maxTaskText     = 64 << 10 // bytes; ranking reads no more
	maxKeywords     = 50
	maxKeyword      = 100 // bytes
)

// LoadBundle reads a bundle that activate or refine wrote. A missing file is fs.ErrNotExist.
func LoadBundle(file string) (*pick.Bundle, error) {
	const next = `make it again with: ctxt activate --task "…"`
	data, err := store.ReadFile(file, maxBundle)
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, next)
	}
	if err := checkVersion(file, data, 1, next); err != nil {
		return nil, err
	}
	var b pick.Bundle
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("%s: %s; %s", file, store.JSONFault(data, err), next)
	}
	bad := func(format string, args ...any) (*pick.Bundle, error) {
		return nil, fmt.Errorf("%s: %s; %s", file, fmt.Sprintf(format, args...), next)
	}
	switch {
	case strings.TrimSpace(b.Task) == "":
		return bad("task is empty")
	case b.Budget.Tokens < 1 || b.Budget.Tokens > maxBundleTokens || b.Budget.Files < 1 || b.Budget.Files > maxBundleFiles:
		return bad("budget of %d tokens and %d files is out of range", b.Budget.Tokens, b.Budget.Files)
	case b.Pack != pick.PackTiered && b.Pack != pick.PackFull:
		return bad("pack is %.40q, want tiered or full", b.Pack)
	case len(b.Files) > maxBundleFiles:
		return bad("%d files", len(b.Files))
	}
	switch task.Kind(b.TaskKind) {
	case task.Change, task.Issue:
	default:
		return bad("task_kind is %.40q, want change or issue", b.TaskKind)
	}
	if b.Asked != nil && b.Asked.Session != "" {
		if err := CheckSessionID(b.Asked.Session); err != nil {
			return bad("%v", err)
		}
	}
	return &b, nil
}

// RefineOptions say what was learned since a bundle was made. Of the embedded options Dir, Config,
// HistoryCommits, CacheDir, Extractor and Pick.Explain are used; the bundle gives the rest.
type RefineOptions struct {
	ActivateOptions
	Bundle   *pick.Bundle
	Learned  string   // text, appended to the task
	Keywords []string // words that weigh as much as those of the title
	Drop     []string // paths to leave out, from now on
}

// Difference is what a refinement changed. Ranks are places in the ranking, 1 for the best.
type Difference struct {
	Version   int        `json:"version"`
	Task      string     `json:"task"`
	Added     []Addition `json:"added"`   // in the new bundle's order
	Removed   []Removal  `json:"removed"` // in the old bundle's order
	Moved     []Move     `json:"moved"`   // in the new bundle's order
	Unchanged int        `json:"unchanged"`
	Tokens    int        `json:"tokens"`
	Files     int        `json:"files"`
	// Bundle is filled in by the caller that wants both in one answer.
	Bundle *pick.Bundle `json:"bundle,omitempty"`
}

// Addition is a file that only the new bundle holds.
type Addition struct {
	Path   string `json:"path"`
	Rank   int    `json:"rank"`
	Reason string `json:"reason"`
}

// Removal is a file that only the old bundle holds.
type Removal struct {
	Path string `json:"path"`
	Rank int    `json:"rank"` // it had
	Why  string `json:"why"`  // dropped, outranked or gone
}

// Move is a file of both whose rank changed.
type Move struct {
	Path string `json:"path"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// Refined is a refinement's result.
type Refined struct {
	*Selected
	Difference Difference
}

// Refine selects again for a bundle's task and what was learned since. What was dropped stays out of
// further refinements, too: the new bundle carries it.
func Refine(ctx context.Context, o RefineOptions) (*Refined, error) {
	if strings.TrimSpace(o.Learned) == "" && len(o.Keywords) == 0 && len(o.Drop) == 0 {
		return nil, errors.New("there is nothing to refine by; give --learned, --add-keywords or --drop")
	}
	old := o.Bundle
	asked := old.Asked
	if asked == nil {
		asked = &pick.Asked{}
	}
	text, err := o.text(old.Task)
	if err != nil {
		return nil, err
	}
	a := o.ActivateOptions
	a.Task, a.Kind = text, task.Kind(old.TaskKind)
	a.BranchAware, a.Session = asked.BranchAware, asked.Session
	a.Pick = pick.Options{
		Budget: old.Budget, Pack: old.Pack, FullFileMaxLines: asked.FullFileMaxLines, Scope: asked.Scope,
		NearMisses: asked.NearMisses, LayerOrder: asked.LayerOrder, BlastRadius: asked.BlastRadius, Explain: o.Pick.Explain,
	}
	fresh := make([]string, 0, len(o.Drop))
	for _, p := range o.Drop {
		fresh = append(fresh, strings.TrimPrefix(filepath.ToSlash(p), "./"))
	}
	a.Pick.Drop = slices.Concat(asked.Dropped, fresh)
	slices.Sort(a.Pick.Drop)
	a.Pick.Drop = slices.Compact(a.Pick.Drop)
	s, err := Activate(ctx, a)
	if err != nil {
		return nil, err
	}
	for _, p := range fresh {
		if _, ok := s.Snapshot.Find(p); !ok && !slices.ContainsFunc(old.Files, func(f pick.File) bool { return f.Path == p }) {
			return nil, fmt.Errorf("flag --drop: %s is not in the tree; give a path as the bundle names it", p)
		}
	}
	return &Refined{Selected: s, Difference: s.difference(old, a.Pick.Drop)}, nil
}

// text is the task with what was learned: keywords join the title, where they weigh most, and the rest
// goes behind the body.
func (o *RefineOptions) text(old string) (string, error) {
	title, body, _ := strings.Cut(old, "\n")
	if len(o.Keywords) > maxKeywords {
		return "", fmt.Errorf("flag --add-keywords: %d words, more than %d", len(o.Keywords), maxKeywords)
	}
	var more []string
	for _, k := range o.Keywords {
		k = strings.TrimSpace(k)
		if k == "" || len(k) > maxKeyword || strings.ContainsAny(k, "\r\n") {
			return "", fmt.Errorf("flag --add-keywords: got %.120q, want words of at most %d bytes", k, maxKeyword)
		}
		if !slices.Contains(more, k) {
			more = append(more, k)
		}
	}
	if len(more) > 0 {
		title = strings.TrimSpace(title) + " (" + strings.Join(more, ", ") + ")"
	}
	text := title
	for _, part := range []string{strings.TrimSpace(body), strings.TrimSpace(o.Learned)} {
		if part != "" {
			text += "\n\n" + part
		}
	}
	if len(text) > maxTaskText {
		return "", fmt.Errorf("the task has grown to %d bytes, of which only %d are read; start again with: ctxt activate --task \"…\"", len(text), maxTaskText)
	}
	return text, nil
}

// difference compares the new bundle with an older one.
func (s *Selected) difference(old *pick.Bundle, dropped []string) Difference {
	d := Difference{Version: 1, Task: s.Bundle.Task, Added: []Addition{}, Removed: []Removal{}, Moved: []Move{},
		Tokens: s.Bundle.Used.Tokens, Files: s.Bundle.Used.Files}
	before := map[string]int{}
	for _, f := range old.Files {
		before[f.Path] = f.Rank
	}
	now := map[string]bool{}
	for _, f := range s.Bundle.Files {
		now[f.Path] = true
		switch rank, was := before[f.Path]; {
		case !was:
			d.Added = append(d.Added, Addition{f.Path, f.Rank, f.Reason})
		case rank != f.Rank:
			d.Moved = append(d.Moved, Move{f.Path, rank, f.Rank})
		default:
			d.Unchanged++
		}
	}
	for _, f := range old.Files {
		if now[f.Path] {
			continue
		}
		why := "outranked"
		if slices.Contains(dropped, f.Path) {
			why = "dropped"
		} else if _, ok := s.Snapshot.Find(f.Path); !ok {
			why = "gone"
		}
		d.Removed = append(d.Removed, Removal{f.Path, f.Rank, why})
	}
	return d
}

// asked is how a selection was asked for, beyond its task and budget; nil for the defaults.
func (o *ActivateOptions) asked() *pick.Asked {
	a := &pick.Asked{
		Scope: o.Pick.Scope, Dropped: o.Pick.Drop, NearMisses: o.Pick.NearMisses, LayerOrder: o.Pick.LayerOrder,
		BlastRadius: o.Pick.BlastRadius, FullFileMaxLines: o.Pick.FullFileMaxLines, BranchAware: o.BranchAware, Session: o.Session,
	}
	if len(a.Scope)+len(a.Dropped)+a.NearMisses+a.FullFileMaxLines == 0 && !a.LayerOrder && !a.BlastRadius && !a.BranchAware && a.Session == "" {
		return nil
	}
	return a
}
