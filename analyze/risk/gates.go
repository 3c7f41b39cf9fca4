package risk

import (
	"fmt"
	"sort"
	"strings"

	"github.com/ctxt-dev/ctxt/index"
)

// The modes of a gate. An empty mode means that the gate is off.
const (
	ModeObserve = "observe" // recorded
	ModeWarn    = "warn"    // shown
	ModeBlock   = "block"   // fails the run
)

// GateOptions are the evidence gates, as the base commit configures them.
type GateOptions struct {
	Intent       IntentGate       `toml:"intent"`
	Tests        []TestsGate      `toml:"tests"`
	Companions   CompanionsGate   `toml:"companions"`
	Eval         MeasureGate      `toml:"eval"`
	Bench        MeasureGate      `toml:"bench"`
	ControlPlane ControlPlaneGate `toml:"control_plane"`
}

// IntentGate wants a task text that says what the change is about.
type IntentGate struct {
	Mode     string  `toml:"mode"`
	MinScore float64 `toml:"min_score"` // of the intent check, in [0,1]
}

// TestsGate wants a test changed when a file of Paths is.
type TestsGate struct {
	Mode  string   `toml:"mode"`
	Paths []string `toml:"paths"` // globs
	Tests []string `toml:"tests"` // globs of what counts as a test; empty: by role
}

// CompanionsGate wants the files changed that usually change along.
type CompanionsGate struct {
	Mode          string  `toml:"mode"`
	MinJoint      int     `toml:"min_joint"`      // joint changes from which a missing companion counts
	MinConfidence float64 `toml:"min_confidence"` // and share, in [0,1]
}

// MeasureGate compares measurements with bars and with those of the base.
type MeasureGate struct {
	Mode      string             `toml:"mode"`
	Tolerance float64            `toml:"tolerance"` // how much a metric may fall below the baseline
	Min       map[string]float64 `toml:"min"`       // absolute bars by metric name
}

// ControlPlaneGate forbids a change to edit what judges it.
type ControlPlaneGate struct {
	Mode  string   `toml:"mode"`
	Paths []string `toml:"paths"` // globs
}

// Measured is what an evaluation found on the head, with the cases of the base, and what it is compared with.
type Measured struct {
	Head      map[string]float64 // metric → value; all in [0,1], larger is better
	Baseline  map[string]float64 // of the accepted measurement or of the base; empty: nothing to compare with
	Cases     int                // measured
	BaseCases int                // behind Baseline, 0 when unknown
	Err       error              // it could not be measured
	Command   string             // that measures it locally
}

// GateInput is what the gates judge.
type GateInput struct {
	Change     Change
	Assessment *Assessment // nil: could not be made
	Intent     float64     // score of the intent check
	IntentErr  error
	Eval       *Measured // nil: there are no cases
	Bench      *Measured
	ConfigErr  error // the base's configuration could not be read
}

// The states of a gate.
const (
	GatePass  = "pass"
	GateFail  = "fail"  // an absolute bar is missed
	GateWorse = "worse" // worse than the baseline beyond the tolerance
	GateError = "error" // it could not be evaluated
)

// Outcome is one gate's result.
type Outcome struct {
	Name      string   `json:"name"`
	Mode      string   `json:"mode"`
	State     string   `json:"state"`
	Metric    string   `json:"metric,omitempty"`
	Value     *float64 `json:"value,omitempty"`
	BaseValue *float64 `json:"base_value,omitempty"`
	Bar       *float64 `json:"bar,omitempty"`
	Tolerance *float64 `json:"tolerance,omitempty"`
	Detail    string   `json:"detail"`
	Command   string   `json:"command,omitempty"`
}

// Gates judges a change by the base's gates, in a fixed order. A gate that is on and cannot be read or
// evaluated, or that has been emptied, is an error, never a pass: it fails closed.
func Gates(o GateOptions, in GateInput) []Outcome {
	out := []Outcome{}
	if in.ConfigErr != nil {
		return append(out, Outcome{Name: "configuration", Mode: ModeBlock, State: GateError,
			Detail: "the configuration of the base commit cannot be read: " + in.ConfigErr.Error()})
	}
	out = append(out, gate(o.Intent.Mode, "intent", func(g *Outcome) { o.Intent.judge(in, g) })...)
	for i := range o.Tests {
		t := &o.Tests[i]
		out = append(out, gate(t.Mode, "tests", func(g *Outcome) { t.judge(in, g) })...)
	}
	out = append(out, gate(o.Companions.Mode, "companions", func(g *Outcome) { o.Companions.judge(in, g) })...)
	out = append(out, o.Eval.judge("eval", in.Eval)...)
	out = append(out, o.Bench.judge("bench", in.Bench)...)
	return append(out, gate(o.ControlPlane.Mode, "control-plane", func(g *Outcome) { o.ControlPlane.judge(in, g) })...)
}

