package engines

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/bench/cases"
)

// project writes files and returns their folder; the files named in hidden are not indexed.
func project(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"auth/middleware.go":         "package auth // checks the TOKEN\n",
		"auth/session.go":            "package auth\n",
		"-rf/--help.txt":             "nothing to see\n",
		"docs/a b.md":                "the token is described here\n",
		"z[1].txt":                   "literal brackets\n",
		"large.txt":                  "token " + strings.Repeat("x", 2000),
		"node_modules/middleware.go": "token, but not indexed\n",
	}
	o := Options{Root: dir, Limit: 10, GrepMaxBytes: 1000}
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, "node_modules") {
			o.Files = append(o.Files, name)
		}
	}
	o.Files = append(o.Files, "gone.go") // indexed, and deleted since
	return o
}

func ask(t *testing.T, o Options, engine, query string) ([]string, error) {
	t.Helper()
	es, err := New([]string{engine}, o)
	if err != nil {
		t.Fatal(err)
	}
	return es[0].Ask(t.Context(), query)
}

// installed are the engines whose programs this machine has; find and grep are everywhere.
func installed(t *testing.T) (names, contents []string) {
	names, contents = []string{Find}, []string{Grep}
	has := func(p string) bool { _, err := exec.LookPath(p); return err == nil }
	if has("fd") || has("fdfind") {
		names = append(names, FD)
	}
	if has("rg") {
		contents = append(contents, RG)
	}
	t.Logf("engines: %v %v", names, contents)
	return names, contents
}

func TestPrograms(t *testing.T) {
	o := project(t)
	names, contents := installed(t)
	for _, tt := range []struct {
		query string
		name  []string
		text  []string
	}{
		{"Where is the MIDDLEWARE?", []string{"auth/middleware.go"}, nil},
		{"auth/middleware.go", []string{"auth/middleware.go"}, nil},
		{"token session", []string{"auth/session.go"}, []string{"auth/middleware.go", "docs/a b.md"}},
		{"--help", []string{"-rf/--help.txt"}, nil},
		{"-exec rm ;", nil, nil},
		{"z[1]", []string{"z[1].txt"}, nil},
		{"*", nil, nil},
		{"$(touch owned) `touch owned` | touch owned", nil, nil},
		{"/", nil, nil},
		{"literal brackets", nil, []string{"z[1].txt"}},
	} {
		check := func(engines, want []string) {
			for _, e := range engines {
				got, err := ask(t, o, e, tt.query)
				if err != nil {
					t.Errorf("%s %q: %v", e, tt.query, err)
					continue
				}
				if d := cmp.Diff(append([]string{}, want...), got); d != "" {
					t.Errorf("%s %q (-want +got):\n%s", e, tt.query, d)
				}
			}
		}
		check(names, tt.name)
		check(contents, tt.text)
	}
	if _, err := os.Lstat(filepath.Join(o.Root, "owned")); err == nil {
		t.Error("a query was run by a shell")
	}
}

func TestCombinedAndLimit(t *testing.T) {
	o := project(t)
	got, err := ask(t, o, Combined, "token session")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"auth/middleware.go", "auth/session.go", "docs/a b.md"}, got); d != "" {
		t.Error(d)
	}
	o.Limit = 2
	if got, _ = ask(t, o, Combined, "token session"); len(got) != 2 {
		t.Errorf("limit 2 gives %q", got)
	}
}

func TestManyFilesGoInBatches(t *testing.T) {
	o := Options{Root: t.TempDir(), Limit: 5000}
	name := strings.Repeat("n", 200)
	for i := range 600 {
		f := name + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		if err := os.WriteFile(filepath.Join(o.Root, f), []byte("needle"), 0o644); err != nil {
			t.Fatal(err)
		}
		o.Files = append(o.Files, f)
	}
	if got, err := ask(t, o, Grep, "needle"); err != nil || len(got) != 600 {
		t.Errorf("%d files, %v", len(got), err)
	}
}

func TestRankedEngines(t *testing.T) {
	o := project(t)
	o.Ctxt = func(_ context.Context, _ string, limit int) ([]string, error) {
		return []string{"docs/a b.md", "not indexed", "auth/session.go", "docs/a b.md"}, nil
	}
	got, err := ask(t, o, Ctxt, "x")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"docs/a b.md", "auth/session.go"}, got); d != "" {
		t.Error(d)
	}
	if _, err := ask(t, o, Hybrid, "x"); err == nil || !strings.Contains(err.Error(), "hybrid is not available") {
		t.Errorf("error %v", err)
	}
}

