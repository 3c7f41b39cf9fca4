package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeWorkflow checks that the workflow that the README shows is the one in docs/workflows.
func TestReadmeWorkflow(t *testing.T) {
	root := moduleRoot(t)
	_, blocks := split(t, root, "README.md")
	want := read(t, filepath.Join(root, "docs", "workflows", "pull-request.yml"))
	for _, b := range blocks {
		if b.lang == "yaml" && b.text == want {
			return
		}
	}
	t.Errorf("README.md shows no yaml block that is docs/workflows/pull-request.yml:\n%s", strings.TrimSpace(want))
}
