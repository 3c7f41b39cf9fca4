package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestSecurityPage checks that docs/security.md has the twenty attacks, that the functions and the tests
// that it names exist, and that it lists every fuzz target that reads an input, each with a seed.
func TestSecurityPage(t *testing.T) {
	root := moduleRoot(t)
	page := read(t, filepath.Join(root, "docs", "security.md"))
	code := regexp.MustCompile("`([^`]+)`")
	attacks, inputs := 0, 0
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| #") || strings.HasPrefix(line, "| input") {
			continue
		}
		proofs := code.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(proofs) == 0 {
			t.Errorf("no test in %s", line)
		}
		for _, p := range proofs {
			if !provable(t, root, p[1]) {
				t.Errorf("there is no test %s: %s", p[1], line)
			}
		}
		switch len(cells) {
		case 4:
			attacks++
			if n := strings.TrimSpace(cells[0]); n != strconv.Itoa(attacks) {
				t.Errorf("row %d has the number %s", attacks, n)
			}
			defences := code.FindAllStringSubmatch(cells[2], -1)
			if len(defences) == 0 {
				t.Errorf("no defence in %s", line)
			}
			for _, d := range defences {
				file, function, _ := strings.Cut(d[1], " ")
				src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
				if err != nil || !regexp.MustCompile(`(?m)^func (\([^)]*\) )?`+regexp.QuoteMeta(function)+`[\[(]`).Match(src) {
					t.Errorf("there is no function %s: %s", d[1], line)
				}
			}
		case 2:
			inputs++
		default:
			t.Errorf("%d cells: %s", len(cells), line)
		}
	}
	if attacks != 20 || inputs < 15 {
		t.Errorf("%d attacks, %d inputs", attacks, inputs)
	}
	// Targets that make an input of our own, and read none, are not in the table.
	ours := map[string]bool{"analyze/pick FuzzCountTokens": true, "analyze/risk FuzzAssess": true, "analyze/search FuzzSearch": true, "bench/engines FuzzArguments": true}
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\((\w+) \*testing\.F\) \{\n((?:.*\n)*?)\}\n`)
	for _, f := range goFiles(t) {
		if !f.test {
			continue
		}
		for _, m := range target.FindAllStringSubmatch(read(t, filepath.Join(root, filepath.FromSlash(f.name))), -1) {
			name := f.pkg + " " + m[1]
			if !ours[name] && !strings.Contains(page, "`"+name+"`") {
				t.Errorf("%s is not in docs/security.md", name)
			}
			if !strings.Contains(m[3], m[2]+".Add(") && !strings.Contains(m[3], "seed("+m[2]+",") {
				t.Errorf("%s has no seed", name)
			}
		}
	}
}
