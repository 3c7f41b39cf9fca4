package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/store"
)

// SessionChange is a file that a session touched.
type SessionChange struct {
	Path      string `json:"path"`
	Status    string `json:"status"`    // added, modified or deleted since the session began
	Committed bool   `json:"committed"` // its present content is that of the checked-out commit
	InBundle  bool   `json:"in_bundle"` // of the session's last bundle
}

// SessionProgress is what changed since a session began.
type SessionProgress struct {
	Version int             `json:"version"`
	Session string          `json:"session"`
	Started string          `json:"started"`
	Base    string          `json:"base"`
	Head    string          `json:"head"`
	Commits int             `json:"commits"` // between the two
	Changed []SessionChange `json:"changed"` // sorted by path
	Notes   []string        `json:"notes,omitempty"`
}

// Progress lists the files whose content is not what it was when the session began, committed or not.
func (s *Session) Progress(ctx context.Context, root string) (*SessionProgress, error) {
	repo, err := checkout(root)
	if err != nil {
		return nil, err
	}
	head, err := headOf(ctx, repo)
	if err != nil {
		return nil, err
	}
	p := &SessionProgress{Version: SessionVersion, Session: s.ID, Started: s.Started, Base: s.Base, Changed: []SessionChange{}}
	if !head.IsZero() {
		p.Head = head.String()
	}
	base, then, err := s.baseTree(ctx, repo)
	if err != nil {
		return nil, err
	}
	now, err := blobsOf(ctx, repo, head)
	if err != nil {
		return nil, err
	}
	if base != head && !base.IsZero() && !head.IsZero() {
		if p.Commits, err = repo.CountBetween(ctx, base, head); err != nil {
			return nil, err
		}
		if behind, err := repo.IsAncestor(ctx, base, head); err == nil && !behind {
			p.Notes = append(p.Notes, fmt.Sprintf("commit %s of the session is not behind the checked-out one (another branch, or a rebase): the two are compared as they are", base.Short()))
		}
	}
	return p, s.compare(ctx, repo, then, now, p)
}

// baseTree resolves the session's commit and lists its files.
func (s *Session) baseTree(ctx context.Context, repo *git.Repo) (git.Hash, map[string]string, error) {
	if s.Base == "" {
		return git.Hash{}, map[string]string{}, nil
	}
	base, err := repo.Resolve(ctx, s.Base)
	if err != nil {
		return base, nil, fmt.Errorf("session %s began at a commit that is gone: %w; begin another: ctxt session init", s.ID, err)
	}
	files, err := blobsOf(ctx, repo, base)
	return base, files, err
}

func blobsOf(ctx context.Context, repo *git.Repo, commit git.Hash) (map[string]string, error) {
	out := map[string]string{}
	if commit.IsZero() {
		return out, nil
	}
	tree, err := repo.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	for _, e := range tree.Entries {
		if e.Mode != git.ModeSubmodule && !strings.HasPrefix(e.Path, store.Dir+"/") {
			out[e.Path] = e.Hash.String()
		}
	}
	return out, nil
}

// compare fills in p.Changed. Then and now are the committed contents; uncommitted ones go over both.
func (s *Session) compare(ctx context.Context, repo *git.Repo, then, now map[string]string, p *SessionProgress) error {
	changes, err := repo.Worktree(ctx)
	if err != nil {
		return err
	}
	dir, err := os.OpenRoot(repo.Root())
	if err != nil {
		return fmt.Errorf("open %s: %w", repo.Root(), errors.Unwrap(err))
	}
	defer dir.Close()
	for _, f := range s.Dirty {
		then[f.Path] = f.Content
	}
	uncommitted := map[string]bool{}
	for _, c := range withoutState(changes) {
		uncommitted[c.Path] = true
		now[c.Path] = contentOnDisk(dir, c.Path)
	}
	bundle := map[string]bool{}
	if n := len(s.Bundles); n > 0 {
		for _, f := range s.Bundles[n-1].Files {
			bundle[f] = true
		}
	}
	add := func(path string) {
		c := SessionChange{Path: path, Status: "modified", Committed: !uncommitted[path], InBundle: bundle[path]}
		switch {
		case then[path] == now[path]:
			return
		case then[path] == "":
			c.Status = "added"
		case now[path] == "":
			c.Status = "deleted"
		}
		p.Changed = append(p.Changed, c)
	}
	for path := range then {
		add(path)
	}
	for path := range now {
		if _, ok := then[path]; !ok {
			add(path)
		}
	}
	slices.SortFunc(p.Changed, func(a, b SessionChange) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// SessionTouched are the files that a session touched, for ActivateOptions.Touched.
func SessionTouched(ctx context.Context, root, id string) (map[string]bool, error) {
	s, err := LoadSession(root, id)
	if err != nil {
		return nil, err
	}
	p, err := s.Progress(ctx, root)
	if err != nil {
		return nil, err
	}
	out := make(map[string]bool, len(p.Changed))
	for _, c := range p.Changed {
		out[c.Path] = true
	}
	return out, nil
}

// SessionSummary compares the session's last bundle with what was really changed.
type SessionSummary struct {
	Version   int      `json:"version"`
	Session   string   `json:"session"`
	Task      string   `json:"task"`
	Bundle    int      `json:"bundle_files"`
	Changed   int      `json:"changed_files"` // that existed when the session began
	Hit       []string `json:"hit"`           // changed, and in the bundle
	Missed    []string `json:"missed"`        // changed, and not in the bundle
	Unused    []string `json:"unused"`        // in the bundle, and not changed
	Created   []string `json:"created"`       // new files: no bundle could have held them
	Recall    *float64 `json:"recall"`        // hit over changed; null when nothing changed
	Precision *float64 `json:"precision"`     // hit over the bundle's files; null when it is empty or nothing changed
	Notes     []string `json:"notes,omitempty"`
}

// Summary measures the session's last bundle, or the active one when the session made none.
func (s *Session) Summary(ctx context.Context, root string) (*SessionSummary, error) {
	if len(s.Bundles) == 0 {
		b, err := LoadBundle(filepath.Join(root, store.Dir, ActiveBundle))
		if store.IsNotExist(err) {
			return nil, fmt.Errorf("session %s has no bundle to compare with; make one with: ctxt activate --session %s --task \"…\"", s.ID, s.ID)
		}
		if err != nil {
			return nil, err
		}
		s.Bundles = []SessionBundle{bundleOf(b)}
	}
	p, err := s.Progress(ctx, root)
	if err != nil {
		return nil, err
	}
	b := s.Bundles[len(s.Bundles)-1]
	out := &SessionSummary{Version: SessionVersion, Session: s.ID, Task: b.Task, Bundle: len(b.Files), Notes: p.Notes,
		Hit: []string{}, Missed: []string{}, Unused: []string{}, Created: []string{}}
	changed := map[string]bool{}
	for _, c := range p.Changed {
		switch {
		case c.Status == "added":
			out.Created = append(out.Created, c.Path)
			continue
		case c.InBundle:
			out.Hit = append(out.Hit, c.Path)
		default:
			out.Missed = append(out.Missed, c.Path)
		}
		changed[c.Path] = true
	}
	for _, f := range b.Files {
		if !changed[f] {
			out.Unused = append(out.Unused, f)
		}
	}
	out.Changed = len(changed)
	if len(changed) > 0 {
		out.Recall = share(len(out.Hit), len(changed))
		if len(b.Files) > 0 {
			out.Precision = share(len(out.Hit), len(b.Files))
		}
	}
	return out, nil
}

func share(n, of int) *float64 {
	v := float64(n) / float64(of)
	return &v
}
