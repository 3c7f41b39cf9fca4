package main

import (
	"maps"
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

// TestPinImage runs what the release runs on action.yml.
func TestPinImage(t *testing.T) {
	root := moduleRoot(t)
	file := filepath.Join(t.TempDir(), "action.yml")
	before := read(t, filepath.Join(root, "action.yml"))
	pin := func(image string) (string, error) {
		out, err := exec.Command("bash", filepath.Join(root, ".ci", "pin-image"), file, image).CombinedOutput()
		return string(out), err
	}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(before)
	for _, digest := range []string{strings.Repeat("0a", 32), strings.Repeat("1b", 32)} { // a second release replaces the first
		image := "ghcr.io/ctxt-dev/ctxt@sha256:" + digest
		if out, err := pin(image); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want := regexp.MustCompile(`(?m)^  image: .*$`).ReplaceAllString(before, "  image: docker://"+image)
		if got := read(t, file); got != want {
			t.Errorf("action.yml pinned to %s:\n%s", image, got)
		}
	}
	for _, c := range []struct{ text, image string }{
		{before, "ghcr.io/ctxt-dev/ctxt:latest"},
		{before, "ghcr.io/ctxt-dev/ctxt@sha256:abc"},
		{before, "x#e id#@sha256:" + strings.Repeat("0", 64)},
		{"runs:\n  using: docker\n", "ghcr.io/ctxt-dev/ctxt@sha256:" + strings.Repeat("0", 64)},
		{before + "\n  image: Dockerfile\n  image: Dockerfile\n", "ghcr.io/ctxt-dev/ctxt@sha256:" + strings.Repeat("0", 64)},
	} {
		write(c.text)
		if out, err := pin(c.image); err == nil || strings.Count(strings.TrimSpace(out), "\n") != 0 || read(t, file) != c.text {
			t.Errorf("%s: %v, %q; want one line and the file as it was", c.image, err, out)
		}
	}
}

// TestRelease checks what a release consists of: an archive for each system and processor, built on a
// runner of its own kind; checksums; an image for both processors with provenance and a bill of
// materials; and the digest in the released action.yml.
func TestRelease(t *testing.T) {
	text := read(t, filepath.Join(moduleRoot(t), ".github", "workflows", "release.yml"))
	runner := map[string]string{"linux/amd64": "ubuntu-24.04", "linux/arm64": "ubuntu-24.04-arm", "darwin/amd64": "macos-15-intel",
		"darwin/arm64": "macos-15", "windows/amd64": "windows-2025", "windows/arm64": "windows-11-arm"}
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`\{ runner: ([a-z0-9.-]+), os: ([a-z]+), arch: ([a-z0-9]+), cgo: "[01]" \}`).FindAllStringSubmatch(text, -1) {
		got[m[2]+"/"+m[3]] = m[1]
	}
	if !maps.Equal(got, runner) {
		t.Errorf("archives %v, want %v", got, runner)
	}
	images := regexp.MustCompile(`\{ runner: ([a-z0-9.-]+), arch: (amd64|arm64) \}`).FindAllStringSubmatch(text, -1)
	if len(images) != 2 || images[0][1] != "ubuntu-24.04" || images[1][1] != "ubuntu-24.04-arm" {
		t.Errorf("images %q, want one for each processor on its own runner", images)
	}
	for _, want := range []string{"provenance: mode=max", "sbom: true", "push-by-digest=true", "sha256sum ctxt_* | LC_ALL=C sort -k 2 > checksums.txt",
		`test "$(find . -name 'ctxt_*' | wc -l)" = 6`, `bash .ci/pin-image action.yml "$IMAGE@$DIGEST"`, "subject-checksums:", "run: bash .ci/run"} {
		if !strings.Contains(text, want) {
			t.Errorf("the release has no %q", want)
		}
	}
}
