package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pelletier/go-toml/v2"
)

var plain = cmpopts.IgnoreUnexported(Config{})

func TestStarterIsTheDefault(t *testing.T) {
	c, warnings, err := Parse([]byte(Starter), nil)
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	if d := cmp.Diff(Default(), c, plain); d != "" {
		t.Error(d)
	}
	if c.NoLLM() {
		t.Error("the starter file turns the language model off")
	}
}

// TestStarterBesideCodeledger checks that a first run leaves the other file's settings in force.
func TestStarterBesideCodeledger(t *testing.T) {
	root := t.TempDir()
	if StarterFor(root) != Starter {
		t.Error("another file without .codeledger")
	}
	ledger := `{"selector":{"default_budget":{"tokens":12000},"shadow":{"max_shadow_adds":1},"weights":{"churn":2}}}`
	os.Mkdir(filepath.Join(root, ".codeledger"), 0o755)
	os.WriteFile(filepath.Join(root, ".codeledger", "config.json"), []byte(ledger), 0o644)
	c, warnings, err := Parse([]byte(StarterFor(root)), []byte(ledger))
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	want := Default()
	want.Selector.DefaultBudget.Tokens, want.Selector.Shadow.MaxShadowAdds = 12000, 1
	want.Selector.Weights["churn"] = 2
	if d := cmp.Diff(want, c, plain); d != "" {
		t.Error(d)
	}
}

// TestStarterNamesEveryKey checks that a key added to Config is in the starter file too.
func TestStarterNamesEveryKey(t *testing.T) {
	all, err := toml.Marshal(Default())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(all)) {
		key, _, ok := strings.Cut(line, " = ")
		if ok && !strings.Contains(Starter, key+" = ") && key != "api_key" && key != "tests" {
			t.Errorf("key %q is not in the starter file", key)
		}
	}
}

func TestOrder(t *testing.T) {
	ledger := `{"version":1,"selector":{"default_budget":{"tokens":12000,"max_files":30},
		"excerpt_full_file_max_lines":150,"sufficiency_threshold":0.6,
		"weights":{"keyword":2,"content_match":1,"centrality":0.5,"churn":0.2,"recent_touch":0.1,"test_relevant":0.3,"temporal_affinity":0.4},
		"shadow":{"enabled":false,"min_affinity":0.5,"min_co_commit_count":4,"max_shadow_adds":2,"tau_days":30,"commit_size_penalty":1}}}`
	c, warnings, err := Parse([]byte("[selector.default_budget]\ntokens = 9000\n"), []byte(ledger))
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	want := Default().Selector
	want.DefaultBudget = Budget{Tokens: 9000, MaxFiles: 30}
	want.ExcerptFullFileMaxLines, want.SufficiencyThreshold = 150, 0.6
	want.Weights = map[string]float64{"keyword": 3, "centrality": 0.5, "churn": 0.2, "recent_touch": 0.1,
		"test_proximity": 0.3, "shadow_affinity": 0.4}
	want.Shadow = Shadow{Enabled: false, MinAffinity: 0.5, MinCoCommitCount: 4, MaxShadowAdds: 2, TauDays: 30, CommitSizePenalty: 1}
	if d := cmp.Diff(want, c.Selector); d != "" {
		t.Error(d)
	}
	if !c.IsSet("selector.shadow.enabled") || c.IsSet("common.batch_size") {
		t.Error("IsSet does not tell what was given")
	}
}

