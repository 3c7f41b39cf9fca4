package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxt-dev/ctxt/docs/schema"
)

// TestBundleSchema keeps docs/schema/bundle.json the part of the report's schema that describes the
// bundle, and checks what activate writes and prints against it. UPDATE=1 rewrites it.
func TestBundleSchema(t *testing.T) {
	var report struct {
		Properties struct {
			Context map[string]any `json:"context"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schema.Report, &report); err != nil {
		t.Fatal(err)
	}
	bundle := report.Properties.Context
	bundle["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	bundle["title"] = ".ctxt/active-bundle.json, ctxt activate --json, and the answer of the tool activate of ctxt mcp"
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(bundle); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "..", "docs", "schema", "bundle.json")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not the report's part (%v): run UPDATE=1 go test on this package", file, err)
	}
	r := agentsProject(t)
	task := "list the entries of the store"
	for _, args := range [][]string{
		{"--json"},
		{"--json", "--pack", "full", "--near-misses", "3", "--scope", "store", "--layer-order", "--blast-radius", "--branch-aware"},
		{"--json", "--task", "x"},
	} {
		code, out, errs := run(t, nil, append([]string{"activate", "--root", r.Dir, "--task", task}, args...)...)
		if code != 0 {
			t.Fatal(errs)
		}
		if err := validate(t, "bundle.json", []byte(out)); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	if code, _, errs := run(t, nil, "activate", "--root", r.Dir, "--task", task); code != 0 {
		t.Fatal(errs)
	}
	written, err := os.ReadFile(filepath.Join(r.Dir, ".ctxt", "active-bundle.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, "bundle.json", written); err != nil {
		t.Errorf("what is written: %v\n%s", err, written)
	}
}
