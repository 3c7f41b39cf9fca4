package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// WorktreeChange is a path whose content in the work tree is not that of the HEAD commit.
type WorktreeChange struct {
	Path      string
	Status    Status // Added, Modified or Deleted, against HEAD
	Untracked bool   // not in the index
}

// Worktree lists the uncommitted and the untracked paths of the work tree, sorted by path. Ignored
// files and the insides of submodules are left out, and the index is not refreshed. A bare
// repository has none.
func (r *Repo) Worktree(ctx context.Context) ([]WorktreeChange, error) {
	if r.root == "" {
		return nil, nil
	}
	if r.program == nil {
		return r.worktreeGoGit(ctx)
	}
	// A content filter is a command of the repository's configuration: each is emptied.
	args, err := r.withoutFilters(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.program.output(ctx, append(args, "status", "--porcelain=v1", "-z", "--untracked-files=all",
		"--no-renames", "--ignore-submodules=all", "--no-ahead-behind")...)
	if err != nil {
		return nil, err
	}
	return parseStatus(out, func(path string) bool {
		_, err := os.Lstat(filepath.Join(r.root, filepath.FromSlash(path)))
		return err == nil
	})
}

func (r *Repo) withoutFilters(ctx context.Context) ([]string, error) {
	if !r.config.mayFilter {
		return nil, nil
	}
	out, err := r.program.output(ctx, "config", "-z", "--name-only", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`)
	if err != nil && exitCode(err) != 1 {
		return nil, err
	}
	var args []string
	for _, name := range strings.Split(out, "\x00") {
		if name == "" {
			continue
		}
		if strings.ContainsAny(name, "=\n") {
			return nil, fmt.Errorf("git configuration: filter %.100q cannot be switched off: remove it", name)
		}
		value := ""
		if strings.HasSuffix(name, ".required") {
			value = "false"
		}
		args = append(args, "-c", name+"="+value)
	}
	return args, nil
}

// parseStatus reads git status --porcelain=v1 -z: "XY PATH" NUL, repeated.
func parseStatus(out string, exists func(path string) bool) ([]WorktreeChange, error) {
	var all []WorktreeChange
	for _, rec := range strings.Split(out, "\x00") {
		if rec == "" {
			continue
		}
		if len(rec) < 4 || rec[2] != ' ' {
			return nil, fmt.Errorf("git status: unexpected record %.100q; see what git status prints", rec)
		}
		x, y, c := rec[0], rec[1], WorktreeChange{Path: rec[3:], Status: Modified}
		switch {
		case x == '?':
			c.Status, c.Untracked = Added, true
		case x == 'U' || y == 'U' || x == 'A' && y == 'A' || x == 'D' && y == 'D':
			if !exists(c.Path) {
				c.Status = Deleted
			}
		case x == 'A' && y == 'D':
			continue // added to the index and removed again
		case y == 'D' || x == 'D':
			c.Status = Deleted
		case x == 'A' || y == 'A':
			c.Status = Added
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b WorktreeChange) int { return strings.Compare(a.Path, b.Path) })
	// A path that was removed from the index and still lies there has two records.
	var merged []WorktreeChange
	for _, c := range all {
		if n := len(merged); n > 0 && merged[n-1].Path == c.Path {
			merged[n-1].Status, merged[n-1].Untracked = Modified, true
			continue
		}
		merged = append(merged, c)
	}
	return merged, nil
}

// headTree returns HEAD's tree; an empty one where HEAD has no commit.
func (r *Repo) headTree(ctx context.Context) (*Tree, error) {
	h, err := r.Resolve(ctx, "HEAD")
	if errors.Is(err, ErrUnknown) {
		return &Tree{}, nil
	}
	if err != nil {
		return nil, err
	}
	return r.Tree(ctx, h)
}
