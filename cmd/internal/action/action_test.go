package action

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/report"
	"github.com/ctxt-dev/ctxt/report/github/githubtest"
)

const (
	baseSHA = "1111111111111111111111111111111111111111"
	headSHA = "2222222222222222222222222222222222222222"
)

// runner is a container of the runner: mounts, environment, event.
type runner struct {
	t    *testing.T
	root string
	api  *githubtest.Server
	env  map[string]string
	o    Options
	got  job.PROptions // of the last RunPR
	ran  int
	rep  *report.Report
}

func newRunner(t *testing.T, eventName, fixture string) *runner {
	t.Helper()
	r := &runner{t: t, root: t.TempDir(), api: githubtest.New(t, ""), rep: sample()}
	for _, d := range []string{"workspace", "home", "workflow", "file_commands", "runner_temp"} {
		if err := os.MkdirAll(filepath.Join(r.root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join("testdata", "events", fixture))
	if err != nil {
		t.Fatal(err)
	}
	event := filepath.Join(r.root, "workflow", "event.json")
	r.put(event, string(data))
	for _, f := range []string{"output", "summary", "env", "path"} {
		r.put(filepath.Join(r.root, "file_commands", f), "")
	}
	r.env = map[string]string{
		"GITHUB_ACTIONS": "true", "CI": "true", "HOME": filepath.Join(r.root, "home"),
		"GITHUB_WORKSPACE": filepath.Join(r.root, "workspace"), "RUNNER_TEMP": filepath.Join(r.root, "runner_temp"),
		"GITHUB_EVENT_PATH": event, "GITHUB_EVENT_NAME": eventName, "GITHUB_REPOSITORY": "octo/repo",
		"GITHUB_API_URL": r.api.URL, "GITHUB_GRAPHQL_URL": r.api.GraphQL(), "GITHUB_SHA": headSHA, "GITHUB_REF": "refs/heads/topic",
		"GITHUB_RUN_ID": "1000", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_OUTPUT": r.file("output"), "GITHUB_STEP_SUMMARY": r.file("summary"), "GITHUB_ENV": r.file("env"), "GITHUB_PATH": r.file("path"),
		"INPUT_TOKEN": r.api.Token, "INPUT_MODE": "warn", "INPUT_COMMENT-KEY": "ctxt", "INPUT_HISTORY-COMMITS": "3000",
		"INPUT_BASE-REF": "", "INPUT_WORKING-DIRECTORY": ".", "INPUT_BUDGET-TOKENS": "0",
		"SECRET_CANARY": "canary-secret-91c2",
	}
	r.o = Options{
		Version: "1.0.0",
		Getenv:  func(k string) (string, bool) { v, ok := r.env[k]; return v, ok },
		RunPR: func(_ context.Context, o job.PROptions) (*report.Report, error) {
			r.got = o
			r.ran++
			return r.rep, nil
		},
		Sleep: func(context.Context, time.Duration) error { return nil },
	}
	return r
}

func (r *runner) file(name string) string { return filepath.Join(r.root, "file_commands", name) }

func (r *runner) put(path, data string) {
	r.t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *runner) read(path string) string {
	r.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

// result is what one run of the Action left.
type result struct {
	code     int
	out, err string
	outputs  map[string]string
	summary  string
}

func (r *runner) run() result {
	r.t.Helper()
	r.put(r.file("output"), "")
	r.put(r.file("summary"), "")
	var out, errb bytes.Buffer
	r.o.Out, r.o.Err = &out, &errb
	res := result{code: Run(context.Background(), r.o), out: out.String(), err: errb.String()}
	res.outputs = parseOutputs(r.t, r.read(r.file("output")))
	res.summary = r.read(r.file("summary"))
	if r.read(r.file("env")) != "" || r.read(r.file("path")) != "" {
		r.t.Error("GITHUB_ENV or GITHUB_PATH was written")
	}
	for _, s := range []string{res.out, res.err, res.summary, fmt.Sprint(res.outputs), fmt.Sprint(r.api.Comments())} {
		if strings.Contains(s, "canary") {
			r.t.Errorf("a canary in %q", s)
		}
	}
	_ = filepath.WalkDir(r.root, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(r.read(p), "canary") {
			r.t.Errorf("a canary in %s", p)
		}
		return nil
	})
	return res
}

func (r *runner) mustRun(code int) result {
	r.t.Helper()
	res := r.run()
	if res.code != code {
		r.t.Fatalf("exit %d, want %d\nstdout: %s\nstderr: %s", res.code, code, res.out, res.err)
	}
	return res
}

// parseOutputs reads GITHUB_OUTPUT as the runner does.
func parseOutputs(t *testing.T, s string) map[string]string {
	t.Helper()
	out := map[string]string{}
	lines := strings.Split(s, "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" {
			continue
		}
		name, delim, ok := strings.Cut(lines[i], "<<")
		if eq := strings.Index(lines[i], "="); !ok || eq >= 0 && eq < len(name) {
			t.Fatalf("output line %q", lines[i])
		}
		var v []string
		for i++; i < len(lines) && lines[i] != delim; i++ {
			v = append(v, lines[i])
		}
		if i == len(lines) {
			t.Fatalf("output %s is not closed", name)
		}
		out[name] = strings.Join(v, "\n")
	}
	return out
}

func f64(x float64) *float64 { return &x }

func sample() *report.Report {
	return &report.Report{
		Version: report.SchemaVersion, Tool: "ctxt 1.0.0", Base: baseSHA, Head: headSHA, MergeBase: baseSHA, Title: "Release the lock",
		Verdict: report.Verdict{Level: "medium", Reason: "`store/lock.go` usually changes with `store/lock_test.go`, which is untouched"},
		Change: report.ChangeSummary{Added: 120, Deleted: 18, Commits: 2, Files: []report.ChangedFile{
			{Path: "store/lock.go", Status: "modified", Added: 120, Deleted: 18, Hunks: []git.Hunk{{OldStart: 8, OldLines: 18, NewStart: 8, NewLines: 120}}}}},
		Risk: &risk.Assessment{Band: risk.Medium, Score: 0.78, Assessed: true,
			Signals:    []risk.Signal{{Name: "hotspots", Title: "Hotspot", Level: risk.Medium, Why: "store/lock.go: 41 changes in 180 days", Numbers: []risk.Number{{Name: "changes", Value: 41}}, Files: []string{"store/lock.go"}, Command: "git log"}},
			Companions: []risk.Companion{{Path: "store/lock_test.go", Partner: "store/lock.go", Joint: 23, Of: 27, Confidence: 0.85, LastCommit: baseSHA, LastTime: 1}},
			Knowers:    []risk.Knower{{Name: "A. Author", Share: 0.61}}},
		Context: &pick.Bundle{Version: 1, Intent: pick.Intent{Score: 0.8, Level: "sufficient"}, Budget: pick.Budget{Tokens: 8000, Files: 25}, Used: pick.Budget{Tokens: 100, Files: 1},
			Files: []pick.File{{Path: "store/lock.go", Rank: 1, Reason: "declares `Unlock`", Tier: pick.Full}}},
		Gates:     []report.Gate{{Name: "search", Mode: "block", State: report.GatePass, Metric: "Hit@5", Value: f64(0.92), Detail: "12 cases"}},
		History:   report.HistorySummary{Commits: 3000, Tip: baseSHA, TipTime: 86400 * 13},
		Reproduce: "ctxt pr --base 1111111 --head 2222222 --title-from-head",
	}
}

func TestNewPullRequestThenUnchangedThenUpdated(t *testing.T) {
	r := newRunner(t, "pull_request", "pull_request.opened.json")
	res := r.mustRun(0)
	want := map[string]string{
		"verdict": "medium", "risk": "medium", "risk-score": "0.78", "gate": "pass", "intent": "sufficient", "comment": "created", "comment-id": "101",
		"context-files": "1", "missing-companions": "1",
		"report-file": filepath.Join(r.root, "runner_temp/ctxt/report.json"), "sarif-file": filepath.Join(r.root, "runner_temp/ctxt/report.sarif"), "bundle-file": filepath.Join(r.root, "runner_temp/ctxt/bundle.json"),
	}
	if !maps.Equal(res.outputs, want) {
		t.Errorf("outputs %v\nwant    %v", res.outputs, want)
	}
	if o := r.got; o.Base != baseSHA || o.Head != headSHA || o.Title != "Release the lock when a lease expires" || !strings.Contains(o.Body, "Fixes the hang") || o.Login != "someone" || o.Mode != "warn" || o.HistoryCommits != 3000 || o.Dir != filepath.Join(r.root, "workspace") {
		t.Errorf("options %+v", o)
	}
	cs := r.api.Comments()
	if len(cs) != 1 || !strings.HasPrefix(cs[0].Body, "<!-- ctxt:comment key=ctxt head="+headSHA+" run=1000 attempt=1 -->\n### 🟠 Medium risk: ") {
		t.Fatalf("comments %+v", cs)
	}
	if !strings.HasPrefix(res.summary, "### 🟠 Medium risk: ") {
		t.Errorf("summary %q", res.summary)
	}
	if !strings.Contains(res.out, "::warning endLine=8,file=store/lock.go,line=8,title=ctxt%3A Missing companion::store/lock_test.go changed in 23 of the last 27 changes") {
		t.Errorf("no annotation: %s", res.out)
	}

	r.env["GITHUB_RUN_ID"] = "1001"
	before := len(r.api.Writes())
	if res = r.mustRun(0); res.outputs["comment"] != "unchanged" || len(r.api.Writes()) != before {
		t.Errorf("comment %s, writes %v", res.outputs["comment"], r.api.Writes())
	}
	r.env["GITHUB_RUN_ID"] = "1002"
	r.rep.Verdict.Reason = "something else in 3 files"
	if res = r.mustRun(0); res.outputs["comment"] != "updated" || res.outputs["comment-id"] != "101" || len(r.api.Writes()) != before+1 {
		t.Errorf("comment %s, writes %v", res.outputs["comment"], r.api.Writes())
	}
	r.env["GITHUB_RUN_ID"] = "900" // a slow, older run
	if res = r.mustRun(0); res.outputs["comment"] != "superseded" || len(r.api.Writes()) != before+1 {
		t.Errorf("comment %s, writes %v", res.outputs["comment"], r.api.Writes())
	}
	if entries, _ := os.ReadDir(r.env["GITHUB_WORKSPACE"]); len(entries) != 0 {
		t.Errorf("the checkout was written to: %v", entries)
	}
}

// TestEvents runs each recorded event, and holds what it is read as or why nothing is to do.
func TestEvents(t *testing.T) {
	pull := [3]string{baseSHA, headSHA, "Release the lock when a lease expires"}
	for _, c := range []struct {
		event, fixture string
		want           [3]string // base, head, title; empty: nothing to do
		comment        string
		says           string
	}{
		{"pull_request", "pull_request.opened.json", pull, "created", ""},
		{"pull_request", "pull_request.synchronize.json", pull, "created", ""},
		{"pull_request", "pull_request.reopened.json", pull, "created", ""},
		{"pull_request", "pull_request.edited.json", pull, "created", ""},
		{"pull_request", "pull_request.ready_for_review.json", pull, "created", ""},
		{"pull_request", "pull_request.draft.json", pull, "created", ""},
		{"pull_request", "pull_request.fork.json", pull, "created", ""},
		{"pull_request", "pull_request.closed.json", [3]string{}, "", "pull request 7 is closed"},
		{"pull_request_target", "pull_request_target.fork.json", pull, "created", ""},
		{"merge_group", "merge_group.checks_requested.json", [3]string{baseSHA, headSHA, "Release the lock (#7)"}, "no-pull-request", ""},
		{"merge_group", "merge_group.destroyed.json", [3]string{}, "", "the merge group is gone"},
		{"push", "push.branch.json", [3]string{baseSHA, headSHA, "Release the lock"}, "no-pull-request", ""},
		{"push", "push.new_branch.json", [3]string{"origin/main", headSHA, "Release the lock"}, "no-pull-request", ""},
		{"push", "push.new_default.json", [3]string{}, "", "branch main is new"},
		{"push", "push.deleted.json", [3]string{}, "", "branch topic was deleted"},
		{"push", "push.tag.json", [3]string{}, "", "refs/tags/v1.0.0 is no branch"},
		{"workflow_dispatch", "workflow_dispatch.json", [3]string{"origin/main", headSHA, ""}, "no-pull-request", ""},
		{"schedule", "schedule.json", [3]string{"origin/main", headSHA, ""}, "no-pull-request", ""},
	} {
		t.Run(c.fixture, func(t *testing.T) {
			r := newRunner(t, c.event, c.fixture)
			r.env["INPUT_CACHE-DIR"] = filepath.Join(r.root, "runner_temp", "cache")
			res := r.mustRun(0)
			if c.want == [3]string{} {
				if r.ran != 0 || len(r.api.Requests()) != 0 || !strings.Contains(res.out, "::notice::ctxt: nothing to do: "+c.says) {
					t.Errorf("ran %d times, said %q", r.ran, res.out)
				}
				return
			}
			if got := [3]string{r.got.Base, r.got.Head, r.got.Title}; got != c.want {
				t.Errorf("read as %q, want %q", got, c.want)
			}
			if res.outputs["comment"] != c.comment {
				t.Errorf("comment %s, want %s", res.outputs["comment"], c.comment)
			}
			if target := c.event == "pull_request_target"; (r.got.CacheDir == "") != target {
				t.Errorf("cache %q", r.got.CacheDir)
			}
			if !strings.HasPrefix(res.summary, "### ") {
				t.Error("no summary")
			}
		})
	}
	// On the default branch a schedule compares with nothing.
	r := newRunner(t, "schedule", "schedule.json")
	r.env["GITHUB_REF"] = "refs/heads/main"
	if res := r.mustRun(0); r.ran != 0 || !strings.Contains(res.out, "set base-ref") {
		t.Errorf("%q", res.out)
	}
	r.env["INPUT_BASE-REF"], r.env["INPUT_TASK"] = "v1.0.0", "  The release\n\nof the week"
	if r.mustRun(0); r.got.Base != "v1.0.0" || r.got.Title != "The release" || r.got.Body != "of the week" {
		t.Errorf("%+v", r.got)
	}
	r = newRunner(t, "pull_request", "pull_request.draft.json")
	r.env["INPUT_INCLUDE-DRAFTS"] = "false"
	if res := r.mustRun(0); r.ran != 0 || !strings.Contains(res.out, "is a draft") {
		t.Errorf("%q", res.out)
	}
}

// TestBadInput holds one clear line and exit 2.
func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*runner)
		want string
	}{
		"no event path":      {func(r *runner) { delete(r.env, "GITHUB_EVENT_PATH") }, "GITHUB_EVENT_PATH is not set"},
		"no event file":      {func(r *runner) { r.env["GITHUB_EVENT_PATH"] += ".gone" }, "no such file"},
		"malformed event":    {func(r *runner) { r.put(r.env["GITHUB_EVENT_PATH"], `{"pull_request": `) }, "event.json: unexpected end of JSON input"},
		"other kind of file": {func(r *runner) { r.put(r.env["GITHUB_EVENT_PATH"], `{"issue": {"number": 3}}`) }, "not of a pull_request"},
		"wrong types":        {func(r *runner) { r.put(r.env["GITHUB_EVENT_PATH"], `{"pull_request": 3}`) }, "cannot unmarshal number"},
		"no head": {func(r *runner) {
			r.put(r.env["GITHUB_EVENT_PATH"], `{"pull_request": {"number": 3, "head": {"sha": "--upload-pack=x"}}}`)
		}, "no number, base.sha or head.sha"},
		"unknown event": {func(r *runner) { r.env["GITHUB_EVENT_NAME"] = "issues" }, `event "issues" is none that ctxt reads: pull_request,`},
		"no event name": {func(r *runner) { delete(r.env, "GITHUB_EVENT_NAME") }, `event "" is none`},
		"mode":          {func(r *runner) { r.env["INPUT_MODE"] = "strict" }, `input mode is "strict": want observe, warn or block`},
		"number":        {func(r *runner) { r.env["INPUT_HISTORY-COMMITS"] = "many" }, `input history-commits is "many": want a whole number`},
		"flag":          {func(r *runner) { r.env["INPUT_COMMENT"] = "yes" }, `input comment is "yes": want true or false`},
		"revision":      {func(r *runner) { r.env["INPUT_BASE-REF"] = "--output=x" }, "a revision does not start with a dash"},
		"folder":        {func(r *runner) { r.env["INPUT_WORKING-DIRECTORY"] = "../.." }, "want a folder inside the workspace"},
		"publish":       {func(r *runner) { r.o.Publish = true }, `event "pull_request" cannot be published`},
		"no repository": {func(r *runner) {
			r.o.RunPR = func(context.Context, job.PROptions) (*report.Report, error) {
				return nil, errors.New("/w: no git repository")
			}
		}, "/w: no git repository"},
		"panic": {func(r *runner) {
			r.o.RunPR = func(context.Context, job.PROptions) (*report.Report, error) { panic("x") }
		}, "internal error: x"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, "pull_request", "pull_request.opened.json")
			c.set(r)
			res := r.mustRun(2)
			if strings.Count(res.err, "\n") != 1 || !strings.HasPrefix(res.err, "ctxt: ") || !strings.Contains(res.err, c.want) {
				t.Errorf("stderr %q, want one line with %q", res.err, c.want)
			}
			if len(r.api.Comments()) != 0 {
				t.Error("a comment was written")
			}
		})
	}
}

