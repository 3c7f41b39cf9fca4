package job

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/report"
)

// casesFor is a case file with one case, whose answer is a path.
func casesFor(path string) string {
	return fmt.Sprintf(`{"version": 2, "categories": {"direct": {"cases": [{"query": "retry attempts", "expect_any": [%q]}]}}}`, path)
}

// gate is the state of the named gate, its mode and detail; empty when the report has none.
func gate(r *report.Report, name string) (state, mode, detail string) {
	for _, g := range r.Gates {
		if g.Name == name {
			return g.State, g.Mode, g.Detail
		}
	}
	return "", "", ""
}

func TestGatesOfTheBase(t *testing.T) {
	const strict = "[gates.intent]\nmode = \"block\"\nmin_score = 0.99\n"
	const evalBlock = "[gates.eval]\nmode = \"block\"\n"
	for _, c := range []struct {
		name   string
		base   map[string]string // files added to the base
		change map[string]string // beside the source change
		gate   string
		state  string // "" for no line
		detail string
		code   int
		level  string // of the verdict with mode block
	}{
		{name: "none configured", gate: "intent"},
		{name: "none configured: companions", gate: "companions"},
		{name: "none configured: control plane", gate: "control-plane", change: map[string]string{".github/workflows/ci.yml": "x: 1\n"}},
		{name: "none configured: eval", gate: "eval"},
		{name: "intent blocks", base: map[string]string{".ctxt/ctx_config.toml": strict}, gate: "intent", state: "fail", code: 1, level: "blocked"},
		{name: "a change loosens its gate", base: map[string]string{".ctxt/ctx_config.toml": strict},
			change: map[string]string{".ctxt/ctx_config.toml": "[gates.intent]\nmode = \"\"\n"}, gate: "intent", state: "fail", code: 1, level: "blocked"},
		{name: "a change adds a gate", change: map[string]string{".ctxt/ctx_config.toml": strict}, gate: "intent"},
		{name: "the control plane", base: map[string]string{".ctxt/ctx_config.toml": "[gates.control_plane]\nmode = \"block\"\n"},
			change: map[string]string{".ctxt/ctx_config.toml": "[gates.control_plane]\nmode = \"\"\n"}, gate: "control-plane", state: "fail", code: 1, level: "blocked"},
		{name: "the starter's defaults without cases", base: map[string]string{".ctxt/ctx_config.toml": "[gates.eval]\nmode = \"warn\"\ncases = \".ctxt/cases.json\"\n"}, gate: "eval"},
		{name: "a blocking gate without cases", base: map[string]string{".ctxt/ctx_config.toml": evalBlock}, gate: "eval", state: "error", detail: "cases .ctxt/cases.json are not in the base commit", code: 2, level: "blocked"},
		{name: "bars without cases", base: map[string]string{".ctxt/ctx_config.toml": "[gates.eval.min]\nhit_at_5 = 0.5\n"}, gate: "eval", state: "error", code: 2, level: "blocked"},
		{name: "another case file that is not there", base: map[string]string{".ctxt/ctx_config.toml": "[gates.eval]\ncases = \"x.json\"\n"}, gate: "eval", state: "error", detail: "cases x.json", code: 2, level: "blocked"},
		{name: "a baseline without cases", base: map[string]string{".ctxt/baseline.json": baselineOf("eval", "search", 1)}, gate: "eval", state: "error", code: 2, level: "blocked"},
		{name: "cases are measured unasked", base: map[string]string{".ctxt/cases.json": casesFor("retry/retry.go")}, gate: "eval", state: "pass"},
		{name: "unreadable cases", base: map[string]string{".ctxt/cases.json": "{"}, gate: "eval", state: "error", detail: ".ctxt/cases.json", code: 2, level: "blocked"},
		{name: "a change removes the cases", base: map[string]string{".ctxt/cases.json": casesFor("retry/retry.go")},
			change: map[string]string{".ctxt/cases.json": ""}, gate: "eval", state: "pass"},
		{name: "a missed bar", base: map[string]string{".ctxt/cases.json": casesFor("docs/none.md"), ".ctxt/ctx_config.toml": evalBlock + "[gates.eval.min]\nhit_at_5 = 0.5\n"},
			gate: "eval", state: "fail", detail: "at least 0.500 wanted", code: 1, level: "blocked"},
		{name: "a bar of the selection", base: map[string]string{".ctxt/cases.json": casesFor("retry/retry.go"), ".ctxt/ctx_config.toml": "[gates.eval.min]\nbundle_recall = 0.5\n"}, gate: "eval", state: "pass"},
		{name: "a bar that nothing measures", base: map[string]string{".ctxt/cases.json": casesFor("retry/retry.go"), ".ctxt/ctx_config.toml": "[gates.eval.min]\nspeed = 0.5\n"},
			gate: "eval", state: "error", detail: "speed was not measured", code: 2, level: "blocked"},
		{name: "the answer is deleted", base: map[string]string{".ctxt/cases.json": casesFor("docs/retry-attempts.md"), "docs/retry-attempts.md": "retry attempts\n", ".ctxt/ctx_config.toml": evalBlock},
			change: map[string]string{"docs/retry-attempts.md": ""}, gate: "eval", state: "worse", code: 3, level: "blocked"},
		{name: "the answer is renamed", base: map[string]string{".ctxt/cases.json": casesFor("docs/retry-attempts.md"), "docs/retry-attempts.md": "retry attempts\n", ".ctxt/ctx_config.toml": evalBlock},
			change: map[string]string{"docs/retry-attempts.md": "", "notes/retry-attempts.md": "retry attempts\n"}, gate: "eval", state: "pass"},
		{name: "worse than the accepted measurement", base: map[string]string{".ctxt/cases.json": casesFor("docs/none.md"), ".ctxt/baseline.json": baselineOf("eval", "search", 1), ".ctxt/ctx_config.toml": evalBlock},
			gate: "eval", state: "worse", code: 3, level: "blocked"},
		{name: "a change lowers the baseline", base: map[string]string{".ctxt/cases.json": casesFor("docs/none.md"), ".ctxt/baseline.json": baselineOf("eval", "search", 1), ".ctxt/ctx_config.toml": evalBlock},
			change: map[string]string{".ctxt/baseline.json": baselineOf("eval", "search", 0)}, gate: "eval", state: "worse", code: 3, level: "blocked"},
		{name: "a baseline of another measurement", base: map[string]string{".ctxt/cases.json": casesFor("retry/retry.go"), ".ctxt/baseline.json": baselineOf("replay", "activate", 1)},
			gate: "eval", state: "error", detail: "is of replay", code: 2, level: "blocked"},
		{name: "an unreadable baseline", base: map[string]string{".ctxt/cases.json": casesFor("retry/retry.go"), ".ctxt/baseline.json": "[]"}, gate: "eval", state: "error", code: 2, level: "blocked"},
		{name: "malformed configuration", base: map[string]string{".ctxt/ctx_config.toml": "[gates\n"}, gate: "configuration", state: "error", detail: ".ctxt/ctx_config.toml", code: 2, level: "blocked"},
		{name: "a mode that does not exist", base: map[string]string{".ctxt/ctx_config.toml": "[gates.intent]\nmode = \"blokc\"\n"}, gate: "configuration", state: "error", code: 2, level: "blocked"},
		{name: "the bench gate", base: map[string]string{".ctxt/cases.json": casesFor("retry/retry.go"), ".ctxt/ctx_config.toml": "[gates.bench]\nmode = \"block\"\n[gates.bench.min]\nhit_at_5 = 1.0\n"}, gate: "bench", state: "pass"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			r.Write("retry/retry.go", retrySource(0))
			r.Write("docs/guide.md", "# Uploads\n")
			for p, text := range c.base {
				r.Write(p, text)
			}
			r.Commit("first version")
			files := map[string]string{"retry/retry.go": retrySource(1)}
			for p, text := range c.change {
				files[p] = text
			}
			change(r, "fix(retry): wait between the attempts", files)
			for _, mode := range []string{"observe", "block"} {
				got := runPR(t, PROptions{Dir: r.Dir, Base: "main", Head: "topic", Mode: mode})
				state, _, detail := gate(got, c.gate)
				if c.gate == "eval" || c.gate == "bench" {
					state, detail = worst(got, c.gate)
				}
				if state != c.state || !strings.Contains(detail, c.detail) || strings.Contains(detail, "\n") {
					t.Errorf("mode %s: gate %s is %q (%s), want %q with %q; all: %+v", mode, c.gate, state, detail, c.state, c.detail, got.Gates)
				}
				if code := report.ExitCode(got); code != c.code {
					t.Errorf("mode %s: code %d, want %d", mode, code, c.code)
				}
				if blocked := got.Verdict.Level == "blocked"; blocked != (c.level == "blocked" && (mode == "block" || c.code == 2)) {
					t.Errorf("mode %s: verdict %+v", mode, got.Verdict)
				}
				if (c.code != 0) != (report.Culprit(got) != "") {
					t.Errorf("mode %s: code %d and culprit %q", mode, c.code, report.Culprit(got))
				}
			}
		})
	}
}

