package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// worktreeGoGit compares the files of the work tree with HEAD by their contents.
func (r *Repo) worktreeGoGit(ctx context.Context) ([]WorktreeChange, error) {
	head, err := r.headTree(ctx)
	if err != nil {
		return nil, err
	}
	indexed, sparse, err := r.indexGoGit()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(r.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tracked := make(map[string]bool, len(head.Entries))
	var out []WorktreeChange
	for _, e := range head.Entries {
		tracked[e.Path] = true
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if e.Mode == ModeSubmodule || sparse[e.Path] {
			continue
		}
		status, err := fileStatus(root, e)
		if err != nil {
			return nil, fmt.Errorf("compare %q with HEAD: %w", e.Path, err)
		}
		if status != 0 {
			out = append(out, WorktreeChange{Path: e.Path, Status: status, Untracked: status == Modified && !indexed[e.Path]})
		}
	}
	fresh, err := r.untracked(ctx, tracked, indexed)
	if err != nil {
		return nil, err
	}
	out = append(out, fresh...)
	slices.SortFunc(out, func(a, b WorktreeChange) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// indexGoGit returns the paths in the index, and those that a sparse checkout leaves out.
func (r *Repo) indexGoGit() (indexed, sparse map[string]bool, err error) {
	g, err := r.goGit()
	if err != nil {
		return nil, nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	defer func() {
		if p := recover(); p != nil { // go-git on a damaged index
			err = fmt.Errorf("read the index of %s: %v; mend it with git reset", r.root, p)
		}
	}()
	idx, err := g.stores[0].Index()
	if err != nil {
		return nil, nil, fmt.Errorf("read the index of %s: %w; mend it with git reset", r.root, err)
	}
	indexed, sparse = map[string]bool{}, map[string]bool{}
	for _, e := range idx.Entries {
		indexed[e.Name] = true
		if e.SkipWorktree {
			sparse[e.Name] = true
		}
	}
	return indexed, sparse, nil
}

// fileStatus compares one tracked file; 0 means that it is as in HEAD.
func fileStatus(root *os.Root, e Entry) (Status, error) {
	name := filepath.FromSlash(e.Path)
	st, err := root.Lstat(name)
	if err != nil {
		return Deleted, nil //nolint:nilerr // whatever the reason, there is no such file to read
	}
	var data []byte
	switch {
	case st.Mode().IsRegular() && e.Mode != ModeSymlink:
		if (st.Mode()&0o100 != 0) != (e.Mode == ModeExec) {
			return Modified, nil
		}
		h, err := hashFile(root, name, st.Size())
		if err != nil {
			return 0, err
		}
		if h != e.Hash {
			return Modified, nil
		}
		return 0, nil
	case st.Mode()&os.ModeSymlink != 0 && e.Mode == ModeSymlink:
		target, err := root.Readlink(name)
		if err != nil {
			return 0, err
		}
		data = []byte(filepath.ToSlash(target))
	case st.IsDir():
		return Deleted, nil
	default:
		return Modified, nil
	}
	if HashBlob(data) != e.Hash {
		return Modified, nil
	}
	return 0, nil
}

// hashFile names a file's content without holding it in memory.
func hashFile(root *os.Root, name string, size int64) (Hash, error) {
	f, err := root.Open(name)
	if err != nil {
		return Hash{}, err
	}
	defer f.Close()
	s := newObjectHash("blob", size)
	if _, err := io.Copy(s, f); err != nil {
		return Hash{}, err
	}
	var h Hash
	s.Sum(h[:0])
	return h, nil
}

// maxUntracked bounds how many paths of a work tree are looked at.
const maxUntracked = maxTreePaths

// untracked lists the files that are not in HEAD and not ignored.
func (r *Repo) untracked(ctx context.Context, tracked, indexed map[string]bool) ([]WorktreeChange, error) {
	patterns, err := gitignore.ReadPatterns(osfs.New(r.root), nil)
	if err != nil {
		return nil, fmt.Errorf("read ignore files: %w", err)
	}
	exclude, err := readSmall(filepath.Join(r.common, "info", "exclude"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var first []gitignore.Pattern
	for line := range strings.Lines(string(exclude)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && line[0] != '#' {
			first = append(first, gitignore.ParsePattern(line, nil))
		}
	}
	ignored := gitignore.NewMatcher(append(first, patterns...))
	var out []WorktreeChange
	seen := 0
	err = filepath.WalkDir(r.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(ctx.Err(), skipUnreadable(d, err))
		}
		rel, err := filepath.Rel(r.root, name)
		if err != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		if seen++; seen > maxUntracked {
			return fmt.Errorf("more than %d paths in the work tree", maxUntracked)
		}
		skip := d.Name() == ".git" || ignored.Match(strings.Split(rel, "/"), d.IsDir())
		if d.IsDir() {
			if _, err := os.Lstat(filepath.Join(name, ".git")); skip && !hasUnder(indexed, rel) || err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if tracked[rel] || !d.Type().IsRegular() && d.Type() != fs.ModeSymlink || skip && !indexed[rel] || d.Name() == ".git" {
			return nil
		}
		out = append(out, WorktreeChange{Path: rel, Status: Added, Untracked: !indexed[rel]})
		return nil
	})
	return out, err
}

// skipUnreadable passes over a folder that cannot be listed.
func skipUnreadable(d fs.DirEntry, err error) error {
	if d != nil && d.IsDir() && errors.Is(err, fs.ErrPermission) {
		return fs.SkipDir
	}
	return err
}

func hasUnder(paths map[string]bool, dir string) bool {
	for p := range paths {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}
