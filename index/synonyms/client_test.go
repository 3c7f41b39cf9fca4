package synonyms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestGenerate(t *testing.T) {
	f := newFake(t, func(_ int, a ask, w http.ResponseWriter, _ *http.Request) { say(w, good(a, 6), "stop") })
	c, w := testClient(t, f.endpoint(), nil)
	var batches int
	res, err := c.Generate(t.Context(), append(items(130), Item{Path: "src", Dir: true, Children: []string{"f000.ts"}}), func(b Batch) {
		batches++
		if b.Total != 131 || b.Done > b.Total || b.Asked == 0 {
			t.Errorf("progress: %+v", b)
		}
	})
	if err != nil || res.Err() != nil {
		t.Fatal(err, res.Err())
	}
	if len(res.Synonyms) != 131 || res.Requests != 3 || batches != 3 || len(w.d) != 0 {
		t.Errorf("%d synonyms, %d requests, %d batches, waits %v", len(res.Synonyms), res.Requests, batches, w.d)
	}
	if diff := cmp.Diff([]string{"word0", "word1", "word2", "word3", "word4", "word5"}, res.Synonyms["src/f007.ts"]); diff != "" {
		t.Error(diff)
	}
	for _, a := range f.seen() {
		if a.Auth != "Bearer "+canary || a.Path != "/v1/chat/completions" || a.Model != "m" || a.Temperature != 0.9 {
			t.Errorf("request: %+v", a)
		}
		noCanary(t, "the prompt", a.System)
		for _, e := range a.Entries {
			switch {
			case e.Name == "src" && (e.Kind != "folder" || len(e.Children) != 1):
				t.Errorf("folder: %+v", e)
			case e.Name != "src" && (e.Kind != "file" || e.Symbols[0] != "Foo" || e.Imports[0] != "./bar"):
				t.Errorf("file: %+v", e)
			}
		}
	}
}

func TestParallelRequests(t *testing.T) {
	// Ten requests must be under way at once for the first to be answered.
	all := make(chan struct{})
	var n, most, now atomic.Int32
	f := newFake(t, func(_ int, a ask, w http.ResponseWriter, _ *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		if n.Add(1) == 10 {
			close(all)
		}
		<-all
		now.Add(-1)
		say(w, good(a, 5), "stop")
	})
	c, _ := testClient(t, f.endpoint(), func(c *Config) { c.BatchSize = 1 })
	res, err := c.Generate(t.Context(), items(25), nil)
	if err != nil || len(res.Synonyms) != 25 || res.Requests != 25 {
		t.Fatal(err, res)
	}
	if most.Load() > 10 {
		t.Errorf("%d requests at once", most.Load())
	}
}

