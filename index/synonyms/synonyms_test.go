package synonyms

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseEndpoint(t *testing.T) {
	tests := []struct{ raw, base, want string }{
		{"https://openrouter.ai/api/v1/chat/completions", "https://openrouter.ai/api/v1/", ""},
		{" https://example.com/chat/completions/ ", "https://example.com/", ""},
		{"http://localhost:11434/v1/chat/completions", "http://localhost:11434/v1/", ""},
		{"http://127.0.0.1:8080/v1/chat/completions", "http://127.0.0.1:8080/v1/", ""},
		{"http://127.8.9.1/v1/chat/completions", "http://127.8.9.1/v1/", ""},
		{"http://[::1]:8080/v1/chat/completions", "http://[::1]:8080/v1/", ""},
		{"https://10.0.0.5/v1/chat/completions", "https://10.0.0.5/v1/", ""},
		{"https://example.com/a%20b/chat/completions", "https://example.com/a%20b/", ""},
		{"http://example.com/v1/chat/completions", "", "plain HTTP"},
		{"http://10.0.0.5/v1/chat/completions", "", "plain HTTP"},
		{"http://localhost.example.com/v1/chat/completions", "", "plain HTTP"},
		{"http://127.0.0.1.example.com/v1/chat/completions", "", "plain HTTP"},
		{"http://2130706433/v1/chat/completions", "", "plain HTTP"},
		{"ftp://example.com/chat/completions", "", "want https"},
		{"https://example.com/v1", "", "must end in /chat/completions"},
		{"https://example.com/v1/chat/completions?key=" + canary, "", "query"},
		{"https://example.com/v1/chat/completions#x", "", "fragment"},
		{"https://me:" + canary + "@example.com/v1/chat/completions", "", "user name"},
		{"https:///chat/completions", "", "no host"},
		{"", "", "no host"},
		{"mailto:a@example.com", "", "no host"},
		{"https://exa mple.com/" + canary + "\x7f", "", "not a URL"},
		{"https://example.com/" + strings.Repeat("a", 3000), "", "longer"},
	}
	for _, tt := range tests {
		e, err := ParseEndpoint(tt.raw)
		if tt.want == "" {
			if err != nil || e.Base != tt.base {
				t.Errorf("%s: %q, %v", tt.raw, e.Base, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.raw, err, tt.want)
		}
		if err != nil {
			noCanary(t, "the error", err.Error())
		}
	}
}

func TestResolve(t *testing.T) {
	all := map[string]string{"MY_KEY": "from-my-key", "LLM_API_KEY": "from-llm", "OPENROUTER_API_KEY": "from-or"}
	text := func(s string) *string { return &s }
	tests := []struct {
		name      string
		keys      Keys
		env       []string
		key, from string
		off       bool
		bad       bool
	}{
		{"flag first", Keys{"f", text("c"), "MY_KEY"}, []string{"MY_KEY", "LLM_API_KEY"}, "f", "--api-key", false, false},
		{"flag beats the empty key", Keys{"f", text(""), ""}, nil, "f", "--api-key", false, false},
		{"then api_key", Keys{"", text(" c "), "MY_KEY"}, []string{"MY_KEY", "LLM_API_KEY"}, "c", "api_key in the configuration", false, false},
		{"empty api_key turns it off", Keys{"", text(""), "MY_KEY"}, []string{"MY_KEY", "LLM_API_KEY", "OPENROUTER_API_KEY"}, "", "", true, false},
		{"then api_key_env", Keys{"", nil, "MY_KEY"}, []string{"MY_KEY", "LLM_API_KEY", "OPENROUTER_API_KEY"}, "from-my-key", "the variable MY_KEY", false, false},
		{"then LLM_API_KEY", Keys{"", nil, "MY_KEY"}, []string{"LLM_API_KEY", "OPENROUTER_API_KEY"}, "from-llm", "the variable LLM_API_KEY", false, false},
		{"then OPENROUTER_API_KEY", Keys{"", nil, ""}, []string{"OPENROUTER_API_KEY"}, "from-or", "the variable OPENROUTER_API_KEY", false, false},
		{"none", Keys{"", nil, "MY_KEY"}, nil, "", "", false, false},
		{"a line feed inside", Keys{canary + "\nx", nil, ""}, nil, "", "", false, true},
	}
	for _, tt := range tests {
		key, from, off, err := tt.keys.Resolve(func(name string) (string, bool) {
			if !slices.Contains(tt.env, name) {
				return "", false
			}
			return all[name], true
		})
		if (err != nil) != tt.bad {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err != nil {
			noCanary(t, "the error", err.Error())
		}
		if key != tt.key || from != tt.from || off != tt.off {
			t.Errorf("%s: %q from %q, off %v", tt.name, key, from, off)
		}
	}
}

func TestBatches(t *testing.T) {
	short := make([]entry, 130)
	long := make([]entry, 10)
	for i := range long {
		long[i] = entry{Name: "n", Symbols: slices.Repeat([]string{strings.Repeat("s", 77)}, 100)}
	}
	for _, tt := range []struct {
		in   []entry
		size int
		want []int
	}{
		{short, 0, []int{60, 60, 10}},
		{short, 100, []int{100, 30}},
		{long, 0, []int{3, 3, 3, 1}},
		{long, 8, []int{8, 2}},
		{nil, 0, nil},
	} {
		var got []int
		for _, b := range batches(tt.in, tt.size) {
			got = append(got, len(b))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestFingerprint(t *testing.T) {
	ts := Item{Path: "a.ts", Symbols: []string{"A", "B"}, Imports: []string{"x", "y"}}
	same := Item{Path: "b/c.tsx", Symbols: []string{"B", "A", "A"}, Imports: []string{"y", "x"}}
	if Fingerprint(ts) != Fingerprint(same) {
		t.Error("order, repetition or path changed the fingerprint")
	}
	for _, other := range []Item{
		{Path: "a.ts", Symbols: []string{"A", "B"}, Imports: []string{"x"}},
		{Path: "a.ts", Symbols: []string{"A"}, Imports: []string{"x", "y"}},
		{Path: "a.ts", Symbols: []string{"A", "B", "imports", "x", "y"}},
	} {
		if Fingerprint(ts) == Fingerprint(other) {
			t.Errorf("%+v has the same fingerprint", other)
		}
	}
	golang := Item{Path: "a.go", Symbols: []string{"A"}}
	withImports := Item{Path: "a.go", Symbols: []string{"A"}, Imports: []string{"fmt"}}
	if Fingerprint(golang) != Fingerprint(withImports) {
		t.Error("imports of a Go file count")
	}
	if n := len(Fingerprint(golang)); n != 32 {
		t.Errorf("%d digits", n)
	}
}

func TestNormalise(t *testing.T) {
	got, rejected := normalise([]string{" Loading ", "LOADING", "page\tskeleton", "two  words", "x", strings.Repeat("é", 41), strings.Repeat("é", 40),
		"c++", "it's", "bad\x00", "bidi\u202e", "zero\u200bwidth", "<b>", "\xff", "--", "größe"}, 99, "")
	want := []string{"loading", "two words", strings.Repeat("é", 40), "c++", "it's", "größe"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if rejected != 9 {
		t.Errorf("rejected %d", rejected)
	}
}

func TestNormaliseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOf(rapid.String()).Draw(t, "raw")
		limit := rapid.IntRange(0, 12).Draw(t, "limit")
		got, _ := normalise(raw, limit, "")
		if len(got) > limit {
			t.Fatalf("%d of %d", len(got), limit)
		}
		again, rejected := normalise(got, limit, "")
		if rejected != 0 || !slices.Equal(got, again) {
			t.Fatalf("not stable: %q, %q", got, again)
		}
		for _, w := range got {
			if n := utf8.RuneCountInString(w); n < 2 || n > 40 || !printable(w) {
				t.Fatalf("%q", w)
			}
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	for v, want := range map[string]time.Duration{
		"": -1, "soon": -1, "-3": -1, "1e9": -1, "99999999999999999999": -1, "7": 7 * time.Second,
		"Tue, 02 Jan 2024 03:04:15 GMT": 10 * time.Second, "Tue, 02 Jan 2024 03:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {v}}, now); got != want {
			t.Errorf("%q: %s, want %s", v, got, want)
		}
	}
}

func FuzzParseAnswer(f *testing.F) {
	for _, s := range []string{`{"a":["b"]}`, "```json\n{\"a\":[\"b\"]}\n```", "```{}```", "``````", "null", "[", `{"a":1}`, "{\"a\":[\"\\ud800\"]}", "{} {}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := parseAnswer(s)
		if (a == nil) == (err == nil) {
			t.Fatalf("%v, %v", a, err)
		}
		for _, raw := range a {
			words, _ := normalise(raw, 12, canary)
			for _, w := range words {
				if _, ok := word(w); !ok {
					t.Fatalf("%q", w)
				}
			}
		}
	})
}

func FuzzParseEndpoint(f *testing.F) {
	for _, s := range []string{"https://a/chat/completions", "http://localhost/chat/completions", "http://[::1%25eth0]/chat/completions", "//a/chat/completions", "https://a\\@b/chat/completions"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseEndpoint(s)
		if err != nil {
			return
		}
		again, err := ParseEndpoint(e.Base + "chat/completions")
		if err != nil || again != e {
			t.Fatalf("%q: %+v then %+v, %v", s, e, again, err)
		}
		if strings.HasPrefix(e.Base, "http://") && !e.Loopback {
			t.Fatalf("%q is plain HTTP", s)
		}
	})
}
