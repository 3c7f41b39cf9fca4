package risk

import (
	"errors"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git"
)

func TestGates(t *testing.T) {
	broken := errors.New("broken")
	change := Change{Files: []git.FileDiff{{Path: "a.go", Status: git.Modified}, {Path: ".ctxt/cases.json", Status: git.Modified}}}
	tested := Change{Files: []git.FileDiff{{Path: "a.go", Status: git.Modified}, {Path: "a_test.go", Status: git.Modified}}}
	missing := &Assessment{Companions: []Companion{{Path: "b.go", Joint: 9, Confidence: 0.9}}}
	hits := func(v float64) map[string]float64 { return map[string]float64{"hit_at_5": v} }
	for name, c := range map[string]struct {
		o    GateOptions
		in   GateInput
		want string // state, or empty for no outcome
		says string
		exit int
	}{
		"off":                         {GateOptions{}, GateInput{}, "", "", 0},
		"configuration unreadable":    {GateOptions{}, GateInput{ConfigErr: broken}, "error", "base commit cannot be read", 2},
		"intent reached":              {GateOptions{Intent: IntentGate{"block", 0.3}}, GateInput{Intent: 0.3}, "pass", "", 0},
		"intent missed":               {GateOptions{Intent: IntentGate{"block", 0.3}}, GateInput{Intent: 0.29}, "fail", "0.29", 1},
		"intent missed, warned":       {GateOptions{Intent: IntentGate{"warn", 0.3}}, GateInput{Intent: 0.1}, "fail", "", 0},
		"intent emptied":              {GateOptions{Intent: IntentGate{"warn", 0}}, GateInput{Intent: 1}, "error", "empty", 2},
		"intent failed":               {GateOptions{Intent: IntentGate{"observe", 0.3}}, GateInput{IntentErr: broken}, "error", "broken", 2},
		"mode unknown":                {GateOptions{Intent: IntentGate{"off", 0.3}}, GateInput{Intent: 1}, "error", "none of observe", 2},
		"tests missing":               {GateOptions{Tests: []TestsGate{{"block", []string{"*.go"}, nil}}}, GateInput{Change: change}, "fail", "`a.go` changed", 1},
		"tests there":                 {GateOptions{Tests: []TestsGate{{"block", []string{"*.go"}, nil}}}, GateInput{Change: tested}, "pass", "1 test", 0},
		"tests of other names":        {GateOptions{Tests: []TestsGate{{"block", []string{"a.go"}, []string{"spec/**"}}}}, GateInput{Change: tested}, "fail", "", 1},
		"tests not watched":           {GateOptions{Tests: []TestsGate{{"block", []string{"lib/**"}, nil}}}, GateInput{Change: change}, "pass", "no watched file", 0},
		"tests emptied":               {GateOptions{Tests: []TestsGate{{"warn", nil, nil}}}, GateInput{Change: tested}, "error", "watches nothing", 2},
		"tests glob broken":           {GateOptions{Tests: []TestsGate{{"warn", []string{"[a"}, nil}}}, GateInput{Change: tested}, "error", "[a", 2},
		"companion missing":           {GateOptions{Companions: CompanionsGate{"block", 5, 0.8}}, GateInput{Assessment: missing}, "fail", "`b.go`", 1},
		"companion weaker":            {GateOptions{Companions: CompanionsGate{"block", 5, 0.95}}, GateInput{Assessment: missing}, "pass", "", 0},
		"companions not assessed":     {GateOptions{Companions: CompanionsGate{"block", 5, 0.8}}, GateInput{}, "error", "", 2},
		"companions emptied":          {GateOptions{Companions: CompanionsGate{"block", 0, 0}}, GateInput{Assessment: missing}, "error", "", 2},
		"control plane edited":        {GateOptions{ControlPlane: ControlPlaneGate{"block", []string{".ctxt/**"}}}, GateInput{Change: change}, "fail", ".ctxt/cases.json", 1},
		"control plane renamed away":  {GateOptions{ControlPlane: ControlPlaneGate{"block", []string{".ctxt/**"}}}, GateInput{Change: Change{Files: []git.FileDiff{{Path: "x", OldPath: ".ctxt/cases.json", Status: git.Renamed}}}}, "fail", "", 1},
		"control plane emptied":       {GateOptions{ControlPlane: ControlPlaneGate{"block", nil}}, GateInput{Change: change}, "error", "", 2},
		"eval without cases":          {GateOptions{Eval: MeasureGate{Mode: "block"}}, GateInput{}, "", "", 0},
		"eval bar without cases":      {GateOptions{Eval: MeasureGate{Mode: "warn", Min: hits(0.9)}}, GateInput{}, "error", "no cases", 2},
		"eval failed":                 {GateOptions{Eval: MeasureGate{Mode: "observe"}}, GateInput{Eval: &Measured{Err: broken}}, "error", "broken", 2},
		"eval emptied":                {GateOptions{Eval: MeasureGate{Mode: "warn"}}, GateInput{Eval: &Measured{Head: hits(1)}}, "error", "no case", 2},
		"eval cases lost":             {GateOptions{Eval: MeasureGate{Mode: "warn"}}, GateInput{Eval: &Measured{Head: hits(1), Cases: 3, BaseCases: 4}}, "error", "3 of 4", 2},
		"eval bar reached":            {GateOptions{Eval: MeasureGate{Mode: "block", Min: hits(0.9)}}, GateInput{Eval: &Measured{Head: hits(0.9), Cases: 4}}, "pass", "0.900", 0},
		"eval bar missed":             {GateOptions{Eval: MeasureGate{Mode: "block", Min: hits(0.9)}}, GateInput{Eval: &Measured{Head: hits(0.89), Cases: 4}}, "fail", "", 1},
		"eval metric gone":            {GateOptions{Eval: MeasureGate{Mode: "block", Min: hits(0.9)}}, GateInput{Eval: &Measured{Head: map[string]float64{}, Cases: 4}}, "error", "was not measured", 2},
		"eval worse":                  {GateOptions{Eval: MeasureGate{Mode: "block", Tolerance: 0.02}}, GateInput{Eval: &Measured{Head: hits(0.87), Baseline: hits(0.9), Cases: 4}}, "worse", "-0.030", 3},
		"eval worse within tolerance": {GateOptions{Eval: MeasureGate{Mode: "block", Tolerance: 0.02}}, GateInput{Eval: &Measured{Head: hits(0.88), Baseline: hits(0.9), Cases: 4}}, "pass", "", 0},
		"eval tolerance absurd":       {GateOptions{Eval: MeasureGate{Mode: "block", Tolerance: 7}}, GateInput{Eval: &Measured{Head: hits(0.1), Baseline: hits(0.9), Cases: 4}}, "error", "", 2},
		"bench worse, warned":         {GateOptions{Bench: MeasureGate{Mode: "warn"}}, GateInput{Bench: &Measured{Head: hits(0.8), Baseline: hits(0.9), Cases: 4}}, "worse", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			out := Gates(c.o, c.in)
			state, detail := "", ""
			if len(out) > 0 {
				state, detail = out[0].State, out[0].Detail
			}
			if len(out) > 1 || state != c.want || !strings.Contains(detail, c.says) || state != "" && detail == "" {
				t.Errorf("%+v, want state %q saying %q", out, c.want, c.says)
			}
			if got := GateExit(out); got != c.exit {
				t.Errorf("exit %d, want %d", got, c.exit)
			}
		})
	}
}

func TestGateExitOrder(t *testing.T) {
	fail := Outcome{Mode: ModeBlock, State: GateFail}
	worse := Outcome{Mode: ModeBlock, State: GateWorse}
	broken := Outcome{Mode: ModeObserve, State: GateError}
	for _, c := range []struct {
		out  []Outcome
		want int
	}{{nil, 0}, {[]Outcome{worse, fail}, 1}, {[]Outcome{fail, worse}, 1}, {[]Outcome{worse}, 3}, {[]Outcome{fail, broken}, 2}} {
		if got := GateExit(c.out); got != c.want {
			t.Errorf("%+v: %d, want %d", c.out, got, c.want)
		}
	}
}
