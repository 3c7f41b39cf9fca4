package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/index/git"
)

// CompanionsOptions say of which change the missing companions are asked for.
type CompanionsOptions struct {
	Dir            string
	Base           string   // what the work tree is compared with; empty: HEAD, so the uncommitted files
	Paths          []string // the changed files; empty: those of the work tree
	Title          string   // what the change is about; may be empty
	HistoryCommits int      // 0: 3000
}

// CompanionsResult names the files that usually change with those of a change and did not, version 1.
type CompanionsResult struct {
	Version    int              `json:"version"`
	Base       string           `json:"base"`    // commit whose past was read
	Changed    []string         `json:"changed"` // sorted
	Companions []risk.Companion `json:"companions"`
	Learned    bool             `json:"learned"` // false: the past is too short, and a fixed rule was used
	Notes      []string         `json:"notes,omitempty"`
}

// maxCompanionFiles is the size of a change from which on nothing is said about it.
const maxCompanionFiles = 15

// Companions looks for what the change in the work tree left out, by the past of its base.
func Companions(ctx context.Context, o CompanionsOptions) (*CompanionsResult, error) {
	repo, err := checkout(o.Dir)
	if err != nil {
		return nil, err
	}
	base, err := repo.Resolve(ctx, cmp.Or(o.Base, "HEAD"))
	if err != nil {
		return nil, err
	}
	files, present, err := workTreeChange(ctx, repo, base)
	if err != nil {
		return nil, err
	}
	if len(o.Paths) > 0 {
		files = named(files, o.Paths)
	}
	e, err := NewEngine(ctx, repo, EngineOptions{HistoryCommits: o.HistoryCommits})
	if err != nil {
		return nil, err
	}
	h, err := e.History(ctx, base)
	if err != nil {
		return nil, err
	}
	k, err := risk.NewCompanions(ctx, h)
	if err != nil {
		return nil, err
	}
	r := &CompanionsResult{Version: 1, Base: base.String(), Changed: []string{}, Companions: []risk.Companion{}, Learned: k.Learned()}
	for _, f := range files {
		r.Changed = append(r.Changed, f.Path)
	}
	r.Companions = append(r.Companions, k.Missing(files, o.Title, "", "", present)...)
	switch n := len(files); {
	case n == 0:
		r.Notes = append(r.Notes, "nothing changed; edit a file, name paths, or give the branch that this one left: ctxt companions --base main")
	case n > maxCompanionFiles:
		r.Notes = append(r.Notes, fmt.Sprintf("%d files changed; from %d on nothing is said about what is missing", n, maxCompanionFiles+1))
	}
	if h.Extent.Shallow {
		r.Notes = append(r.Notes, fmt.Sprintf("the clone is shallow: history limited to %s; git fetch --unshallow brings the rest", commitCount(len(h.Commits))))
	} else if !r.Learned && len(files) > 0 {
		r.Notes = append(r.Notes, commitCount(len(h.Commits))+" of history: too few to learn from, so a fixed rule was used")
	}
	return r, nil
}

// workTreeChange is the difference between a commit and the work tree, committed or not, sorted by path.
// Present says whether a path is in the work tree.
func workTreeChange(ctx context.Context, repo *git.Repo, base git.Hash) (files []git.FileDiff, present func(string) bool, err error) {
	head, err := headOf(ctx, repo)
	if err != nil {
		return nil, nil, err
	}
	if head.IsZero() {
		return nil, nil, errors.New("there is no commit yet, so there is no past to ask")
	}
	if base != head {
		fork, ok, err := repo.MergeBase(ctx, base, head)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			fork = base
		}
		if files, err = repo.Diff(ctx, fork, head); err != nil {
			return nil, nil, err
		}
	}
	changes, err := repo.Worktree(ctx)
	if err != nil {
		return nil, nil, err
	}
	tree, err := blobsOf(ctx, repo, head)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range withoutState(changes) {
		if c.Status == git.Deleted {
			delete(tree, c.Path)
		} else {
			tree[c.Path] = ""
		}
		if i := slices.IndexFunc(files, func(f git.FileDiff) bool { return f.Path == c.Path }); i < 0 {
			files = append(files, git.FileDiff{Path: c.Path, Status: c.Status})
		}
	}
	slices.SortFunc(files, func(a, b git.FileDiff) int { return strings.Compare(a.Path, b.Path) })
	return files, func(p string) bool { _, ok := tree[p]; return ok }, nil
}

// named keeps the given paths, with what is known of their change.
func named(files []git.FileDiff, paths []string) []git.FileDiff {
	var out []git.FileDiff
	for _, p := range paths {
		f := git.FileDiff{Path: p, Status: git.Modified}
		if i := slices.IndexFunc(files, func(f git.FileDiff) bool { return f.Path == p }); i >= 0 {
			f = files[i]
		}
		if !slices.ContainsFunc(out, func(o git.FileDiff) bool { return o.Path == p }) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b git.FileDiff) int { return strings.Compare(a.Path, b.Path) })
	return out
}
