package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/report"
)

// project is a repository in which upload/retry.go and upload/retry_test.go usually change together.
func project(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	r.Write("go.mod", "module example.com/r\n")
	r.Write("main.go", "package main\n\nimport \"example.com/r/upload\"\n\nfunc main() { upload.Retry() }\n")
	r.Write("docs/zoo.md", "A page about the quagga.\n")
	for i := range 8 {
		r.Write("upload/retry.go", fmt.Sprintf("package upload\n\n// Retry sends an upload again after a timeout.\nfunc Retry() int { return %d }\n", i))
		r.Write("upload/retry_test.go", fmt.Sprintf("package upload\n\nconst want = %d\n", i))
		r.Commit(fmt.Sprintf("upload: retry %d times", i))
	}
	return r
}

// options serve a project without an index: what the command line gives is made here.
func options(root string) Options {
	var kept *pick.Bundle
	return Options{
		Version: "test", Root: root,
		Config: func() (*config.Config, error) { return config.Default(), nil },
		Search: func(_ context.Context, r search.Request) (*search.Response, error) {
			if r.Query == "panic" {
				panic("as asked")
			}
			return &search.Response{Version: search.ResponseVersion, Query: r.Query, Source: search.Memory,
				Results: []search.Result{{Path: "upload/retry.go", Type: "file", Score: float64(r.Limit)}}}, nil
		},
		Status: func(context.Context) (any, error) { return map[string]any{"version": 1, "root": root}, nil },
		Load: func() (*pick.Bundle, error) {
			if kept == nil {
				return job.LoadBundle(filepath.Join(root, ".ctxt", job.ActiveBundle))
			}
			return kept, nil
		},
		Keep: func(b *pick.Bundle) error { kept = b; return nil },
	}
}

// connect starts a server over two pipes of the operating system, and the SDK's client on the other ends.
func connect(t *testing.T, o Options) *sdk.ClientSession {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	toServer, fromClient, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	toClient, fromServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		err := Serve(context.Background(), toServer, fromServer, o)
		fromServer.Close()
		served <- err
	}()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(context.Background(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the server goes on without a client")
		}
	})
	return session
}

// call calls a tool and decodes its answer, which must be the same as structured content and as text.
func call[Out any](t *testing.T, s *sdk.ClientSession, tool string, args any) Out {
	t.Helper()
	res, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text := res.Content[0].(*sdk.TextContent).Text
	if res.IsError {
		t.Fatalf("%s: %s", tool, text)
	}
	var out Out
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if data, err := json.Marshal(res.StructuredContent); err != nil || len(data) > maxAnswer || !strings.HasPrefix(string(data), "{") {
		t.Fatalf("%s: %d bytes of structured content, %v", tool, len(data), err)
	}
	return out
}

