package bench

import (
	"math"
	"strings"
	"testing"
)

func measured(hit1, hit5 float64) *Baseline {
	return &Baseline{Version: 1, Kind: "eval", Engine: EngineSearch, Cases: 4, Digest: "d",
		Metrics: Scores{{"hit_at_1", hit1}, {"hit_at_5", hit5}}}
}

func TestCompare(t *testing.T) {
	one, two := 1, 2
	ranked := func(b *Baseline, first *int) *Baseline {
		b.Ranks = []CaseRank{{"a", first}}
		return b
	}
	with := func(b *Baseline, change func(*Baseline)) *Baseline {
		change(b)
		return b
	}
	for _, tt := range []struct {
		name    string
		base    *Baseline
		current *Baseline
		o       GateOptions
		state   State
		code    int // in mode block
		reason  string
	}{
		{"same", measured(.5, .5), measured(.5, .5), GateOptions{}, Pass, 0, "no metric is worse"},
		{"no baseline", nil, measured(.5, .5), GateOptions{}, Pass, 0, "no bar is missed"},
		{"better", measured(.5, .5), measured(.6, .5), GateOptions{}, Pass, 0, ""},
		{"worse", measured(.5, .5), measured(.5, .4), GateOptions{}, Worse, 3, "hit_at_5 fell from 0.500 to 0.400"},
		{"at the tolerance", measured(.5, .5), measured(.5, .4), GateOptions{Tolerance: .1}, Pass, 0, ""},
		{"beyond the tolerance", measured(.5, .5), measured(.5, .39), GateOptions{Tolerance: .1}, Worse, 3, ""},
		{"bar met", nil, measured(.5, .5), GateOptions{Min: Scores{{"hit_at_1", .5}}}, Pass, 0, ""},
		{"bar missed", nil, measured(.5, .5), GateOptions{Min: Scores{{"hit_at_1", .51}}}, Missed, 1, "hit_at_1 is 0.500, below the bar of 0.510"},
		{"bar before baseline", measured(.9, .9), measured(.5, .5), GateOptions{Min: Scores{{"hit_at_5", .51}}}, Missed, 1, ""},
		{"no measurement", measured(.5, .5), nil, GateOptions{}, Failed, 2, "nothing was measured"},
		{"zero cases", measured(.5, .5), with(measured(.5, .5), func(b *Baseline) { b.Cases = 0 }), GateOptions{}, Failed, 2, "no case was measured"},
		{"zero cases before", with(measured(.5, .5), func(b *Baseline) { b.Cases = 0 }), measured(.5, .5), GateOptions{}, Failed, 2, "the baseline"},
		{"NaN", measured(.5, .5), measured(math.NaN(), .5), GateOptions{}, Failed, 2, "NaN is not in [0,1]"},
		{"NaN before", measured(math.NaN(), .5), measured(.5, .5), GateOptions{}, Failed, 2, "the baseline"},
		{"infinite", measured(.5, .5), measured(math.Inf(1), .5), GateOptions{}, Failed, 2, "not in [0,1]"},
		{"empty before", with(measured(.5, .5), func(b *Baseline) { b.Metrics = nil }), measured(.5, .5), GateOptions{}, Failed, 2, "holds no metric"},
		{"metric gone", with(measured(.5, .5), func(b *Baseline) { b.Metrics = append(b.Metrics, Score{"mrr", .1}) }), measured(.5, .5), GateOptions{}, Failed, 2, "the baseline has mrr"},
		{"other engine", with(measured(.5, .5), func(b *Baseline) { b.Engine = EngineActivate }), measured(.5, .5), GateOptions{}, Failed, 2, "with engine activate"},
		{"NaN tolerance", measured(.5, .5), measured(.5, .5), GateOptions{Tolerance: math.NaN()}, Failed, 2, "tolerance NaN"},
		{"negative tolerance", measured(.5, .5), measured(.5, .5), GateOptions{Tolerance: -1}, Failed, 2, "tolerance -1"},
		{"NaN bar", nil, measured(.5, .5), GateOptions{Min: Scores{{"hit_at_1", math.NaN()}}}, Failed, 2, "bar NaN"},
		{"bar of another metric", nil, measured(.5, .5), GateOptions{Min: Scores{{"recall_at_10", .1}}}, Failed, 2, "does not measure"},
		{"fell and kept", ranked(measured(.5, .5), &one), ranked(measured(.5, .5), &two), GateOptions{}, Pass, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := Compare(tt.base, tt.current, tt.o)
			if v.State != tt.state || v.ExitCode() != tt.code || !strings.Contains(v.Reason, tt.reason) {
				t.Errorf("%s, exit %d, %q; want %s, %d, %q", v.State, v.ExitCode(), v.Reason, tt.state, tt.code, tt.reason)
			}
			for _, m := range []Mode{Observe, Warn} {
				o := tt.o
				o.Mode = m
				want := 0
				if tt.code == 2 {
					want = 2
				}
				if got := Compare(tt.base, tt.current, o); got.ExitCode() != want || got.State != tt.state {
					t.Errorf("mode %s: %s, exit %d; want %s, %d", m, got.State, got.ExitCode(), tt.state, want)
				}
			}
		})
	}
}

