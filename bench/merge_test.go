package bench

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawFirst(t *rapid.T) *int {
	if rapid.Bool().Draw(t, "found") {
		n := rapid.IntRange(1, 40).Draw(t, "first")
		return &n
	}
	return nil
}

func drawPaths(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"a.go", "b/c.go", "d\xff", "<&>"}), rapid.String()), 0, 6).Draw(t, "paths")
}

func drawText(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "x", "é\xfe", "why \ufffd"}).Draw(t, "text")
}

// shards draws a run of n results as its parts, in any order, and as a whole. part returns the
// result of one shard; the zero shard is the whole run.
func checkMerge(t *rapid.T, part func(s Shard) ([]byte, error)) {
	want, err := part(Shard{})
	if err != nil {
		t.Fatal(err)
	}
	n := rapid.IntRange(1, 7).Draw(t, "shards")
	var parts []Part
	for i := range n {
		data, err := part(Shard{i + 1, n})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, Part{fmt.Sprint("part", i+1), data})
	}
	parts = rapid.Permutation(parts).Draw(t, "order")
	got, err := Merge(parts)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("merged:\n%s\nwhole:\n%s", got, want)
	}
	if _, err := Merge(append(parts, parts[0])); err == nil || !strings.Contains(err.Error(), "is there twice") {
		t.Fatalf("doubled part: %v", err)
	}
	if n > 1 {
		if _, err := Merge(parts[1:]); err == nil || !strings.Contains(err.Error(), "is missing") {
			t.Fatalf("missing part: %v", err)
		}
	}
}

func pickHeld[C any](s Shard, all []C) []C {
	out := []C{}
	for i, c := range all {
		if s.Holds(i) {
			out = append(out, c)
		}
	}
	return out
}

func TestMergeReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ReplayCase {
			h := rapid.IntRange(0, 9).Draw(t, "hunks")
			return ReplayCase{SHA: drawText(t), Title: drawText(t), Gold: drawPaths(t), Ranked: drawPaths(t), Bundle: drawPaths(t),
				PathOnly: drawPaths(t), First: drawFirst(t), Hunks: Hunks{Met: rapid.IntRange(0, h).Draw(t, "met"), Total: h, Fault: drawText(t)},
				Tokens: rapid.IntRange(0, 9000).Draw(t, "tokens"), Skipped: drawText(t), Error: drawText(t)}
		}), 0, 12).Draw(t, "results")
		checkMerge(t, func(s Shard) ([]byte, error) {
			r := &ReplayResult{Shard: s.Info(len(all)), Source: Source{Digest: "d"}, Results: pickHeld(s, all)}
			r.Summarize()
			return Encode(r)
		})
	})
}

func TestMergeEval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		engine := rapid.SampledFrom([]string{EngineSearch, EngineActivate}).Draw(t, "engine")
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) CaseResult {
			return CaseResult{Category: drawText(t), Query: drawText(t), ExpectAny: drawPaths(t), Returned: drawPaths(t),
				First: drawFirst(t), Bundle: drawPaths(t), Error: drawText(t), Absent: drawPaths(t)}
		}), 0, 12).Draw(t, "results")
		checkMerge(t, func(s Shard) ([]byte, error) {
			r := &EvalResult{Engine: engine, Shard: s.Info(len(all)), Source: Source{Digest: "d"}, Results: pickHeld(s, all)}
			r.Summarize()
			return Encode(r)
		})
	})
}