// TestMisbehaving is the table of what an endpoint may do wrong; every row sends one batch of four.
func TestMisbehaving(t *testing.T) {
	status := func(code int, header ...string) func(int, ask, http.ResponseWriter, *http.Request) {
		return func(_ int, _ ask, w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"error":{"message":"no, %s"}}`, r.Header.Get("Authorization"))
		}
	}
	text := func(s, finish string) func(int, ask, http.ResponseWriter, *http.Request) {
		return func(_ int, _ ask, w http.ResponseWriter, _ *http.Request) { say(w, s, finish) }
	}
	// then misbehaves first and answers well from the second request on.
	then := func(bad func(int, ask, http.ResponseWriter, *http.Request)) func(int, ask, http.ResponseWriter, *http.Request) {
		return func(n int, a ask, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				bad(n, a, w, r)
				return
			}
			say(w, good(a, 5), "stop")
		}
	}
	cut := func(_ int, _ ask, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte(`{"choices":[`))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	slow := func(_ int, _ ask, w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	huge := func(_ int, _ ask, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		chunk := []byte(strings.Repeat(" ", 1<<20))
		for range 100 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	tests := []struct {
		name     string
		answer   func(int, ask, http.ResponseWriter, *http.Request)
		synonyms int
		requests int
		waits    []time.Duration // upper bounds
		want     string          // in Result.Err; empty: no error
	}{
		{"429 with Retry-After, then well", then(status(429, "Retry-After", "7")), 4, 2, []time.Duration{7 * time.Second}, ""},
		{"429 without Retry-After, then well", then(status(429)), 4, 2, []time.Duration{time.Second}, ""},
		{"429 with an hour", status(429, "Retry-After", "3600"), 0, 1, nil, "the server asks to wait 1h0m0s"},
		{"429 for ever", status(429), 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "HTTP 429 Too Many Requests"},
		{"500, then well", then(status(500)), 4, 2, []time.Duration{time.Second}, ""},
		{"503 with a page", func(_ int, _ ask, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
			fmt.Fprint(w, "<html>busy")
		}, 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "HTTP 503 Service Unavailable"},
		{"401 echoes the key", status(401), 0, 1, nil, "HTTP 401 Unauthorized (the message repeats a part of the key and is withheld)"},
		{"400", func(_ int, _ ask, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			fmt.Fprint(w, "{\"error\":{\"message\":\"no such model\\n::error::x\\u001b[31m\"}}")
		}, 0, 1, nil, "HTTP 400 Bad Request: no such model ::error::x[31m"},
		{"cut connection, then well", then(cut), 4, 2, []time.Duration{time.Second}, ""},
		{"cut connection for ever", cut, 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "unexpected EOF"},
		{"slow, then well", then(slow), 4, 2, []time.Duration{time.Second}, ""},
		{"slow for ever", slow, 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "no answer within 50ms"},
		{"100 MB", huge, 0, 1, nil, "answer larger than 4194304 bytes"},
		{"100 MB of error", func(n int, a ask, w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(400)
			huge(n, a, w, r)
		}, 0, 1, nil, "HTTP 400 Bad Request"},
		{"announced 100 MB", func(_ int, _ ask, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "104857600")
			panic(http.ErrAbortHandler)
		}, 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "EOF"},
		{"not JSON", text("Sure! Here are your synonyms.", "stop"), 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "not the JSON object"},
		{"text before JSON", text(`Sure: {"src/f000.ts":["one"]}`, "stop"), 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "not the JSON object"},
		{"text after JSON", text(`{"src/f000.ts":["one"]} Done.`, "stop"), 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "not the JSON object"},
		{"array", text(`["one"]`, "stop"), 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "not the JSON object"},
		{"null", text(`null`, "stop"), 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "not the JSON object"},
		{"deep", text(strings.Repeat("[", 100000), "stop"), 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "not the JSON object"},
		{"HTML with 200", func(_ int, _ ask, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, 0, 4,
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "not a chat completion"},
		{"200 with an error inside", func(_ int, _ ask, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"error":{"message":"upstream is down","code":502}}`)
		}, 0, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "upstream is down"},
		{"fenced", then(text("```json\n{\"src/f000.ts\":[\"one\",\"two\",\"three\",\"four\",\"five\"]}\n```", "stop")), 1, 1, nil, "3 left out by the model"},
		{"fewer names and an unknown one", text(`{"src/f001.ts":["one"],"other":["x1"],"src/f002.ts":"two"}`, "stop"), 1, 1, nil, "3 left out by the model"},
		{"out of room: halved twice", func(_ int, a ask, w http.ResponseWriter, _ *http.Request) {
			if len(a.Entries) > 1 {
				say(w, `{"src/f000.ts":["on`, "length")
				return
			}
			say(w, good(a, 5), "stop")
		}, 4, 7, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, tt.answer)
			c, w := testClient(t, f.endpoint(), func(c *Config) {
				if strings.HasPrefix(tt.name, "slow") {
					c.Timeout = 50 * time.Millisecond
				}
			})
			res, err := c.Generate(t.Context(), items(4), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Synonyms) != tt.synonyms || res.Requests != tt.requests {
				t.Errorf("%d synonyms of %d requests, want %d of %d", len(res.Synonyms), res.Requests, tt.synonyms, tt.requests)
			}
			checkWaits(t, w.d, tt.waits)
			got := fmt.Sprint(res.Err())
			if (res.Err() == nil) != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("error %q, want %q", got, tt.want)
			}
			if strings.ContainsAny(got, "\n\r\x1b") {
				t.Errorf("control character in %q", got)
			}
			noCanary(t, "the error", got, fmt.Sprintf("%+v", res))
		})
	}
}

