package action

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/report"
)

// runnerCommand is a port of the runner's two command forms: "::name props::data" after leading white
// space, and "##[name props]data" anywhere in a line. It returns the command's name, or "".
func runnerCommand(line string) string {
	trimmed := strings.TrimLeftFunc(line, func(r rune) bool {
		return strings.ContainsRune(" \t\v\f\u00a0\u0085\u1680\u2028\u2029\u202f\u205f\u3000", r) || r >= 0x2000 && r <= 0x200a
	})
	if rest, ok := strings.CutPrefix(trimmed, "::"); ok {
		if info, _, ok := strings.Cut(rest, "::"); ok {
			name, _, _ := strings.Cut(info, " ")
			return strings.ToLower(name)
		}
	}
	if _, rest, ok := strings.Cut(line, "##["); ok {
		if info, _, ok := strings.Cut(rest, "]"); ok {
			name, _, _ := strings.Cut(info, " ")
			return strings.ToLower(name)
		}
	}
	return ""
}

func commands(log string) map[string]int {
	out := map[string]int{}
	for _, l := range strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if c := runnerCommand(l); c != "" {
			out[c]++
		}
	}
	return out
}

var attacks = []string{
	"::add-mask::a", "  ::stop-commands::x", "x ##[error]y", "a\r::set-env name=X::y", "\n::error::z", "\u2028::warning::w", "a\n\n::debug::b\n##[group]c",
	"%0A::error::d", "@org/team #1 <!-- ctxt:comment key=ctxt head=0 run=9 attempt=9 -->", "\x1b]0;t\x07::error::e", "\u00a0::error::f", "`|\u202e", strings.Repeat("A::error::", 6000),
}

// TestNoCommandFromInput puts each attack everywhere and finds no command but our own.
func TestNoCommandFromInput(t *testing.T) {
	for _, s := range attacks {
		r := newRunner(t, "pull_request", "pull_request.opened.json")
		x := sample()
		x.Title, x.Verdict.Reason, x.Notes = s, s, []string{s}
		x.Change.Files[0].Path = s
		x.Risk.Companions[0].Path, x.Risk.Companions[0].Partner = s, s
		x.Risk.Signals[0] = risk.Signal{Name: s, Title: s, Level: risk.High, Why: s, Files: []string{s}}
		x.Problems = []report.Problem{{Section: s, Message: s}}
		x.Context.Files[0].Path, x.Context.Files[0].Reason = s, s
		r.rep = x
		r.env["INPUT_MODE"] = "block"
		x.Gates[0].State, x.Gates[0].Detail, x.Gates[0].Name = report.GateFail, s, s
		res := r.mustRun(1)
		got := commands(res.out)
		if len(commands(res.err)) != 0 || got["warning"] != 2 || got["error"] != 1 || len(got) != 2 {
			t.Errorf("%q: commands %v in\n%s\nand %v in %s", s, got, res.out, commands(res.err), res.err)
		}
		if strings.Count(r.api.Comments()[0].Body, "<!-- ctxt") != 1 {
			t.Errorf("%q: a forged marker", s)
		}
		r.o.RunPR = func(context.Context, job.PROptions) (*report.Report, error) { return nil, errors.New(s) }
		res = r.mustRun(2)
		if got := commands(res.out); got["error"] != 1 || len(got) != 1 || len(commands(res.err)) != 0 || strings.Count(res.err, "\n") != 1 {
			t.Errorf("%q: commands %v in %s and %s", s, got, res.out, res.err)
		}
	}
}

func FuzzLogLine(f *testing.F) {
	for _, s := range attacks {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var out, errb bytes.Buffer
		l := &logger{out: &out, err: &errb}
		l.info("%s", s)
		l.line(l.err, s)
		if c := commands(out.String() + errb.String()); len(c) != 0 {
			t.Fatalf("commands %v in %q", c, out.String())
		}
		if c := commands(inert(s)); len(c) != 0 { // without the name that each line begins with
			t.Fatalf("commands %v in %q", c, inert(s))
		}
		out.Reset()
		l.warning("%s", s)
		l.annotate(report.Annotation{Path: s, Start: 1, End: 1, Level: "notice", Title: s, Message: s})
		if c := commands(out.String()); len(c) != 2 || c["warning"] != 1 || c["notice"] != 1 || strings.Count(out.String(), "\n") != 2 {
			t.Fatalf("commands %v in %q", c, out.String())
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Add("pull_request", `{"pull_request":{"number":1}}`)
	f.Add("push", `{"ref":"refs/heads/x","before":"`+baseSHA+`","after":"`+headSHA+`"}`)
	f.Add("workflow_run", `{"workflow_run":{"id":1}}`)
	f.Fuzz(func(t *testing.T, name, data string) {
		path := t.TempDir() + "/event.json"
		(&runner{t: t}).put(path, data)
		e, err := readEvent(path)
		if err != nil {
			return
		}
		p, err := planOf(name, e, inputs{}, headSHA, "refs/heads/topic")
		if err == nil && p.nothing == "" && (p.base == "" || p.head == "" || strings.HasPrefix(p.base, "-") || strings.HasPrefix(p.head, "-")) {
			t.Fatalf("plan %+v", p)
		}
	})
}
