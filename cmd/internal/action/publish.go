package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ctxt-dev/ctxt/report"
	"github.com/ctxt-dev/ctxt/report/github"
)

// provenance says in the comment what the publisher cannot know.
const provenance = "Figures from the pull request's own run, which has no write access; the publisher checked their form, not their truth."

// publish is the second stage of the two: the report that an unprivileged run of a pull request left
// as an artifact becomes that pull request's comment. The event says which pull request and which
// head, never the artifact; the artifact is data in a checked form, rendered here.
func (a *run) publish(ctx context.Context) (int, error) {
	w := a.event.WorkflowRun
	if a.name != "workflow_run" || w == nil {
		return 0, fmt.Errorf("event %q cannot be published: the publisher runs on workflow_run", a.name)
	}
	if !sha().MatchString(w.HeadSHA) || w.ID <= 0 {
		return 0, fmt.Errorf("the event file's workflow_run has no id or head_sha")
	}
	if w.Event != "pull_request" && w.Event != "pull_request_target" {
		a.log.notice("ctxt: nothing to do: the workflow ran on %s, not on a pull request", w.Event)
		return 0, nil
	}
	r, err := a.readReport()
	if errors.Is(err, fs.ErrNotExist) {
		a.log.notice("ctxt: nothing to do: the workflow's run left no report")
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if r.Head != w.HeadSHA {
		return 0, fmt.Errorf("report.json is of %s, the event's head is %s: not published", r.Head, w.HeadSHA)
	}
	number, err := a.pullOf(ctx, w)
	if err != nil {
		a.log.warning("ctxt: no comment: the pull request was not found: %v", err)
		a.write(outputs{"comment": "failed"})
		return 0, nil
	}
	if number == 0 {
		a.log.notice("ctxt: nothing to do: no open pull request stands at %s", w.HeadSHA)
		return 0, nil
	}
	out := outputs{}
	mark := github.Run{Key: a.in.commentKey, Head: w.HeadSHA, ID: w.ID, Attempt: max(w.Attempt, 1)}
	out["comment"], out["comment-id"] = a.comment(ctx, number, mark, r, report.MarkdownOptions{Provenance: provenance})
	if a.in.summary {
		if err := addSummary(a.env("GITHUB_STEP_SUMMARY"), r); err != nil {
			a.log.warning("ctxt: no summary: %v", err)
		}
	}
	a.outputs(r, out)
	return 0, nil
}

// readReport reads report.json of report-dir, following no link out of that folder.
func (a *run) readReport() (*report.Report, error) {
	p, err := a.reportPlace()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, fmt.Errorf("report folder: %w", err)
	}
	defer root.Close()
	dir, err := root.OpenRoot(p.dir)
	if err != nil {
		return nil, fmt.Errorf("report folder: %w", err)
	}
	defer dir.Close()
	f, err := dir.Open("report.json")
	if err != nil {
		return nil, fmt.Errorf("report file: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("report.json is no regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, report.MaxJSON+1))
	if err != nil {
		return nil, fmt.Errorf("report file: %w", err)
	}
	return report.Parse(data)
}

// pullOf finds the pull request whose head the workflow ran on: in the event, or for a fork, whose
// event lists none, by the API with the event's branch, repository and commit. 0: none is open.
func (a *run) pullOf(ctx context.Context, w *workflowRun) (int, error) {
	for _, p := range w.PullRequests {
		if p.Head.SHA == w.HeadSHA && p.Number > 0 {
			return p.Number, nil
		}
	}
	if w.HeadRepository == nil || w.HeadBranch == "" {
		return 0, nil
	}
	c, repo, err := a.client()
	if err != nil {
		return 0, err
	}
	pulls, err := c.Pulls(ctx, repo, w.HeadRepository.Owner.Login, w.HeadBranch, w.HeadSHA, w.HeadRepository.ID)
	if err != nil || len(pulls) == 0 {
		return 0, err
	}
	if len(pulls) > 1 {
		a.log.notice("ctxt: %d pull requests stand at this head; the comment goes to the first, %d", len(pulls), pulls[0].Number)
	}
	return pulls[0].Number, nil
}
