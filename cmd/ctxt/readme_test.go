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

// TestReadmeFigures checks that the README's figures of ranking are those of docs/quality.md.
func TestReadmeFigures(t *testing.T) {
	root := moduleRoot(t)
	readme := read(t, filepath.Join(root, "README.md"))
	var mean []string
	for line := range strings.Lines(read(t, filepath.Join(root, "docs", "quality.md"))) {
		if f := strings.Fields(line); len(f) >= 13 && f[0] == "mean" {
			mean = f
			break
		}
	}
	if mean == nil {
		t.Fatal("docs/quality.md has no line of means")
	}
	for _, want := range []string{strings.Join(mean[2:5], ", "), mean[7] + ", " + mean[9]} {
		if !strings.Contains(readme, "| "+want+" |") {
			t.Errorf("README.md has no cell %q, which docs/quality.md gives", want)
		}
	}
}
