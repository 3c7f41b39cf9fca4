package cli

import (
	"context"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ctxt-dev/ctxt/cmd/internal/action"
	"github.com/ctxt-dev/ctxt/index/git"
)

// maxWorkflow caps a workflow file, in bytes.
const maxWorkflow = 1 << 20

// lazily is an expression that is compiled when it is first needed.
func lazily(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}

// What a workflow says, by its lines: keys stand where GitHub's own examples have them.
var (
	usesAction   = lazily(`(?m)^\s*-?\s*uses:\s*["']?ctxt-dev/ctxt(@|/)`)
	usesCheckout = lazily(`(?m)^\s*-?\s*uses:\s*["']?actions/checkout@`)
	wholeHistory = lazily(`(?m)^\s*fetch-depth:\s*["']?0\b`)
	mayComment   = lazily(`(?m)(^\s*pull-requests:\s*write\b|^\s*permissions:\s*write-all\b|pull-requests:\s*write\s*[,}])`)
	setsRights   = lazily(`(?m)^\s*permissions:`)
	mayRead      = lazily(`(?m)(\bcontents:\s*(read|write)\b|^\s*permissions:\s*(read|write)-all\b)`)
	noComment    = lazily(`(?m)^\s*comment:\s*["']?false\b`)
	pullTrigger  = lazily(`\bpull_request\b`)
	fromTarget   = lazily(`\bpull_request_target\b`)
	publishes    = lazily(`\bworkflow_run\b`)
)

// workflows checks the workflows here that use the Action.
func (d *diagnosis) workflows() {
	const dir = ".github/workflows"
	root, err := os.OpenRoot(d.root) // no link leads out of it
	if err != nil {
		return
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return // most folders have none
	}
	found := false
	for _, e := range entries {
		ext := path.Ext(e.Name())
		if info, err := e.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > maxWorkflow || ext != ".yml" && ext != ".yaml" {
			continue
		}
		name := path.Join(dir, e.Name())
		data, err := fs.ReadFile(root.FS(), name)
		if err != nil {
			d.add("workflow", checkWarn, "ls -l "+quoted(name), "%s: %v", name, err)
			continue
		}
		text := withoutComments(string(data))
		if usesAction().MatchString(text) {
			found = true
			d.workflow(name, text)
		}
	}
	if !found {
		d.add("workflow", checkOK, "", "none in %s uses ctxt-dev/ctxt", dir)
	}
}

// workflow checks one workflow that uses the Action.
func (d *diagnosis) workflow(name, text string) {
	comments := !noComment().MatchString(text) && (pullTrigger().MatchString(text) || publishes().MatchString(text))
	sound := true
	warn := func(command, format string, args ...any) {
		sound = false
		d.add("workflow", checkWarn, command, name+": "+format, args...)
	}
	if fromTarget().MatchString(text) {
		warn("trigger it on pull_request; for forks use the two workflows fork-report.yml and fork-publish.yml",
			"runs on pull_request_target, whose token can write: one checkout of the head gives it to a fork's code")
	} else if !pullTrigger().MatchString(text) && !publishes().MatchString(text) && !slices.ContainsFunc([]string{"merge_group", "push", "workflow_dispatch", "schedule"}, func(s string) bool { return strings.Contains(text, s) }) {
		warn("add to it: on: pull_request", "has no trigger that the Action knows")
	}
	if comments && !mayComment().MatchString(text) {
		warn("add to its permissions: pull-requests: write", "may not write the comment")
	}
	if usesCheckout().MatchString(text) && setsRights().MatchString(text) && !mayRead().MatchString(text) {
		warn("add to its permissions: contents: read", "may not read the repository: what permissions does not name is denied")
	}
	if usesCheckout().MatchString(text) && !wholeHistory().MatchString(text) && !publishes().MatchString(text) {
		warn("add to actions/checkout: fetch-depth: 0", "checks out one commit: companions and hotspots are not assessed")
	}
	if sound {
		d.add("workflow", checkOK, "", "%s: triggers, permissions and fetch depth are right", name)
	}
}

// withoutComments cuts YAML comments off. A "#" inside a quoted string goes, too: no check needs one.
func withoutComments(text string) string {
	return regexp.MustCompile(`(?m)(^|\s)#.*$`).ReplaceAllString(text, "$1")
}

// ci checks what a job on GitHub gives, when this is one.
func (d *diagnosis) ci(ctx context.Context) {
	env := func(name string) string { v, _ := d.app.Getenv(name); return v }
	if env("GITHUB_ACTIONS") != "true" {
		return
	}
	event := env("GITHUB_EVENT_NAME")
	facts, err := action.ReadFacts(event, env("GITHUB_EVENT_PATH"))
	switch {
	case env("GITHUB_EVENT_PATH") == "":
		d.add("ci event", checkFail, "run in a workflow that is triggered by pull_request", "GITHUB_EVENT_PATH names no file")
	case err != nil:
		d.add("ci event", checkFail, "run in a workflow that is triggered by pull_request", "%v", err)
	case !facts.Supported:
		d.add("ci event", checkWarn, "trigger the workflow on pull_request", "the event is %q, which the Action does nothing for", event)
	case facts.Number > 0:
		d.add("ci event", checkOK, "", "%s, number %d", event, facts.Number)
	default:
		d.add("ci event", checkOK, "", "%s: there is no pull request to comment on; the report is in the job's summary", event)
	}
	switch {
	case env("INPUT_TOKEN") == "" && env("GITHUB_TOKEN") == "":
		d.add("ci token", checkWarn, "give this step env: GITHUB_TOKEN: ${{ github.token }}", "this step has no token; the Action's own input token defaults to github.token")
	default:
		d.add("ci token", checkOK, "", "there is one")
	}
	const forks = "docs/workflows/fork-report.yml and fork-publish.yml bring the comment there, too"
	switch {
	case facts.Number > 0 && facts.Fork && event == "pull_request":
		d.add("ci permissions", checkWarn, forks, "the pull request is from a fork: its token can only read, so the report is in the job's summary")
	case facts.Number > 0 && env("GITHUB_ACTOR") == "dependabot[bot]" && event == "pull_request":
		d.add("ci permissions", checkWarn, forks, "the run is Dependabot's: its token can only read, so the report is in the job's summary")
	case facts.Number > 0:
		d.add("ci permissions", checkOK, "", "the head is in this repository: the token has what the workflow's permissions give")
	}
	d.ciHistory(ctx, facts.Base)
}

// ciHistory checks that the checkout holds the base and its past.
func (d *diagnosis) ciHistory(ctx context.Context, base string) {
	const mend = "set fetch-depth: 0 of actions/checkout"
	repo, err := git.Open(d.root, git.Options{})
	if err != nil {
		d.add("ci fetch depth", checkFail, "put actions/checkout before this step", "%v", err)
		return
	}
	if base != "" {
		if _, err := repo.Resolve(ctx, base); err != nil {
			d.add("ci fetch depth", checkFail, mend, "the checkout does not hold the base %.7s", base)
			return
		}
	}
	if repo.Shallow() {
		d.add("ci fetch depth", checkWarn, mend, "the checkout is shallow: companions and hotspots are not assessed")
		return
	}
	d.add("ci fetch depth", checkOK, "", "the whole history is there")
}
