package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestParity checks that every row of docs/parity.md names tests and that they exist.
func TestParity(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "parity.md"))
	if err != nil {
		t.Fatal(err)
	}
	proof := regexp.MustCompile("`([^`]+)`")
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| promise") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		proofs := proof.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 2 || len(proofs) == 0 {
			t.Errorf("want a promise and its tests: %s", line)
		}
		for _, p := range proofs {
			if !provable(t, root, p[1]) {
				t.Errorf("there is no %s: %s", p[1], line)
			}
		}
	}
	if rows < 50 {
		t.Errorf("%d rows", rows)
	}
}

// provable reports whether "script NAME" or "PACKAGE TestName" exists.
func provable(t *testing.T, root, name string) bool {
	t.Helper()
	where, test, ok := strings.Cut(name, " ")
	if !ok {
		return false
	}
	if where == "script" {
		_, err := os.Stat(filepath.Join(root, "testdata", "script", test+".txtar"))
		return err == nil
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(where), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "\nfunc "+test+"(") {
			return true
		}
	}
	return false
}
