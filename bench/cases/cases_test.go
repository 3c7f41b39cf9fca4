package cases

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const goodFile = `{
  "version": 2,
  "note": "ignored",
  "categories": {
    "symbol-lookup": {
      "description": "by name",
      "cases": [
        {"query": "Parse", "expect_any": ["a/parse.go", "b.go"], "why": "ignored"}
      ]
    },
    "exact-file": {"cases": [{"query": "b.go", "expect_any": ["b.go"]}]}
  }
}
`

func TestParse(t *testing.T) {
	f, err := Parse("c.json", []byte(goodFile))
	if err != nil {
		t.Fatal(err)
	}
	want := []Item{
		{"symbol-lookup", Case{"Parse", []string{"a/parse.go", "b.go"}}},
		{"exact-file", Case{"b.go", []string{"b.go"}}},
	}
	if d := cmp.Diff(want, f.Items()); d != "" {
		t.Error(d)
	}
}

func TestParseErrors(t *testing.T) {
	file := func(cases string) string {
		return "{\"version\": 2, \"categories\": {\n\"x\": {\"cases\":\n[" + cases + "]}}}"
	}
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "c.json:1: not valid JSON: the document ends too early"},
		{"cut", "{\"version\": 2,\n\"categories\"", "c.json:2: not valid JSON"},
		{"syntax", "{\"version\": 2,\n\n}", "c.json:3: not valid JSON"},
		{"after", goodFile + "{}", "text after the end"},
		{"bare array", "\n[{\"query\": \"a\"}]", "c.json:2: the document is an array, not an object"},
		{"no version", "{}", `c.json:1: field "version": missing`},
		{"version 1", "{\n\"version\": 1}", `c.json:2: field "version": got 1, this program reads version 2`},
		{"version text", `{"version": "2"}`, `got a string`},
		{"no categories", `{"version": 2}`, `field "categories": missing`},
		{"categories array", `{"version": 2, "categories": []}`, `field "categories": want an object, got an array`},
		{"no category", `{"version": 2, "categories": {}}`, `field "categories": holds no case`},
		{"blank name", `{"version": 2, "categories": {" ": {}}}`, "category name is empty"},
		{"category", `{"version": 2, "categories": {"x": 1}}`, `field "categories.x": want an object, got a number`},
		{"doubled", "{\"version\": 2, \"categories\": {\"x\": {\"cases\": []},\n\"x\": {}}}", `c.json:2: member "x" appears twice`},
		{"description", `{"version": 2, "categories": {"x": {"description": 1}}}`, `"categories.x.description": want a string`},
		{"no cases", file(""), `c.json:3: field "categories.x.cases": holds no case`},
		{"case", file("7"), `field "categories.x.cases[0]": want an object, got a number`},
		{"no query", file("{}"), `field "categories.x.cases[0].query": missing`},
		{"blank query", file(`{"query": " "}`), `cases[0].query": is empty`},
		{"control", file(`{"query": "a\nb"}`), `cases[0].query": holds a control character`},
		{"no expect", file("{\"query\": \"a\", \"expect_any\": [\"a\"]},\n{\"query\": \"b\"}"), `c.json:4: field "categories.x.cases[1].expect_any": missing`},
		{"empty expect", file(`{"query": "a", "expect_any": []}`), "want 1 to 1000 paths, got 0"},
		{"null expect", file(`{"query": "a", "expect_any": [null]}`), `expect_any[0]": want a string, got null`},
		{"absolute", file(`{"query": "a", "expect_any": ["/a"]}`), `"/a" is not a clean path`},
		{"parent", file(`{"query": "a", "expect_any": ["a/../b"]}`), "is not a clean path"},
		{"dot", file(`{"query": "a", "expect_any": ["./b"]}`), "is not a clean path"},
		{"backslash", file(`{"query": "a", "expect_any": ["a\\b"]}`), "is not a clean path"},
		{"twice", file(`{"query": "a", "expect_any": ["a", "a"]}`), `expect_any[1]": "a" appears twice`},
		{"deep", strings.Repeat("[", 100_000), "nested deeper than 16 levels"},
		{"large", `{"version": ` + strings.Repeat(" ", MaxFile), "larger than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("c.json", []byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v\nwant %q in it", err, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(goodFile))
	f.Add([]byte(`{"version":2,"categories":{"a":{"cases":[{"query":"q","expect_any":["` + "\xff" + `"]}]}}}`))
	f.Add([]byte(`[[[[[[[[[[[[[[[[[[[[`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Parse("f", b)
		if err == nil && len(got.Items()) == 0 {
			t.Error("no cases and no error")
		}
	})
}