func checkWaits(t *testing.T, got, want []time.Duration) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("waits %v, want %v", got, want)
		return
	}
	for i := range got {
		if got[i] > want[i] || got[i] < want[i]*3/4-1 {
			t.Errorf("waits %v, want %v less up to a quarter", got, want)
		}
	}
}

func TestCounts(t *testing.T) {
	f := newFake(t, func(_ int, _ ask, w http.ResponseWriter, _ *http.Request) {
		say(w, `{"src/f000.ts":["one"],"src/f001.ts":["a1","b1","c1","d1","e1","f1","g1","h1","i1","j1","k1","l1","m1","n1"],`+
			`"src/f002.ts":[],"ghost":["boo"],"src/f003.ts":["<img src=x>","`+canary+`","ok then","\u202eevil"]}`, "stop")
	})
	c, _ := testClient(t, f.endpoint(), nil)
	res, err := c.Generate(t.Context(), append(items(4), Item{Path: "bad\nname.go"}, Item{Path: "bad\xff.go"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &Result{
		Synonyms: map[string][]string{
			"src/f000.ts": {"one"},
			"src/f001.ts": {"a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "i1", "j1", "k1", "l1"},
			"src/f003.ts": {"ok then"},
		},
		Missing: []string{"src/f002.ts"}, Short: []string{"src/f000.ts", "src/f003.ts"},
		Skipped: []string{"bad\nname.go", "bad\xff.go"}, Unknown: 1, Rejected: 3, Requests: 1,
	}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Error(diff)
	}
}

// TestPartialSuccess: one batch fails for good, the others are kept and the error names the counts.
func TestPartialSuccess(t *testing.T) {
	f := newFake(t, func(_ int, a ask, w http.ResponseWriter, _ *http.Request) {
		if a.Entries[0].Name == "src/f002.ts" {
			w.WriteHeader(400)
			return
		}
		say(w, good(a, 5), "stop")
	})
	c, _ := testClient(t, f.endpoint(), func(c *Config) { c.BatchSize = 2 })
	res, err := c.Generate(t.Context(), items(6), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Synonyms) != 4 || res.Failed() != 2 {
		t.Errorf("%+v", res)
	}
	if got, want := fmt.Sprint(res.Err()), "synonyms: 4 entries answered, 2 failed in 1 batches, 0 left out by the model: HTTP 400 Bad Request"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}

// TestStops: a refusal that every batch would meet ends the run; so do ten failures in a row.
func TestStops(t *testing.T) {
	for code, most := range map[int]int{http.StatusUnauthorized: 1, http.StatusBadRequest: giveUpAfter} {
		f := newFake(t, func(_ int, _ ask, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		c, _ := testClient(t, f.endpoint(), func(c *Config) { c.BatchSize, c.Parallel = 1, 1 })
		res, err := c.Generate(t.Context(), items(50), nil)
		if err != nil || res.Requests != most || res.Failed() != 50 {
			t.Errorf("%d: %v, %d requests, %d failed", code, err, res.Requests, res.Failed())
		}
		if !strings.Contains(res.Err().Error(), fmt.Sprint("HTTP ", code)) {
			t.Errorf("%d: %v", code, res.Err())
		}
	}
}

func TestCancelKeepsAnswers(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFake(t, func(n int, a ask, w http.ResponseWriter, r *http.Request) {
		if n == 2 {
			cancel()
			<-r.Context().Done()
			return
		}
		say(w, good(a, 5), "stop")
	})
	c, _ := testClient(t, f.endpoint(), func(c *Config) { c.BatchSize, c.Parallel = 1, 1 })
	res, err := c.Generate(ctx, items(9), nil)
	if !errors.Is(err, context.Canceled) || len(res.Synonyms) != 1 || res.Failed() != 8 {
		t.Errorf("%v %+v", err, res)
	}
}

// TestRedirect: no redirect is followed, to wherever it points, and the key goes nowhere else.
func TestRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed: %s %s %v", r.Method, r.URL, r.Header)
	}))
	defer other.Close()
	for _, to := range []string{other.URL, "http://192.0.2.1/", "/v1/chat/completions", "https://example.com/", "file:///etc/passwd"} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			f := newFake(t, func(_ int, _ ask, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", to)
				w.WriteHeader(code)
			})
			c, _ := testClient(t, f.endpoint(), nil)
			res, err := c.Generate(t.Context(), items(1), nil)
			if err != nil || res.Requests != 1 || !strings.Contains(fmt.Sprint(res.Err()), "redirects are not followed") {
				t.Errorf("%d to %s: %v %+v", code, to, err, res)
			}
		}
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Error("a request passed an unknown certificate")
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	c, w := testClient(t, s.URL+"/v1/chat/completions", nil)
	res, err := c.Generate(t.Context(), items(1), nil)
	if err != nil || len(w.d) != 0 || !strings.Contains(fmt.Sprint(res.Err()), "not accepted") {
		t.Errorf("%v %v %v", err, w.d, res.Err())
	}
}

