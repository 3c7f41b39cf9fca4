package bench

import (
	"fmt"
	"math"
	"slices"
)

// State is the outcome of a gate or of one of its metrics.
type State string

// The states.
const (
	Pass   State = "pass"
	Missed State = "fail"  // an absolute bar is missed
	Worse  State = "worse" // worse than the baseline beyond the tolerance
	Failed State = "error" // it could not be evaluated
)

// Mode says whether a gate may fail a run.
type Mode string

// The modes. Observe and Warn turn Missed and Worse into exit code 0, never Failed.
const (
	Observe Mode = "observe"
	Warn    Mode = "warn"
	Block   Mode = "block"
)

// ParseMode reads a mode's name.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case Observe, Warn, Block:
		return m, nil
	}
	return "", fmt.Errorf("mode %q: want observe, warn or block", s)
}

// GateOptions say what is demanded.
type GateOptions struct {
	Tolerance float64 // how much lower than the baseline a metric may be, absolute, in [0,1]
	Min       Scores  // absolute bars, each in [0,1]
	Mode      Mode    // empty for Block
}

// Verdict is what a gate found. It is the same in every mode; only ExitCode looks at the mode.
type Verdict struct {
	State   State      `json:"state"`
	Mode    Mode       `json:"mode"`
	Reason  string     `json:"reason"` // one sentence
	Metrics []Delta    `json:"metrics,omitempty"`
	Fell    []CaseMove `json:"fell,omitempty"` // cases answered later than in the baseline, or no more
	Notes   []string   `json:"notes,omitempty"`
}

// Delta is one metric against its bar and the baseline.
type Delta struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Base  *float64 `json:"baseline,omitempty"`
	Bar   *float64 `json:"bar,omitempty"`
	State State    `json:"state"`
}

// CaseMove is a case whose rank changed; null is "not found".
type CaseMove struct {
	Case string `json:"case"`
	From *int   `json:"from"`
	To   *int   `json:"to"`
}

// slack absorbs the rounding of means; no mean over at most 100,000 cases differs by less.
const slack = 1e-9

// Compare judges current against an earlier measurement (nil: absolute bars only). Anything that
// keeps it from judging, such as no cases, a number that is not finite or a metric that only one
// side has, is the state Failed: a gate that cannot see fails closed.
func Compare(base, current *Baseline, o GateOptions) Verdict {
	v := Verdict{State: Pass, Mode: o.Mode}
	if v.Mode == "" {
		v.Mode = Block
	}
	if reason := unfit(base, current, o); reason != "" {
		v.State, v.Reason = Failed, reason
		return v
	}
	for _, m := range current.Metrics {
		v.add(base, m, o)
	}
	v.settle(base)
	if base != nil && base.Digest != "" && base.Digest != current.Digest {
		v.Notes = append(v.Notes, fmt.Sprintf("the cases are not those of the baseline (%d then, %d now): the means are over different cases", base.Cases, current.Cases))
	}
	if base != nil {
		v.Fell = fell(base, current)
	}
	return v
}

// unfit says why there is nothing to judge, or "".
func unfit(base, current *Baseline, o GateOptions) string {
	if _, err := ParseMode(string(o.Mode)); err != nil && o.Mode != "" {
		return err.Error()
	}
	if !(o.Tolerance >= 0 && o.Tolerance <= 1) {
		return fmt.Sprintf("tolerance %v is not in [0,1]", o.Tolerance)
	}
	if current == nil {
		return "nothing was measured"
	}
	if err := current.check(); err != nil {
		return "the measurement: " + err.Error()
	}
	for _, bar := range o.Min {
		if !(bar.Value >= 0 && bar.Value <= 1) {
			return fmt.Sprintf("bar %v for %s is not in [0,1]", bar.Value, bar.Name)
		}
		if _, ok := current.Metrics.Get(bar.Name); !ok {
			return fmt.Sprintf("there is a bar for %s, which %s of engine %s does not measure", bar.Name, current.Kind, current.Engine)
		}
	}
	if base == nil {
		return ""
	}
	if err := base.check(); err != nil {
		return "the baseline: " + err.Error()
	}
	if base.Kind != current.Kind || base.Engine != current.Engine {
		return fmt.Sprintf("the baseline is of %s with engine %s, the measurement of %s with engine %s", base.Kind, base.Engine, current.Kind, current.Engine)
	}
	for _, m := range base.Metrics {
		if _, ok := current.Metrics.Get(m.Name); !ok {
			return fmt.Sprintf("the baseline has %s, which was not measured", m.Name)
		}
	}
	return ""
}

func (v *Verdict) add(base *Baseline, m Score, o GateOptions) {
	d := Delta{Name: m.Name, Value: m.Value, State: Pass}
	if base != nil {
		if was, ok := base.Metrics.Get(m.Name); ok {
			d.Base = &was
			if was-m.Value > o.Tolerance+slack {
				d.State = Worse
			}
		}
	}
	if bar, ok := o.Min.Get(m.Name); ok {
		d.Bar = &bar
		if bar-m.Value > slack {
			d.State = Missed
		}
	}
	v.Metrics = append(v.Metrics, d)
}

// settle sets State and Reason from the metrics. A missed bar outranks a fall.
func (v *Verdict) settle(base *Baseline) {
	for _, s := range []State{Missed, Worse} {
		i := slices.IndexFunc(v.Metrics, func(d Delta) bool { return d.State == s })
		if i < 0 {
			continue
		}
		d := v.Metrics[i]
		v.State = s
		if s == Missed {
			v.Reason = fmt.Sprintf("%s is %.3f, below the bar of %.3f", d.Name, d.Value, *d.Bar)
		} else {
			v.Reason = fmt.Sprintf("%s fell from %.3f to %.3f, more than the tolerance", d.Name, *d.Base, d.Value)
		}
		return
	}
	v.Reason = "no bar is missed"
	if base != nil {
		v.Reason = "no metric is worse than the baseline beyond the tolerance"
	}
}

// fell lists the cases that both sides have and that current answers later, in current's order.
func fell(base, current *Baseline) []CaseMove {
	was := make(map[string]*int, len(base.Ranks))
	for _, r := range base.Ranks {
		was[r.Case] = r.First
	}
	rank := func(p *int) int {
		if p == nil {
			return math.MaxInt
		}
		return *p
	}
	var out []CaseMove
	for _, r := range current.Ranks {
		if old, ok := was[r.Case]; ok && rank(r.First) > rank(old) {
			out = append(out, CaseMove{r.Case, old, r.First})
		}
	}
	return out
}

// ExitCode is 0 for a pass, 1 for a missed bar, 2 for what could not be evaluated, 3 for worse than
// the baseline; the modes observe and warn turn 1 and 3 into 0.
func (v Verdict) ExitCode() int {
	code := map[State]int{Pass: 0, Missed: 1, Worse: 3}
	n, ok := code[v.State]
	switch {
	case !ok:
		return 2
	case v.Mode == Observe || v.Mode == Warn:
		return 0
	}
	return n
}
