package risk

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

func TestSensitivePaths(t *testing.T) {
	for p, want := range map[string]string{
		".github/workflows/ci.yml":       "workflow",
		"deploy/action.yml":              "workflow",
		"app/db/migrate/001_users.rb":    "migration",
		"src/auth/token.go":              "auth",
		"src/web/userSession.ts":         "auth",
		"web/package-lock.json":          "lock file",
		"go.sum":                         "lock file",
		"go.mod":                         "build",
		"Dockerfile":                     "build",
		"src/author.go":                  "",
		"src/obsession.go":               "",
		"docs/auth.md":                   "",
		"src/auth/token_test.go":         "",
		"pkg/special/thing.go":           "configured",
		"main.go":                        "",
		"weird/\x00[name":                "",
		"pkg/authentication/provider.go": "auth",
	} {
		got, _, ok := sensitiveOf(p, []string{"pkg/special/**"})
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", p, got, want)
		}
	}
}

// changed makes an input without history.
func changed(paths ...string) Input {
	in := Input{Title: "x"}
	for _, p := range paths {
		in.Change.Files = append(in.Change.Files, git.FileDiff{Path: p, Status: git.Modified, Added: 30, Deleted: 2})
	}
	in.Change.Commits = 1
	return in
}

func mustAssess(t *testing.T, in Input, o Options) *Assessment {
	t.Helper()
	a, err := Assess(context.Background(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func names(a *Assessment) (out []string) {
	for _, s := range a.Signals {
		out = append(out, s.Name+":"+string(s.Level))
	}
	return out
}

func TestSignals(t *testing.T) {
	bot := changed("package.json", "package-lock.json")
	bot.Change.Author = "dependabot[bot]"
	foreign := changed("a.go", ".github/workflows/x.yml")
	foreign.Change.Commits, foreign.Change.ByOthers, foreign.Change.OnOthers = 240, 235, 230
	scoped := changed("a.go", "style.css")
	scoped.Unscoped, scoped.Intent = []string{"style.css"}, "weak"
	for name, c := range map[string]struct {
		in   Input
		o    Options
		want string
		note string
	}{
		"plain":                 {changed("a.go"), Options{}, "size:info", "no history"},
		"its own gates":         {changed(".ctxt/baseline.json"), Options{}, "control-plane:medium size:info", ""},
		"its own workflow":      {changed("wf.yml"), Options{Workflow: "wf.yml"}, "control-plane:medium size:info", ""},
		"lock without manifest": {changed("go.sum", "a.go"), Options{}, "sensitive:medium size:info", ""},
		"lock with manifest":    {changed("go.mod", "go.sum"), Options{}, "sensitive:low size:info", "only lock files"},
		"dependency bot":        {bot, Options{}, "sensitive:info size:info", "automated author"},
		"wrong base":            {foreign, Options{}, "sensitive:medium size:info", "the base looks wrong: 240 commits"},
		"scope":                 {scoped, Options{}, "scope:low size:info", ""},
		"configured glob":       {changed("money/pay.go"), Options{Sensitive: []string{"money/**"}}, "sensitive:medium size:info", ""},
		"no file":               {changed(), Options{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := mustAssess(t, c.in, c.o)
			if got := strings.Join(names(a), " "); got != c.want {
				t.Errorf("signals %q, want %q", got, c.want)
			}
			if c.note != "" && !strings.Contains(strings.Join(a.Notes, "\n"), c.note) {
				t.Errorf("notes %q, want %q", a.Notes, c.note)
			}
			for _, s := range a.Signals {
				if s.Why == "" || len(s.Numbers) == 0 || !strings.HasPrefix(s.Command, "git ") || s.Title == "" {
					t.Errorf("signal %+v lacks a sentence, numbers or a command", s)
				}
			}
		})
	}
}

func TestHotspotAndOwnership(t *testing.T) {
	r := gittest.New(t)
	var s strings.Builder
	var cold []string
	for i := range 25 {
		cold = append(cold, fmt.Sprintf("cold/c%d.go", i))
	}
	imported(&s, 0, "A. Author <author@example.com>", "begin", cold)
	for i := range 60 {
		imported(&s, 1+i, "B. Author <b@example.com>", fmt.Sprintf("fix hot %d", i), []string{"core/hot.go"})
	}
	importAll(t, r, &s, 61)
	r.Write("core/hot.go", "once more\n")
	r.CommitAs("C. Newcomer <c@example.com>", "hot again")
	b := build(t, r)
	b.in.Change.Author, b.in.Change.Email = "C. Newcomer", "c@example.com"
	a := assess(t, b)
	g := signal(a, "hotspots")
	if g == nil || g.Level != Low && g.Level != Medium || !strings.Contains(g.Why, "`core/hot.go`: 60 changes in 180 days, 60 of them fixes") {
		t.Errorf("hotspot %+v", g)
	}
	for fixes, want := range []string{"none of them a fix", "1 of them a fix", "2 of them fixes"} {
		if got := ofThemFixes(fixes); got != want {
			t.Errorf("%d fixes: %q, want %q", fixes, got, want)
		}
	}
	if o := signal(a, "ownership"); o == nil || !strings.Contains(o.Why, "no earlier change by this author") {
		t.Errorf("ownership %+v", o)
	}
	if len(a.Knowers) != 1 || a.Knowers[0] != (Knower{"B. Author", 1}) {
		t.Errorf("knowers %+v, want B. Author alone", a.Knowers)
	}
}

func TestReachAndTests(t *testing.T) {
	r := paired(t, 3)
	r.Write("go.mod", "module example.com/x\n\ngo 1.26\n")
	r.Write("lib/parse.go", "package lib\n\nfunc F() {}\n")
	for i := range 6 {
		r.Write(fmt.Sprintf("use%d/use.go", i), "package use\n\nimport \"example.com/x/lib\"\n\nvar _ = lib.F\n")
	}
	r.Write("lib/parse_test.go", "package lib\n")
	r.Commit("base")
	r.Write("lib/parse.go", "package lib\n\nfunc F() {}\n"+strings.Repeat("// x\n", 20))
	r.Commit("the change")
	b := build(t, r)
	s, err := index.Build(context.Background(), index.Tree(b.repo, b.in.Change.Head), index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.in.Head = s
	a := assess(t, b)
	if g := signal(a, "reach"); g == nil || !strings.Contains(g.Why, "6 files import what changed") {
		t.Errorf("reach %+v in %v", g, names(a))
	}
	if g := signal(a, "tests"); g == nil || g.Level != Info || !strings.Contains(g.Why, "nearest by name: `lib/parse_test.go`") {
		t.Errorf("tests %+v", g)
	}
}

func TestCommandsQuoteHostilePaths(t *testing.T) {
	for p, want := range map[string]string{
		"a/b.go":           "-- a/b.go",
		"a b.go":           "-- 'a b.go'",
		"$(touch x).go":    "-- '$(touch x).go'",
		"it's":             `-- 'it'\''s'`,
		":(top)x":          "-- './:(top)x'",
		"dir/a\nb":         "-- dir",
		"\u202egnp.exe":    "-- .",
		"-rf":              "-- -rf",
		"übel/größe.go":    "-- 'übel/größe.go'",
		"`id`":             "-- '`id`'",
		"a;rm -rf /;b":     "-- 'a;rm -rf /;b'",
		"x/\x1b[31mred.go": "-- x",
	} {
		if got := pathArgs(p); got != want {
			t.Errorf("%q: %s, want %s", p, got, want)
		}
	}
}

func TestAutomatedAuthors(t *testing.T) {
	for name, want := range map[string]bool{"renovate[bot]": true, "dependabot": true, "pre-commit-ci": true, "Robot Smith": false, "": false, "Abbott": false} {
		if automated(name, "") != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	if !automated("x", "49699333+dependabot[bot]@users.noreply.github.com") {
		t.Error("a bot's address is not recognised")
	}
}
