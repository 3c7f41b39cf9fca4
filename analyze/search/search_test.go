package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxt-dev/ctxt/index/store"
)

// tree builds a prepared index from files: "path: symbol … | synonym, …". A path that ends with a
// slash is a folder.
func tree(lines ...string) *Index {
	x := store.New("/project", time.Unix(0, 0))
	for _, line := range lines {
		path, rest, _ := strings.Cut(line, ":")
		symbols, synonyms, _ := strings.Cut(rest, "|")
		n := &store.Node{FullPath: strings.TrimSuffix(path, "/"), Type: store.TypeFile, Symbols: strings.Fields(symbols)}
		if strings.HasSuffix(path, "/") {
			n.Type = store.TypeDirectory
		}
		for s := range strings.SplitSeq(synonyms, ",") {
			if s = strings.TrimSpace(s); s != "" {
				n.Synonyms = append(n.Synonyms, s)
			}
		}
		x.Put(n)
	}
	return Prepare(x)
}

// explain returns the points of one path for a query, and their sum.
func explain(t *testing.T, x *Index, query, path string) (lines []string, score float64) {
	t.Helper()
	res, err := x.Search(Request{Query: query, Limit: 100, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res.Results {
		if r.Path != path {
			continue
		}
		sum := 0.0
		for _, p := range r.Explain {
			lines = append(lines, p.String())
			sum += p.Points
		}
		if sum != r.Score {
			t.Errorf("the points of %s add up to %v, its score is %v", path, sum, r.Score)
		}
		return lines, r.Score
	}
	return nil, 0
}

// TestPointsTable has a row for each line of the points table, and for its caps.
func TestPointsTable(t *testing.T) {
	tests := []struct {
		name, node, query string
		want              []string
	}{
		{"exact: a folder's name", "internal/auth/", "auth", []string{"exact +12: auth"}},
		{"basename", "web/middleware.ts", "middleware", []string{"basename +7: middleware.ts", "exact basename +15: middleware.ts"}},
		{"basename: a part of it", "web/auth_middleware.ts", "middleware", []string{"basename +7: auth_middleware.ts"}},
		{"exact basename with extension", "web/Skeletons.tsx", "skeletons.tsx",
			[]string{"basename +7: Skeletons.tsx", "exact basename +15: Skeletons.tsx"}},
		{"exact basename without extension", "a/two words.md", "Two Words",
			[]string{"basename +7: two words.md", "basename +7: two words.md", "further term +4: words", "exact basename +15: two words.md"}},
		{"path segment", "web/reauthorize/x.ts", "auth", []string{"path segment +4: reauthorize"}},
		{"segment prefix", "web/authorize/x.ts", "auth", []string{"segment prefix +5: authorize"}},
		{"syn exact", "x.ts: | loading, placeholder", "loading", []string{"syn exact +8: loading"}},
		{"syn overlap", "x.ts: | page loading", "loading", []string{"syn overlap +5: page loading"}},
		{"sym exact", "x.ts: PageSkeleton", "pageskeleton", []string{"sym exact +24: PageSkeleton"}},
		{"sym contains", "x.ts: PageSkeleton", "skeleton", []string{"sym contains +5: PageSkeleton"}},
		{"sym token", "x.ts: openDBFile", "db", []string{"sym token +4: openDBFile"}},
		{"sym token: not inside a word", "x.ts: feedback", "db", nil},

		{"strongest path match", "auth/auth/auth.go", "auth", []string{"basename +7: auth.go", "exact basename +15: auth.go"}},
		{"strongest synonym", "x.ts: | page loading, loading, loading bar", "loading", []string{"syn exact +8: loading"}},
		{"three distinct symbols", "x.ts: LoadA LoadB LoadC LoadD", "load",
			[]string{"sym contains +5: LoadA", "sym contains +5: LoadB", "sym contains +5: LoadC"}},
		{"the strongest three", "x.ts: LoadA LoadB LoadC Load", "load",
			[]string{"sym exact +24: Load", "sym contains +5: LoadA", "sym contains +5: LoadB"}},
		{"the same symbol twice", "x.ts: LoadA LoadA", "load", []string{"sym contains +5: LoadA"}},
		{"further terms", "x.ts: userCache | store", "user cache store",
			[]string{"sym contains +5: userCache", "sym contains +5: userCache", "further term +4: cache",
				"syn exact +8: store", "further term +4: store"}},
		{"a term twice", "x.ts: userCache", "user user", []string{"sym contains +5: userCache"}},
		{"a stem is no further term", "users/routes/x.ts: User", "users",
			[]string{"segment prefix +5: users", "sym exact +24: User"}},
		{"a stem matches", "x.ts: RouteTable", "routing", []string{"sym contains +5: RouteTable"}},
		{"low-signal words", "the/where.ts: That | this", "where is the that", []string{
			"basename +7: where.ts", "segment prefix +5: the", "further term +4: the", "sym exact +24: That", "further term +4: that"}},
		{"low-signal words among others", "the/where.ts: That Cache", "where is the cache", []string{"sym exact +24: Cache"}},
		{"low-signal synonyms", "x.ts: | with", "without cache", nil},
		{"compound", "x.c: aof_rewrite", "aof_rewrite",
			[]string{"sym contains +5: aof_rewrite", "sym contains +5: aof_rewrite", "further term +4: rewrite", "sym exact +24: aof_rewrite"}},
		{"no points", "x.ts: Load", "zebra", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path, _, _ := strings.Cut(tt.node, ":")
			got, _ := explain(t, tree(tt.node), tt.query, strings.TrimSuffix(path, "/"))
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestExactSymbolOutweighsThreePartial(t *testing.T) {
	res, err := tree("a.go: LoadA LoadB LoadC", "b.go: Load").Search(Request{Query: "load"})
	if err != nil || res.Results[0].Path != "b.go" || res.Results[0].Score != 24 || res.Results[1].Score != 15 {
		t.Errorf("%+v %v", res, err)
	}
}

func paths(res *Response) (out []string) {
	for _, r := range res.Results {
		out = append(out, fmt.Sprintf("%s %g", r.Path, r.Score))
	}
	return out
}

func TestConfidenceGap(t *testing.T) {
	tests := []struct {
		name  string
		nodes []string
		query string
		limit int
		want  []string
	}{
		{"exact symbol keeps one", []string{"a.go: Load", "b.go: LoadA", "c.go: LoadB"}, "load", 0, []string{"a.go 24"}},
		{"exact file name keeps one", []string{"load.go", "b.go: LoadA", "c.go: LoadB"}, "load.go", 0, []string{"load.go 22"}},
		{"a drop of exactly half", []string{"a.go: LoadA LoadB", "load1.go", "c.go: LoadB", "d.go: LoadD"}, "load", 0,
			[]string{"a.go 10", "load1.go 7", "c.go 5", "d.go 5"}},
		{"a concept keeps three", []string{"a.go: LoadA CacheA | load", "b.go: LoadB", "c.go: LoadC", "d.go: LoadD"}, "load cache", 0,
			[]string{"a.go 22", "b.go 5", "c.go 5"}},
		{"limit", []string{"a.go: LoadA", "b.go: LoadB", "c.go: LoadC"}, "load", 2, []string{"a.go 5", "b.go 5"}},
		{"no gap", []string{"a.go: LoadA", "b.go: LoadB"}, "load", 0, []string{"a.go 5", "b.go 5"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := tree(tt.nodes...).Search(Request{Query: tt.query, Limit: tt.limit})
			if err != nil {
				t.Fatal(err)
			}
			if got := paths(res); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if res.Omitted != len(tt.nodes)-len(tt.want) {
				t.Errorf("omitted %d of %d", res.Omitted, len(tt.nodes))
			}
		})
	}
}

func TestRequests(t *testing.T) {
	x := tree("load/", "load/a.go: LoadA", "b.go: LoadB")
	for _, tt := range []struct {
		r    Request
		want []string
	}{
		{Request{Query: "load", Type: Files}, []string{"b.go 5", "load/a.go 10"}},
		{Request{Query: "load", Type: Dirs}, []string{"load 12"}},
		{Request{Query: "load", MinScore: 6}, []string{"load 12", "load/a.go 10"}},
		{Request{Query: "zebra"}, nil},
		{Request{Query: "zebra", MinScore: 0}, nil},
	} {
		res, err := x.Search(tt.r)
		if err != nil {
			t.Fatal(err)
		}
		if got := paths(res); !slices.Equal(sorted(got), tt.want) {
			t.Errorf("%+v: got %q, want %q", tt.r, got, tt.want)
		}
	}
	for _, r := range []Request{{}, {Query: "  "}, {Query: "a", Type: "folders"}, {Query: "a", Limit: -1},
		{Query: strings.Repeat("a", MaxQuery+1)}, {Query: "a", MinScore: -1}} {
		if _, err := x.Search(r); err == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
}

func sorted(s []string) []string { slices.Sort(s); return s }

func TestTokens(t *testing.T) {
	for query, want := range map[string][]string{
		"Update the Storage.go": {"update", "updat", "storage", "storag"},
		"a b c":                 {"a", "b", "c"},
		"web/user-profile.tsx":  {"web", "user", "profile", "profil"},
		"node.js":               {"node"},
		"go":                    {"go"},
		"änderung straße":       {"änderung", "straße"},
		"aof_rewrite":           {"aof", "rewrite", "rewrit", "aof_rewrite"},
	} {
		res, err := tree("x").Search(Request{Query: query, ShowTokens: true})
		if err != nil || !slices.Equal(res.Tokens, want) {
			t.Errorf("%q: %q, want %q (%v)", query, res.Tokens, want, err)
		}
	}
}

func TestDirSummary(t *testing.T) {
	x := tree("auth/", "auth/login.go: Auth", "auth/a.go: AuthA", "auth/b.go: AuthB", "auth/c.go: AuthC", "web/x.go: AuthX", "authz.go")
	res, err := x.Search(Request{Query: "auth", DirSummary: true, DirLimit: 2, DrillLimit: 3})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range res.Dirs {
		line := fmt.Sprintf("%s %g %d:", d.Path, d.Score, d.Matches)
		for _, r := range d.Top {
			line += " " + r.Path
		}
		got = append(got, line)
	}
	want := []string{"auth 61 4: auth/login.go auth/a.go auth/b.go", ". 7 1: authz.go"}
	if !slices.Equal(got, want) || len(res.Results) != 0 {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestContent(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "the Zebra\n", "b.txt": "nothing\n", "not-indexed.txt": "zebra\n", "-v": "zebra\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	x := tree("a.txt", "b.txt", "-v", "gone.txt", "zebra.md")
	found, warning, err := x.Content(context.Background(), dir, "zebra", 1)
	if err != nil || !strings.Contains(warning, "stale") {
		t.Fatalf("%v, warning %q", err, warning)
	}
	res, err := x.SearchWith(Request{Query: "zebra"}, found)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := paths(res), []string{"zebra.md 22", "-v 1", "a.txt 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, r := range []Request{{Query: "zebra", Type: Dirs}, {Query: "zebra", MinScore: 2}} {
		res, err := x.SearchWith(r, found)
		if err != nil || strings.Contains(strings.Join(paths(res), " "), " 1") {
			t.Errorf("%+v: %v %v", r, paths(res), err)
		}
	}
}

func FuzzSearch(f *testing.F) {
	x := tree("a/b_c.go: LoadA aof_rewrite Ünï | page loading, with", "d/")
	f.Add("load page", 1.0)
	f.Add("\xff_\x00 ÄÖ _a_ __", 0.0)
	f.Fuzz(func(t *testing.T, query string, least float64) {
		res, err := x.Search(Request{Query: query, MinScore: least, Explain: true, ShowTokens: true})
		if err != nil {
			return
		}
		for _, r := range res.Results {
			sum := 0.0
			for _, p := range r.Explain {
				sum += p.Points
			}
			if r.Score <= 0 || sum != r.Score {
				t.Errorf("score %v, points %v", r.Score, sum)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	var nodes []string
	for i := range 5500 {
		line := fmt.Sprintf("src/module%d/component%d/service_%d.ts:", i%40, i%300, i)
		for k := range 20 {
			line += fmt.Sprintf(" handle%dRequest%d", k, i)
		}
		nodes = append(nodes, line)
	}
	x := tree(nodes...)
	for b.Loop() {
		if _, err := x.Search(Request{Query: "update storage request handler"}); err != nil {
			b.Fatal(err)
		}
	}
}
