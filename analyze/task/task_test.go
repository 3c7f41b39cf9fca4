package task_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxt-dev/ctxt/analyze/task"
)

func TestParse(t *testing.T) {
	p := task.Parse("fix(retry)!: wait between attempts of `SendFile` (#12)", strings.Join([]string{
		"<!-- Describe your change -->",
		"See [the guide](https://example.com/secret-word) and ./src/upload/send_file.go:42.",
		"- [x] I have read the contributing guide",
		"@someone asked for it; closes octo/repo#7.",
		"```go",
		"retryPolicy.Backoff()",
		"```",
		"Signed-off-by: A. Author <author@example.com>",
	}, "\r\n"), task.Auto)
	if p.Title != "wait between attempts of `SendFile`" || p.Scope != "retry" || p.Type != (task.Type{Name: "bug fix", Evidence: "fix in the title's prefix"}) || p.Kind != task.Change {
		t.Errorf("title %q, scope %q, type %+v, kind %s", p.Title, p.Scope, p.Type, p.Kind)
	}
	for _, gone := range []string{"Describe", "secret-word", "contributing", "someone", "octo", "Signed", "author@"} {
		if strings.Contains(p.Body, gone) {
			t.Errorf("the body holds %q:\n%s", gone, p.Body)
		}
	}
	if !strings.Contains(p.Body, "the guide") || !strings.Contains(p.Body, "retryPolicy") {
		t.Errorf("the body lost its content:\n%s", p.Body)
	}
	weights := map[string]float64{}
	for _, x := range p.Terms {
		weights[x.Text] = x.Weight
	}
	if weights["attempts"] != 1 || !(weights["guide"] > 0 && weights["guide"] < 1) || weights["of"] != 0 || weights["retry"] != 1 || weights["sendfile"] != 1 {
		t.Errorf("weights %v", weights)
	}
	path := slices.IndexFunc(p.Paths, func(m task.Mention) bool { return m.Text == "src/upload/send_file.go" })
	if path < 0 || p.Paths[path].Line != 42 {
		t.Errorf("paths %+v", p.Paths)
	}
	for name, least := range map[string]float64{"sendfile": 1, "backoff": 0.4, "retrypolicy": 0.4} {
		i := slices.IndexFunc(p.Idents, func(m task.Mention) bool { return m.Text == name })
		if i < 0 || p.Idents[i].Weight < least {
			t.Errorf("identifiers %+v lack %s of weight %v", p.Idents, name, least)
		}
	}
}

func TestMentions(t *testing.T) {
	for text, want := range map[string]struct{ paths, idents string }{
		`File "/app/src/a/b.py", line 12, in run`: {"app/src/a/b.py", ""},
		"C:\\x\\y\\z.ts is wrong":                 {"x/y/z.ts", ""},
		"e.g. this, i.e. that":                    {"", ""},
		"use std::vec::Vec and foo->bar()":        {"", "bar foo"},
		"the my_func and innerCaps names":         {"", "innercaps myfunc"},
		"A Sentence starts Here":                  {"", ""},
		"../../lib/index.js":                      {"lib/index.js", ""},
	} {
		p := task.Parse(text, "", task.Change)
		var paths, idents []string
		for _, m := range p.Paths {
			paths = append(paths, m.Text)
		}
		for _, m := range p.Idents {
			idents = append(idents, m.Text)
		}
		if got := strings.Join(paths, " "); got != want.paths {
			t.Errorf("%q: paths %q, want %q", text, got, want.paths)
		}
		for _, w := range strings.Fields(want.idents) {
			if !slices.Contains(idents, w) {
				t.Errorf("%q: identifiers %q lack %s", text, idents, w)
			}
		}
		if want.idents == "" && want.paths == "" && len(idents) > 0 {
			t.Errorf("%q: identifiers %q, want none", text, idents)
		}
	}
}

