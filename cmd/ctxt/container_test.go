//go:build container

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/report/github/githubtest"
)

// runnerUID is who owns the checkout, as on a hosted runner; the container runs as root.
const runnerUID = 1001

// TestContainerPullRequest runs the image as the runner does: the workspace belongs to another user,
// root is in the container, mounts and variables are those of a container action.
func TestContainerPullRequest(t *testing.T) {
	run := newContainerRun(t, sampleRepository(t))
	api := githubtest.New(t, "")
	run.opened("store: keep entries sorted", "Entries of the store come back in order.")

	begin := time.Now()
	out := run.start("pull_request", api)
	t.Logf("the run took %v", time.Since(begin).Round(10*time.Millisecond))

	comments := api.Comments()
	if len(comments) != 1 {
		t.Fatalf("%d comments, want 1\n%s", len(comments), out)
	}
	if !strings.Contains(comments[0].Body, "store/store.go") {
		t.Errorf("the comment does not name store/store.go:\n%s", comments[0].Body)
	}
	if s := run.file("file_commands/summary"); !strings.Contains(s, "store/store.go") {
		t.Errorf("the summary does not name store/store.go:\n%s", s)
	}
	if s := run.file("file_commands/output"); !strings.Contains(s, "comment=") && !strings.Contains(s, "comment<<") {
		t.Errorf("no output comment:\n%s", s)
	}
	run.assertClean()

	// The same event again finds nothing to write.
	writes := len(api.Writes())
	run.start("pull_request", api)
	if now := api.Writes(); len(now) != writes {
		t.Errorf("the second run wrote: %v", now[writes:])
	}
	run.assertClean()
}

// TestContainerStandsAlone checks what the image promises without a repository.
func TestContainerStandsAlone(t *testing.T) {
	image := containerImage(t)
	out, err := exec.Command("docker", "run", "--rm", image, "version").CombinedOutput()
	if err != nil || !regexp.MustCompile(`^ctxt \d+\.\d+\.\d+`).Match(out) {
		t.Errorf("version: %v\n%s", err, out)
	}
	user, err := exec.Command("docker", "image", "inspect", "-f", "{{.Config.User}}|{{.Config.WorkingDir}}|{{json .Config.Entrypoint}}", image).Output()
	if got := strings.TrimSpace(string(user)); err != nil || got != `||["/ctxt"]` && got != `|/|["/ctxt"]` {
		t.Errorf("user, folder and entry point: %q, %v", got, err)
	}
}

// TestContainerTime prints how long a run takes in a repository of 1,000 files and 200 commits, beside
// the container's own start, in turns on the same machine. Times are shown, never judged.
func TestContainerTime(t *testing.T) {
	const files, commits, rounds = 1000, 200, 5
	repo := gittest.New(t)
	name := func(i int) string { return fmt.Sprintf("pkg%02d/file%03d.go", i%40, i) }
	write := func(i, version int) {
		var b strings.Builder
		fmt.Fprintf(&b, "package pkg%02d\n", i%40)
		for k := range 12 {
			fmt.Fprintf(&b, "\n// Step%d of file %d.\nfunc Step%d_%d(n int) int { return n + %d }\n", k, i, i, k, version)
		}
		repo.Write(name(i), b.String())
	}
	for i := range files {
		write(i, 0)
	}
	repo.Commit("begin")
	for c := 1; c < commits; c++ {
		for k := range 3 {
			write((7*c+k)%files, c)
		}
		repo.Commit(fmt.Sprintf("pkg%02d: step %d", 7*c%40, c))
	}
	repo.Git("switch", "-q", "-c", "sorted")
	for i := range 5 {
		write(i, commits)
	}
	repo.Commit("pkg00: steps in order")
	run := newContainerRun(t, repo)
	run.opened("pkg00: steps in order", "Step0 and its siblings come in order.")
	api := githubtest.New(t, "")

	var start, whole []time.Duration
	for range rounds {
		begin := time.Now()
		if out, err := exec.Command("docker", "run", "--rm", "--network", "host", run.image, "version").CombinedOutput(); err != nil {
			t.Fatalf("version: %v\n%s", err, out)
		}
		start = append(start, time.Since(begin))
		begin = time.Now()
		run.start("pull_request", api)
		whole = append(whole, time.Since(begin))
	}
	if len(api.Comments()) != 1 {
		t.Errorf("%d comments, want 1", len(api.Comments()))
	}
	slices.Sort(start)
	slices.Sort(whole)
	const unit = 10 * time.Millisecond
	t.Logf("%d files, %d commits, %d rounds: the container alone %v, with the report %v (medians); beyond its start %v (smallest %v)",
		files, commits, rounds, start[rounds/2].Round(unit), whole[rounds/2].Round(unit), (whole[rounds/2] - start[rounds/2]).Round(unit), (whole[0] - start[0]).Round(unit))
}

func containerImage(t *testing.T) string {
	t.Helper()
	image := os.Getenv("CTXT_IMAGE")
	if image == "" {
		t.Fatal("CTXT_IMAGE names no image; run .ci/container")
	}
	return image
}