// TestOffline: an offline client never dials, whatever is asked of it.
func TestOffline(t *testing.T) {
	dialled := func(context.Context, string, string) (net.Conn, error) {
		t.Error("dialled")
		return nil, errors.New("no")
	}
	c, _ := testClient(t, "https://example.com/v1/chat/completions", func(c *Config) { c.Offline, c.Dial = true, dialled })
	if _, err := c.Generate(t.Context(), items(3), nil); !errors.Is(err, ErrOffline) {
		t.Error(err)
	}
	if _, f := c.attempt(t.Context(), []entry{{Name: "x"}}); f == nil || !errors.Is(f.err, ErrOffline) {
		t.Errorf("%+v", f)
	}
}

func TestProxyOnlyForTLS(t *testing.T) {
	f := newFake(t, func(_ int, a ask, w http.ResponseWriter, _ *http.Request) { say(w, good(a, 5), "stop") })
	proxy := func(*http.Request) (*url.URL, error) {
		t.Error("a loopback request asked for a proxy")
		return nil, nil
	}
	c, _ := testClient(t, f.endpoint(), func(c *Config) { c.Proxy = proxy })
	if res, err := c.Generate(t.Context(), items(1), nil); err != nil || res.Err() != nil {
		t.Error(err, res.Err())
	}
}

func TestGuardedDial(t *testing.T) {
	for _, tt := range []struct {
		address string
		plain   bool
		ok      bool
	}{
		{"127.0.0.1:80", true, true}, {"[::1]:80", true, true}, {"[::ffff:127.0.0.1]:80", true, true},
		{"10.0.0.1:80", true, false}, {"192.0.2.1:80", true, false}, {"0.0.0.0:80", true, false},
		{"10.0.0.1:443", false, true}, {"192.0.2.1:443", false, true}, {"127.0.0.1:443", false, true},
		{"169.254.169.254:443", false, false}, {"[fe80::1]:443", false, false}, {"0.0.0.0:443", false, false},
		{"[::]:443", false, false}, {"224.0.0.1:443", false, false}, {"nonsense", false, false},
	} {
		if err := checkAddress(tt.address, tt.plain); (err == nil) != tt.ok {
			t.Errorf("%s plain=%v: %v", tt.address, tt.plain, err)
		}
	}
}

func TestConfigRefused(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"needs a key":       func(c *Config) { c.Key = "" },
		"want a model":      func(c *Config) { c.Model = " " },
		"batch_size":        func(c *Config) { c.BatchSize = -1 },
		"parallel_requests": func(c *Config) { c.Parallel = 101 },
		"synonyms_min":      func(c *Config) { c.Min, c.Max = 9, 3 },
		"temperature":       func(c *Config) { c.Temperature = 3 },
		"plain HTTP":        func(c *Config) { c.Endpoint = "http://example.com/v1/chat/completions" },
	} {
		c := Config{Endpoint: "https://example.com/v1/chat/completions", Model: "m", Key: canary}
		change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