// worst is the worst state of a gate with many metrics.
func worst(r *report.Report, name string) (state, detail string) {
	order := []string{"", "pass", "worse", "fail", "error"}
	at := 0
	for _, g := range r.Gates {
		for k, s := range order {
			if g.Name == name && g.State == s && k > at {
				at, state, detail = k, s, g.Detail
			}
		}
	}
	return state, detail
}

func baselineOf(kind, engine string, hit float64) string {
	return fmt.Sprintf(`{"version": 1, "kind": %q, "engine": %q, "cases": 1, "metrics": {"hit_at_5": %v}}`, kind, engine, hit)
}

// TestGatesByFlags holds that files that the run names are read from the base, too, and must be there.
func TestGatesByFlags(t *testing.T) {
	r := upload(t)
	r.Write("ci/gates.toml", "[gates.intent]\nmode = \"block\"\nmin_score = 0.99\n")
	r.Write("ci/cases.json", casesFor("retry/retry.go"))
	r.Commit("gates elsewhere")
	change(r, "fix(retry): wait", map[string]string{"retry/retry.go": retrySource(9), "ci/gates.toml": "", "ci/cases.json": ""})
	o := PROptions{Dir: r.Dir, Base: "main", Head: "topic", ConfigFile: "ci/gates.toml", CasesFile: "ci/cases.json"}
	got := runPR(t, o)
	if state, _, _ := gate(got, "intent"); state != "fail" {
		t.Errorf("intent %q of %+v", state, got.Gates)
	}
	if state, _ := worst(got, "eval"); state != "pass" {
		t.Errorf("eval %q of %+v", state, got.Gates)
	}
	if !strings.Contains(got.Reproduce, "--config ci/gates.toml --cases ci/cases.json") {
		t.Errorf("reproduce %q", got.Reproduce)
	}
	for name, set := range map[string]func(*PROptions){
		"configuration": func(o *PROptions) { o.ConfigFile = "ci/none.toml" },
		"cases":         func(o *PROptions) { o.CasesFile = "ci/none.json" },
		"baseline":      func(o *PROptions) { o.BaselineFile = "ci/none.json" },
		"odd path":      func(o *PROptions) { o.CasesFile = "../none.json" },
	} {
		p := o
		set(&p)
		if got := runPR(t, p); report.ExitCode(got) != 2 {
			t.Errorf("%s that is not in the base: code %d, gates %+v", name, report.ExitCode(got), got.Gates)
		}
	}
}
