package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/watch"
)

// run runs one command line without an environment.
func run(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(context.Background(), args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs},
		func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	return code, out.String(), errs.String()
}

// folder makes a project.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestSchemas checks what --json prints against docs/schema.
func TestSchemas(t *testing.T) {
	root := folder(t, map[string]string{"auth/login.go": "package auth\n\nfunc Login() {}\n", "bad.go": "package b\nfunc {{{\n"})
	commands := []struct {
		schema string
		args   []string
		code   int
	}{
		{"status", []string{"status", root, "--json"}, 0},
		{"doctor", []string{"doctor", root, "--json"}, 0},
		{"clean", []string{"clean", root, "--json"}, 0},
		{"", []string{"init", root, "--offline"}, 0},
		{"status", []string{"status", root, "--json"}, 0},
		{"doctor", []string{"doctor", root, "--json"}, 0},
		{"search-hints", []string{"search-hints", "--root", root, "login auth", "--json"}, 0},
		{"search-hints", []string{"search-hints", "--root", root, "login auth", "--json", "--explain", "--show-tokens"}, 0},
		{"search-hints", []string{"search-hints", "--root", root, "login auth", "--json", "--dir-summary", "--explain"}, 0},
		{"search-hints", []string{"search-hints", "--root", root, "zebra", "--json", "--hybrid"}, 0},
		{"clean", []string{"clean", root, "--json", "--dry-run"}, 0},
	}
	for _, c := range commands {
		code, out, errs := run(t, nil, c.args...)
		if code != c.code {
			t.Fatalf("%v: exit code %d: %s", c.args, code, errs)
		}
		if c.schema == "" {
			continue
		}
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "..", "docs", "schema", c.schema+".json"))
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
		if err != nil {
			t.Fatalf("%v: %v\n%s", c.args, err, out)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
}