func TestTypes(t *testing.T) {
	for title, want := range map[string]string{
		"feat: sort by name": "feature", "Fix crash on start": "bug fix", "perf(core): fewer copies": "performance",
		"Make parsing faster": "performance", "docs: typo": "docs", "README: explain": "docs", "test: cover the edge": "test",
		"refactor!: split": "refactor", "chore(deps): bump x": "config", "Bump x from 1 to 2": "config",
		"Sanitize the path (CVE-2024-1)": "security", "Support gzip": "feature", "Hello": "general",
	} {
		if got := task.Parse(title, "", task.Auto).Type; got.Name != want || got.Evidence == "" {
			t.Errorf("%q is %+v, want %s", title, got, want)
		}
	}
	if got := task.Parse("Hello", "It crashes.", task.Auto).Type; got.Name != "bug fix" || !strings.Contains(got.Evidence, "description") {
		t.Errorf("by the description: %+v", got)
	}
}

// Code writes a name and its number together.
func TestNumberedNames(t *testing.T) {
	weight := make(map[string]float64)
	for _, x := range task.Parse("Streams of HTTP/2 and UTF-8", "Since TLS 1.3, not for http2.", task.Change).Terms {
		weight[x.Text] = x.Weight
	}
	for word, want := range map[string]float64{"http2": 1, "utf8": 1, "tls1": 0.3, "http": 1} {
		if weight[word] != want {
			t.Errorf("%s weighs %g, want %g", word, weight[word], want)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		title, body string
		want        task.Kind
	}{
		{"fix: handle empty body", "Closes #3", task.Change},
		{"Add a flag", "Adds the flag.\n\n- add tests\n- update docs", task.Change},
		{"Why does upload hang?", "What happened: it hangs.\n\nSteps to reproduce:\n1. upload\n\nExpected behavior: no hang", task.Issue},
		{"Crash in parser", "Traceback (most recent call last):\n  File \"a.py\", line 1\nExpected result: none\nActual result: crash", task.Issue},
		{"Upload loses the file name", "For example\n\n```\n>>> send('a b.txt')\n'a'\n```\n\nI expected `a b.txt`.", task.Issue},
		{"Queue.close() returns incorrect count", "Currently the count of `Queue.close()` seems to be one too small.", task.Issue},
		{"Show the size of each part", "Currently there is no way to see it. It would be nice if the overview had it.", task.Issue},
		{"Rename the queue's methods", "The names said what they returned, not what they did.", task.Change},
		{"fix(upload): keep blanks in names", "The name was cut at its first blank.\n\nFixes #12", task.Change},
		{"Speed up the reader", "Use one buffer for all lines.\n\n```\nbefore 3.1s\nafter  1.2s\n```", task.Change},
		{"", "", task.Change},
	} {
		if got := task.Parse(c.title, c.body, task.Auto).Kind; got != c.want {
			t.Errorf("%q is %s, want %s", c.title, got, c.want)
		}
		for _, k := range []task.Kind{task.Change, task.Issue} {
			if got := task.Parse(c.title, c.body, k).Kind; got != k {
				t.Errorf("%q as %s is %s", c.title, k, got)
			}
		}
	}
}

// vocabulary knows some words, each in so many of 100 files.
func vocabulary(p *task.Task, df map[string]int, named int) task.Vocabulary {
	return task.Vocabulary{Files: 100, Found: func(q int) int { return df[p.Terms[q].Text] }, Named: named}
}

func TestIntent(t *testing.T) {
	df := map[string]int{"retry": 3, "backoff": 2, "upload": 6, "update": 60, "code": 90, "stuff": 10, "cache": 4, "login": 3, "button": 3}
	for _, c := range []struct {
		title, body string
		named       int
		level       string // empty: anything but sufficient
		reason      string
	}{
		{title: "fix the retry backoff of uploads", body: "The upload is retried too early.", level: task.Sufficient},
		{title: "retry/retry.go: Do", named: 2, level: task.Sufficient},
		{title: "", level: task.Insufficient, reason: "there is no text"},
		{title: "update code", level: task.Insufficient, reason: "two words do not say what is meant"},
		{title: "make various improvements to stuff", level: task.Insufficient, reason: "vocabulary"},
		{title: "frobnicate the quux of zzyzx", level: task.Insufficient, reason: "no word of the text is in the repository's vocabulary"},
		{title: "Enable the cache", body: "Disable the cache.", reason: "contradiction: “Enable the cache” against “Disable the cache”"},
		{title: "Add the login button and remove the login button", reason: "contradiction: “Add the login button” against “remove the login button"},
		{title: "Retry the upload, but do not retry the upload", reason: "contradiction"},
		{title: "Add the retry backoff and remove the cache of uploads", level: task.Sufficient},
		{title: "", body: "<!-- Thank you for your contribution! -->\n- [ ] I have added tests\n- [ ] docs", level: task.Insufficient, reason: "there is no text"},
	} {
		p := task.Parse(c.title, c.body, task.Auto)
		in := p.Check(vocabulary(p, df, c.named), 0)
		wrong := in.Level != c.level
		if c.level == "" {
			wrong = in.Level == task.Sufficient
		}
		if wrong || !strings.Contains(strings.Join(in.Reasons, "; "), c.reason) || (in.Level == task.Sufficient) != (len(in.Reasons) == 0) {
			t.Errorf("%q: %s (%.2f) %q, want %s with %q", c.title, in.Level, in.Score, in.Reasons, c.level, c.reason)
		}
	}
	p := task.Parse("fix the retry of uploads", "", task.Auto)
	score := p.Check(vocabulary(p, df, 0), 0).Score
	if in := p.Check(vocabulary(p, df, 0), min(score+0.01, 1)); in.Level != task.Weak || len(in.Reasons) == 0 {
		t.Errorf("above its score the text is %+v", in)
	}
	if in := p.Check(vocabulary(p, df, 0), score/2); in.Level != task.Sufficient {
		t.Errorf("below its score the text is %+v", in)
	}
}

// TestAnyText holds that any bytes give a task within its bounds, the same one twice.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		title, body := rapid.String().Draw(t, "title"), rapid.String().Draw(t, "body")
		holds(t, title, body)
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "fix(a): b", "```\n```", strings.Repeat("a.b/", 5000), "\xff\xfe", "<!--", "[x](y)", "File \"a\", line 99999999999999999999", "add x. remove x.", "İ ẞ ſ"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, title, body string) { holds(t, title, body) })
}

