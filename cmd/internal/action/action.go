// Package action is the container Action: a runner's event and inputs in, a comment, a summary,
// annotations, outputs and an exit code out.
//
//  1. Inputs and event are read and checked; an event that asks for nothing ends with a notice.
//  2. The event names base, head, title and body; the report is made from them.
//  3. The report is written as files, summary, annotations and the pull request's comment. Each
//     stands alone: what fails is a warning. A token that may not write leaves the summary.
//  4. The gates alone decide the exit code.
//
// Everything that an event, a repository or a report says is untrusted. It reaches the log only
// through logger, Markdown only through package report, and files of the runner only as counts,
// enumerations and our own paths.
package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/report"
	"github.com/ctxt-dev/ctxt/report/github"
)

// Options are what a run needs of the world.
type Options struct {
	Getenv  func(string) (string, bool)
	Out     io.Writer
	Err     io.Writer
	Version string
	Publish bool // only publish a report that another run made; an event workflow_run implies it

	// RunPR makes the report.
	RunPR func(context.Context, job.PROptions) (*report.Report, error)
	// BundleText renders the context bundle; nil: JSON.
	BundleText func(*pick.Bundle) string

	Now   func() time.Time // nil: the clock; for the API's waits alone
	Sleep func(context.Context, time.Duration) error
}

// exitError is the code of a run that could not be evaluated, and of wrong use.
const exitError = 2

// run is one run of the Action.
type run struct {
	o         Options
	log       *logger
	in        inputs
	workspace string // absolute
	temp      string // absolute, or empty
	event     *event
	name      string // of the event
}

func (a *run) env(name string) string {
	v, _ := a.o.Getenv(name)
	return v
}

// Run does it all and returns the exit code: 0; 1 or 3 when a gate blocks; 2 when it could not be
// evaluated, with one line on stderr that says why.
func Run(ctx context.Context, o Options) (code int) {
	a := &run{o: o, log: &logger{out: o.Out, err: o.Err}}
	defer func() {
		if v := recover(); v != nil {
			a.log.fail("internal error: %v", v)
			code = exitError
		}
	}()
	code, err := a.main(ctx)
	if err != nil {
		a.log.fail("%v", err)
		return exitError
	}
	return code
}

func (a *run) main(ctx context.Context) (int, error) {
	var err error
	ga := githubactions.New(githubactions.WithGetenv(a.env), githubactions.WithWriter(io.Discard))
	if a.in, err = readInputs(ga); err != nil {
		return 0, err
	}
	if a.workspace = a.env("GITHUB_WORKSPACE"); a.workspace == "" {
		a.workspace = "."
	}
	if a.workspace, err = filepath.Abs(a.workspace); err != nil {
		return 0, fmt.Errorf("workspace: %w", err)
	}
	if a.temp = a.env("RUNNER_TEMP"); a.temp != "" && !filepath.IsAbs(a.temp) {
		return 0, fmt.Errorf("RUNNER_TEMP is %q: want an absolute path", a.temp)
	}
	if a.event, err = readEvent(a.env("GITHUB_EVENT_PATH")); err != nil {
		return 0, err
	}
	a.name = a.env("GITHUB_EVENT_NAME")
	if a.o.Publish || a.name == "workflow_run" {
		return a.publish(ctx)
	}
	p, err := planOf(a.name, a.event, a.in, a.env("GITHUB_SHA"), a.env("GITHUB_REF"))
	if err != nil {
		return 0, err
	}
	if p.nothing != "" {
		a.log.notice("ctxt: nothing to do: %s", p.nothing)
		return 0, nil
	}
	return a.analyse(ctx, p)
}

// analyse makes the report and hands it out.
func (a *run) analyse(ctx context.Context, p plan) (int, error) {
	dir := filepath.Join(a.workspace, a.in.workingDirectory)
	o := job.PROptions{
		Dir: dir, Base: p.base, Head: p.head, Title: p.title, Body: p.body, Login: p.login,
		ConfigFile: a.in.config, CasesFile: a.in.cases, BaselineFile: a.in.baseline,
		Mode: a.in.mode, HistoryCommits: a.in.historyCommits,
		Budget:   pick.Budget{Tokens: a.in.budgetTokens, Files: a.in.budgetFiles},
		CacheDir: a.container(a.in.cacheDir), Version: a.o.Version,
	}
	if p.foreign {
		o.CacheDir = "" // a fork's files never enter the base's cache
	}
	r, err := a.o.RunPR(ctx, o)
	if err != nil {
		if shallow(dir) && !strings.Contains(err.Error(), "fetch-depth: 0") {
			return 0, fmt.Errorf("%w; the clone is shallow: set fetch-depth: 0 for actions/checkout", err)
		}
		return 0, err
	}
	a.log.info("%s: %s", r.Verdict.Level, r.Verdict.Reason)
	if r.History.Shallow {
		a.log.warning("ctxt: history limited to %s: companions and hotspots need more; set fetch-depth: 0", commits(r.History.Commits))
	}
	out := outputs{}
	a.files(r, out)
	if a.in.summary {
		if err := addSummary(a.env("GITHUB_STEP_SUMMARY"), r); err != nil {
			a.log.warning("ctxt: no summary: %v", err)
		}
	}
	if a.in.annotations {
		for _, x := range report.Annotations(r) {
			a.log.annotate(x)
		}
	}
	body := report.MarkdownOptions{}
	out["comment"], out["comment-id"] = a.comment(ctx, p.number, a.runOf(p.head), r, body)
	a.outputs(r, out)
	return a.exit(r), nil
}