// gate runs one gate. A mode that does not exist counts as block, and as an error.
func gate(mode, name string, judge func(*Outcome)) []Outcome {
	g := Outcome{Name: name, Mode: mode, State: GatePass}
	switch mode {
	case "":
		return nil
	case ModeObserve, ModeWarn, ModeBlock:
		judge(&g)
	default:
		g.Mode, g.State = ModeBlock, GateError
		g.Detail = fmt.Sprintf("mode %q is none of observe, warn and block", mode)
	}
	return []Outcome{g}
}

func (t *IntentGate) judge(in GateInput, g *Outcome) {
	g.Metric, g.Bar = "intent_score", &t.MinScore
	switch {
	case in.IntentErr != nil:
		g.State, g.Detail = GateError, "the intent check failed: "+in.IntentErr.Error()
		return
	case bad(t.MinScore):
		g.State, g.Detail = GateError, fmt.Sprintf("min_score is %v, and must lie in (0, 1]: the gate is empty", t.MinScore)
		return
	}
	v := round(in.Intent)
	g.Value = &v
	g.Detail = fmt.Sprintf("intent score %.2f, at least %.2f wanted", in.Intent, t.MinScore)
	if !(in.Intent >= t.MinScore) {
		g.State = GateFail
	}
}

// bad reports whether a bar is no share at all, or one that everything passes.
func bad(bar float64) bool { return !(bar > 0 && bar <= 1) }

func (t *TestsGate) judge(in GateInput, g *Outcome) {
	if bad := unusable(t.Paths, t.Tests); bad != "" || len(t.Paths) == 0 {
		g.State, g.Detail = GateError, "paths is empty: the gate watches nothing"
		if bad != "" {
			g.Detail = fmt.Sprintf("glob %q cannot be read", bad)
		}
		return
	}
	var watched []string
	tests := 0
	for _, f := range in.Change.Files {
		switch {
		case len(t.Tests) == 0 && index.RoleOf(f.Path) == index.Test, len(t.Tests) > 0 && matchAny(t.Tests, f.Path):
			if f.Status != 'D' {
				tests++
			}
		case matchAny(t.Paths, f.Path):
			watched = append(watched, f.Path)
		}
	}
	switch {
	case len(watched) == 0:
		g.Detail = "no watched file changed"
	case tests > 0:
		g.Detail = fmt.Sprintf("%s changed, and %s", count(len(watched), "watched file"), count(tests, "test"))
	default:
		g.State = GateFail
		g.Detail = fmt.Sprintf("`%s`%s changed and no test did", watched[0], more(len(watched)-1))
	}
}

// unusable gives the first glob that cannot be read.
func unusable(lists ...[]string) string {
	for _, l := range lists {
		for _, g := range l {
			if !validGlob(g) {
				return g
			}
		}
	}
	return ""
}

func (t *CompanionsGate) judge(in GateInput, g *Outcome) {
	switch {
	case in.Assessment == nil:
		g.State, g.Detail = GateError, "missing companions could not be assessed"
		return
	case bad(t.MinConfidence) || t.MinJoint < 1:
		g.State = GateError
		g.Detail = fmt.Sprintf("min_joint %d and min_confidence %v: a positive number and a share in (0, 1] are wanted", t.MinJoint, t.MinConfidence)
		return
	}
	var missing []string
	for _, c := range in.Assessment.Companions {
		if c.Joint >= t.MinJoint && c.Confidence >= t.MinConfidence {
			missing = append(missing, c.Path)
		}
	}
	if len(missing) == 0 {
		g.Detail = fmt.Sprintf("nothing is missing that changed along %d times or more and in %.0f%% of the cases", t.MinJoint, 100*t.MinConfidence)
		return
	}
	g.State = GateFail
	g.Detail = fmt.Sprintf("`%s`%s usually changes along and did not", missing[0], more(len(missing)-1))
}