func holds(t interface{ Fatalf(string, ...any) }, title, body string) {
	p := task.Parse(title, body, task.Auto)
	if !utf8.ValidString(p.Title) || !utf8.ValidString(p.Body) || len(p.Title) > 4000 || len(p.Body) > 256<<10 || len(p.Terms) > 400 || len(p.Paths) > 200 || len(p.Idents) > 200 {
		t.Fatalf("title of %d bytes, body of %d, %d terms, %d paths, %d identifiers", len(p.Title), len(p.Body), len(p.Terms), len(p.Paths), len(p.Idents))
	}
	for _, x := range p.Terms {
		if !(x.Weight > 0 && x.Weight <= 1) || x.Text == "" {
			t.Fatalf("term %+v", x)
		}
	}
	for _, x := range p.Pairs {
		if x.A < 0 || x.B < 0 || x.A >= len(p.Terms) || x.B >= len(p.Terms) || x.A == x.B {
			t.Fatalf("pair %+v of %d terms", x, len(p.Terms))
		}
	}
	in := p.Check(task.Vocabulary{Files: 10, Found: func(q int) int { return q % 11 }}, 0)
	if math.IsNaN(in.Score) || in.Score < 0 || in.Score > 1 || (in.Level == task.Sufficient) != (len(in.Reasons) == 0) {
		t.Fatalf("intent %+v", in)
	}
	q := task.Parse(title, body, task.Auto)
	if !slices.Equal(p.Terms, q.Terms) || !slices.Equal(p.Paths, q.Paths) || !slices.Equal(p.Idents, q.Idents) || !slices.Equal(p.Pairs, q.Pairs) {
		t.Fatalf("two readings differ")
	}
}
