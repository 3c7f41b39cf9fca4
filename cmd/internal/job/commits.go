package job

import (
	"context"
	"fmt"

	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/index/git"
)

// maxOwnCommits bounds the commits of a change whose authors and branches are looked at.
const maxOwnCommits = 2000

// maxTried is how many branches are compared with a change.
const maxTried = 200

// countCommits counts the commits of the change, those by others than its author and, where they
// are many, those that another branch holds already.
func (r *run) countCommits(ctx context.Context, c *risk.Change) (err error) {
	if c.Commits, err = r.repo.CountBetween(ctx, r.fork, r.head); err != nil {
		return fmt.Errorf("count the commits: %w", err)
	}
	own, err := r.repo.Between(ctx, r.fork, r.head, maxOwnCommits)
	if err != nil {
		return fmt.Errorf("read the commits: %w", err)
	}
	for _, x := range own {
		if x.Author != c.Author && x.Email != c.Email {
			c.ByOthers++
		}
	}
	if c.Commits >= risk.ManyCommits {
		c.OnOthers, err = r.onOthers(ctx, own)
	}
	return err
}

// onOthers counts the commits that a branch holds which is not the change's own. A branch is its own
// when it holds the head, or has the name of one that points to the head: an older state of it.
func (r *run) onOthers(ctx context.Context, own []git.Commit) (int, error) {
	branches, err := r.repo.Branches(ctx)
	if err != nil {
		return 0, err
	}
	mine := make(map[git.Hash]*git.Commit, len(own))
	for i := range own {
		mine[own[i].Hash] = &own[i]
	}
	ours := map[string]bool{}
	for _, b := range branches {
		ours[b.Name] = ours[b.Name] || b.Tip == r.head
	}
	held := map[git.Hash]bool{}
	tried := map[git.Hash]bool{r.head: true}
	for _, b := range branches {
		if ours[b.Name] || tried[b.Tip] || len(tried) > maxTried {
			continue
		}
		tried[b.Tip] = true
		meet := b.Tip
		if mine[meet] == nil {
			var ok bool
			if meet, ok, err = r.repo.MergeBase(ctx, b.Tip, r.head); err != nil {
				return 0, err
			}
			if !ok || meet == r.head {
				continue
			}
		}
		hold(meet, mine, held)
	}
	return len(held), nil
}

// hold marks a commit and its ancestors within mine.
func hold(from git.Hash, mine map[git.Hash]*git.Commit, held map[git.Hash]bool) {
	todo := []git.Hash{from}
	for len(todo) > 0 {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if c := mine[h]; c != nil && !held[h] {
			held[h] = true
			todo = append(todo, c.Parents...)
		}
	}
}