// TestWriterRefusesOthers holds the lock and runs what would write.
func TestWriterRefusesOthers(t *testing.T) {
	root := folder(t, map[string]string{"a.go": "package a\n", ".ctxt/x": ""})
	w, err := store.Lock(root)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("ctxt: ctxt process %d is writing this project's index", os.Getpid())
	for _, args := range [][]string{{"init", root, "--offline"}, {"clean", root}, {"clean", root, "--dry-run"}} {
		if code, _, errs := run(t, nil, args...); code != ExitError || !strings.Contains(errs, want) {
			t.Errorf("%v: exit code %d, %s", args, code, errs)
		}
	}
	if !exists(filepath.Join(root, ".ctxt", "x")) {
		t.Error("clean removed a folder that is being written")
	}
	if _, out, _ := run(t, nil, "status", root); !strings.Contains(out, fmt.Sprintf("writer   process %d", os.Getpid())) {
		t.Errorf("status: %s", out)
	}
	w.Unlock()
	os.WriteFile(filepath.Join(root, store.LockDir, "owner"), []byte("999999\n"), 0o644)
	if _, out, _ := run(t, nil, "status", root); !strings.Contains(out, "process 999999 ended without releasing") {
		t.Errorf("status: %s", out)
	}
	code, _, errs := run(t, nil, "init", root, "--offline")
	if code != 0 || !strings.Contains(errs, "process 999999 ended without releasing .ctxt-writer; the lock is taken over") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestManyFiles checks the note from 5,000 files on.
func TestManyFiles(t *testing.T) {
	root := t.TempDir()
	for i := range manyFiles {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("f%d.txt", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const note = "narrower ignores may help"
	if code, _, errs := run(t, nil, "init", root, "--no-config-prompt", "--offline"); code != 0 || !strings.Contains(errs, "5000 files: "+note) {
		t.Errorf("exit code %d: %s", code, errs)
	}
	os.Remove(filepath.Join(root, "f0.txt"))
	if code, _, errs := run(t, nil, "init", root, "--no-config-prompt", "--offline"); code != 0 || strings.Contains(errs, note) {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// fakeLLM answers every name with two synonyms, and fails the requests that mention fail.
func fakeLLM(t *testing.T, fail string) (url string, requests *atomic.Int32) {
	t.Helper()
	requests = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if got := r.Header.Get("Authorization"); got != "Bearer sk-test-canary-0123456789" {
			t.Errorf("authorization %q", got)
		}
		var body struct {
			Messages []struct{ Content string } `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		text := body.Messages[len(body.Messages)-1].Content
		if fail != "" && strings.Contains(text, fail) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answer := map[string][]string{}
		for _, name := range []string{"login.go", "auth/login.go", "auth", "broken.go"} {
			if strings.Contains(text, `"`+name+`"`) {
				answer[name] = []string{"sign in", "session", "access", "credentials", "identity"}
			}
		}
		content, _ := json.Marshal(answer)
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": string(content)}, "finish_reason": "stop"}}})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1/chat/completions", requests
}

// TestInitSynonyms runs init against a local endpoint: answers are stored in index and cache, the
// key is in neither nor in any message, and a second run asks nothing.
func TestInitSynonyms(t *testing.T) {
	url, requests := fakeLLM(t, "")
	root := folder(t, map[string]string{"auth/login.go": "package auth\n\nfunc Login() {}\n",
		".ctxt/ctx_config.toml": "[llm]\nendpoint = \"" + url + "\"\nmodel = \"m\"\n"})
	env := map[string]string{"OPENROUTER_API_KEY": "sk-test-canary-0123456789"}
	code, out, errs := run(t, env, "init", root)
	if code != 0 || requests.Load() == 0 {
		t.Fatalf("exit code %d, %d requests: %s", code, requests.Load(), errs)
	}
	index, _ := os.ReadFile(filepath.Join(root, ".ctxt", "ctx_index.json"))
	cache, _ := os.ReadFile(filepath.Join(root, ".ctxt", "ctx_cache.json"))
	if !bytes.Contains(index, []byte(`"full_path":"auth/login.go","type":"file","size":30,"symbols":["Login"],"synonyms":["sign in"`)) {
		t.Errorf("index: %s", index)
	}
	for _, text := range []string{out, errs, string(index), string(cache)} {
		if strings.Contains(text, "canary") {
			t.Errorf("the key is in: %s", text)
		}
	}
	before := requests.Load()
	if code, _, errs := run(t, env, "init", root); code != 0 || requests.Load() != before {
		t.Errorf("second run: exit code %d, %d more requests: %s", code, requests.Load()-before, errs)
	}
	if code, out, _ := run(t, nil, "search-hints", "--root", root, "credentials"); code != 0 || !strings.Contains(out, "auth/login.go") {
		t.Errorf("search by synonym: %s", out)
	}
}

// TestInitPartialSuccess fails one batch: the other's answers and the index are kept, the exit code is not 0.
func TestInitPartialSuccess(t *testing.T) {
	url, _ := fakeLLM(t, "broken.go")
	root := folder(t, map[string]string{"login.go": "package a\n", "broken.go": "package a\n",
		".ctxt/ctx_config.toml": "[llm]\nendpoint = \"" + url + "\"\n"})
	code, _, errs := run(t, map[string]string{"LLM_API_KEY": "sk-test-canary-0123456789"}, "init", root, "--batch-size", "1")
	if code != ExitError || !strings.Contains(errs, "the index and the answers that came are saved; ask for the rest with: ctxt sync .") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	x, err := store.Load(filepath.Join(root, ".ctxt", "ctx_index.json"))
	if err != nil || len(x.Find("login.go").Synonyms) == 0 || len(x.Find("broken.go").Synonyms) != 0 {
		t.Errorf("index: %+v %v", x, err)
	}
	cache, err := store.LoadCache(filepath.Join(root, ".ctxt", "ctx_cache.json"))
	if err != nil || len(cache.Entries) != 1 {
		t.Errorf("cache: %+v %v", cache, err)
	}
}

// TestInitOffline gives every reason to connect and counts connections.
func TestInitOffline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var connections atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			c.Close()
		}
	}()
	root := folder(t, map[string]string{"a.go": "package a\n",
		".ctxt/ctx_config.toml": "[llm]\nendpoint = \"http://" + l.Addr().String() + "/v1/chat/completions\"\napi_key = \"k\"\n"})
	code, _, errs := run(t, map[string]string{"OPENROUTER_API_KEY": "k"}, "init", root, "--offline", "--api-key", "k")
	if code != 0 || connections.Load() != 0 {
		t.Errorf("exit code %d, %d connections: %s", code, connections.Load(), errs)
	}
}

// TestSearchMemory answers in the place of a watch: the request arrives with its token, the answer is
// printed, and faults lead to the index file or, with --memory-only, to an error.
func TestSearchMemory(t *testing.T) {
	root := folder(t, map[string]string{"snapshot.go": "package a\n"})
	if code, _, errs := run(t, nil, "init", root, "--offline", "--quiet"); code != 0 {
		t.Fatal(errs)
	}
	token := strings.Repeat("ab", 32)
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req search.Request
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || r.Method != http.MethodPost || r.URL.Path != "/search" ||
			r.Header.Get("Authorization") != "Bearer "+token {
			t.Errorf("%s %s %v: %v", r.Method, r.URL, r.Header, err)
		}
		if req.Query != "live" || req.Limit != 3 || req.Type != search.Files || req.MinScore != 2 {
			t.Errorf("request %+v", req)
		}
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(search.Response{Version: search.ResponseVersion, Query: req.Query, Source: search.Memory,
			Timestamp: "2024-01-02T03:04:05Z", Results: []search.Result{{Path: "live\x1b.go", Type: "file", Score: 24}}})
	}))
	defer s.Close()
	runtimeFile := filepath.Join(root, ".ctxt", "ctx_runtime.json")
	write := func(owner string) {
		text := fmt.Sprintf(`{"version":%d,"address":%q,"token":%q,"pid":1,"root_path":%q,"started":"2024-01-02T03:04:05Z"}`,
			watch.RuntimeVersion, s.Listener.Addr(), token, owner)
		if err := os.WriteFile(runtimeFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"search-hints", "--root", root, "live", "--limit", "3", "--type", "files", "--min-score", "2"}
	write(root)
	code, out, errs := run(t, nil, append(args, "--memory-only")...)
	if code != 0 || out != " 1. live\\x1b.go  24\n" {
		t.Errorf("exit code %d: %q %s", code, out, errs)
	}
	if _, out, _ = run(t, nil, append(args, "--json")...); !strings.Contains(out, `"source": "memory"`) {
		t.Errorf("JSON: %s", out)
	}
	if _, out, _ = run(t, nil, append(args, "--memory=false", "--json")...); !strings.Contains(out, `"source": "snapshot"`) {
		t.Errorf("--memory=false: %s", out)
	}
	// The watch of another project is not asked, unless its file is named.
	write("/elsewhere")
	if _, out, errs = run(t, nil, append(args, "--json")...); !strings.Contains(out, `"source": "snapshot"`) || !strings.Contains(out, "belongs to /elsewhere") {
		t.Errorf("foreign watch: %s %s", out, errs)
	}
	if _, out, _ = run(t, nil, append(args, "--json", "--runtime-file", runtimeFile)...); !strings.Contains(out, `"source": "memory"`) {
		t.Errorf("--runtime-file: %s", out)
	}
	// A watch that fails: the index file answers, or the command fails.
	write(root)
	status = http.StatusInternalServerError
	if code, out, _ = run(t, nil, append(args, "--json")...); code != 0 || !strings.Contains(out, `"source": "snapshot"`) {
		t.Errorf("failing watch: exit code %d: %s", code, out)
	}
	if code, _, errs = run(t, nil, append(args, "--memory-only")...); code != ExitError || errs == "" {
		t.Errorf("failing watch, --memory-only: exit code %d: %s", code, errs)
	}
}

// TestNoRipgrep leaves PATH empty.
func TestNoRipgrep(t *testing.T) {
	root := folder(t, map[string]string{"a.go": "package a\n"})
	if code, _, errs := run(t, nil, "init", root, "--offline", "--quiet"); code != 0 {
		t.Fatal(errs)
	}
	t.Setenv("PATH", "")
	code, _, errs := run(t, nil, "search-hints", "--root", root, "zebra", "--hybrid")
	if code != ExitError || !strings.Contains(errs, "ripgrep (rg) is not installed or not on PATH; install it, or leave --hybrid out") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if _, out, _ := run(t, nil, "doctor", root); !strings.Contains(out, "warn  ripgrep         no rg program") {
		t.Errorf("doctor: %s", out)
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"a/b c.go":        "a/b c.go",
		"ünï/日本.go":       "ünï/日本.go",
		"a\x1b[31mb":      `a\x1b[31mb`,
		"a\nb\tc\rd":      `a\nb\tc\rd`,
		"a\u202eb\u200bc": `a\u202eb\u200bc`,
		"\xffa\ufffd":     `\xffa\ufffd`,
		"\u0085\u2028":    `\u0085\u2028`,
		"::add-mask::x":   `\x3a:add-mask::x`,
		"  ::error::y":    `  \x3a:error::y`,
		"\t::error::y":    `\t::error::y`,
		"x ##[error]y":    `x ##\x5berror]y`,
		"a::b ## [c]":     "a::b ## [c]",
		"\U000e0041":      `\U000e0041`,
	} {
		if got := visible(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
