package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/index/store"
)

// TestEndpointRefuses talks to a real watch, as check 19 of the security requirements wants.
func TestEndpointRefuses(t *testing.T) {
	p := newProject(t, map[string]string{"src/a.ts": "export const alpha = 1\n"})
	p.o.SearchLog, p.o.SearchLogQueryMax = true, 120
	p.start()
	r, err := LoadRuntime(p.o.RuntimeFile)
	p.must(err)
	port := r.Address[strings.LastIndexByte(r.Address, ':')+1:]
	good := func() *http.Request {
		req, err := http.NewRequest(http.MethodPost, "http://"+r.Address+"/search", strings.NewReader(`{"query":"alpha"}`))
		p.must(err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+r.Token)
		return req
	}
	body := func(s string) func(*http.Request) {
		return func(q *http.Request) {
			q.Body = io.NopCloser(strings.NewReader(s))
			q.ContentLength = int64(len(s))
		}
	}
	header := func(k, v string) func(*http.Request) { return func(q *http.Request) { q.Header.Set(k, v) } }
	tests := []struct {
		name   string
		change func(*http.Request)
		code   int
	}{
		{"as wanted", func(*http.Request) {}, 200},
		{"as localhost", func(q *http.Request) { q.Host = "localhost:" + port }, 200},
		{"foreign host", func(q *http.Request) { q.Host = "evil.example:" + port }, 403},
		{"foreign host, no token", func(q *http.Request) { q.Host = "evil.example"; q.Header.Del("Authorization") }, 403},
		{"host with another port", func(q *http.Request) { q.Host = "127.0.0.1:1" }, 403},
		{"host without a port", func(q *http.Request) { q.Host = "127.0.0.1" }, 403},
		{"host with a dot", func(q *http.Request) { q.Host = "localhost.:" + port }, 403},
		{"origin", header("Origin", "https://evil.example"), 403},
		{"origin null", header("Origin", "null"), 403},
		{"origin of this endpoint", header("Origin", "http://"+r.Address), 403},
		{"a browser", header("Sec-Fetch-Site", "same-origin"), 403},
		{"no token", func(q *http.Request) { q.Header.Del("Authorization") }, 401},
		{"another token", header("Authorization", "Bearer "+newToken()), 401},
		{"a part of the token", header("Authorization", "Bearer "+r.Token[:63]), 401},
		{"the token in another scheme", header("Authorization", r.Token), 401},
		{"two tokens", func(q *http.Request) { q.Header.Add("Authorization", "Bearer "+r.Token) }, 401},
		{"GET", func(q *http.Request) { q.Method = http.MethodGet; q.Body = nil; q.ContentLength = 0 }, 405},
		{"OPTIONS", func(q *http.Request) { q.Method = http.MethodOptions }, 405},
		{"PUT", func(q *http.Request) { q.Method = http.MethodPut }, 405},
		{"another path", func(q *http.Request) { q.URL.Path = "/search/../etc" }, 404},
		{"the token in the query", func(q *http.Request) { q.URL.RawQuery = "token=x" }, 404},
		{"a form", header("Content-Type", "text/plain"), 415},
		{"10 MB", body(strings.Repeat(" ", 10<<20)), 413},
		{"10 MB without a length", func(q *http.Request) {
			body(`{"query":"` + strings.Repeat("a", 10<<20) + `"}`)(q)
			q.ContentLength = -1
		}, 413},
		{"a long query", body(`{"query":"` + strings.Repeat("a", 5000) + `"}`), 400},
		{"no query", body(`{}`), 400},
		{"an unknown field", body(`{"query":"a","root":"/"}`), 400},
		{"two values", body(`{"query":"a"}{}`), 400},
		{"no JSON", body(`query=a`), 400},
		{"an array", body(`[]`), 400},
		{"a great limit", body(`{"query":"a","limit":1000000000}`), 400},
		{"deep", body(strings.Repeat("[", 60000)), 400},
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, tt := range tests {
		req := good()
		tt.change(req)
		res, err := client.Do(req)
		if err != nil {
			// A server may cut a request off while its body is still being sent.
			if tt.code == 413 && !errors.Is(err, io.EOF) {
				continue
			}
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != tt.code {
			t.Errorf("%s: status %d, want %d (%v)", tt.name, res.StatusCode, tt.code, err)
		}
		if res.Header.Get("Access-Control-Allow-Origin") != "" || res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", tt.name, res.Header)
		}
		if bytes.Contains(text, []byte(r.Token)) || tt.code != 200 && !json.Valid(text) {
			t.Errorf("%s: answer %s", tt.name, text)
		}
	}
	p.stop()
	if strings.Contains(p.log(), r.Token) || strings.Contains(p.log(), r.Token[:16]) {
		t.Error("the token is in the log")
	}
}

// TestSameAnswer: the endpoint gives the bytes that the snapshot search gives, its source apart.
func TestSameAnswer(t *testing.T) {
	p := newProject(t, map[string]string{"src/page/loader.ts": "export function loadPage() {}\n", "src/page.ts": ""})
	p.start()
	r, err := LoadRuntime(p.o.RuntimeFile)
	p.must(err)
	req := search.Request{Query: "load page", Explain: true, ShowTokens: true, DirSummary: true}
	got, err := r.Search(t.Context(), req)
	p.must(err)
	x := p.stop()
	want, err := search.Prepare(x).Search(req)
	p.must(err)
	want.Source, want.Timestamp = got.Source, got.Timestamp
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("endpoint %s\nsnapshot %s", a, b)
	}
	if _, err := r.Search(t.Context(), req); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the end: %v", err)
	}
}

