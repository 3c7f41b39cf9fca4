package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxt-dev/ctxt/index/store"
	"github.com/ctxt-dev/ctxt/index/synonyms"
)

// canaryKey must never be seen outside of one request header.
const canaryKey = "sk-or-v1-CanaryKey0123456789abcdef"

// llmFake is an OpenAI-compatible endpoint on loopback.
type llmFake struct {
	*httptest.Server
	mu    sync.Mutex
	names []string // asked for, in the order of the requests
	auth  []string
	fail  func(name string) int // status for a request that asks for this name; 0 answers it
}

func newLLMFake(t *testing.T) *llmFake {
	f := &llmFake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Messages []struct{ Content string } }
		var entries []struct{ Name string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Messages) != 2 {
			t.Errorf("request: %v", err)
			return
		}
		if err := json.Unmarshal([]byte(in.Messages[1].Content), &entries); err != nil {
			t.Errorf("entries: %v", err)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.auth = append(f.auth, r.Header.Get("Authorization"))
		answer := map[string][]string{}
		for _, e := range entries {
			f.names = append(f.names, e.Name)
			answer[e.Name] = []string{"alpha", "beta", "gamma", "delta", "zebra " + filepath.Base(e.Name)}
			if f.fail != nil {
				if code := f.fail(e.Name); code != 0 {
					w.WriteHeader(code)
					fmt.Fprintf(w, `{"error":{"message":"refused %s"}}`, r.Header.Get("Authorization"))
					return
				}
			}
		}
		content, _ := json.Marshal(answer)
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{
			"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": string(content)}}}})
	}))
	t.Cleanup(f.Close)
	return f
}

// asked returns the names asked for since the last call.
func (f *llmFake) asked() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := strings.Join(f.names, " ")
	f.names = nil
	return s
}

// llmProject is a folder with a configuration that names an endpoint.
func llmProject(t *testing.T, endpoint, more string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, store.ConfigFile, fmt.Sprintf("[common]\nbatch_size = 1\n%s\n[llm]\nendpoint = %q\nmodel = \"m\"\nparallel_requests = 1\napi_key_env = \"MY_KEY\"\n", more, endpoint))
	write(t, dir, "src/a.ts", "import x from './b'\nexport function first() {}\n")
	write(t, dir, "src/b.go", "package b\n\nfunc Second() {}\n")
	write(t, dir, "readme.md", "# hello\n")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// ctxt runs a command line in process and returns its exit code and what it printed.
func ctxt(t *testing.T, env map[string]string, dial func(context.Context, string, string) (net.Conn, error), args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	app := &App{Streams: Streams{In: strings.NewReader(""), Out: &out, Err: &errs},
		Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		LLM: func(c *synonyms.Config) {
			c.Dial = dial
			c.Retry.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		}}
	code = app.run(t.Context(), args)
	return code, out.String(), errs.String()
}