func TestValues(t *testing.T) {
	c, _, err := Parse([]byte(`
[common]
llm_model = "other/model"
batch_size = 0
max_files = 0
[watch]
debounce = "2s"
[llm]
api_key_env = "MY_KEY"
[[gates.tests]]
mode = "block"
paths = ["src/**"]
[gates.eval.min]
hit_at_5 = 0.9
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.LLM.Model != "other/model" || c.Common.BatchSize != 0 || c.Common.MaxFiles != 0 || c.Watch.Debounce.Duration != 2*time.Second {
		t.Errorf("%+v", c)
	}
	if len(c.Gates.Tests) != 1 || c.Gates.Tests[0].Mode != Block || c.Gates.Eval.Min["hit_at_5"] != 0.9 || c.Gates.Eval.Mode != Warn {
		t.Errorf("%+v", c.Gates)
	}
}

func TestNoLLM(t *testing.T) {
	for text, want := range map[string]bool{
		"[common]\nverbose = false\n": true,
		"[llm]\n":                     false,
		"[llm]\napi_key = \"\"\n":     true,
		"[llm]\napi_key = \"k\"\n":    false,
	} {
		c, _, err := Parse([]byte(text), nil)
		if err != nil || c.NoLLM() != want {
			t.Errorf("%q: no LLM %v, want %v (%v)", text, c.NoLLM(), want, err)
		}
	}
	if c, _, _ := Parse(nil, nil); c.NoLLM() {
		t.Error("no file turns the language model off")
	}
}

func TestWarnings(t *testing.T) {
	_, warnings, err := Parse(
		[]byte("[common]\nbatch_sise = 3\n\n[selector.weights]\nkeywords = 1\nchurn = 1\n[unknown]\nx = 1\n"),
		[]byte(`{"other":{"x":1},"selector":{"shadow":{"tau":3},"weights":{"magic":1}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, w.String())
	}
	want := []string{
		`.codeledger/config.json: unknown key "selector.shadow.tau" has no effect; correct or remove it`,
		`.codeledger/config.json: unknown key "selector.weights.magic" has no effect; correct or remove it`,
		`.ctxt/ctx_config.toml:2: unknown key "common.batch_sise" has no effect; correct or remove it`,
		`.ctxt/ctx_config.toml:5: unknown key "selector.weights.keywords" has no effect; correct or remove it`,
		`.ctxt/ctx_config.toml:7: unknown key "unknown" has no effect; correct or remove it`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestErrors(t *testing.T) {
	tests := []struct{ name, toml, json, want string }{
		{"syntax", "[common]\nbatch_size = \n", "", ".ctxt/ctx_config.toml: line 2, column 14: "},
		{"type", "[common]\nbatch_size = \"eight\"\n", "", ".ctxt/ctx_config.toml: line 2, column 14: "},
		{"range", "[common]\nsynonyms_min = 20\n", "", "configuration: common.synonyms_max is 12; want 20 to 100"},
		{"NaN", "[gates.eval]\ntolerance = nan\n", "", "configuration: gates.eval.tolerance is NaN; want 0 to 1"},
		{"NaN bar", "[gates.eval.min]\nmrr = nan\n", "", "configuration: gates.eval.min.mrr is NaN"},
		{"mode", "[gates.intent]\nmode = \"stop\"\n", "", `configuration: gates.intent.mode is "stop"; want , observe, warn, block`},
		{"outside", "[common]\noutput = \"../../x\"\n", "", `configuration: common.output is "../../x"; want a path inside the project`},
		{"absolute", "[common]\nsynonym_cache = \"/etc/x\"\n", "", `configuration: common.synonym_cache is "/etc/x"`},
		{"weights", "[selector.weights]\nchurn = 0\n", "", "configuration: selector.weights: at least one must be above 0"},
		{"json", "", "{\n \"selector\": [1}\n", ".codeledger/config.json: line 2, column 16: "},
		{"json type", "", `{"selector":{"default_budget":{"tokens":"many"}}}`, `.codeledger/config.json: `},
		{"json selector", "", `{"selector":[1]}`, `.codeledger/config.json: line 1, column`},
		{"nested", strings.Repeat("[", 300000), "", ".ctxt/ctx_config.toml: "},
		{"large", strings.Repeat("#", 1<<20+1), "", ".ctxt/ctx_config.toml: larger than the limit of 1048576 bytes"},
		{"large json", "", strings.Repeat(" ", 1<<20) + "{}", ".codeledger/config.json: larger than the limit of 1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Parse([]byte(tt.toml), []byte(tt.json))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	root := t.TempDir()
	if _, w, err := Load(root); err != nil || len(w) > 0 {
		t.Fatal(w, err)
	}
	if err := os.Mkdir(filepath.Join(root, ".ctxt"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, ".ctxt", "ctx_config.toml")
	if err := os.WriteFile(file, []byte("[common]\nbatch_size = 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, _, err := Load(root); err != nil || c.Common.BatchSize != 3 {
		t.Fatal(c, err)
	}
	os.Remove(file)
	if err := os.Symlink("/etc/passwd", file); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(root); err == nil || !strings.Contains(err.Error(), "a symbolic link") {
		t.Errorf("a link is followed: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(Starter), []byte(`{"selector":{"weights":{"keyword":1}}}`))
	f.Add([]byte("[gates.eval.min]\nx = inf\n"), []byte(`{"selector":{"a":[[[[]]]]}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		c, _, err := Parse(a, b)
		if (c == nil) == (err == nil) {
			t.Fatal("want a configuration or an error")
		}
		if err == nil && c.check() != nil {
			t.Fatal("a parsed configuration does not hold its own rules")
		}
	})
}
