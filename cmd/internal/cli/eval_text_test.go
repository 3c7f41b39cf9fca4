package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/bench"
)

// What a CI runner takes for a command: "::name" at the start of a line, "##[name]" anywhere.
var runnerCommand = regexp.MustCompile(`(?m)^[ \t]*::|##\[`)

func TestMeasurementsAreNoCommands(t *testing.T) {
	bad := []string{"::add-mask::a", "  ::stop-commands::x", "x ##[error]y", "a\r::error::b", "a\n::error::b", "###[group]", "\u2028::error::c"}
	res := &bench.EvalResult{Engine: bench.EngineSearch}
	rep := &bench.ReplayResult{Source: bench.Source{Mining: &bench.Mining{Tip: "::x"}}}
	ben := &bench.BenchResult{Settings: bench.BenchSettings{Engines: bad}}
	for _, s := range bad {
		res.Results = append(res.Results, bench.CaseResult{Category: s, Query: s, ExpectAny: []string{s}, Returned: []string{s},
			Renamed: []bench.Rename{{From: s, To: s}}, Absent: []string{s}, Error: s})
		rep.Results = append(rep.Results, bench.ReplayCase{SHA: s, Title: s, Gold: []string{s}, Ranked: []string{s}, Error: s},
			bench.ReplayCase{SHA: s, Title: s, Skipped: s})
		ben.Results = append(ben.Results, bench.QueryResult{Category: s, Query: s, Engines: []bench.EngineAnswer{{Engine: s, Error: s}}})
	}
	res.Summarize()
	rep.Summarize()
	ben.Summarize()
	table := &bench.ReplayTable{}
	table.Add(bad[2], rep, true)
	res.Gate = &bench.Verdict{Reason: bad[2], Notes: bad, Fell: []bench.CaseMove{{Case: bad[2]}}}
	for name, text := range map[string]string{"eval": evalText(res, 100), "replay": replayText(rep, 100), "bench": benchText(ben, true), "table": replayTableText(table)} {
		if m := runnerCommand.FindString(noCommands(text)); m != "" {
			t.Errorf("%s: %q in\n%s", name, m, noCommands(text))
		}
		if strings.ContainsAny(text, "\r\u2028\x1b") {
			t.Errorf("%s holds control characters", name)
		}
	}
	for name, encode := range map[string]func() ([]byte, error){
		"eval":   func() ([]byte, error) { return bench.Encode(res) },
		"replay": func() ([]byte, error) { return bench.Encode(rep) },
		"bench":  func() ([]byte, error) { return bench.Encode(ben) },
		"table":  func() ([]byte, error) { return bench.Encode(table) },
	} {
		b, err := encode()
		if err != nil {
			t.Fatal(err)
		}
		if m := runnerCommand.Find(b); m != nil {
			t.Errorf("%s: %q in the JSON form", name, m)
		}
	}
}