func TestCompareNames(t *testing.T) {
	one, two, three := 1, 2, 3
	base, now := measured(.5, .5), measured(.5, .5)
	base.Ranks = []CaseRank{{"a", &one}, {"b", nil}, {"c", &two}, {"gone", &one}}
	now.Ranks = []CaseRank{{"a", nil}, {"b", &one}, {"c", &three}, {"new", nil}}
	now.Digest = "e"
	v := Compare(base, now, GateOptions{})
	if len(v.Fell) != 2 || v.Fell[0].Case != "a" || v.Fell[0].To != nil || v.Fell[1].Case != "c" || *v.Fell[1].To != 3 {
		t.Errorf("fell: %+v", v.Fell)
	}
	if len(v.Notes) != 1 || !strings.Contains(v.Notes[0], "not those of the baseline") {
		t.Errorf("notes: %q", v.Notes)
	}
	if v := Compare(nil, now, GateOptions{Mode: "later"}); v.ExitCode() != 2 {
		t.Errorf("unknown mode: exit %d", v.ExitCode())
	}
}

func TestParseBaseline(t *testing.T) {
	good := `{"version":1,"kind":"eval","engine":"search","cases":2,"metrics":{"mrr":0.5}}`
	b, err := ParseBaseline("f", []byte(good))
	if err != nil || b.Cases != 2 {
		t.Fatalf("%+v, %v", b, err)
	}
	for _, tt := range []struct{ in, want string }{
		{"", "the file is empty"},
		{" \n", "the file is empty"},
		{"{\n", "line 2: unexpected EOF"},
		{"{\n\x00}", "invalid character"},
		{good + "x", "text after the end"},
		{strings.Replace(good, `"version":1`, `"version":2`, 1), "version 2, this program reads version 1"},
		{strings.Replace(good, `eval`, `evil`, 1), `field "kind"`},
		{strings.Replace(good, `search`, `x`, 1), `field "engine"`},
		{strings.Replace(good, `:2,`, `:0,`, 1), "no case was measured"},
		{strings.Replace(good, `"mrr":0.5`, ``, 1), "holds no metric"},
		{strings.Replace(good, `0.5`, `NaN`, 1), "invalid character"},
		{strings.Replace(good, `0.5`, `null`, 1), "want a number, got null"},
		{strings.Replace(good, `0.5`, `1.5`, 1), "1.5 is not in [0,1]"},
		{strings.Replace(good, `0.5`, `1e999`, 1), "mrr"},
		{strings.Replace(good, `mrr`, `bundle_tokens_mean`, 1), "is not a quality metric"},
		{strings.Replace(good, `mrr`, `median_ms`, 1), "is not a quality metric"}, // times never gate
		{strings.Replace(good, `"cases":2`, `"cases":2,"case":1`, 1), `unknown field "case"`},
		{strings.Replace(good, `"mrr":0.5`, `"mrr":0.5,"mrr":0.1`, 1), "appears twice"},
	} {
		_, err := ParseBaseline("f", []byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "baseline f: ") {
			t.Errorf("%q: error %v, want %q in it", tt.in, err, tt.want)
		}
	}
}

func TestBaselineRoundTrip(t *testing.T) {
	one := 1
	r := &EvalResult{Engine: EngineActivate, Source: Source{Digest: "d"}, Results: []CaseResult{
		{Category: "c", Query: "q", ExpectAny: []string{"a"}, Returned: []string{"a"}, First: &one},
		{Category: "c", Query: "r", ExpectAny: []string{"a"}, Returned: []string{}},
	}}
	r.Summarize()
	b := r.Baseline()
	data, err := Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseBaseline("f", data)
	if err != nil {
		t.Fatal(err)
	}
	if v := Compare(back, b, GateOptions{}); v.State != Pass {
		t.Errorf("%+v", v)
	}
}

func FuzzParseBaseline(f *testing.F) {
	f.Add([]byte(`{"version":1,"kind":"eval","engine":"search","cases":2,"metrics":{"mrr":0.5}}`))
	f.Add([]byte(`{"version":1,"metrics":[`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := ParseBaseline("f", b); err == nil && Compare(got, got, GateOptions{}).State != Pass {
			t.Error("a readable baseline is not equal to itself")
		}
	})
}