// noCanaryIn fails when the key, or a part of it, is in any text or in any file of a folder.
func noCanaryIn(t *testing.T, dir string, texts ...string) {
	t.Helper()
	check := func(what string, b []byte) {
		for i := 0; i+8 <= len(canaryKey); i++ {
			if bytes.Contains(bytes.ToLower(b), []byte(strings.ToLower(canaryKey[i:i+8]))) {
				t.Fatalf("%s holds a part of the key: %s", what, b)
			}
		}
	}
	for _, s := range texts {
		check("the output", []byte(s))
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		check(path, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func synonymsOf(t *testing.T, dir, path string) []string {
	t.Helper()
	x, err := store.Load(filepath.Join(dir, filepath.FromSlash(store.IndexFile)))
	if err != nil {
		t.Fatal(err)
	}
	n := x.Find(path)
	if n == nil {
		t.Fatalf("%s is not in the index", path)
	}
	return n.Synonyms
}

func TestSync(t *testing.T) {
	f := newLLMFake(t)
	dir := llmProject(t, f.URL+"/v1/chat/completions", "")
	env := map[string]string{"MY_KEY": canaryKey, "SOURCE_DATE_EPOCH": "1704164645"}
	run := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := ctxt(t, env, nil, args...)
		if code != want {
			t.Fatalf("%v: exit code %d\n%s%s", args, code, stdout, stderr)
		}
		noCanaryIn(t, dir, stdout, stderr)
		return stdout, stderr
	}
	expect := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: asked %q, want %q", what, got, want)
		}
	}
	run(0, "init", dir, "--offline")
	expect("init --offline", f.asked(), "")
	stdout, _ := run(0, "sync", dir, "--offline")
	if stdout != "synonyms: 4 entries missing, short or out of date; no request was made\n" {
		t.Errorf("%s", stdout)
	}

	// Files and folders, one request each.
	stdout, _ = run(0, "sync", dir)
	expect("first sync", f.asked(), "readme.md src src/a.ts src/b.go")
	if stdout != "synonyms: 4 entries generated in 4 requests; the rest was current\n" {
		t.Errorf("%s", stdout)
	}
	if got := fmt.Sprint(synonymsOf(t, dir, "src/a.ts")); got != "[alpha beta gamma delta zebra a.ts]" {
		t.Error(got)
	}
	if got := f.auth[0]; got != "Bearer "+canaryKey {
		t.Errorf("authorization %q", got)
	}
	run(0, "sync", dir)
	expect("nothing to do", f.asked(), "")

	// Symbols and, for TypeScript, imports count; bodies and the imports of Go do not.
	write(t, dir, "src/a.ts", "import x from './b'\nexport function first() { return 1 }\n")
	write(t, dir, "src/b.go", "package b\n\nimport \"fmt\"\n\nfunc Second() { fmt.Println() }\n")
	run(0, "sync", dir)
	expect("body edits", f.asked(), "")
	write(t, dir, "src/a.ts", "import x from './c'\nexport function first() { return 1 }\n")
	run(0, "sync", dir)
	expect("import edit", f.asked(), "src/a.ts")
	write(t, dir, "src/b.go", "package b\n\nfunc Third() {}\n")
	run(0, "sync", dir)
	expect("symbol edit", f.asked(), "src/b.go")

	// --path and --force.
	run(0, "sync", dir, "--path", "readme.md", "--force")
	expect("--path of a file", f.asked(), "readme.md")
	run(0, "sync", dir, "--path", "./src/", "--force")
	expect("--path of a folder", f.asked(), "src src/a.ts src/b.go")
	run(0, "sync", dir, "--path", filepath.Join(dir, "src", "a.ts"), "--force", "--batch-size", "0")
	expect("absolute --path", f.asked(), "src/a.ts")
	run(0, "sync", dir, "--force", "--batch-size", "0")
	expect("--batch-size 0", f.asked(), "readme.md src src/a.ts src/b.go")
	if n := len(f.auth); n != 4+2+1+3+1+1 {
		t.Errorf("%d requests", n)
	}
	if _, stderr := run(2, "sync", dir, "--path", "nowhere"); !strings.Contains(stderr, "nowhere is not in the index") {
		t.Error(stderr)
	}
	if _, stderr := run(2, "sync", dir, "--path", "../outside"); !strings.Contains(stderr, "is not in the index") {
		t.Error(stderr)
	}
	// An entry below the minimum is asked for again.
	run(0, "sync", dir, "--synonyms-min", "6", "--path", "src/a.ts")
	expect("short entries", f.asked(), "src/a.ts")
	// What search finds.
	stdout, _ = run(0, "search-hints", "--root", dir, "zebra", "--explain")
	if !strings.Contains(stdout, "syn exact +8: zebra") && !strings.Contains(stdout, "syn overlap +5: zebra a.ts") {
		t.Error(stdout)
	}
}