func (t *ControlPlaneGate) judge(in GateInput, g *Outcome) {
	if bad := unusable(t.Paths); bad != "" || len(t.Paths) == 0 {
		g.State, g.Detail = GateError, "paths is empty: the gate watches nothing"
		if bad != "" {
			g.Detail = fmt.Sprintf("glob %q cannot be read", bad)
		}
		return
	}
	if files := controlFiles(in.Change, t.Paths); len(files) > 0 {
		g.State = GateFail
		g.Detail = fmt.Sprintf("`%s`%s is part of what judges this change", files[0], more(len(files)-1))
		return
	}
	g.Detail = "the change edits nothing that judges it"
}

// judge gives one outcome for each bar and each metric of the baseline, by name.
func (t *MeasureGate) judge(name string, m *Measured) []Outcome {
	whole := func(state, detail string) []Outcome {
		return gate(t.Mode, name, func(g *Outcome) {
			g.State, g.Detail = state, detail
			if m != nil {
				g.Command = m.Command
			}
		})
	}
	switch {
	case t.Mode == "":
		return nil
	case m == nil && len(t.Min) == 0:
		return nil // nothing is measured and nothing was asked for
	case m == nil:
		return whole(GateError, "bars are set and there are no cases to measure")
	case m.Err != nil:
		return whole(GateError, "could not be measured: "+m.Err.Error())
	case m.Cases == 0:
		return whole(GateError, "no case was measured")
	case m.BaseCases > m.Cases:
		return whole(GateError, fmt.Sprintf("%d of %d cases were measured", m.Cases, m.BaseCases))
	case t.Tolerance < 0 || t.Tolerance > 1:
		return whole(GateError, fmt.Sprintf("tolerance is %v, and must lie in [0, 1]", t.Tolerance))
	}
	metrics := map[string]bool{}
	for k := range t.Min {
		metrics[k] = true
	}
	for k := range m.Baseline {
		metrics[k] = true
	}
	if len(metrics) == 0 {
		return whole(GatePass, fmt.Sprintf("%s measured; no bar and no baseline to compare with", count(m.Cases, "case")))
	}
	names := make([]string, 0, len(metrics))
	for k := range metrics {
		names = append(names, k)
	}
	sort.Strings(names)
	var out []Outcome
	for _, k := range names {
		out = append(out, gate(t.Mode, name, func(g *Outcome) { t.judgeMetric(k, m, g) })...)
	}
	return out
}

func (t *MeasureGate) judgeMetric(metric string, m *Measured, g *Outcome) {
	g.Metric, g.Command = metric, m.Command
	v, ok := m.Head[metric]
	if !ok || !(v >= 0) {
		g.State, g.Detail = GateError, fmt.Sprintf("%s was not measured", metric)
		return
	}
	g.Value = &v
	parts := []string{fmt.Sprintf("%s %.3f", metric, v)}
	if base, ok := m.Baseline[metric]; ok {
		g.BaseValue, g.Tolerance = &base, &t.Tolerance
		parts = append(parts, fmt.Sprintf("%+.3f against %.3f, tolerance %.3f", v-base, base, t.Tolerance))
		if !(v >= base-t.Tolerance-1e-9) {
			g.State = GateWorse
		}
	}
	if bar, ok := t.Min[metric]; ok {
		g.Bar = &bar
		parts = append(parts, fmt.Sprintf("at least %.3f wanted", bar))
		if !(v >= bar) {
			g.State = GateFail
		}
	}
	g.Detail = strings.Join(parts, ", ")
}

// The exit codes that outcomes lead to.
const (
	exitOK    = 0
	exitBar   = 1
	exitError = 2
	exitWorse = 3
)

// GateExit is the exit code of a run: 2 when a gate could not be evaluated, whatever its mode, else 1
// when a blocking bar is missed, else 3 when a blocking measurement is worse, else 0.
func GateExit(out []Outcome) int {
	code := exitOK
	for i := range out {
		switch g := &out[i]; {
		case g.State == GateError:
			return exitError
		case g.Mode != ModeBlock:
		case g.State == GateFail:
			code = exitBar
		case g.State == GateWorse && code == exitOK:
			code = exitWorse
		}
	}
	return code
}
