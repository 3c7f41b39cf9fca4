// Package config is every option of the product in one place.
//
//  1. Default gives the defaults.
//  2. Parse lays .codeledger/config.json over them, then .ctxt/ctx_config.toml over that; flags are
//     laid over the result by the commands. It works from bytes, so that a pull request's run reads
//     its configuration from the base commit.
//  3. Starter is the documented file that config init writes; it parses to the defaults.
//
// A key that is not known is a Warning with its name and line, never an error: a newer release's file
// must not break an older binary. A value of the wrong type or range is an error with its line.
package config

import (
	"time"

	"github.com/ctxt-dev/ctxt/index/store"
)

// CodeledgerFile is the second configuration file, read when it is there.
const CodeledgerFile = ".codeledger/config.json"

// Config is plain data; nothing in it is looked up later.
type Config struct {
	Common   Common   `toml:"common"`
	LLM      LLM      `toml:"llm"`
	Search   Search   `toml:"search"`
	Watch    Watch    `toml:"watch"`
	Selector Selector `toml:"selector"`
	Gates    Gates    `toml:"gates"`
	Risk     Risk     `toml:"risk"`

	set     map[string]bool // dotted keys that a file gave
	hasTOML bool            // the TOML file was there
}

// Common is shared by the commands that build and read the index.
type Common struct {
	Output          string   `toml:"output"`           // index file, relative to the root
	SynonymCache    string   `toml:"synonym_cache"`    // relative to the root
	LLMModel        string   `toml:"llm_model"`        // used when [llm] gives no model
	BatchSize       int      `toml:"batch_size"`       // names an LLM request; 0: smart batching, up to 60
	SynonymsMin     int      `toml:"synonyms_min"`     // a name
	SynonymsMax     int      `toml:"synonyms_max"`     // a name
	Ignore          []string `toml:"ignore"`           // merged with the built-in patterns
	DotWhitelist    []string `toml:"dot_whitelist"`    // merged with the built-in names
	Verbose         bool     `toml:"verbose"`          // print what init, sync and watch are doing
	MaxFiles        int      `toml:"max_files"`        // of an index; 0: no limit
	SymbolExtractor string   `toml:"symbol_extractor"` // auto, treesitter or regex
}

// LLM reaches the endpoint that generates synonyms.
type LLM struct {
	Provider         string  `toml:"provider"` // a label; endpoint and model control the request
	Endpoint         string  `toml:"endpoint"`
	Model            string  `toml:"model"` // that is asked
	APIKey           string  `toml:"api_key"`
	APIKeyEnv        string  `toml:"api_key_env"` // name of the variable that holds the key
	Temperature      float64 `toml:"temperature"` // of the model
	ParallelRequests int     `toml:"parallel_requests"`
}

// Search holds the defaults of search-hints.
type Search struct {
	Limit       int     `toml:"limit"`     // most results
	MinScore    float64 `toml:"min_score"` // results below it are left out
	Type        string  `toml:"type"`      // files, dirs or all
	DirLimit    int     `toml:"dir_limit"`
	DrillLimit  int     `toml:"drill_limit"`
	Memory      bool    `toml:"memory"`
	RuntimeFile string  `toml:"runtime_file"` // discovery file of a running watch
	Hybrid      bool    `toml:"hybrid"`
	HybridScore float64 `toml:"hybrid_score"`
}

// Watch holds the defaults of watch.
type Watch struct {
	Debounce          Duration `toml:"debounce"` // pause in the changes after which they are applied
	LLMOnWatch        bool     `toml:"llm_on_watch"`
	SearchLog         bool     `toml:"search_log"`
	SearchLogQueryMax int      `toml:"search_log_query_max"`
	Persist           string   `toml:"persist"` // shutdown
}

// Selector holds what activate and the pull request run select by.
type Selector struct {
	DefaultBudget           Budget             `toml:"default_budget"`
	ExcerptFullFileMaxLines int                `toml:"excerpt_full_file_max_lines"` // lines
	SufficiencyThreshold    float64            `toml:"sufficiency_threshold"`       // in [0,1]; 0: the built-in levels
	Pack                    string             `toml:"pack"`                        // tiered or full
	Weights                 map[string]float64 `toml:"weights"`                     // by signal, see Weights; empty: the built-in weights
	Shadow                  Shadow             `toml:"shadow"`
	Churn                   Churn              `toml:"churn"`
}

// Budget limits a bundle.
type Budget struct {
	Tokens   int `toml:"tokens"`    // of a bundle, counted with a real tokenizer
	MaxFiles int `toml:"max_files"` // most files of a bundle
}

// Shadow chooses the files that are added from the co-commit graph.
type Shadow struct {
	Enabled           bool    `toml:"enabled"`             // add such files at all
	MinAffinity       float64 `toml:"min_affinity"`        // in [0,1]
	MinCoCommitCount  int     `toml:"min_co_commit_count"` // fewest joint commits
	MaxShadowAdds     int     `toml:"max_shadow_adds"`     // most files that are added
	TauDays           float64 `toml:"tau_days"`            // time constant of the decay
	CommitSizePenalty float64 `toml:"commit_size_penalty"` // exponent p: a commit of n files counts n^-p
}

// Churn weighs past changes by age.
type Churn struct {
	HalfLifeDays float64 `toml:"half_life_days"` // after so many days a change counts half
}

// Mode says what a missed gate does.
type Mode string

