package index

import (
	"context"

	"github.com/ctxt-dev/ctxt/index/git"
)

// Listed is one file that an Origin offers.
type Listed struct {
	Path string
	Mode git.Mode
	Blob git.Hash // content name, the key under which its Doc is remembered
}

// Origin is where a snapshot's files come from: a commit's tree, or a folder.
type Origin interface {
	// List returns the regular files, sorted by path, and what it left out.
	List(ctx context.Context) ([]Listed, []git.Skip, error)
	// Read calls fn once for each file, from one goroutine; fn owns data. A file that
	// cannot be read, or is larger than maxSize bytes, gives an error of its own.
	Read(ctx context.Context, files []Listed, maxSize int64, fn func(i int, data []byte, err error)) error
	// Commit is the commit whose tree this is, or zero.
	Commit() git.Hash
}

type treeSource struct {
	repo   *git.Repo
	commit git.Hash
}

// Tree is the Origin of a commit's tree; nothing is checked out.
func Tree(repo *git.Repo, commit git.Hash) Origin { return treeSource{repo, commit} }

func (s treeSource) Commit() git.Hash { return s.commit }

func (s treeSource) List(ctx context.Context) ([]Listed, []git.Skip, error) {
	tree, err := s.repo.Tree(ctx, s.commit)
	if err != nil {
		return nil, nil, err
	}
	files := make([]Listed, 0, len(tree.Entries))
	for _, e := range tree.Entries {
		if e.Mode == git.ModeFile || e.Mode == git.ModeExec {
			files = append(files, Listed{Path: e.Path, Mode: e.Mode, Blob: e.Hash})
		}
	}
	return files, tree.Skipped, nil
}

func (s treeSource) Read(ctx context.Context, files []Listed, maxSize int64, fn func(int, []byte, error)) error {
	hashes := make([]git.Hash, len(files))
	for i, f := range files {
		hashes[i] = f.Blob
	}
	return s.repo.Blobs(ctx, hashes, maxSize, fn)
}
