package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestScorecardChecks holds those checks of the OSSF Scorecard that need nothing but the files: each is
// named as there. Pinned actions, dangerous workflows and the image's base are in TestWorkflowsPinActions,
// TestWorkflowsGiveAwayNothing and TestDockerfile.
func TestScorecardChecks(t *testing.T) {
	root := moduleRoot(t)
	file := func(name string) string { return read(t, filepath.Join(root, filepath.FromSlash(name))) }
	all := workflows(t)

	t.Run("Binary-Artifacts", func(t *testing.T) {
		magics := []string{"\x7fELF", "MZ", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "PK\x03\x04", "!<arch>\n", "\x00asm"}
		walk(t, root, func(name string) {
			f, err := os.Open(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			head, err := io.ReadAll(io.LimitReader(f, 8))
			if err != nil {
				t.Error(err)
			}
			for _, m := range magics {
				if bytes.HasPrefix(head, []byte(m)) {
					t.Errorf("%s is a program or an archive", name)
				}
			}
		})
	})
	t.Run("Dependency-Update-Tool", func(t *testing.T) {
		text := file(".github/dependabot.yml")
		for _, eco := range []string{"gomod", "github-actions", "docker"} {
			if !strings.Contains(text, "package-ecosystem: "+eco+"\n") {
				t.Errorf("nothing keeps %s up to date", eco)
			}
		}
	})
	t.Run("Fuzzing", func(t *testing.T) {
		targets := 0
		for _, f := range goFiles(t) {
			if f.test {
				targets += len(regexp.MustCompile(`(?m)^func Fuzz[A-Z]`).FindAllString(file(f.name), -1))
			}
		}
		if targets < 30 || !strings.Contains(file(".ci/run"), ".ci/fuzz") || !strings.Contains(all[".github/workflows/weekly.yml"], "bash .ci/fuzz 60s") {
			t.Errorf("%d fuzz targets, or they do not run", targets)
		}
	})
	t.Run("License", func(t *testing.T) {
		if len(file("LICENSE")) < 1000 {
			t.Error("no licence")
		}
	})
	t.Run("Pinned-Dependencies", func(t *testing.T) {
		tool := regexp.MustCompile(`(?:go run|go install) "?([a-z0-9.-]+\.[a-z]+/[^\s"]+)`)
		version := regexp.MustCompile(`@v\d+\.\d+\.\d+$`)
		texts := map[string]string{".ci/run": file(".ci/run"), "Dockerfile": file("Dockerfile")}
		for name, text := range all {
			texts[name] = text
		}
		for name, text := range texts {
			for _, m := range tool.FindAllStringSubmatch(text, -1) {
				if !version.MatchString(m[1]) && !strings.HasPrefix(name, "docs/") {
					t.Errorf("%s: %s has no version", name, m[1])
				}
			}
			if regexp.MustCompile(`(curl|wget)[^\n]*\|\s*(ba)?sh`).MatchString(text) {
				t.Errorf("%s: runs what it downloads", name)
			}
		}
	})
	t.Run("SAST", func(t *testing.T) {
		run := file(".ci/run")
		if !strings.Contains(run, "stage 'staticcheck'") || !strings.Contains(run, "stage 'gosec'") || !strings.Contains(all[".github/workflows/ci.yml"], "bash .ci/run") {
			t.Error("no static analysis on each change")
		}
	})
	t.Run("Security-Policy", func(t *testing.T) {
		text := file(".github/SECURITY.md")
		for _, want := range []string{"Report a vulnerability", "## What is trusted", "## Where tokens go", "## Supply chain"} {
			if !strings.Contains(text, want) {
				t.Errorf("SECURITY.md lacks %q", want)
			}
		}
	})
	t.Run("Signed-Releases", func(t *testing.T) {
		if text := all[".github/workflows/release.yml"]; !strings.Contains(text, "actions/attest") && !strings.Contains(text, "attest-build-provenance") {
			t.Error("a release's archives have no provenance")
		}
	})
	t.Run("Token-Permissions", func(t *testing.T) {
		for name, text := range all {
			top := regexp.MustCompile(`(?m)^permissions:(.*(?:\n  .*)*)`).FindStringSubmatch(text)
			if top == nil {
				t.Errorf("%s: no permissions at the top", name)
			} else if strings.Contains(top[1], "write") {
				t.Errorf("%s: writes by default: %s", name, top[1])
			}
		}
	})
	t.Run("Vulnerabilities", func(t *testing.T) {
		if !strings.Contains(all[".github/workflows/weekly.yml"], "govulncheck@v") {
			t.Error("govulncheck does not run")
		}
	})
}
