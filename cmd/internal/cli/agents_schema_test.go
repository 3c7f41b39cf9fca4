package cli

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxt-dev/ctxt/cmd/internal/mcp"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

func agentsProject(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	for _, n := range []string{"one", "two", "three", "four", "five", "six"} {
		r.Write("store/store.go", "package store\n\n// Entries lists "+n+" entries.\nfunc Entries() {}\n")
		r.Write("store/store_test.go", "package store\n\nvar "+n+" = 1\n")
		r.Commit("store: hold " + n + " entries")
	}
	return r
}

// TestAgentSchemas checks what refine, session, scan and agent print against docs/schema.
func TestAgentSchemas(t *testing.T) {
	r := agentsProject(t)
	r.Write("draft.md", "uncommitted\n")
	for _, c := range []struct {
		schema string
		args   []string
	}{
		{"scan", []string{"scan"}},
		{"agent", []string{"agent", "install"}},
		{"agent", []string{"agent", "remove", "--dry-run"}},
		{"session", []string{"session", "init", "work"}},
		{"", []string{"activate", "--session", "work", "--task", "list the entries of the store"}},
		{"refine", []string{"refine", "--learned", "three of them", "--drop", "draft.md"}},
		{"session-progress", []string{"session", "progress"}},
		{"session-summary", []string{"session", "summary"}},
		{"missing-companions", []string{"companions"}},
		{"session-list", []string{"session", "list"}},
		{"session-cleanup", []string{"session", "cleanup", "--dry-run"}},
	} {
		args := append(c.args, "--root", r.Dir)
		if c.schema != "" {
			args = append(args, "--json")
		}
		if c.args[0] == "session" && c.args[1] == "progress" {
			r.Write("store/store.go", "package store\n")
			r.Remove("draft.md")
		}
		code, out, errs := run(t, nil, args...)
		if code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, errs)
		}
		if c.schema == "" {
			continue
		}
		if err := validate(t, c.schema+".json", []byte(out)); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// TestToolSchemas checks what the tools answer against docs/schema.
func TestToolSchemas(t *testing.T) {
	r := agentsProject(t)
	if code, _, errs := run(t, nil, "init", r.Dir, "--offline"); code != 0 {
		t.Fatal(errs)
	}
	r.Write("store/store.go", "package store\n\nfunc Entries() int { return 1 }\n")
	app := &App{Streams: Streams{Err: io.Discard}, Getenv: func(string) (string, bool) { return "", false }}
	p, err := app.openProject(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	server, client := sdk.NewInMemoryTransports()
	ss, err := mcp.New(app.mcpOptions(p, "")).Connect(context.Background(), server, nil)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cs.Close(); err != nil {
			t.Error(err)
		}
		if err := ss.Wait(); err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct {
		tool, schema string
		args         map[string]any
	}{
		{"search_hints", "search-hints.json", map[string]any{"query": "store", "explain": true}},
		{"activate", "bundle.json", map[string]any{"task": "list the entries of the store"}},
		{"refine", "refine.json", map[string]any{"learned": "three of them"}},
		{"explain", "explain.json", map[string]any{"path": "store/store.go"}},
		{"missing_companions", "missing-companions.json", nil},
		{"risk", "report.schema.json", map[string]any{"base": "HEAD~1"}},
		{"status", "status.json", nil},
	} {
		res, err := cs.CallTool(context.Background(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			t.Fatal(err)
		}
		text := res.Content[0].(*sdk.TextContent).Text
		if res.IsError || !json.Valid([]byte(text)) || !strings.HasPrefix(text, `{"version":`) {
			t.Errorf("%s: %s", c.tool, text)
		}
		if err := validate(t, c.schema, []byte(text)); err != nil {
			t.Errorf("%s: %v\n%s", c.tool, err, text)
		}
	}
}
