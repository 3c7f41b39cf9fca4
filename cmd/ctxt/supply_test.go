package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// workflows are the project's own and those that users copy.
func workflows(t *testing.T) map[string]string {
	t.Helper()
	root := moduleRoot(t)
	files := map[string]string{}
	for _, dir := range []string{".github/workflows", "docs/workflows"} {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.yml"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no workflows in %s (%v)", dir, err)
		}
		for _, name := range names {
			files[dir+"/"+filepath.Base(name)] = read(t, name)
		}
	}
	return files
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestWorkflowsPinActions checks that each action is named by commit, with its version beside it, and
// that one action has one pin throughout. Examples name this project's own Action by version.
func TestWorkflowsPinActions(t *testing.T) {
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.+)$`)
	pinned := regexp.MustCompile(`^([a-z0-9-]+/[a-z0-9-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)$`)
	own := regexp.MustCompile(`^ctxt-dev/ctxt@v\d+\.\d+\.\d+( # .*)?$`)
	pins := map[string]string{}
	for name, text := range workflows(t) {
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			p := pinned.FindStringSubmatch(m[1])
			switch {
			case m[1] == "./", own.MatchString(m[1]) && strings.HasPrefix(name, "docs/"):
			case p == nil:
				t.Errorf("%s: %q is not pinned as OWNER/NAME@COMMIT # vX.Y.Z", name, m[1])
			case pins[p[1]] != "" && pins[p[1]] != p[2]:
				t.Errorf("%s: %s is %s here and %s elsewhere", name, p[1], p[2], pins[p[1]])
			default:
				pins[p[1]] = p[2]
			}
		}
	}
	if len(pins) == 0 {
		t.Error("no pinned action was found")
	}
}

// TestWorkflowsGiveAwayNothing checks that no workflow runs with the default permissions, runs on
// pull_request_target, or puts an expression into a shell line.
func TestWorkflowsGiveAwayNothing(t *testing.T) {
	for name, text := range workflows(t) {
		if !regexp.MustCompile(`(?m)^permissions:`).MatchString(text) {
			t.Errorf("%s: no permissions at the top", name)
		}
		if regexp.MustCompile(`(?m)^\s*pull_request_target:`).MatchString(text) {
			t.Errorf("%s: runs on pull_request_target", name)
		}
		for _, line := range runLines(text) {
			if strings.Contains(line, "${{") {
				t.Errorf("%s: an expression in a shell line: %s", name, strings.TrimSpace(line))
			}
		}
	}
	lines := runLines("jobs:\n  a:\n    steps:\n      - run: one\n      - name: x\n        run: |\n          two\n\n          three\n        env:\n          A: ${{ x }}\n")
	if got := strings.Join(lines, ","); got != "one,          two,,          three" {
		t.Errorf("runLines found %q", got)
	}
}

// runLines are the lines of a workflow that a shell gets.
func runLines(text string) []string {
	key := regexp.MustCompile(`^(\s*(?:- )?)run: (.*)$`)
	var lines []string
	indent := -1 // of the key whose block is being read
	for _, line := range strings.Split(text, "\n") {
		depth := len(line) - len(strings.TrimLeft(line, " "))
		if indent >= 0 && (strings.TrimSpace(line) == "" || depth > indent) {
			lines = append(lines, line)
			continue
		}
		indent = -1
		m := key.FindStringSubmatch(line)
		switch {
		case m == nil:
		case strings.HasPrefix(m[2], "|"), strings.HasPrefix(m[2], ">"):
			indent = len(m[1])
		default:
			lines = append(lines, m[2])
		}
	}
	return lines
}

// TestDockerfile checks that the image's base is named by digest, that one version of Go builds
// everything, and that the image's own stage sets no user and no folder: the runner does.
func TestDockerfile(t *testing.T) {
	text := read(t, filepath.Join(moduleRoot(t), "Dockerfile"))
	m := regexp.MustCompile(`(?m)^ARG GO_IMAGE=golang:(\d+\.\d+\.\d+)-bookworm@sha256:[0-9a-f]{64}$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal("GO_IMAGE is not golang:X.Y.Z-bookworm by digest")
	}
	for name, workflow := range workflows(t) {
		for _, v := range regexp.MustCompile(`go-version: (\S+)`).FindAllStringSubmatch(workflow, -1) {
			if v[1] != m[1] {
				t.Errorf("%s: Go %s, and %s in the Dockerfile", name, v[1], m[1])
			}
		}
	}
	var last string
	for _, from := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(text, -1) {
		if last = from[1]; last != "scratch" && last != "${GO_IMAGE}" {
			t.Errorf("the Dockerfile builds on %s, which is not pinned by digest", last)
		}
	}
	if last != "scratch" {
		t.Errorf("the image's base is %q, want scratch", last)
	}
	stage := text[strings.LastIndex(text, "\nFROM "):]
	if regexp.MustCompile(`(?m)^(USER|WORKDIR|CMD)\b`).MatchString(stage) || !strings.Contains(stage, "\nENTRYPOINT [\"/ctxt\"]\n") {
		t.Errorf("the image's stage:%s", stage)
	}
}

// TestActionRunsTheImage checks that action.yml starts what the Dockerfile builds.
func TestActionRunsTheImage(t *testing.T) {
	text := read(t, filepath.Join(moduleRoot(t), "action.yml"))
	if !regexp.MustCompile(`(?m)^  image: (Dockerfile|docker://[a-z0-9./-]+@sha256:[0-9a-f]{64})$`).MatchString(text) {
		t.Error("action.yml names no image that .ci/pin-image could replace")
	}
}

// TestArchiveExtras writes what a release's archive holds beside the binary, and checks that the release does so.
func TestArchiveExtras(t *testing.T) {
	root, dir := moduleRoot(t), t.TempDir()
	ctxt, err := exec.LookPath("ctxt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(ctxt, filepath.Join(dir, "ctxt")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("bash", filepath.Join(root, ".ci", "extras"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]string{
		"man/man1/ctxt.1": ".TH CTXT 1", "man/man1/ctxt-pr.1": ".SH SYNOPSIS", "completions/ctxt.bash": "complete -o",
		"completions/_ctxt": "#compdef ctxt", "completions/ctxt.fish": "complete -c ctxt", "completions/ctxt.ps1": "Register-ArgumentCompleter",
	} {
		if !strings.Contains(read(t, filepath.Join(dir, filepath.FromSlash(name))), want) {
			t.Errorf("%s has no %q", name, want)
		}
	}
	if !strings.Contains(read(t, filepath.Join(root, ".github", "workflows", "release.yml")), `run: bash .ci/extras "dist/$NAME"`) {
		t.Error("the release's archives have no manual pages and completions")
	}
}
