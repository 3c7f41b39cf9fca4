package synonyms

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const canary = "sk-or-v1-CanaryKey0123456789abcdef"

// ask is one request as a fake saw it.
type ask struct {
	Model       string
	Temperature float64
	Auth        string
	Path        string
	System      string
	Entries     []entry
}

// fake is an endpoint that records what it is asked and answers by a func.
type fake struct {
	*httptest.Server
	mu   sync.Mutex
	asks []ask
}

// newFake starts an endpoint on loopback. Anything but a POST of a well-formed chat completion fails
// the test.
func newFake(t *testing.T, answer func(n int, a ask, w http.ResponseWriter, r *http.Request)) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		a, perr := parseAsk(r, body)
		if err != nil || perr != nil {
			t.Errorf("request: %v, %v", err, perr)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		f.mu.Lock()
		f.asks = append(f.asks, a)
		n := len(f.asks)
		f.mu.Unlock()
		answer(n, a, w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func parseAsk(r *http.Request, body []byte) (ask, error) {
	a := ask{Auth: r.Header.Get("Authorization"), Path: r.URL.Path}
	if r.Method != http.MethodPost {
		return a, fmt.Errorf("method %s", r.Method)
	}
	var in struct {
		Model       string
		Temperature float64
		Messages    []struct{ Role, Content string }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return a, err
	}
	if len(in.Messages) != 2 || in.Messages[0].Role != "system" || in.Messages[1].Role != "user" {
		return a, fmt.Errorf("messages: %+v", in.Messages)
	}
	a.Model, a.Temperature, a.System = in.Model, in.Temperature, in.Messages[0].Content
	return a, json.Unmarshal([]byte(in.Messages[1].Content), &a.Entries)
}

func (f *fake) seen() []ask {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]ask(nil), f.asks...)
}

func (f *fake) endpoint() string { return f.URL + "/v1/chat/completions" }

// say writes a chat completion with this content.
func say(w http.ResponseWriter, content, finish string) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"id": "1", "object": "chat.completion", "created": 1, "model": "m",
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish,
			"message": map[string]any{"role": "assistant", "content": content}}},
	})
}

// good answers every entry with n synonyms.
func good(a ask, n int) string {
	out := map[string][]string{}
	for _, e := range a.Entries {
		for i := range n {
			out[e.Name] = append(out[e.Name], fmt.Sprintf("word%d", i))
		}
	}
	b, _ := json.Marshal(out)
	return string(b)
}

// waits records the pauses that a client would have made.
type waits struct {
	mu sync.Mutex
	d  []time.Duration
}

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.d = append(w.d, d)
	return ctx.Err()
}

func testClient(t *testing.T, endpoint string, change func(*Config)) (*Client, *waits) {
	t.Helper()
	w := &waits{}
	c := Config{Endpoint: endpoint, Model: "m", Key: canary, Temperature: 0.9, Retry: Retry{Sleep: w.sleep}}
	if change != nil {
		change(&c)
	}
	cl, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl, w
}

func items(n int) []Item {
	out := make([]Item, n)
	for i := range out {
		out[i] = Item{Path: fmt.Sprintf("src/f%03d.ts", i), Symbols: []string{"Foo"}, Imports: []string{"./bar"}}
	}
	return out
}

// noCanary fails when any text holds a part of the key.
func noCanary(t *testing.T, what string, texts ...string) {
	t.Helper()
	for _, s := range texts {
		for i := 0; i+8 <= len(canary); i++ {
			if strings.Contains(strings.ToLower(s), strings.ToLower(canary[i:i+8])) {
				t.Fatalf("%s repeats a part of the key: %q", what, s)
			}
		}
	}
}