func TestForkIsReadOnly(t *testing.T) {
	r := newRunner(t, "pull_request", "pull_request.fork.json")
	r.api.OnRequest = func(method, path string, n int) *githubtest.Fault {
		if method == "POST" && strings.HasSuffix(path, "/comments") {
			return &githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}
		}
		return nil
	}
	res := r.mustRun(0)
	if res.outputs["comment"] != "skipped-readonly" || res.outputs["comment-id"] != "" || !strings.HasPrefix(res.summary, "### ") || !strings.Contains(res.out, "::notice::ctxt: the token may not comment") {
		t.Errorf("outputs %v, log %s", res.outputs, res.out)
	}
	r.env["INPUT_MODE"] = "block" // the gates decide there, too
	r.rep.Gates[0].State = report.GateFail
	r.mustRun(1)
}

// TestTheReportSurvivesFaults holds that what fails takes nothing else with it.
func TestTheReportSurvivesFaults(t *testing.T) {
	for name, c := range map[string]struct {
		set     func(*runner)
		comment string
	}{
		"rate limit": {func(r *runner) {
			r.api.OnRequest = func(m, p string, n int) *githubtest.Fault { return &githubtest.Fault{Status: 429} }
		}, "skipped-limited"},
		"bad token": {func(r *runner) {
			r.api.OnRequest = func(m, p string, n int) *githubtest.Fault { return &githubtest.Fault{Status: 401} }
		}, "failed"},
		"server errors": {func(r *runner) {
			r.api.OnRequest = func(m, p string, n int) *githubtest.Fault { return &githubtest.Fault{Status: 502} }
		}, "failed"},
		"cut connections": {func(r *runner) {
			r.api.OnRequest = func(m, p string, n int) *githubtest.Fault { return &githubtest.Fault{Cut: true} }
		}, "failed"},
		"no token":      {func(r *runner) { r.env["INPUT_TOKEN"] = "" }, "skipped-no-token"},
		"no comment":    {func(r *runner) { r.env["INPUT_COMMENT"] = "false" }, "off"},
		"no temp":       {func(r *runner) { delete(r.env, "RUNNER_TEMP") }, "created"},
		"no repository": {func(r *runner) { r.env["GITHUB_REPOSITORY"] = "x" }, "failed"},
		"plain http":    {func(r *runner) { r.env["GITHUB_API_URL"] = "http://api.example.com" }, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, "pull_request", "pull_request.opened.json")
			c.set(r)
			res := r.mustRun(0)
			if res.outputs["comment"] != c.comment || res.outputs["verdict"] != "medium" || !strings.HasPrefix(res.summary, "### ") {
				t.Errorf("outputs %v, log %s", res.outputs, res.out)
			}
		})
	}
}