// TestTypicalSession is what a coding agent does: search, activate, refine, explain, edit, look for what
// is missing, commit, assess.
func TestTypicalSession(t *testing.T) {
	r := project(t)
	s := connect(t, options(r.Dir))
	if got := s.InitializeResult(); got.ServerInfo.Name != "ctxt" || !strings.Contains(got.Instructions, "activate") {
		t.Errorf("the server says %+v", got.ServerInfo)
	}
	found := call[search.Response](t, s, "search_hints", map[string]any{"query": "retry", "limit": 7})
	if len(found.Results) != 1 || found.Results[0].Score != 7 || found.Source != search.Memory {
		t.Errorf("search_hints: %+v", found)
	}
	b := call[pick.Bundle](t, s, "activate", map[string]any{"task": "retry an upload after a timeout", "near_misses": 2})
	if len(b.Files) < 2 || b.Files[0].Path != "upload/retry.go" || len(b.Files[0].Regions) == 0 || b.Files[0].Reason == "" {
		t.Errorf("activate: %+v", b.Files)
	}
	d := call[job.Difference](t, s, "refine", map[string]any{"learned": "the quagga page describes it", "keywords": []string{"quagga"}, "drop": []string{"go.mod"}})
	if d.Bundle == nil || !strings.Contains(d.Task, "(quagga)") || d.Bundle.Asked == nil || d.Bundle.Asked.Dropped[0] != "go.mod" {
		t.Errorf("refine: %+v", d)
	}
	for _, f := range d.Bundle.Files {
		if f.Path == "go.mod" {
			t.Error("go.mod was dropped and is there")
		}
	}
	x := call[job.Explanation](t, s, "explain", map[string]any{"path": "docs/zoo.md"})
	sum := 0.0
	for _, p := range x.Parts {
		sum += p.Contribution
	}
	if x.Rank < 1 || len(x.Parts) != 6 || sum-x.Score > 1e-9 || x.Score-sum > 1e-9 {
		t.Errorf("explain: %+v", x)
	}
	r.Write("upload/retry.go", "package upload\n\nfunc Retry() int { return 99 }\n")
	k := call[job.CompanionsResult](t, s, "missing_companions", map[string]any{"title": "upload: retry more"})
	if len(k.Changed) != 1 || len(k.Companions) != 1 || k.Companions[0].Path != "upload/retry_test.go" {
		t.Errorf("missing_companions: %+v", k)
	}
	r.Commit("upload: retry more often")
	p := call[report.Report](t, s, "risk", map[string]any{"base": "HEAD~1"})
	if p.Title != "upload: retry more often" || len(p.Change.Files) != 1 || p.Risk == nil || len(p.Risk.Companions) != 1 || p.Context != nil {
		t.Errorf("risk: %+v", p)
	}
	if st := call[map[string]any](t, s, "status", nil); st["root"] != r.Dir {
		t.Errorf("status: %v", st)
	}
	if _, err := os.Lstat(filepath.Join(r.Dir, ".ctxt")); err == nil {
		t.Error("something was written although no call asked for it")
	}
}

// TestTools lists the tools: each has a description, a closed schema and truthful hints.
func TestTools(t *testing.T) {
	s := connect(t, options(t.TempDir()))
	res, err := s.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range res.Tools {
		names = append(names, tool.Name)
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil || !strings.Contains(string(schema), `"additionalProperties":false`) {
			t.Errorf("%s: schema %s (%v)", tool.Name, schema, err)
		}
		if tool.Description == "" || tool.Annotations.ReadOnlyHint == (tool.Name == "activate" || tool.Name == "refine") || *tool.Annotations.DestructiveHint || *tool.Annotations.OpenWorldHint {
			t.Errorf("%s: %q %+v", tool.Name, tool.Description, tool.Annotations)
		}
	}
	if got := strings.Join(names, " "); got != "activate explain missing_companions refine risk search_hints status" {
		t.Errorf("tools: %s", got)
	}
}

// TestErrorsAreToolErrors gives the model one line that says what to do next, and goes on.
func TestErrorsAreToolErrors(t *testing.T) {
	r := project(t)
	s := connect(t, options(r.Dir))
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"refine", map[string]any{"learned": "x"}, "there is no bundle yet; call activate"},
		{"explain", map[string]any{"path": "main.go"}, "there is no bundle yet"},
		{"explain", map[string]any{"path": "no/such.go", "task": "retry uploads"}, "no/such.go is not in the tree"},
		{"activate", map[string]any{"task": " "}, "the task is empty"},
		{"activate", map[string]any{"task": "x", "budget_tokens": 1_000_000}, "budget_tokens is 1000000; want 1 to 50000"},
		{"activate", map[string]any{"task": "x", "session": "../../etc/passwd"}, "session"},
		{"activate", map[string]any{"task": "x", "kind": "poem"}, "want change, issue or auto"},
		{"activate", map[string]any{"task": strings.Repeat("x", maxTask+1)}, "at most 65536 are read"},
		{"activate", map[string]any{"tusk": "x"}, "tusk"},
		{"activate", map[string]any{}, "task"},
		{"search_hints", map[string]any{"query": "x", "limit": 5000}, "limit is 5000; want 1 to 100"},
		{"search_hints", map[string]any{"query": "panic"}, "the tool failed: as asked"},
		{"risk", map[string]any{"base": "no-such"}, "no-such"},
		{"risk", map[string]any{"base": "--output=/tmp/x"}, "--output=/tmp/x"},
		{"missing_companions", map[string]any{"base": "no-such"}, "no-such"},
	} {
		res, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
		text := fmt.Sprint(err)
		if err == nil {
			text = res.Content[0].(*sdk.TextContent).Text
		}
		if err == nil && !res.IsError || !strings.Contains(text, c.want) || strings.Contains(text, "goroutine") {
			t.Errorf("%s %v: got %q, want %q", c.tool, c.args, text, c.want)
		}
	}
	call[map[string]any](t, s, "status", nil)
}

