package git

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Branch is a local or a remote branch.
type Branch struct {
	Name   string // "main" for refs/heads/main, and for refs/remotes/origin/main
	Remote string // "origin"; empty for a local branch
	Tip    Hash
}

// maxBranches is how many branches Branches gives.
const maxBranches = 1000

// Branches lists the first thousand branches by reference name. What points to another branch, as
// origin/HEAD does, and what points to no commit name is left out.
func (r *Repo) Branches(ctx context.Context) ([]Branch, error) {
	refs := map[string]Hash{}
	var err error
	if r.program != nil {
		err = r.branchesProgram(ctx, refs)
	} else {
		err = r.branchesGoGit(refs)
	}
	if err != nil {
		return nil, fmt.Errorf("list branches: %w", err)
	}
	names := make([]string, 0, len(refs))
	for name := range refs {
		names = append(names, name)
	}
	sort.Strings(names)
	out := make([]Branch, 0, min(len(names), maxBranches))
	for _, name := range names[:min(len(names), maxBranches)] {
		b := Branch{Tip: refs[name]}
		if rest, ok := strings.CutPrefix(name, "refs/remotes/"); ok {
			b.Remote, b.Name, _ = strings.Cut(rest, "/")
		} else {
			b.Name = strings.TrimPrefix(name, "refs/heads/")
		}
		out = append(out, b)
	}
	return out, nil
}

func (r *Repo) branchesProgram(ctx context.Context, refs map[string]Hash) error {
	text, err := r.program.output(ctx, "for-each-ref", "--format=%(objectname) %(refname) %(symref)", "refs/heads/", "refs/remotes/")
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		f := strings.Fields(line) // a reference's name has no spaces
		if len(f) != 2 {
			continue
		}
		h, err := ParseHash(f[0])
		if err != nil {
			return err
		}
		refs[f[1]] = h
	}
	return nil
}

func (r *Repo) branchesGoGit(refs map[string]Hash) error {
	g, err := r.goGit()
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	all, err := g.stores[0].IterReferences()
	if err != nil {
		return err
	}
	defer all.Close()
	return all.ForEach(func(ref *plumbing.Reference) error {
		if name := ref.Name(); ref.Type() == plumbing.HashReference && (name.IsBranch() || name.IsRemote()) {
			refs[name.String()] = Hash(ref.Hash())
		}
		return nil
	})
}