// containerRun is one job of a runner: its folders and the repository in its workspace.
type containerRun struct {
	t          *testing.T
	image      string
	dir        string // holds workspace, home, workflow, file_commands, runner_temp
	base, head string
}

func newContainerRun(t *testing.T, repo *gittest.Repo) *containerRun {
	t.Helper()
	r := &containerRun{t: t, image: containerImage(t), dir: t.TempDir(), base: repo.Git("rev-parse", "main"), head: repo.Git("rev-parse", "sorted")}

	for _, d := range []string{"home", "workflow", "file_commands", "runner_temp"} {
		if err := os.Mkdir(filepath.Join(r.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"output", "summary", "env", "path", "state"} {
		if err := os.WriteFile(filepath.Join(r.dir, "file_commands", f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	repo.Git("clone", "-q", "--no-local", repo.Dir, filepath.Join(r.dir, "workspace"))
	if err := chownAll(r.dir, runnerUID); err != nil {
		t.Fatal(err)
	}
	return r
}

// chownAll gives a folder and everything in it to a user and the group of the same number.
func chownAll(dir string, id int) error {
	return filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, id, id)
	})
}

// opened writes the event of a new pull request.
func (r *containerRun) opened(title, body string) {
	r.t.Helper()
	r.event(map[string]any{
		"action": "opened", "number": 7,
		"pull_request": map[string]any{
			"number": 7, "title": title, "body": body,
			"draft": false, "user": map[string]any{"login": "someone", "type": "User"},
			"base": map[string]any{"ref": "main", "sha": r.base, "repo": map[string]any{"full_name": "octo/repo"}},
			"head": map[string]any{"ref": "sorted", "sha": r.head, "repo": map[string]any{"full_name": "octo/repo"}},
		},
		"repository": map[string]any{"full_name": "octo/repo", "name": "repo", "owner": map[string]any{"login": "octo"}, "default_branch": "main"},
	})
}

func (r *containerRun) event(payload map[string]any) {
	r.t.Helper()
	data, err := json.Marshal(payload)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "workflow", "event.json"), data, 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// start runs the image's action command and returns what it printed.
func (r *containerRun) start(event string, api *githubtest.Server) string {
	r.t.Helper()
	args := []string{"run", "--rm", "--network", "host", "--workdir", "/github/workspace"}
	for _, d := range []string{"workspace", "home", "workflow", "file_commands", "runner_temp"} {
		args = append(args, "-v", filepath.Join(r.dir, d)+":/github/"+d)
	}
	env := map[string]string{
		"CI": "true", "HOME": "/github/home", "GITHUB_ACTIONS": "true", "RUNNER_TEMP": "/github/runner_temp",
		"RUNNER_OS": "Linux", "GITHUB_WORKSPACE": "/github/workspace", "GITHUB_EVENT_NAME": event,
		"GITHUB_EVENT_PATH": "/github/workflow/event.json", "GITHUB_OUTPUT": "/github/file_commands/output",
		"GITHUB_STEP_SUMMARY": "/github/file_commands/summary", "GITHUB_ENV": "/github/file_commands/env",
		"GITHUB_PATH": "/github/file_commands/path", "GITHUB_STATE": "/github/file_commands/state",
		"GITHUB_REPOSITORY": "octo/repo", "GITHUB_REPOSITORY_OWNER": "octo", "GITHUB_API_URL": api.URL,
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_GRAPHQL_URL": api.GraphQL(),
		"GITHUB_RUN_ID": "99", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_RUN_NUMBER": "3", "GITHUB_SHA": r.head,
		"GITHUB_REF": "refs/pull/7/merge", "GITHUB_BASE_REF": "main", "GITHUB_HEAD_REF": "sorted",
		"GITHUB_ACTOR": "someone", "GITHUB_JOB": "ctxt", "GITHUB_WORKFLOW": "ctxt",
		"INPUT_TOKEN": api.Token, "INPUT_MODE": "warn",
	}
	for k, v := range env {
		args = append(args, "-e", k+"="+v)
	}
	out, err := exec.Command("docker", append(args, r.image, "action")...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("docker run: %v\n%s", err, out)
	}
	return string(out)
}

func (r *containerRun) file(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

// assertClean checks that the workspace is as the checkout left it: nothing changed, nothing new,
// and every file still its owner's.
func (r *containerRun) assertClean() {
	r.t.Helper()
	ws := filepath.Join(r.dir, "workspace")
	status := exec.Command("git", "-c", "safe.directory="+ws, "-C", ws, "status", "--porcelain", "--ignored")
	status.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := status.CombinedOutput(); err != nil || len(out) != 0 {
		r.t.Errorf("git status: %v\n%s", err, out)
	}
	find := exec.Command("find", ws, "!", "-uid", fmt.Sprint(runnerUID))
	if out, err := find.CombinedOutput(); err != nil || len(out) != 0 {
		r.t.Errorf("files of another owner: %v\n%s", err, out)
	}
}