// TestCancellation ends a running call when its client gives up.
func TestCancellation(t *testing.T) {
	o := options(t.TempDir())
	begun, ended := make(chan bool), make(chan error, 1)
	o.Search = func(ctx context.Context, _ search.Request) (*search.Response, error) {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	s := connect(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "search_hints", Arguments: map[string]any{"query": "x"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the tool was not told")
	}
	call[map[string]any](t, s, "status", nil)
}

// TestBounded cuts answers that are too long for a model, and says what was cut.
func TestBounded(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 1<<10)
	b := &pick.Bundle{Version: 1, Task: "t"}
	for i := range 40 {
		b.Files = append(b.Files, pick.File{Path: fmt.Sprintf("f%02d.go", i), Regions: []pick.Region{{Start: 1, End: 9, Text: long}}})
	}
	d := &report.Report{}
	for i := range 30_000 {
		d.Change.Files = append(d.Change.Files, report.ChangedFile{Path: fmt.Sprintf("dir/f%d.go", i)})
	}
	sr := &search.Response{}
	for i := range 3000 {
		sr.Results = append(sr.Results, search.Result{Path: fmt.Sprintf("%d/%s", i, long[:200])})
	}
	for name, v := range map[string]any{"bundle": b, "refine": &job.Difference{Bundle: b}, "report": d, "search": sr} {
		got, err := bounded(v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		data, err := json.Marshal(got)
		if err != nil || len(data) > maxAnswer || !strings.Contains(string(data), "cut to fit an answer") {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	cut := cutBundle(b, maxAnswer)
	if len(cut.Files) != 40 || len(cut.Files[0].Regions) == 0 || len(cut.Files[39].Regions) != 0 || len(b.Files[39].Regions) == 0 {
		t.Errorf("the best files keep their text, and the given bundle stays: %d files", len(cut.Files))
	}
	if _, err := bounded(map[string]string{"x": strings.Repeat("y", maxAnswer)}); err == nil || !strings.Contains(err.Error(), "ask for less") {
		t.Errorf("an unknown answer that is too long: %v", err)
	}
}

// TestToolsEndWhenGivenUp gives each tool that reads the repository a call that its client has given up.
func TestToolsEndWhenGivenUp(t *testing.T) {
	r := project(t)
	s := &server{Options: options(r.Dir), docs: index.NewMemory(), last: &pick.Bundle{Version: 1, Task: "retry an upload", TaskKind: "change"}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() (any, error){
		"activate": func() (any, error) { return s.activate(ctx, activateArgs{Task: "retry an upload"}) },
		"refine":   func() (any, error) { return s.refine(ctx, refineArgs{Learned: "a timeout"}) },
		"explain": func() (any, error) {
			return s.explain(ctx, explainArgs{Path: "upload/retry.go", Task: "retry an upload"})
		},
		"missing_companions": func() (any, error) { return s.companions(ctx, companionArgs{Base: "HEAD~1"}) },
		"risk":               func() (any, error) { return s.risk(ctx, riskArgs{Base: "HEAD~1"}) },
	} {
		if _, err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s ended with %v", name, err)
		}
	}
}

// TestLongAnswersOverThePipe asks for more than an answer may hold: what arrives is cut, and says so.
func TestLongAnswersOverThePipe(t *testing.T) {
	r := project(t)
	for i := range 60 {
		var b strings.Builder
		for k := range 120 {
			fmt.Fprintf(&b, "retry the upload number %d after timeout %d of a store that is slow to answer\n", i, k)
		}
		r.Write(fmt.Sprintf("notes/retry%02d.txt", i), b.String())
	}
	r.Commit("notes: retry uploads")
	s := connect(t, options(r.Dir))
	b := call[pick.Bundle](t, s, "activate", map[string]any{"task": "retry an upload after a timeout", "budget_tokens": 50_000, "budget_files": 100})
	if len(b.Files) == 0 || len(b.Files[0].Regions) == 0 || !strings.Contains(strings.Join(b.Warnings, "\n"), "cut to fit an answer") {
		t.Errorf("%d files, warnings %q", len(b.Files), b.Warnings)
	}
	d := call[job.Difference](t, s, "refine", map[string]any{"learned": "it is slow to answer"})
	if d.Bundle == nil || !strings.Contains(strings.Join(d.Bundle.Warnings, "\n"), "cut to fit an answer") {
		t.Errorf("refine: %+v", d.Bundle)
	}
}

// TestTranscript compares a coding agent's session, as it stands on the pipe, with testdata/session.txt: the
// calls whole, of the answers what the agent acts on. UPDATE=1 rewrites the file.
func TestTranscript(t *testing.T) {
	r := project(t)
	s := connect(t, options(r.Dir))
	var out strings.Builder
	say := func(tool string, args map[string]any, shown func(answer map[string]any) []string) {
		t.Helper()
		data, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "> %s %s\n", tool, data)
		for _, line := range shown(call[map[string]any](t, s, tool, args)) {
			fmt.Fprintf(&out, "< %s\n", line)
		}
	}
	paths := func(key string) func(map[string]any) []string {
		return func(a map[string]any) (all []string) {
			list, _ := a[key].([]any)
			for _, x := range list[:min(len(list), 2)] {
				all = append(all, key+": "+x.(map[string]any)["path"].(string))
			}
			return all
		}
	}
	say("search_hints", map[string]any{"query": "retry"}, paths("results"))
	say("activate", map[string]any{"task": "retry an upload after a timeout"}, paths("files"))
	say("refine", map[string]any{"learned": "the quagga page describes it", "keywords": []string{"quagga"}, "drop": []string{"go.mod"}}, func(a map[string]any) []string {
		return slices.Concat(paths("added")(a), paths("removed")(a), paths("files")(a["bundle"].(map[string]any)))
	})
	fmt.Fprintln(&out, "(the agent edits upload/retry.go)")
	r.Write("upload/retry.go", "package upload\n\nfunc Retry() int { return 99 }\n")
	say("missing_companions", map[string]any{"title": "upload: retry more"}, paths("companions"))
	fmt.Fprintln(&out, "(the agent edits upload/retry_test.go)")
	r.Write("upload/retry_test.go", "package upload\n\nconst want = 99\n")
	say("missing_companions", map[string]any{"title": "upload: retry more"}, paths("companions"))
	fmt.Fprintln(&out, "(the agent commits)")
	r.Commit("upload: retry more often")
	say("risk", map[string]any{"base": "HEAD~1"}, func(a map[string]any) []string {
		return []string{"title: " + a["title"].(string), "verdict: " + a["verdict"].(map[string]any)["level"].(string)}
	})
	file := filepath.Join("testdata", "session.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != out.String() {
		t.Errorf("%v; the session is\n%s", err, out.String())
	}
}
