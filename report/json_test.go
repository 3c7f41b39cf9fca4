package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// limits narrow what the types alone say, by JSON path.
var limits = map[string]map[string]any{
	"/version":               {"const": SchemaVersion},
	"/base":                  {"pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$"},
	"/head":                  {"pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$"},
	"/merge_base":            {"pattern": "^([0-9a-f]{40}|[0-9a-f]{64})?$"},
	"/verdict/level":         {"enum": []string{"low", "medium", "high", "blocked", "unassessed"}},
	"/change/files/*/status": {"enum": []string{"added", "modified", "deleted", "renamed"}},
	"/gates/*/mode":          {"enum": []string{"observe", "warn", "block"}},
	"/gates/*/state":         {"enum": []string{GatePass, GateFail, GateWorse, GateError, GateNotConfigured}},
	"/risk/band":             {"enum": []string{"", "info", "low", "medium", "high"}},
	"/risk/signals/*/level":  {"enum": []string{"info", "low", "medium", "high"}},
	"/graph/nodes":           {"maxItems": 10000},
	"/graph/edges":           {"maxItems": 100000},
}

// schemaOf writes the schema of a type at a JSON path.
func schemaOf(t reflect.Type, path string) map[string]any {
	var s map[string]any
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), path)
	case reflect.Struct:
		props, required := map[string]any{}, []string{}
		for i := range t.NumField() {
			f := t.Field(i)
			name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() {
				continue
			}
			if name == "" {
				name = f.Name
			}
			props[name] = schemaOf(f.Type, path+"/"+name)
			if !strings.Contains(opts, "omitempty") {
				required = append(required, name)
			}
		}
		s = map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false}
	case reflect.Slice:
		s = map[string]any{"type": []string{"array", "null"}, "items": schemaOf(t.Elem(), path+"/*"), "maxItems": 1000000}
	case reflect.String:
		s = map[string]any{"type": "string"}
	case reflect.Bool:
		s = map[string]any{"type": "boolean"}
	case reflect.Float64:
		s = map[string]any{"type": "number"}
	case reflect.Int, reflect.Int64, reflect.Int32:
		s = map[string]any{"type": "integer", "minimum": -(1 << 53), "maximum": 1 << 53}
	default:
		panic("no schema for " + t.String() + " at " + path)
	}
	for k, v := range limits[path] {
		s[k] = v
	}
	return s
}

// TestSchemaFits holds that the schema says what the types say; UPDATE=1 writes it.
func TestSchemaFits(t *testing.T) {
	s := schemaOf(reflect.TypeFor[Report](), "")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "ctxt report"
	s["description"] = "What one pull request run found; version 1. Written by ctxt pr --json and the Action's report-file."
	want, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	p := filepath.Join("..", "docs", "schema", "report.schema.json")
	if update {
		if err := os.WriteFile(p, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say: UPDATE=1 go test ./report", p)
	}
}

func TestJSONGolden(t *testing.T) {
	for _, name := range sortedCases() {
		data, err := JSON(cases()[name])
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse(data)
		if name == "hostile" { // its enumerations hold text
			if err == nil || !strings.Contains(err.Error(), "/change/files/*/status") {
				t.Errorf("%s: error %v", name, err)
			}
			continue
		}
		golden(t, name+".json", data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(cases()[name], back); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good, err := JSON(companionReport())
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) string {
		if !strings.Contains(string(good), old) {
			t.Fatalf("no %q in the report", old)
		}
		return strings.Replace(string(good), old, new, 1)
	}
	for name, c := range map[string]struct{ data, want string }{
		"empty":         {"", "no JSON"},
		"cut":           {string(good[:len(good)/2]), "no JSON"},
		"two":           {string(good) + string(good), "no JSON"},
		"list":          {"[]", "at /"},
		"version":       {edit(`"version": 1`, `"version": 2`), "/version"},
		"head":          {edit(headSHA, "HEAD"), "/head"},
		"level":         {edit(`"level": "high"`, `"level": "fine"`), "/verdict/level"},
		"unknown field": {edit(`"tool":`, `"extra": 1, "tool":`), "at /"},
		"deep":          {strings.Repeat("[", 1000000), "no JSON"},
		"long":          {strings.Repeat(" ", MaxJSON+1), "cap"},
	} {
		if _, err := Parse([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	good, err := JSON(companionReport())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			return
		}
		checkMarkdown(t, Markdown(r, MarkdownOptions{Marker: marker}))
	})
}
