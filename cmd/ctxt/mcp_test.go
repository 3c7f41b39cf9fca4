package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPProgram speaks with the program as an agent does: it starts ctxt mcp and calls its tools. The
// answers are what the commands print, and a running watch answers the searches.
func TestMCPProgram(t *testing.T) {
	repo := sampleRepository(t)
	ctxt := func(args ...string) *exec.Cmd {
		cmd := exec.Command("ctxt", args...)
		cmd.Dir, cmd.Env = repo.Dir, append(os.Environ(), "HOME="+t.TempDir())
		return cmd
	}
	output := func(args ...string) string {
		t.Helper()
		out, err := ctxt(args...).Output()
		if err != nil {
			t.Fatalf("ctxt %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	output("init", ".", "--offline")
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.CommandTransport{Command: ctxt("mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool string, args map[string]any) any {
		t.Helper()
		res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		text := res.Content[0].(*mcp.TextContent).Text
		if res.IsError {
			t.Fatalf("%s: %s", tool, text)
		}
		return decoded(t, text)
	}
	same := func(what string, tool any, command string) {
		t.Helper()
		if got, want := encoded(t, tool), encoded(t, decoded(t, command)); got != want {
			t.Errorf("%s: the tool answers\n%s\nand the command\n%s", what, got, want)
		}
	}
	same("search_hints", call("search_hints", map[string]any{"query": "store entries"}), output("search-hints", "store entries", "--json"))
	same("status", call("status", nil), output("status", "--json"))

	task := "keep the entries of the store sorted"
	call("activate", map[string]any{"task": task, "write": true})
	written, err := os.ReadFile(repo.Dir + "/.ctxt/active-bundle.json")
	if err != nil {
		t.Fatal(err)
	}
	output("activate", "--task", task)
	again, err := os.ReadFile(repo.Dir + "/.ctxt/active-bundle.json")
	if err != nil || string(again) != string(written) {
		t.Errorf("the tool and the command write different bundles (%v):\n%s\n%s", err, written, again)
	}

	stop := startWatch(t, ctxt("watch", "."))
	answer := call("search_hints", map[string]any{"query": "store entries"}).(map[string]any)
	if answer["source"] != "memory" {
		t.Errorf("with a watch running the answer comes from %v", answer["source"])
	}
	stop()
	answer = call("search_hints", map[string]any{"query": "store entries"}).(map[string]any)
	if answer["source"] != "snapshot" {
		t.Errorf("without a watch the answer comes from %v", answer["source"])
	}
	if err := session.Close(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// startWatch starts a watch and returns when it answers; the function that it gives ends it.
func startWatch(t *testing.T, cmd *exec.Cmd) (stop func()) {
	t.Helper()
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(errs)
	for lines.Scan() && !strings.Contains(lines.Text(), "searches are answered on") {
	}
	drained := make(chan bool)
	go func() {
		for lines.Scan() {
		}
		close(drained)
	}()
	ended := false
	stop = func() {
		if ended {
			return
		}
		ended = true
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Errorf("end the watch: %v", err)
		}
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("the watch ended with %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}