func TestMergeBench(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"ctxt", "find"}
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) QueryResult {
			q := QueryResult{Category: drawText(t), Query: drawText(t), ExpectAny: drawPaths(t), Engines: []EngineAnswer{}}
			for _, n := range names {
				got := drawPaths(t)
				q.Engines = append(q.Engines, EngineAnswer{Engine: n, Returned: got, First: drawFirst(t), Recall: rapid.Float64Range(0, 1).Draw(t, "recall"),
					Tokens: PathTokens(got), Samples: rapid.SliceOfN(rapid.Int64Range(0, 1e9), 1, 5).Draw(t, "samples"), Error: drawText(t)})
			}
			return q
		}), 0, 12).Draw(t, "results")
		checkMerge(t, func(s Shard) ([]byte, error) {
			r := &BenchResult{Shard: s.Info(len(all)), Settings: BenchSettings{Engines: names}, Methodology: []string{"m"}, Results: pickHeld(s, all)}
			r.Summarize()
			return Encode(r)
		})
	})
}

func TestMergeRefuses(t *testing.T) {
	part := func(digest string, s Shard, n int) Part {
		r := &ReplayResult{Shard: s.Info(n), Source: Source{Digest: digest}, Results: pickHeld(s, make([]ReplayCase, n))}
		r.Summarize()
		b, err := Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		return Part{fmt.Sprintf("%s-%d-%d", digest, s.Index, s.Of), b}
	}
	eval := Part{"eval", []byte(`{"version":2,"kind":"eval","shard":{"index":1,"of":2,"total":0},"results":[]}`)}
	for _, tt := range []struct {
		name  string
		parts []Part
		want  string
	}{
		{"none", nil, "nothing to merge"},
		{"not JSON", []Part{{"x", []byte("{")}}, "x is not a result of eval or bench"},
		{"version", []Part{{"x", []byte(`{"version":1}`)}}, "x: version 1"},
		{"kind", []Part{{"x", []byte(`{"version":2,"kind":"y"}`)}}, `kind "y"`},
		{"kinds", []Part{part("a", Shard{1, 2}, 2), eval}, "eval of kind eval"},
		{"whole", []Part{part("a", Shard{}, 2)}, "it has no shard"},
		{"other cases", []Part{part("a", Shard{1, 2}, 2), part("b", Shard{2, 2}, 2)}, "not parts of one run"},
		{"other split", []Part{part("a", Shard{1, 2}, 4), part("a", Shard{2, 3}, 4)}, "not parts of one run"},
		{"other total", []Part{part("a", Shard{1, 2}, 4), part("a", Shard{2, 2}, 5)}, "not parts of one run"},
		{"short", []Part{{"x", []byte(`{"version":2,"kind":"eval","shard":{"index":1,"of":2,"total":2},"results":[]}`)}}, "must hold 1 results, it holds 0"},
		{"impossible", []Part{{"x", []byte(`{"version":2,"kind":"eval","shard":{"index":3,"of":2,"total":2},"results":[]}`)}}, "shard 3/2 of 2 cases is not possible"},
		{"huge", []Part{{"x", []byte(`{"version":2,"kind":"eval","shard":{"index":1,"of":1000,"total":2000000000},"results":[]}`)}}, "is not possible"},
		{"unknown member", []Part{{"x", []byte(`{"version":2,"kind":"eval","more":1}`)}}, `unknown field "more"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Merge(tt.parts)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestParseShard(t *testing.T) {
	if s, err := ParseShard("2/3"); err != nil || s != (Shard{2, 3}) {
		t.Errorf("2/3: %v, %v", s, err)
	}
	for _, bad := range []string{"", "1", "0/2", "3/2", "-1/2", "1/0", "a/b", "1/2/3", "1/1001"} {
		if _, err := ParseShard(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"version":2,"kind":"eval","engine":"search","shard":{"index":1,"of":1,"total":1},"results":[{"first":0}]}`))
	f.Add([]byte(`{"version":2,"kind":"replay","shard":{"index":1,"of":1,"total":1},"results":[null]}`))
	f.Add([]byte(`{"version":2,"kind":"bench","shard":{"index":1,"of":1,"total":0}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if out, err := Merge([]Part{{"p", b}}); err == nil && len(out) == 0 {
			t.Error("nothing merged and no error")
		}
	})
}
