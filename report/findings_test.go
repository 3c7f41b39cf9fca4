package report

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/analyze/risk"
)

// TestSARIF checks what GitHub's code scanning requires of a file.
func TestSARIF(t *testing.T) {
	for _, name := range sortedCases() {
		data, err := SARIF(cases()[name])
		if err != nil {
			t.Fatal(err)
		}
		if name == "high" {
			golden(t, "high.sarif", data)
		}
		var log sarifLog
		if err := json.Unmarshal(data, &log); err != nil {
			t.Fatal(err)
		}
		if log.Version != "2.1.0" || !strings.HasSuffix(log.Schema, "sarif-2.1.0.json") || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name == "" {
			t.Fatalf("%s: the frame is wrong", name)
		}
		prints := map[string]bool{}
		for _, x := range log.Runs[0].Results {
			rule := log.Runs[0].Tool.Driver.Rules[x.RuleIndex]
			if rule.ID != x.RuleID || x.Message.Text == "" || len(x.Locations) != 1 {
				t.Errorf("%s: result %+v", name, x)
			}
			if x.Level != "note" && x.Level != "warning" {
				t.Errorf("%s: level %q", name, x.Level)
			}
			p := x.Locations[0].Physical
			u, err := url.Parse(p.Artifact.URI)
			if err != nil || u.IsAbs() || u.Host != "" || strings.HasPrefix(u.Path, "/") || p.Region.StartLine < 1 {
				t.Errorf("%s: place %+v (%v)", name, p, err)
			}
			for i, c := range x.Message.Text {
				if (c == '[' || c == ']') && x.Message.Text[i-1] != '\\' {
					t.Errorf("%s: a link in %q", name, x.Message.Text)
				}
			}
			if fp := x.Fingerprints["ctxt/v1"]; prints[fp] || len(fp) != 32 {
				t.Errorf("%s: fingerprint %q", name, fp)
			} else {
				prints[fp] = true
			}
		}
	}
	if got, want := relativeURI("a b/c:d#?.go"), "a%20b/c:d%23%3F.go"; got != want {
		t.Errorf("URI %q, want %q", got, want)
	}
	if got, want := relativeURI("http:/x"), "./http:/x"; got != want {
		t.Errorf("URI %q, want %q", got, want)
	}
}

// TestAnnotations holds that notes stand on changed lines, and that there are at most ten.
func TestAnnotations(t *testing.T) {
	r := companionReport()
	for range 20 {
		r.Risk.Signals = append(r.Risk.Signals, risk.Signal{Name: "sensitive", Title: "Sensitive", Level: risk.Low, Why: "x\n::error::y", Files: []string{"cmd/apply.go", "absent.go"}})
	}
	got := Annotations(r)
	if len(got) != MaxAnnotations {
		t.Fatalf("%d annotations", len(got))
	}
	inside := map[string][2]int{"store/lock.go": {88, 167}, "store/lease.go": {12, 41}, "cmd/apply.go": {40, 47}, "docs/style.css": {10, 11}}
	for _, a := range got {
		at, ok := inside[a.Path]
		if !ok || a.Start < at[0] || a.End > at[1] || a.Start > a.End {
			t.Errorf("%+v is not on a changed line", a)
		}
		if strings.ContainsAny(a.Message+a.Title, "\n\r") {
			t.Errorf("%+v has lines", a)
		}
	}
	if got[0].Level != "warning" || !strings.Contains(got[0].Message, "23 of the last 27 changes") {
		t.Errorf("first %+v", got[0])
	}
	if n := len(Annotations(&Report{})); n != 0 {
		t.Errorf("%d annotations of nothing", n)
	}
}
