package eval

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/bench/cases"
)

const caseFile = `{"version": 2, "categories": {
 "symbol-lookup": {"cases": [
  {"query": "first", "expect_any": ["a.go"]},
  {"query": "fourth", "expect_any": ["a.go", "gone.go"]}]},
 "exact-file": {"cases": [
  {"query": "moved", "expect_any": ["old.go"]},
  {"query": "fails", "expect_any": ["a.go"]}]}}}`

func TestCases(t *testing.T) {
	f, err := cases.Parse("f", []byte(caseFile))
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string][]string{
		"first":  {"a.go", "b.go"},
		"fourth": {"b.go", "c.go", "d.go", "a.go"},
		"moved":  {"b.go", "new.go"},
	}
	ask := func(_ context.Context, q string) (Selection, error) {
		if q == "fails" {
			return Selection{}, errors.New("broken")
		}
		return Selection{Ranked: answers[q], Tokens: 10, Files: []SelectedFile{{Path: "a.go", Regions: [][2]int{{1, 2}}}, {Path: "b.go"}}}, nil
	}
	there := map[string]bool{"a.go": true, "b.go": true, "new.go": true}
	o := CaseOptions{
		Exists:  func(p string) bool { return there[p] },
		Renames: []bench.Rename{{From: "old.go", To: "new.go"}, {From: "a.go", To: "zzz.go"}},
	}
	var got [2]*bench.EvalResult
	for i, name := range []string{bench.EngineSearch, bench.EngineActivate} {
		if got[i], err = Cases(t.Context(), f, name, ask, o); err != nil {
			t.Fatal(err)
		}
	}
	search, activate := got[0], got[1]
	want := bench.Scores{{Name: "hit_at_1", Value: .25}, {Name: "hit_at_3", Value: .5}, {Name: "hit_at_5", Value: .75}, {Name: "mrr", Value: (1 + .25 + .5) / 4}}
	if d := cmp.Diff(want, search.Metrics); d != "" {
		t.Errorf("metrics (-want +got):\n%s", d)
	}
	if search.Cases != 4 || search.Failed != 1 || len(search.Categories) != 2 || search.Categories[0].Name != "symbol-lookup" {
		t.Errorf("%+v", search)
	}
	if d := cmp.Diff([]bench.Rename{{From: "old.go", To: "new.go"}}, search.Results[2].Renamed); d != "" {
		t.Errorf("renamed: %s", d)
	}
	if d := cmp.Diff([]string{"gone.go"}, search.Results[1].Absent); d != "" {
		t.Errorf("absent: %s", d)
	}
	if v, _ := activate.Metrics.Get("bundle_recall"); v != (1+.5)/4 {
		t.Errorf("bundle recall %v", v)
	}
	if v, _ := activate.Metrics.Get("bundle_files_mean"); v != 6.0/4 {
		t.Errorf("bundle files %v", v)
	}
	if v := bench.Compare(search.Baseline(), search.Baseline(), bench.GateOptions{}); v.State != bench.Pass {
		t.Errorf("%+v", v)
	}
}

// A change that renames an expected file does not make the measurement worse.
func TestRenameDoesNotBlock(t *testing.T) {
	f, err := cases.Parse("f", []byte(`{"version":2,"categories":{"c":{"cases":[{"query":"q","expect_any":["old.go"]}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	run := func(path string, renames []bench.Rename) *bench.Baseline {
		res, err := Cases(t.Context(), f, bench.EngineSearch, func(context.Context, string) (Selection, error) {
			return Selection{Ranked: []string{path}}, nil
		}, CaseOptions{Exists: func(p string) bool { return p == path }, Renames: renames})
		if err != nil {
			t.Fatal(err)
		}
		return res.Baseline()
	}
	base := run("old.go", nil)
	if v := bench.Compare(base, run("new.go", []bench.Rename{{From: "old.go", To: "new.go"}}), bench.GateOptions{}); v.ExitCode() != 0 {
		t.Errorf("renamed: %+v", v)
	}
	if v := bench.Compare(base, run("new.go", nil), bench.GateOptions{}); v.ExitCode() != 3 {
		t.Errorf("gone: %+v", v)
	}
}
