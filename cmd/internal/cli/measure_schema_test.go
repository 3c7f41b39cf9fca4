package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ctxt-dev/ctxt/bench/cases"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/store"
)

func measureSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "..", "docs", "schema", name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, schema string, data []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return measureSchema(t, schema).Validate(v)
}

// measuredProject is a repository with an index, a case file and two past changes.
func measuredProject(t *testing.T) string {
	t.Helper()
	r := gittest.New(t)
	r.Write("a/parse.go", "package a\n\nfunc Parse() {}\n")
	r.Write("b/serve.go", "package b\n\nfunc Serve() {}\n")
	r.Commit("the first commit of all")
	r.Write("a/parse.go", "package a\n\nfunc Parse() { more() }\n")
	r.Commit("Parse more than before")
	r.Write("b/serve.go", "package b\n\nfunc Serve() { more() }\n")
	r.Commit("Serve more than before")
	x := store.New(r.Dir, time.Unix(1, 0))
	x.Root.Children = []*store.Node{
		{FullPath: "a", Type: store.TypeDirectory, Children: []*store.Node{{FullPath: "a/parse.go", Type: store.TypeFile, Symbols: []string{"Parse"}}}},
		{FullPath: "b", Type: store.TypeDirectory, Children: []*store.Node{{FullPath: "b/serve.go", Type: store.TypeFile, Symbols: []string{"Serve"}}}},
	}
	if err := store.Save(filepath.Join(r.Dir, ".ctxt", "ctx_index.json"), x); err != nil {
		t.Fatal(err)
	}
	r.Write("cases.json", `{"version":2,"categories":{"symbol-lookup":{"cases":[
		{"query":"Parse","expect_any":["a/parse.go","gone.go"]},{"query":"Unknown","expect_any":["b/serve.go"]}]}}}`)
	return r.Dir
}

func TestMeasurementsFollowTheirSchemas(t *testing.T) {
	dir := measuredProject(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	run := func(want int, args ...string) []byte {
		var out, errs bytes.Buffer
		code := Main(context.Background(), args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, func(string) (string, bool) { return "", false })
		if code != want {
			t.Fatalf("%q: exit %d, want %d: %s", args, code, want, errs.String())
		}
		return out.Bytes()
	}
	base := []string{"--json", "--root", dir, "--cases", at("cases.json")}
	eval := append([]string{"eval"}, base...)
	replay := []string{"eval", "--json", "--repo", dir, "--from-history", "5"}
	engines := append([]string{"bench", "--engines", "ctxt,find,grep,combined"}, base...)
	table := []string{"bench", "replay", "--json", "--quiet", at("own+r.jsonl") + ":" + dir}
	lines := []byte(`{"sha":"HEAD","base":"HEAD~1","title":"Serve more","gold":["b/serve.go"]}` + "\n" + `{"base":"none","title":"x","gold":["y"]}` + "\n")
	if err := os.WriteFile(at("own+r.jsonl"), lines, 0o644); err != nil {
		t.Fatal(err)
	}
	with := func(args []string, more ...string) []string { return append(args[:len(args):len(args)], more...) }
	for _, tt := range []struct {
		schema string
		code   int
		args   []string
	}{
		{"eval.json", 0, eval},
		{"eval.json", 0, with(eval, "--shard", "2/3")},
		{"eval.json", 1, with(eval, "--min-hit1", "0.9")},
		{"eval.json", 0, with(eval, "--engine", "activate", "--update-baseline", "--baseline", at("b1.json"))},
		{"eval.json", 0, with(eval, "--update-baseline", "--baseline", at("b2.json"))},
		{"replay.json", 0, replay},
		{"replay.json", 0, with(replay, "--shard", "1/2")},
		{"replay.json", 0, with(replay, "--update-baseline", "--baseline", at("b3.json"))},
		{"replay.json", 0, []string{"eval", "--json", "--repo", dir, "--replay", at("own+r.jsonl")}},
		{"bench.json", 0, engines},
		{"bench.json", 0, with(engines, "--shard", "1/2")},
		{"bench.json", 0, with(engines, "--update-baseline", "--baseline", at("b4.json"))},
		{"replay-table.json", 0, table},
		{"replay-table.json", 0, with(table, "--results")},
	} {
		if err := validate(t, tt.schema, run(tt.code, tt.args...)); err != nil {
			t.Errorf("%q: %v", tt.args, err)
		}
	}
	for _, name := range []string{"b1.json", "b2.json", "b3.json", "b4.json"} {
		data, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, "baseline.json", data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The schema of case files and their reader accept and refuse the same documents.
func TestCaseSchemaAgreesWithTheReader(t *testing.T) {
	one := func(query, expect any) map[string]any {
		return map[string]any{"version": 2, "categories": map[string]any{"c": map[string]any{"cases": []any{map[string]any{"query": query, "expect_any": expect, "find_pattern": "x"}}}}}
	}
	for name, doc := range map[string]any{
		"good":          one("q", []string{"a/b.go", ".github/x", "a..b", "..."}),
		"array":         []any{},
		"version":       map[string]any{"version": 1, "categories": map[string]any{}},
		"no categories": map[string]any{"version": 2},
		"empty":         map[string]any{"version": 2, "categories": map[string]any{}},
		"no cases":      map[string]any{"version": 2, "categories": map[string]any{"c": map[string]any{"cases": []any{}}}},
		"blank name":    map[string]any{"version": 2, "categories": map[string]any{" ": one("q", []string{"a"})["categories"].(map[string]any)["c"]}},
		"blank query":   one(" ", []string{"a"}),
		"query number":  one(1, []string{"a"}),
		"no paths":      one("q", []string{}),
		"path number":   one("q", []any{1}),
		"absolute":      one("q", []string{"/a"}),
		"parent":        one("q", []string{"../a"}),
		"inner parent":  one("q", []string{"a/../b"}),
		"dot":           one("q", []string{"."}),
		"inner dot":     one("q", []string{"a/./b"}),
		"leading dot":   one("q", []string{"./a"}),
		"doubled slash": one("q", []string{"a//b"}),
		"folder":        one("q", []string{"a/"}),
		"backslash":     one("q", []string{`a\b`}),
		"twice":         one("q", []string{"a", "a"}),
		"empty path":    one("q", []string{""}),
	} {
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, byReader := cases.Parse("f", data)
		bySchema := validate(t, "cases.json", data)
		if (byReader == nil) != (bySchema == nil) || (byReader == nil) != (name == "good") {
			t.Errorf("%s: reader %v, schema %v", name, byReader, bySchema)
		}
	}
}