// The modes, from mildest.
const (
	Observe Mode = "observe" // recorded
	Warn    Mode = "warn"    // shown
	Block   Mode = "block"   // fails the run
)

// Gates are the evidence gates of a pull request. A gate whose mode is empty is off.
type Gates struct {
	Intent       IntentGate       `toml:"intent"`
	Tests        []TestsGate      `toml:"tests"`
	Companions   CompanionsGate   `toml:"companions"`
	Eval         EvalGate         `toml:"eval"`
	Bench        EvalGate         `toml:"bench"`
	ControlPlane ControlPlaneGate `toml:"control_plane"`
}

// IntentGate wants a task text that says what the change is about.
type IntentGate struct {
	Mode     Mode    `toml:"mode"`      // what a miss does
	MinScore float64 `toml:"min_score"` // of the intent check, in [0,1]
}

// TestsGate wants a test changed when a file of Paths is.
type TestsGate struct {
	Mode  Mode     `toml:"mode"`  // what a miss does
	Paths []string `toml:"paths"` // globs, ** for any folders
	Tests []string `toml:"tests"` // globs of what counts as a test; empty: by role
}

// CompanionsGate wants the files changed that usually change along.
type CompanionsGate struct {
	Mode          Mode    `toml:"mode"`           // what a miss does
	MinJoint      int     `toml:"min_joint"`      // joint changes
	MinConfidence float64 `toml:"min_confidence"` // in [0,1]
}

// EvalGate compares measurements with bars and with the baseline.
type EvalGate struct {
	Mode      Mode               `toml:"mode"`      // what a miss does
	Cases     string             `toml:"cases"`     // case file
	Baseline  string             `toml:"baseline"`  // accepted measurement
	Tolerance float64            `toml:"tolerance"` // how much a metric may fall below the baseline
	Min       map[string]float64 `toml:"min"`       // absolute bars by metric name, as in hit_at_5
}

// ControlPlaneGate forbids a change to edit what judges it.
type ControlPlaneGate struct {
	Mode  Mode     `toml:"mode"`  // what a miss does
	Paths []string `toml:"paths"` // globs of what a change must not edit
}

// Risk tunes the assessment.
type Risk struct {
	Sensitive []string `toml:"sensitive"` // globs of sensitive paths, merged with the built-in ones
}

// Duration is a time.Duration written as in "750ms".
type Duration struct{ time.Duration }

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(b []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(b))
	return err
}

// MarshalText writes it as in "750ms".
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// IsSet reports whether a file gave a key, such as "common.batch_size", rather than the default.
func (c *Config) IsSet(key string) bool { return c.set[key] }

// NoLLM reports whether the files say that no language model is to be used: a TOML file without an
// [llm] section, or an api_key that is empty. A key given by a flag overrules it.
func (c *Config) NoLLM() bool {
	return c.hasTOML && !c.set["llm"] || c.set["llm.api_key"] && c.LLM.APIKey == ""
}

// Default returns the defaults, fresh.
func Default() *Config {
	const model = "deepseek/deepseek-v4-flash"
	return &Config{
		Common: Common{
			Output: store.IndexFile, SynonymCache: store.CacheFile, LLMModel: model,
			BatchSize: 8, SynonymsMin: 5, SynonymsMax: 12,
			Ignore: []string{".git", ".venv", "site-packages", "__pycache__", "node_modules", "vendor", "dist",
				"migrations", "pb_migrations", "alembic", "flyway"},
			DotWhitelist: []string{}, Verbose: true, MaxFiles: 10000, SymbolExtractor: "auto",
		},
		LLM: LLM{
			Provider: "openrouter", Endpoint: "https://openrouter.ai/api/v1/chat/completions", Model: model,
			APIKeyEnv: "OPENROUTER_API_KEY", Temperature: 0.9, ParallelRequests: 10,
		},
		Search: Search{Limit: 10, MinScore: 1, Type: "all", DirLimit: 5, DrillLimit: 3, Memory: true,
			RuntimeFile: store.RuntimeFile, HybridScore: 1},
		Watch: Watch{Debounce: Duration{750 * time.Millisecond}, SearchLogQueryMax: 120, Persist: "shutdown"},
		Selector: Selector{
			DefaultBudget: Budget{Tokens: 8000, MaxFiles: 25}, ExcerptFullFileMaxLines: 200, Pack: "tiered",
			Weights: map[string]float64{},
			Shadow: Shadow{Enabled: true, MinAffinity: 0.30, MinCoCommitCount: 3, MaxShadowAdds: 3, TauDays: 60,
				CommitSizePenalty: 0.5},
			Churn: Churn{HalfLifeDays: 60},
		},
		Gates: Gates{
			Intent:     IntentGate{Mode: Observe, MinScore: 0.3},
			Tests:      []TestsGate{},
			Companions: CompanionsGate{Mode: Observe, MinJoint: 5, MinConfidence: 0.8},
			Eval: EvalGate{Mode: Warn, Cases: ".ctxt/cases.json", Baseline: ".ctxt/baseline.json", Tolerance: 0.02,
				Min: map[string]float64{}},
			Bench: EvalGate{Mode: Observe, Cases: ".ctxt/cases.json", Baseline: ".ctxt/baseline.json", Tolerance: 0.02,
				Min: map[string]float64{}},
			ControlPlane: ControlPlaneGate{Mode: Warn, Paths: []string{".ctxt/**", ".codeledger/config.json", ".github/workflows/**"}},
		},
		Risk: Risk{Sensitive: []string{}},
	}
}