// TestSyncPartial: what was answered is kept, the exit code is 2, and the next run asks for the rest.
func TestSyncPartial(t *testing.T) {
	f := newLLMFake(t)
	dir := llmProject(t, f.URL+"/v1/chat/completions", "")
	env := map[string]string{"MY_KEY": canaryKey}
	ctxt(t, env, nil, "init", dir, "--offline")
	f.fail = func(name string) int {
		if name == "src/a.ts" {
			return http.StatusBadRequest
		}
		return 0
	}
	code, stdout, stderr := ctxt(t, env, nil, "sync", dir, "-v")
	noCanaryIn(t, dir, stdout, stderr)
	if code != 2 || !strings.Contains(stderr, "synonyms: 3 entries answered, 1 failed in 1 batches, 0 left out by the model: HTTP 400") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if !strings.Contains(stderr, "the answers that came are saved; run it again for the rest") {
		t.Error(stderr)
	}
	if len(synonymsOf(t, dir, "src/b.go")) != 5 || len(synonymsOf(t, dir, "src/a.ts")) != 0 {
		t.Error("the answers are not in the index")
	}
	f.asked()
	f.fail = nil
	if code, _, stderr := ctxt(t, env, nil, "sync", dir); code != 0 || f.asked() != "src/a.ts" {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	// init does the same with the cache.
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(store.CacheFile))); err != nil {
		t.Fatal(err)
	}
	f.fail = func(name string) int {
		if name == "src" {
			return http.StatusUnprocessableEntity
		}
		return 0
	}
	code, stdout, stderr = ctxt(t, env, nil, "init", dir)
	noCanaryIn(t, dir, stdout, stderr)
	if code != 2 || !strings.Contains(stderr, "3 entries answered, 1 failed") || len(synonymsOf(t, dir, "src/a.ts")) != 5 {
		t.Errorf("init: exit code %d\n%s%s", code, stdout, stderr)
	}
}

// TestKeyOrder: flag, api_key, api_key_env, LLM_API_KEY, OPENROUTER_API_KEY; an empty api_key, or no
// [llm] section, means no model.
func TestKeyOrder(t *testing.T) {
	f := newLLMFake(t)
	all := map[string]string{"MY_KEY": "from-my-key", "LLM_API_KEY": "from-llm", "OPENROUTER_API_KEY": "from-openrouter"}
	without := func(names ...string) map[string]string {
		env := map[string]string{}
		for k, v := range all {
			env[k] = v
		}
		for _, n := range names {
			delete(env, n)
		}
		return env
	}
	for _, tt := range []struct {
		name, config string
		env          map[string]string
		args         []string
		want         string
		code         int
	}{
		{"flag", `api_key = "from-config"`, all, []string{"--api-key", "from-flag"}, "Bearer from-flag", 0},
		{"config", `api_key = "from-config"`, all, nil, "Bearer from-config", 0},
		{"api_key_env", "", all, nil, "Bearer from-my-key", 0},
		{"LLM_API_KEY", "", without("MY_KEY"), nil, "Bearer from-llm", 0},
		{"OPENROUTER_API_KEY", "", without("MY_KEY", "LLM_API_KEY"), nil, "Bearer from-openrouter", 0},
		{"none, on loopback", "", nil, nil, "", 0},
		{"empty api_key", `api_key = ""`, all, nil, "", 2},
		{"empty api_key and the flag", `api_key = ""`, all, []string{"--api-key", "from-flag"}, "Bearer from-flag", 0},
	} {
		dir := llmProject(t, f.URL+"/v1/chat/completions", "")
		config, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(store.ConfigFile)))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, store.ConfigFile, string(config)+tt.config+"\n")
		ctxt(t, nil, nil, "init", dir, "--offline")
		f.auth = nil
		code, stdout, stderr := ctxt(t, tt.env, nil, append([]string{"sync", dir, "--path", "readme.md"}, tt.args...)...)
		if code != tt.code || strings.Join(f.auth, ",") != tt.want {
			t.Errorf("%s: exit code %d, authorization %q\n%s%s", tt.name, code, f.auth, stdout, stderr)
		}
		if strings.Contains(stdout+stderr, "from-flag") || strings.Contains(stdout+stderr, "from-config") {
			t.Errorf("%s: the key is printed:\n%s%s", tt.name, stdout, stderr)
		}
	}
	dir := llmProject(t, f.URL, "")
	write(t, dir, store.ConfigFile, "[common]\nverbose = false\n")
	if code, _, stderr := ctxt(t, all, nil, "init", dir); code != 0 || !strings.Contains(stderr, "the configuration uses no language model") {
		t.Errorf("no [llm] section: exit code %d\n%s", code, stderr)
	}
}

func TestEndpointRefused(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://example.com/v1/chat/completions":                    "plain HTTP is accepted only on loopback",
		"https://example.com/v1":                                    "must end in /chat/completions",
		"https://me:" + canaryKey + "@example.com/chat/completions": "user name or password",
	} {
		dir := llmProject(t, endpoint, "")
		for _, args := range [][]string{{"init", dir}, {"sync", dir}} {
			dial := func(context.Context, string, string) (net.Conn, error) {
				t.Error("dialled")
				return nil, io.EOF
			}
			code, stdout, stderr := ctxt(t, map[string]string{"MY_KEY": canaryKey}, dial, args...)
			if code != 2 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%v: exit code %d\n%s%s", args, code, stdout, stderr)
			}
			noCanaryIn(t, filepath.Join(dir, "src"), stdout, stderr)
		}
	}
}

