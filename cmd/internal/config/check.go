package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The caps on lists of a configuration, which a repository gives.
const (
	maxGlobs     = 1000
	maxGlobBytes = 512
)

// check refuses values that nothing could work with. It names the key and what it accepts.
func (c *Config) check() error {
	checks := []error{
		atLeast("common.batch_size", c.Common.BatchSize, 0, 1000),
		atLeast("common.synonyms_min", c.Common.SynonymsMin, 1, 100),
		atLeast("common.synonyms_max", c.Common.SynonymsMax, c.Common.SynonymsMin, 100),
		atLeast("common.max_files", c.Common.MaxFiles, 0, math.MaxInt32),
		oneOf("common.symbol_extractor", c.Common.SymbolExtractor, "auto", "treesitter", "regex"),
		inside("common.output", c.Common.Output),
		inside("common.synonym_cache", c.Common.SynonymCache),
		between("llm.temperature", c.LLM.Temperature, 0, 2),
		atLeast("llm.parallel_requests", c.LLM.ParallelRequests, 1, 100),
		atLeast("search.limit", c.Search.Limit, 1, 10000),
		between("search.min_score", c.Search.MinScore, 0, 1e9),
		oneOf("search.type", c.Search.Type, "files", "dirs", "all"),
		atLeast("search.dir_limit", c.Search.DirLimit, 1, 1000),
		atLeast("search.drill_limit", c.Search.DrillLimit, 1, 1000),
		between("search.hybrid_score", c.Search.HybridScore, 0, 1e9),
		between("watch.debounce (seconds)", c.Watch.Debounce.Seconds(), 0.001, 3600),
		atLeast("watch.search_log_query_max", c.Watch.SearchLogQueryMax, 0, 10000),
		oneOf("watch.persist", c.Watch.Persist, "shutdown"),
		atLeast("selector.default_budget.tokens", c.Selector.DefaultBudget.Tokens, 1, 10_000_000),
		atLeast("selector.default_budget.max_files", c.Selector.DefaultBudget.MaxFiles, 1, 10_000),
		atLeast("selector.excerpt_full_file_max_lines", c.Selector.ExcerptFullFileMaxLines, 0, 1_000_000),
		between("selector.sufficiency_threshold", c.Selector.SufficiencyThreshold, 0, 1),
		oneOf("selector.pack", c.Selector.Pack, "tiered", "full"),
		between("selector.shadow.min_affinity", c.Selector.Shadow.MinAffinity, 0, 1),
		atLeast("selector.shadow.min_co_commit_count", c.Selector.Shadow.MinCoCommitCount, 1, 1_000_000),
		atLeast("selector.shadow.max_shadow_adds", c.Selector.Shadow.MaxShadowAdds, 0, 1000),
		between("selector.shadow.tau_days", c.Selector.Shadow.TauDays, 0.01, 1e6),
		between("selector.shadow.commit_size_penalty", c.Selector.Shadow.CommitSizePenalty, 0, 10),
		between("selector.churn.half_life_days", c.Selector.Churn.HalfLifeDays, 0.01, 1e6),
		globs("common.ignore", c.Common.Ignore),
		globs("common.dot_whitelist", c.Common.DotWhitelist),
		globs("risk.sensitive", c.Risk.Sensitive),
	}
	sum := 0.0
	for _, k := range sorted(c.Selector.Weights) {
		checks = append(checks, between("selector.weights."+k, c.Selector.Weights[k], 0, 1e6))
		sum += c.Selector.Weights[k]
	}
	if len(c.Selector.Weights) > 0 && sum == 0 {
		checks = append(checks, fmt.Errorf("selector.weights: at least one must be above 0"))
	}
	checks = append(checks, c.Gates.check()...)
	for _, err := range checks {
		if err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
	}
	return nil
}

func (g *Gates) check() []error {
	checks := []error{
		mode("gates.intent.mode", g.Intent.Mode),
		between("gates.intent.min_score", g.Intent.MinScore, 0, 1),
		mode("gates.companions.mode", g.Companions.Mode),
		atLeast("gates.companions.min_joint", g.Companions.MinJoint, 1, 1_000_000),
		between("gates.companions.min_confidence", g.Companions.MinConfidence, 0, 1),
		mode("gates.control_plane.mode", g.ControlPlane.Mode),
		globs("gates.control_plane.paths", g.ControlPlane.Paths),
	}
	if len(g.Tests) > 100 {
		checks = append(checks, fmt.Errorf("gates.tests: more than 100"))
	}
	for i, t := range g.Tests {
		key := fmt.Sprintf("gates.tests[%d]", i)
		checks = append(checks, mode(key+".mode", t.Mode), globs(key+".paths", t.Paths), globs(key+".tests", t.Tests))
		if len(t.Paths) == 0 {
			checks = append(checks, fmt.Errorf("%s.paths: want at least one glob", key))
		}
	}
	for _, e := range []struct {
		key  string
		gate *EvalGate
	}{{"gates.eval", &g.Eval}, {"gates.bench", &g.Bench}} {
		checks = append(checks, mode(e.key+".mode", e.gate.Mode), between(e.key+".tolerance", e.gate.Tolerance, 0, 1),
			inside(e.key+".cases", e.gate.Cases), inside(e.key+".baseline", e.gate.Baseline))
		for _, k := range sorted(e.gate.Min) {
			checks = append(checks, between(e.key+".min."+k, e.gate.Min[k], 0, 1))
		}
	}
	return checks
}

func atLeast(key string, v, lo, hi int) error {
	if v < lo || v > hi {
		return fmt.Errorf("%s is %d; want %d to %d", key, v, lo, hi)
	}
	return nil
}

func between(key string, v, lo, hi float64) error {
	if !(v >= lo && v <= hi) { // a NaN fails too
		return fmt.Errorf("%s is %v; want %v to %v", key, v, lo, hi)
	}
	return nil
}

func oneOf(key, v string, names ...string) error {
	if !slices.Contains(names, v) {
		return fmt.Errorf("%s is %q; want %s", key, v, strings.Join(names, ", "))
	}
	return nil
}

func mode(key string, m Mode) error {
	return oneOf(key, string(m), "", string(Observe), string(Warn), string(Block))
}

// inside refuses a path that leaves the project: the file that gives it may be somebody else's.
func inside(key, path string) error {
	if path == "" || strings.ContainsRune(path, 0) {
		return fmt.Errorf("%s is empty or holds a zero byte", key)
	}
	slash := strings.ReplaceAll(path, `\`, "/")
	if strings.HasPrefix(slash, "/") || len(slash) > 1 && slash[1] == ':' || slices.Contains(strings.Split(slash, "/"), "..") {
		return fmt.Errorf("%s is %q; want a path inside the project (give another place by a flag)", key, path)
	}
	return nil
}

func globs(key string, list []string) error {
	if len(list) > maxGlobs {
		return fmt.Errorf("%s has %d entries; want at most %d", key, len(list), maxGlobs)
	}
	for i, g := range list {
		if g == "" || len(g) > maxGlobBytes {
			return fmt.Errorf("%s[%d] has %d bytes; want 1 to %d", key, i, len(g), maxGlobBytes)
		}
	}
	return nil
}