// exit is the gates' code, which the modes observe and warn soften.
func (a *run) exit(r *report.Report) int {
	code := report.ExitCode(r)
	if a.in.mode != "block" && code != exitError {
		return 0
	}
	if code != 0 {
		a.log.fail("%s", report.Culprit(r))
	}
	return code
}

func commits(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return strconv.Itoa(n) + " commits"
}

func shallow(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ".git", "shallow"))
	return err == nil && info.Size() > 0
}

// runOf is this workflow run, for the comment's marker.
func (a *run) runOf(head string) github.Run {
	id, _ := strconv.ParseInt(a.env("GITHUB_RUN_ID"), 10, 64)
	attempt, _ := strconv.Atoi(a.env("GITHUB_RUN_ATTEMPT"))
	return github.Run{Key: a.in.commentKey, Head: head, ID: max(id, 0), Attempt: max(attempt, 1)}
}

// comment goes down the ladder: the comment, or why there is none. It never fails the run.
func (a *run) comment(ctx context.Context, number int, mark github.Run, r *report.Report, o report.MarkdownOptions) (state, id string) {
	switch {
	case !a.in.comment:
		return "off", ""
	case number == 0:
		return "no-pull-request", ""
	case a.in.token == "":
		a.log.warning("ctxt: no comment: the input token is empty; the report is in the job summary")
		return "skipped-no-token", ""
	}
	c, repo, err := a.client()
	if err != nil {
		a.log.warning("ctxt: no comment: %v", err)
		return "failed", ""
	}
	o.Marker = mark.Marker()
	res, err := c.Sticky(ctx, repo, number, mark, report.Markdown(r, o))
	switch {
	case errors.Is(err, github.ErrReadOnly):
		a.log.notice("ctxt: the token may not comment (a fork, or no pull-requests: write): the report is in the job summary")
		return "skipped-readonly", ""
	case errors.Is(err, github.ErrLimited):
		a.log.warning("ctxt: no comment: %v; the report is in the job summary", err)
		return "skipped-limited", ""
	case err != nil:
		a.log.warning("ctxt: no comment: %v", err)
		return "failed", ""
	}
	a.log.info("comment %s", res.Outcome)
	return string(res.Outcome), strconv.FormatInt(res.ID, 10)
}

func (a *run) client() (*github.Client, github.Repo, error) {
	repo, err := github.ParseRepo(a.env("GITHUB_REPOSITORY"))
	if err != nil {
		return nil, repo, err
	}
	c, err := github.New(github.Options{
		Token: a.in.token, APIURL: a.env("GITHUB_API_URL"), GraphQLURL: a.env("GITHUB_GRAPHQL_URL"),
		UserAgent: "ctxt/" + a.o.Version, Now: a.o.Now, Sleep: a.o.Sleep,
	})
	return c, repo, err
}

// outputs are the Action's outputs by name.
type outputs map[string]string

// outputNames are all outputs, in the order in which they are written; action.yml lists the same.
var outputNames = []string{
	"verdict", "risk", "risk-score", "gate", "intent", "comment", "comment-id", "context-files",
	"bundle-file", "report-file", "sarif-file", "missing-companions",
}

// outputs writes counts, enumerations and our own paths.
func (a *run) outputs(r *report.Report, out outputs) {
	out["verdict"], out["gate"] = r.Verdict.Level, report.GateState(r)
	out["context-files"], out["missing-companions"] = "0", "0"
	if r.Risk != nil {
		if r.Risk.Assessed {
			out["risk"], out["risk-score"] = string(r.Risk.Band), strconv.FormatFloat(r.Risk.Score, 'f', 2, 64)
		}
		out["missing-companions"] = strconv.Itoa(len(r.Risk.Companions))
	}
	if r.Context != nil {
		out["intent"], out["context-files"] = r.Context.Intent.Level, strconv.Itoa(len(r.Context.Files))
	}
	a.write(out)
}

func (a *run) write(out outputs) {
	path := a.env("GITHUB_OUTPUT")
	for _, name := range outputNames {
		if err := setOutput(path, name, out[name]); err != nil {
			a.log.warning("ctxt: output %s: %v", name, err)
			return
		}
	}
}

// files writes the report in its forms; what fails is a warning and an empty output.
func (a *run) files(r *report.Report, out outputs) {
	at, err := a.reportPlace()
	if err != nil {
		a.log.warning("ctxt: no report files: %v", err)
		return
	}
	put := func(p place, output, name string, data []byte, err error) {
		var path string
		if err == nil {
			path, err = p.write(name, data)
		}
		if err != nil {
			a.log.warning("ctxt: %s: %v", name, err)
		} else if output != "" {
			out[output] = a.outside(path)
		}
	}
	data, err := report.JSON(r)
	put(at, "report-file", "report.json", data, err)
	put(at, "", "report.html", []byte(report.HTML(r)), nil)
	sarif, err := report.SARIF(r)
	put(at, "sarif-file", "report.sarif", sarif, err)
	if a.in.sarifFile != "" {
		path := a.container(a.in.sarifFile)
		dir, perr := a.placeOf("sarif-file", filepath.Dir(path))
		put(dir, "sarif-file", filepath.Base(path), sarif, errors.Join(err, perr))
	}
	if r.Context != nil {
		if a.o.BundleText != nil {
			put(at, "bundle-file", "bundle.md", []byte(a.o.BundleText(r.Context)), nil)
		} else {
			data, err := json.MarshalIndent(r.Context, "", "  ")
			put(at, "bundle-file", "bundle.json", append(data, '\n'), err)
		}
	}
}
