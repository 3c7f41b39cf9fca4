package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/bench/cases"
	"github.com/ctxt-dev/ctxt/index/git"
)

// fakeRepo knows commits by name and one diff for each; anything else is absent.
type fakeRepo struct {
	commits map[string]git.Hash
	diffs   map[git.Hash][]git.FileDiff
}

func (f fakeRepo) Resolve(_ context.Context, rev string) (git.Hash, error) {
	if h, ok := f.commits[rev]; ok {
		return h, nil
	}
	return git.Hash{}, fmt.Errorf("%w: %s is not in this repository", git.ErrUnknown, rev)
}

func (f fakeRepo) Diff(_ context.Context, _, new git.Hash) ([]git.FileDiff, error) {
	if d, ok := f.diffs[new]; ok {
		return d, nil
	}
	return nil, errors.New("no such commit")
}

const (
	base = "1111111111111111111111111111111111111111"
	sha  = "2222222222222222222222222222222222222222"
)

func hash(t testing.TB, s string) git.Hash {
	t.Helper()
	h, err := git.ParseHash(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestReplayMeasures(t *testing.T) {
	repo := fakeRepo{
		commits: map[string]git.Hash{base: hash(t, base)},
		diffs: map[git.Hash][]git.FileDiff{hash(t, sha): {
			{Path: "a.go", Status: git.Modified, Hunks: []git.Hunk{
				{OldStart: 0, OldLines: 0, NewStart: 1, NewLines: 2},   // meets line 1
				{OldStart: 30, OldLines: 3, NewStart: 32, NewLines: 3}, // meets 32
				{OldStart: 50, OldLines: 0, NewStart: 52, NewLines: 1}, // line 50: no region
			}},
			{Path: "c.go", OldPath: "b.go", Status: git.Renamed, Hunks: []git.Hunk{{OldStart: 9, OldLines: 1}}},
			{Path: "new.go", Status: git.Added, Hunks: []git.Hunk{{NewStart: 1, NewLines: 9}}},
		}},
	}
	sel := func(_ context.Context, _ git.Hash, title, _ string) (Selection, error) {
		if title == "broken" {
			return Selection{}, errors.New("no index")
		}
		return Selection{
			Ranked: []string{"x.go", "a.go", "y.go", "b.go"},
			Files: []SelectedFile{
				{Path: "a.go", Regions: [][2]int{{1, 10}, {32, 49}}},
				{Path: "b.go"},
			},
			Tokens: 100,
		}, nil
	}
	cs := []cases.Replay{
		{SHA: sha, Base: base, Title: "one", Gold: []string{"a.go", "b.go"}},
		{SHA: sha, Base: "absent", Title: "two", Gold: []string{"a.go"}},
		{SHA: "not-a-hash", Base: base, Title: "three", Gold: []string{"z.go"}},
		{SHA: sha, Base: base, Title: "broken", Gold: []string{"a.go"}},
	}
	res, err := Replay(t.Context(), repo, cs, sel, Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := Bases(t.Context(), repo, cs); len(got) != 1 || got[0] != hash(t, base) {
		t.Errorf("bases %v", got)
	}
	third := 1.0 / 3
	want := bench.Metrics{Hit5: third, Hit10: third, MRR: 0.5 / 3, Recall10: third, Recall25: third, All10: third,
		BundleRec: 0.5 / 3, HunkRec: (2.0 / 4) / 2, TokensMean: 200.0 / 3, BundleFiles: 4.0 / 3}
	if d := cmp.Diff(want, res.Metrics); d != "" {
		t.Errorf("metrics (-want +got):\n%s", d)
	}
	if res.Cases != 3 || res.Skipped != 1 || res.Failed != 1 {
		t.Errorf("cases %d, skipped %d, failed %d; want 3, 1, 1", res.Cases, res.Skipped, res.Failed)
	}
	one := res.Results[0]
	if one.First == nil || *one.First != 2 || one.Hunks != (bench.Hunks{Met: 2, Total: 4}) {
		t.Errorf("first case: first %v, hunks %+v; want 2, {2 4}", one.First, one.Hunks)
	}
	if d := cmp.Diff([]string{"b.go"}, one.PathOnly); d != "" {
		t.Errorf("path only: %s", d)
	}
	if got := res.Results[1].Skipped; !strings.Contains(got, "base commit: unknown revision: absent is not in this repository") {
		t.Errorf("skip reason %q", got)
	}
	if res.Results[3].Error != "no index" {
		t.Errorf("error %q", res.Results[3].Error)
	}
}

func TestReplayDoesNotDependOnJobs(t *testing.T) {
	repo := fakeRepo{commits: map[string]git.Hash{base: hash(t, base)}}
	var cs []cases.Replay
	for i := range 37 {
		cs = append(cs, cases.Replay{SHA: fmt.Sprint(i), Base: base, Title: fmt.Sprint(i), Gold: []string{"f5", "f7"}})
	}
	sel := func(_ context.Context, _ git.Hash, title, _ string) (Selection, error) {
		var n int
		fmt.Sscan(title, &n)
		var s Selection
		for k := range 30 {
			s.Ranked = append(s.Ranked, fmt.Sprint("f", (k+n)%30))
		}
		s.Tokens = n
		return s, nil
	}
	var first string
	for _, jobs := range []int{1, 3, 64} {
		last := 0
		res, err := Replay(t.Context(), repo, cs, sel, Options{Jobs: jobs, Progress: func(done, total int) {
			if done != last+1 || total != len(cs) {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			last = done
		}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(b)
		}
		if string(b) != first {
			t.Errorf("jobs %d gives another result", jobs)
		}
	}
}

func TestReplayCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	repo := fakeRepo{commits: map[string]git.Hash{base: hash(t, base)}}
	sel := func(context.Context, git.Hash, string, string) (Selection, error) {
		cancel()
		return Selection{}, ctx.Err()
	}
	cs := make([]cases.Replay, 10)
	for i := range cs {
		cs[i] = cases.Replay{Base: base, Title: "t", Gold: []string{"a"}}
	}
	if _, err := Replay(ctx, repo, cs, sel, Options{Jobs: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want cancelled", err)
	}
}