func TestBadRequestIsTold(t *testing.T) {
	p := newProject(t, map[string]string{"a.ts": ""})
	p.start()
	r, err := LoadRuntime(p.o.RuntimeFile)
	p.must(err)
	if _, err := r.Search(t.Context(), search.Request{Query: "a", Type: "links"}); err == nil || errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "links") {
		t.Errorf("%v", err)
	}
	p.stop()
}

func TestRuntimeFile(t *testing.T) {
	p := newProject(t, map[string]string{"a.ts": ""})
	p.start()
	info, err := os.Stat(p.o.RuntimeFile)
	p.must(err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	text, err := os.ReadFile(p.o.RuntimeFile)
	p.must(err)
	p.stop()
	if _, err := LoadRuntime(p.o.RuntimeFile); !errors.Is(err, ErrNotRunning) {
		t.Errorf("missing: %v", err)
	}
	file := filepath.Join(t.TempDir(), "r.json")
	tests := map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"as written":      {string(text), 0o600, ""},
		"others may read": {string(text), 0o644, "others may read"},
		"version":         {strings.Replace(string(text), `"version": 2`, `"version": 1`, 1), 0o600, "only version 2"},
		"foreign address": {strings.Replace(string(text), "127.0.0.1", "192.0.2.1", 1), 0o600, "not a port of 127.0.0.1"},
		"host name":       {strings.Replace(string(text), "127.0.0.1", "localhost", 1), 0o600, "not a port of 127.0.0.1"},
		"short token":     {`{"version":2,"address":"127.0.0.1:1","token":"ab"}`, 0o600, "token"},
		"header in token": {`{"version":2,"address":"127.0.0.1:1","token":"a\r\nX: y"}`, 0o600, "token"},
		"broken":          {`{`, 0o600, "line 1"},
		"empty":           {"", 0o600, "empty"},
		"too large":       {strings.Repeat(" ", 5000), 0o600, "larger than"},
	}
	for name, tt := range tests {
		p.must(os.WriteFile(file, []byte(tt.text), 0o600))
		p.must(os.Chmod(file, tt.mode))
		_, err := LoadRuntime(file)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestPortTakenOver: when another program has the port of a watch that was killed, nothing it says is
// taken for an answer.
func TestPortTakenOver(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"404":      func(w http.ResponseWriter) { w.WriteHeader(404) },
		"redirect": func(w http.ResponseWriter) { w.Header().Set("Location", "http://192.0.2.1/"); w.WriteHeader(307) },
		"400":      func(w http.ResponseWriter) { w.WriteHeader(400) },
		"a page":   func(w http.ResponseWriter) { fmt.Fprint(w, "<html>") },
		"endless": func(w http.ResponseWriter) {
			for range 20 {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
					return
				}
			}
		},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		r := Runtime{Version: 2, Address: s.Listener.Addr().String(), Token: newToken(), PID: 1}
		if res, err := r.Search(t.Context(), search.Request{Query: "a"}); err == nil {
			t.Errorf("%s: %+v", name, res)
		}
		s.Close()
	}
}

func FuzzRequest(f *testing.F) {
	for _, s := range []string{`{"query":"a"}`, `{}`, `[`, `{"query":"a","limit":-1}`, `{"query":"\u0000","min_score":1e999}`} {
		f.Add(s)
	}
	x := search.Prepare(store.New("/", time.Unix(0, 0)))
	addr := netip.MustParseAddrPort("127.0.0.1:1")
	s := newServer(addr, "token")
	s.search = x.Search
	f.Fuzz(func(t *testing.T, body string) {
		req := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:1/search", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer token")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		if w.Code != 200 && w.Code != 400 && w.Code != 413 || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
	})
}

// FuzzRuntime reads any bytes as the discovery file: what is believed has an address on this machine and
// a token that is one, and is read again as it was written.
func FuzzRuntime(f *testing.F) {
	f.Add([]byte(`{"version":2,"address":"127.0.0.1:40123","token":"` + strings.Repeat("0a", 32) + `","pid":4711,"root_path":"/p","started":"2024-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"version":2,"address":"127.0.0.1:1@192.0.2.1:80","token":"` + strings.Repeat("A", 64) + `"}`))
	f.Add([]byte(`{"version":2,"address":"[::ffff:127.0.0.1]:1","token":"` + strings.Repeat("0", 62) + "\r\n" + `"}`))
	f.Add([]byte(`{"version":2e0}`))
	f.Add([]byte(strings.Repeat("[", 5000)))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "ctx_runtime.json")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := LoadRuntime(file)
		if err != nil {
			if !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		if !regexp.MustCompile(`^127\.0\.0\.1:[0-9]+$`).MatchString(r.Address) || !regexp.MustCompile(`^[0-9a-fA-F]{64}$`).MatchString(r.Token) {
			t.Fatalf("%q is believed: %+v", data, r)
		}
		if err := saveRuntime(file, *r); err != nil {
			t.Fatal(err)
		}
		if again, err := LoadRuntime(file); err != nil || *again != *r {
			t.Fatalf("%+v, then %+v, %v", r, again, err)
		}
	})
}
