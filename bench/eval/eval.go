// Package eval runs cases: the ranking and the bundle of a selector against what a past change
// really touched, and the ranked search against expected paths.
package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/bench/cases"
	"github.com/ctxt-dev/ctxt/index/git"
)

// Selection is what a selector answers for one task.
type Selection struct {
	Ranked []string       // all ranked paths, best first, no path twice
	Files  []SelectedFile // of the bundle, in its order
	Tokens int            // of the finished bundle
}

// SelectedFile is one file of a bundle.
type SelectedFile struct {
	Path    string
	Regions [][2]int // first and last line, 1-based, inclusive; none when the bundle only names the path
}

// Selector ranks and selects for a task on the tree of a commit, with no history but what the
// commit can reach. It must be safe for concurrent use.
type Selector func(ctx context.Context, base git.Hash, title, body string) (Selection, error)

// Objects is the part of a repository that replay itself reads.
type Objects interface {
	// Resolve returns the commit that a revision names.
	Resolve(ctx context.Context, rev string) (git.Hash, error)
	// Diff compares two commits' trees.
	Diff(ctx context.Context, old, new git.Hash) ([]git.FileDiff, error)
}

// Options of a replay.
type Options struct {
	Jobs     int // cases at once; 0 for one a processor
	Shard    bench.Shard
	Progress func(done, total int) // called from one goroutine at a time; may be nil
}

// Result is the result of a replay.
type Result = bench.ReplayResult

// Replay measures every case at its base commit. Results are in the order of cs and do not depend
// on o.Jobs. A case whose base is absent is skipped, one whose selector fails counts as a miss;
// both say why. An error means that the run was cut short.
func Replay(ctx context.Context, repo Objects, cs []cases.Replay, sel Selector, o Options) (*Result, error) {
	mine := make([]cases.Replay, 0, len(cs))
	for i, c := range cs {
		if o.Shard.Holds(i) {
			mine = append(mine, c)
		}
	}
	digest, err := Digest(cs)
	if err != nil {
		return nil, err
	}
	res := &Result{
		Source:  bench.Source{Digest: digest},
		Shard:   o.Shard.Info(len(cs)),
		Results: make([]bench.ReplayCase, len(mine)),
	}
	err = each(ctx, len(mine), o, func(i int) { res.Results[i] = replayOne(ctx, repo, mine[i], sel) })
	if err != nil {
		return nil, err
	}
	res.Summarize()
	return res, nil
}

// Bases lists the commits that cases are measured at, each once, in the order of the cases; bases
// that are absent are left out. A selector may read their history at once.
func Bases(ctx context.Context, repo Objects, cs []cases.Replay) []git.Hash {
	var out []git.Hash
	seen := make(map[git.Hash]bool, len(cs))
	for _, c := range cs {
		if h, err := repo.Resolve(ctx, c.Base); err == nil && !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	return out
}

// Digest is the SHA-256, in hexadecimal, of cases in their order.
func Digest(cs any) (string, error) {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(cs); err != nil {
		return "", fmt.Errorf("digest of the cases: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// each calls do(0) … do(n-1), o.Jobs at a time, and returns the context's error if it ended.
func each(ctx context.Context, n int, o Options, do func(int)) error {
	jobs := o.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range min(jobs, n) {
		wg.Go(func() {
			for i := range next {
				do(i)
				mu.Lock()
				done++
				if o.Progress != nil {
					o.Progress(done, n)
				}
				mu.Unlock()
			}
		})
	}
feed:
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

func replayOne(ctx context.Context, repo Objects, c cases.Replay, sel Selector) bench.ReplayCase {
	out := bench.ReplayCase{SHA: c.SHA, Title: c.Title, Gold: c.Gold, Ranked: []string{}, Bundle: []string{}}
	base, err := repo.Resolve(ctx, c.Base)
	if errors.Is(err, git.ErrUnknown) || errors.Is(err, git.ErrAbsent) {
		out.Skipped = "base commit: " + err.Error()
		return out
	}
	if err != nil {
		out.Error = "base commit: " + err.Error()
		return out
	}
	got, err := sel(ctx, base, c.Title, c.Body)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return out // Replay returns the context's error
		}
		out.Error = err.Error()
	}
	clean(&got)
	out.Ranked = append(out.Ranked, got.Ranked[:min(bench.RankedKept, len(got.Ranked))]...)
	out.First = bench.FirstRank(c.Gold, got.Ranked)
	out.Tokens = got.Tokens
	for _, f := range got.Files {
		if len(f.Regions) > 0 {
			out.Bundle = append(out.Bundle, f.Path)
		} else {
			out.PathOnly = append(out.PathOnly, f.Path)
		}
	}
	out.Hunks = countHunks(ctx, repo, base, c, got.Files)
	return out
}

// clean makes all paths valid UTF-8, as they are in JSON and in cases.
func clean(s *Selection) {
	for i, p := range s.Ranked {
		if !utf8.ValidString(p) {
			s.Ranked[i] = strings.ToValidUTF8(p, "\uFFFD")
		}
	}
	for i := range s.Files {
		s.Files[i].Path = strings.ToValidUTF8(s.Files[i].Path, "\uFFFD")
	}
}

// countHunks compares the change's old-side hunks with the bundle. There are none when the change
// itself is not in the repository.
func countHunks(ctx context.Context, repo Objects, base git.Hash, c cases.Replay, files []SelectedFile) bench.Hunks {
	var n bench.Hunks
	sha, err := git.ParseHash(c.SHA)
	if err != nil {
		return n
	}
	diffs, err := repo.Diff(ctx, base, sha)
	if err != nil {
		n.Fault = err.Error()
		return n
	}
	regions := make(map[string][][2]int, len(files))
	for _, f := range files {
		regions[f.Path] = append(regions[f.Path], f.Regions...)
	}
	gold := make(map[string]bool, len(c.Gold))
	for _, g := range c.Gold {
		gold[g] = true
	}
	for _, d := range diffs {
		old := d.Path
		if d.OldPath != "" {
			old = d.OldPath
		}
		if !gold[old] {
			continue
		}
		if d.Binary && n.Fault == "" {
			n.Fault = strings.ToValidUTF8(old, "\uFFFD") + ": contents cannot be compared"
		}
		for _, h := range d.Hunks {
			n.Total++
			if meets(h, regions[old]) {
				n.Met++
			}
		}
	}
	return n
}

// meets reports whether a hunk's old lines touch a region. A pure insertion stands for the line
// before it, and one at the top of the file for line 1.
func meets(h git.Hunk, regions [][2]int) bool {
	first := max(h.OldStart, 1)
	last := max(h.OldStart+h.OldLines-1, first)
	for _, r := range regions {
		if r[0] <= last && r[1] >= first {
			return true
		}
	}
	return false
}