func TestFaults(t *testing.T) {
	o := project(t)
	o.LookPath = func(string) (string, error) { return "", exec.ErrNotFound }
	for engine, want := range map[string]string{FD: "program fd or fdfind is not installed", RG: "program rg is not installed", Combined: "program find is not installed"} {
		if _, err := ask(t, o, engine, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", engine, err)
		}
	}
	script := func(body string) func(string) (string, error) {
		file := filepath.Join(t.TempDir(), "tool")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
			t.Fatal(err)
		}
		return func(string) (string, error) { return file, nil }
	}
	for _, tt := range []struct{ name, engine, body, want string }{
		{"fails", RG, "echo bad pattern >&2; exit 2", "rg failed: exit status 2: bad pattern"},
		{"complains with 1", FD, "echo odd >&2; exit 1", "fd failed: exit status 1: odd"},
		{"floods", Find, "exec cat /dev/zero", "find wrote more than"},
		{"floods its complaint", Grep, "i=0; while [ $i -lt 100 ]; do printf '%04096d' 0 >&2; i=$((i+1)); done; exit 2", "grep failed: exit status 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o.LookPath = script(tt.body)
			if _, err := ask(t, o, tt.engine, "word"); err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 500 {
				t.Errorf("error %.200v", err)
			}
		})
	}
	o.LookPath = script(`[ "$USER$HOME$RIPGREP_CONFIG_PATH" = "" ] && printf './auth/session.go\000'`)
	if got, err := ask(t, o, RG, "word"); err != nil || len(got) != 1 {
		t.Errorf("the user's environment reaches the program: %q, %v", got, err)
	}
}

func TestNewRefuses(t *testing.T) {
	o := project(t)
	for _, tt := range []struct {
		names  []string
		change func(*Options)
		want   string
	}{
		{nil, nil, "no engine"},
		{[]string{"ag"}, nil, `unknown engine "ag"`},
		{[]string{Find, Find}, nil, "named twice"},
		{[]string{Find}, func(o *Options) { o.Limit = 0 }, "limit 0"},
		{[]string{Find}, func(o *Options) { o.GrepMaxBytes = -1 }, "-1 bytes"},
		{[]string{Find}, func(o *Options) { o.Root += "/nowhere" }, "open project root"},
	} {
		bad := o
		if tt.change != nil {
			tt.change(&bad)
		}
		if _, err := New(tt.names, bad); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: error %v", tt.names, err)
		}
	}
}

func TestRun(t *testing.T) {
	f, err := cases.Parse("f", []byte(`{"version":2,"categories":{
		"a":{"cases":[{"query":"one","expect_any":["auth/session.go","large.txt"]},{"query":"two","expect_any":["x"]}]},
		"b":{"cases":[{"query":"unsteady","expect_any":["large.txt"]}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	o := project(t)
	calls := map[string]int{}
	o.Ctxt = func(_ context.Context, q string, _ int) ([]string, error) {
		calls[q]++
		switch {
		case q == "two":
			return nil, errors.New("broken")
		case q == "unsteady" && calls[q] > 2:
			return nil, nil
		}
		return []string{"large.txt"}, nil
	}
	es, err := New([]string{Ctxt, Find}, o)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), f, es, o, RunOptions{Runs: 3, Warmup: 1})
	if err != nil {
		t.Fatal(err)
	}
	if calls["one"] != 4 || calls["two"] != 1 || calls["unsteady"] != 3 {
		t.Errorf("calls %v", calls)
	}
	if a := res.Results[0].Engines[0]; len(a.Samples) != 3 || a.Recall != .5 || a.First == nil || a.Tokens != 3 {
		t.Errorf("%+v", a)
	}
	want := []bench.EngineError{{Engine: Ctxt, Message: "broken", Queries: 1, First: "two"}, {Engine: Ctxt, Message: errUnsteady.Error(), Queries: 1, First: "unsteady"}}
	if d := cmp.Diff(want, res.Errors); d != "" {
		t.Error(d)
	}
	if s := res.Engines[0]; s.Queries != 3 || s.Errors != 2 || s.Success != 1.0/3 || s.Recall != .5/3 || s.Time.Samples != 3 {
		t.Errorf("%+v", s)
	}
	if len(res.Categories) != 2 || len(res.Categories[1].Engines) != 2 {
		t.Errorf("%+v", res.Categories)
	}
}

func TestWords(t *testing.T) {
	for q, want := range map[string]string{
		"How does the `Index` get (re)built?": "index get re)built",
		"is it":                               "is it",
		"commands.go":                         "commands.go",
		"the end.":                            "end",
		".gitignore":                          ".gitignore",
		"?!":                                  "",
	} {
		if got := strings.Join(Words(q), " "); got != want {
			t.Errorf("%q gives %q, want %q", q, got, want)
		}
	}
}

// A query is data wherever it ends up in a command line.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{"-exec rm", "--", "-e -f", "a|b", "*", "\\", "(", "$x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, q string) {
		words := Words(q)
		for _, w := range words {
			if w == "" || strings.ContainsRune(w, 0) {
				t.Fatalf("word %q", w)
			}
		}
		if len(words) == 0 {
			return
		}
		for _, args := range []argsFunc{grepCommand, rgCommand} {
			a, _ := args(words)
			a = a[len(a)-2*len(words)-1:]
			for i, w := range words {
				if a[2*i] != "-e" || a[2*i+1] != w {
					t.Fatalf("arguments %q", a)
				}
			}
		}
		if a, _ := fdCommand(words); a != nil && a[len(a)-3] != "--" {
			t.Fatalf("arguments %q", a)
		}
		if a, _ := findCommand(words); a != nil {
			for _, x := range a[3 : len(a)-1] {
				if strings.HasPrefix(x, "-") && x != "-o" && x != "-iname" {
					t.Fatalf("arguments %q", a)
				}
			}
		}
	})
}