// TestOfflineNeverDials: with --offline no command opens a connection, whatever the configuration says.
func TestOfflineNeverDials(t *testing.T) {
	dial := func(_ context.Context, network, address string) (net.Conn, error) {
		t.Errorf("dialled %s %s", network, address)
		return nil, errors.New("no")
	}
	dir := llmProject(t, "https://openrouter.ai/api/v1/chat/completions", "")
	env := map[string]string{"MY_KEY": canaryKey, "LLM_API_KEY": canaryKey, "OPENROUTER_API_KEY": canaryKey}
	for _, args := range [][]string{
		{"init", dir, "--offline"},
		{"init", dir, "--offline", "--api-key", canaryKey},
		{"sync", dir, "--offline", "--force", "--api-key", canaryKey},
		{"search-hints", "--root", dir, "first"},
		{"status", dir},
		{"doctor", dir},
	} {
		code, stdout, stderr := ctxt(t, env, dial, args...)
		if code > 1 {
			t.Errorf("%v: exit code %d\n%s%s", args, code, stdout, stderr)
		}
		noCanaryIn(t, dir, stdout, stderr)
	}
	// And without it the same dialer is the only way out.
	env[trustVariable] = "openrouter.ai"
	var dialled []string
	code, _, stderr := ctxt(t, env, func(_ context.Context, _, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		return nil, &net.OpError{Op: "dial", Err: errors.New("refused by the test")}
	}, "sync", dir, "--path", "readme.md")
	if code != 2 || len(dialled) != 4 || dialled[0] != "openrouter.ai:443" || !strings.Contains(stderr, "refused by the test") {
		t.Errorf("exit code %d, dialled %v\n%s", code, dialled, stderr)
	}
}

// TestWatchModel: watch asks a model only when told to, and never with --offline.
func TestWatchModel(t *testing.T) {
	for _, tt := range []struct {
		args []string
		asks bool
	}{
		{nil, false},
		{[]string{"--llm-on-watch", "--offline", "--api-key", canaryKey}, false},
		{[]string{"--llm-on-watch"}, true},
	} {
		f := newLLMFake(t)
		dir := llmProject(t, f.URL+"/v1/chat/completions", "")
		env := map[string]string{"MY_KEY": canaryKey}
		ctxt(t, env, nil, "init", dir, "--offline")
		var log bytes.Buffer
		lines := make(chan string, 1000)
		app := &App{Streams: Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.MultiWriter(&log, lineWriter(lines))},
			Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
		if !tt.asks {
			app.LLM = func(c *synonyms.Config) {
				c.Dial = func(context.Context, string, string) (net.Conn, error) {
					t.Errorf("%v: dialled", tt.args)
					return nil, io.EOF
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan int)
		go func() { done <- app.run(ctx, append([]string{"watch", dir, "--debounce", "5ms"}, tt.args...)) }()
		await(t, lines, "searches are answered on")
		write(t, dir, "src/b.go", "package b\n\nfunc Changed() {}\n")
		await(t, lines, "changed src/b.go")
		if tt.asks {
			await(t, lines, "synonyms of 1 files are new")
		}
		cancel()
		if code := <-done; code != 0 {
			t.Errorf("%v: exit code %d\n%s", tt.args, code, log.String())
		}
		noCanaryIn(t, dir, log.String())
		if got, want := f.asked(), map[bool]string{true: "src/b.go"}[tt.asks]; got != want {
			t.Errorf("%v: asked %q, want %q", tt.args, got, want)
		}
		if n := len(synonymsOf(t, dir, "src/b.go")); (n == 5) != tt.asks {
			t.Errorf("%v: %d synonyms", tt.args, n)
		}
	}
}

// lineWriter sends what is written to it to a channel.
type lineWriter chan string

func (l lineWriter) Write(b []byte) (int, error) { l <- string(b); return len(b), nil }

// await reads lines until one holds the text.
func await(t *testing.T, lines <-chan string, text string) {
	t.Helper()
	for {
		select {
		case s := <-lines:
			if strings.Contains(s, text) {
				return
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no line with %q came", text)
		}
	}
}