func TestGatesDecide(t *testing.T) {
	for _, c := range []struct {
		mode, state string
		code        int
	}{
		{"block", report.GatePass, 0}, {"block", report.GateFail, 1}, {"block", report.GateWorse, 3}, {"block", report.GateError, 2},
		{"warn", report.GateFail, 0}, {"warn", report.GateWorse, 0}, {"warn", report.GateError, 2},
		{"observe", report.GateFail, 0}, {"observe", report.GateError, 2},
	} {
		r := newRunner(t, "pull_request", "pull_request.opened.json")
		r.env["INPUT_MODE"] = c.mode
		r.rep.Gates[0].State = c.state
		r.rep.Verdict.Level = "high" // which decides nothing
		if res := r.mustRun(c.code); res.outputs["gate"] != c.state || res.outputs["comment"] != "created" {
			t.Errorf("%v: outputs %v", c, res.outputs)
		}
	}
}

func TestShallowClone(t *testing.T) {
	r := newRunner(t, "pull_request", "pull_request.opened.json")
	r.rep.History = report.HistorySummary{Commits: 50, Tip: baseSHA, Shallow: true}
	r.rep.Risk.Assessed = false
	res := r.mustRun(0)
	if !strings.Contains(res.out, "::warning::ctxt: history limited to 50 commits") || !strings.Contains(r.api.Comments()[0].Body, "History limited to 50 commits") || res.outputs["risk"] != "" {
		t.Errorf("log %s, outputs %v", res.out, res.outputs)
	}
	if err := os.MkdirAll(filepath.Join(r.root, "workspace", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.put(filepath.Join(r.root, "workspace", ".git", "shallow"), headSHA+"\n")
	r.o.RunPR = func(context.Context, job.PROptions) (*report.Report, error) {
		return nil, errors.New("commit 1111111 is not in this clone")
	}
	if res := r.mustRun(2); !strings.Contains(res.err, "the clone is shallow: set fetch-depth: 0") {
		t.Errorf("stderr %q", res.err)
	}
}

func TestEnterprise(t *testing.T) {
	r := newRunner(t, "pull_request", "pull_request.opened.json")
	r.api = githubtest.New(t, "/api/v3")
	r.env["GITHUB_API_URL"], r.env["GITHUB_GRAPHQL_URL"] = r.api.URL, r.api.GraphQL()
	if res := r.mustRun(0); res.outputs["comment"] != "created" {
		t.Errorf("outputs %v", res.outputs)
	}
}

// TestPaths holds where files go and how later steps see them.
func TestPaths(t *testing.T) {
	r := newRunner(t, "pull_request", "pull_request.opened.json")
	r.env["INPUT_REPORT-DIR"], r.env["INPUT_SARIF-FILE"] = "out/ctxt", "out/findings.sarif"
	res := r.mustRun(0)
	if res.outputs["report-file"] != "out/ctxt/report.json" || res.outputs["sarif-file"] != "out/findings.sarif" {
		t.Errorf("outputs %v", res.outputs)
	}
	for _, f := range []string{"out/ctxt/report.json", "out/ctxt/report.html", "out/ctxt/report.sarif", "out/findings.sarif"} {
		if len(r.read(filepath.Join(r.root, "workspace", f))) == 0 {
			t.Errorf("%s is empty", f)
		}
	}
	// A link in the checkout leads nowhere outside of it.
	r = newRunner(t, "pull_request", "pull_request.opened.json")
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(r.root, "workspace", "out")); err != nil {
		t.Fatal(err)
	}
	r.env["INPUT_REPORT-DIR"] = "out"
	if res = r.mustRun(0); res.outputs["report-file"] != "" || !strings.Contains(res.out, "::warning::ctxt: report.json:") {
		t.Errorf("outputs %v", res.outputs)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("written outside: %v", entries)
	}
	// In a container the temporary folder has another name outside.
	a := &run{o: Options{Getenv: func(k string) (string, bool) {
		return map[string]string{"RUNNER_WORKSPACE": "/home/runner/work/repo"}[k], true
	}}, workspace: "/github/workspace", temp: "/github/runner_temp"}
	for in, want := range map[string]string{"/github/runner_temp/ctxt/report.json": "/home/runner/work/_temp/ctxt/report.json", "/github/workspace/a/b": "a/b", "/elsewhere/x": "/elsewhere/x"} {
		if got := a.outside(in); got != want {
			t.Errorf("%s is seen as %s, want %s", in, got, want)
		}
	}
	if got := a.container("/home/runner/work/_temp/ctxt-report"); got != "/github/runner_temp/ctxt-report" {
		t.Errorf("inside: %s", got)
	}
}

func TestSummaryLimit(t *testing.T) {
	r := newRunner(t, "pull_request", "pull_request.opened.json")
	long := strings.Repeat("x", report.SummaryLimit-100)
	full := r.file("summary")
	r.put(full, long)
	if err := addSummary(full, r.rep); err == nil {
		t.Error("100 bytes hold a summary")
	}
	if got := r.read(full); got != long {
		t.Error("the summary was changed")
	}
	r.put(full, long[:report.SummaryLimit/2])
	for range 3000 {
		r.rep.Change.Files = append(r.rep.Change.Files, report.ChangedFile{Path: strings.Repeat("長", 150), Status: "added"})
	}
	if err := addSummary(full, r.rep); err != nil {
		t.Error(err)
	}
	if n := len(r.read(full)); n > report.SummaryLimit {
		t.Errorf("%d bytes", n)
	}
}

func TestOutputDelimiter(t *testing.T) {
	r := newRunner(t, "pull_request", "pull_request.opened.json")
	path := r.file("output")
	evil := "x\nctxt_0\nverdict=low\nrisk<<EOF\n_GitHubActionsFileCommandDelimeter_\nhigh\nEOF"
	if err := setOutput(path, "one", evil); err != nil {
		t.Fatal(err)
	}
	if err := setOutput(path, "two", ""); err != nil {
		t.Fatal(err)
	}
	got := parseOutputs(t, r.read(path))
	if !maps.Equal(got, map[string]string{"one": evil, "two": ""}) {
		t.Errorf("%q", got)
	}
}

// TestDelimiterIsRandom holds that two values have two delimiters, and that a delimiter which a value
// holds is not taken.
func TestDelimiterIsRandom(t *testing.T) {
	one, err1 := delimiter("x")
	two, err2 := delimiter("x")
	if err := errors.Join(err1, err2); err != nil || one == two {
		t.Errorf("%q and %q, %v", one, two, err)
	}
	defer func(r io.Reader) { rand.Reader = r }(rand.Reader)
	rand.Reader = io.MultiReader(bytes.NewReader(make([]byte, 16)), bytes.NewReader(bytes.Repeat([]byte{1}, 16)))
	got, err := delimiter("verdict=low\nctxt_" + strings.Repeat("0", 32) + "\nrisk=high")
	if want := "ctxt_" + strings.Repeat("01", 16); err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestActionYML holds that action.yml and the code name the same outputs and inputs.
func TestActionYML(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	keys := func(section string) []string {
		var out []string
		_, rest, ok := strings.Cut(string(data), "\n"+section+":\n")
		if !ok {
			t.Fatalf("no %s", section)
		}
		for _, l := range strings.Split(rest, "\n") {
			if l != "" && l[0] != ' ' {
				break
			}
			if strings.HasPrefix(l, "  ") && l[2] != ' ' {
				out = append(out, strings.TrimSuffix(strings.TrimSpace(l), ":"))
			}
		}
		slices.Sort(out)
		return out
	}
	want := slices.Sorted(slices.Values(outputNames))
	if got := keys("outputs"); !slices.Equal(got, want) {
		t.Errorf("outputs %v, want %v", got, want)
	}
	wantIn := []string{"annotations", "base-ref", "baseline", "budget-files", "budget-tokens", "cache-dir", "cases", "comment", "comment-key", "config", "history-commits", "include-drafts", "mode", "report-dir", "sarif-file", "summary", "task", "token", "working-directory"}
	if got := keys("inputs"); !slices.Equal(got, wantIn) {
		t.Errorf("inputs %v, want %v", got, wantIn)
	}
}

// TestTwentyThousandFiles holds that a change of any size costs a handful of requests, a comment and a
// summary within their limits, and outputs that are counts.
func TestTwentyThousandFiles(t *testing.T) {
	r := newRunner(t, "pull_request", "pull_request.opened.json")
	long := strings.Repeat("𐍈", 60)
	for i := range 20000 {
		p := fmt.Sprintf("%s/%05d", long, i)
		r.rep.Change.Files = append(r.rep.Change.Files, report.ChangedFile{Path: p, Status: "modified", Added: 1, Hunks: []git.Hunk{{NewStart: 1, NewLines: 1}}})
		r.rep.Context.Files = append(r.rep.Context.Files, pick.File{Path: p, Rank: i + 2, Reason: p})
		r.rep.Risk.Companions = append(r.rep.Risk.Companions, risk.Companion{Path: p, Partner: p, Joint: 3, Of: 3, Confidence: 1})
		r.rep.Risk.Signals[0].Files = append(r.rep.Risk.Signals[0].Files, p)
	}
	res := r.mustRun(0)
	if n := len(r.api.Requests()); n > 5 {
		t.Errorf("%d requests: %v", n, r.api.Requests())
	}
	if res.outputs["comment"] != "created" || res.outputs["context-files"] != "20001" || len(fmt.Sprint(res.outputs)) > 2000 {
		t.Errorf("outputs %v", res.outputs)
	}
	if len(res.summary) > report.SummaryLimit || !strings.HasPrefix(res.summary, "### ") || !strings.Contains(r.api.Comments()[0].Body, "more file") {
		t.Errorf("a summary of %d bytes", len(res.summary))
	}
	if n := commands(res.out)["warning"]; n > report.MaxAnnotations {
		t.Errorf("%d annotations", n)
	}
}
