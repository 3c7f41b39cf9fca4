package action

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
)

// maxEvent is the largest event file that is read; the platform caps payloads at 25 MB.
const maxEvent = 32 << 20

// event holds the fields of a webhook payload that are read. All of its text is untrusted.
type event struct {
	Action      string       `json:"action"`
	PullRequest *pullRequest `json:"pull_request"`
	MergeGroup  *struct {
		BaseSHA    string  `json:"base_sha"`
		HeadSHA    string  `json:"head_sha"`
		HeadCommit *commit `json:"head_commit"`
	} `json:"merge_group"`
	Ref         string       `json:"ref"` // push
	Before      string       `json:"before"`
	After       string       `json:"after"`
	Deleted     bool         `json:"deleted"`
	HeadCommit  *commit      `json:"head_commit"`
	WorkflowRun *workflowRun `json:"workflow_run"`
	Repository  struct {
		ID            int64  `json:"id"`
		DefaultBranch string `json:"default_branch"`
	} `json:"repository"`
}

type commit struct {
	Message string `json:"message"`
}

type pullRequest struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	Draft  bool   `json:"draft"`
	User   struct {
		Login string `json:"login"`
	} `json:"user"`
	Base side `json:"base"`
	Head side `json:"head"`
}

type side struct {
	SHA  string `json:"sha"`
	Repo *struct {
		ID int64 `json:"id"`
	} `json:"repo"`
}

type workflowRun struct {
	ID             int64  `json:"id"`
	Attempt        int    `json:"run_attempt"`
	Event          string `json:"event"`
	HeadSHA        string `json:"head_sha"`
	HeadBranch     string `json:"head_branch"`
	HeadRepository *struct {
		ID    int64 `json:"id"`
		Owner struct {
			Login string `json:"login"`
		} `json:"owner"`
	} `json:"head_repository"`
	PullRequests []struct {
		Number int  `json:"number"`
		Head   side `json:"head"`
	} `json:"pull_requests"`
}

// plan is what an event asks for.
type plan struct {
	nothing     string // why there is nothing to do; the rest is empty then
	base, head  string // revisions
	title, body string
	login       string // of the pull request's author
	number      int    // of the pull request to comment; 0: none
	foreign     bool   // the head is of another repository and the token is the base's: no shared cache
}

var sha = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })

// supported names the events, for the error that an unknown one gets.
const supported = "pull_request, pull_request_target, merge_group, push, workflow_dispatch, workflow_run, schedule"

func readEvent(path string) (*event, error) {
	if path == "" {
		return nil, fmt.Errorf("GITHUB_EVENT_PATH is not set: run as an Action, or use ctxt pr")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("event file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEvent+1))
	if err != nil {
		return nil, fmt.Errorf("event file: %w", err)
	}
	if len(data) > maxEvent {
		return nil, fmt.Errorf("event file %s: more than %d bytes", path, maxEvent)
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("event file %s: %w", path, err)
	}
	return &e, nil
}

// planOf turns an event into a plan. commit is GITHUB_SHA, ref is GITHUB_REF.
func planOf(name string, e *event, in inputs, commit, ref string) (plan, error) {
	var p plan
	var err error
	switch name {
	case "pull_request", "pull_request_target":
		p, err = planPull(name, e, in)
	case "merge_group":
		p, err = planMergeGroup(e)
	case "push":
		p, err = planPush(e)
	case "workflow_dispatch", "schedule":
		p, err = planRef(name, e, in, commit, ref)
	default:
		return plan{}, fmt.Errorf("event %q is none that ctxt reads: %s", name, supported)
	}
	if err != nil || p.nothing != "" {
		return plan{nothing: p.nothing}, err
	}
	if in.baseRef != "" {
		p.base = in.baseRef
	}
	if in.task != "" {
		p.title, p.body = subject(in.task)
	}
	return p, nil
}

func planPull(name string, e *event, in inputs) (plan, error) {
	pr := e.PullRequest
	if pr == nil {
		return plan{}, fmt.Errorf("the event file is not of a %s: it has no pull_request", name)
	}
	if !sha().MatchString(pr.Base.SHA) || !sha().MatchString(pr.Head.SHA) || pr.Number <= 0 {
		return plan{}, fmt.Errorf("the event file's pull_request has no number, base.sha or head.sha")
	}
	switch {
	case e.Action == "closed":
		return plan{nothing: fmt.Sprintf("pull request %d is closed", pr.Number)}, nil
	case pr.Draft && !in.includeDrafts:
		return plan{nothing: fmt.Sprintf("pull request %d is a draft and include-drafts is false", pr.Number)}, nil
	}
	fork := pr.Head.Repo == nil || pr.Base.Repo == nil || pr.Head.Repo.ID != pr.Base.Repo.ID
	return plan{base: pr.Base.SHA, head: pr.Head.SHA, title: pr.Title, body: pr.Body, login: pr.User.Login, number: pr.Number,
		foreign: fork && name == "pull_request_target"}, nil
}

func planMergeGroup(e *event) (plan, error) {
	g := e.MergeGroup
	if g == nil || !sha().MatchString(g.BaseSHA) || !sha().MatchString(g.HeadSHA) {
		return plan{}, fmt.Errorf("the event file is not of a merge_group: it has no merge_group with base_sha and head_sha")
	}
	if e.Action == "destroyed" {
		return plan{nothing: "the merge group is gone"}, nil
	}
	p := plan{base: g.BaseSHA, head: g.HeadSHA}
	if g.HeadCommit != nil {
		p.title, p.body = subject(g.HeadCommit.Message)
	}
	return p, nil
}

func planPush(e *event) (plan, error) {
	if !sha().MatchString(e.Before) || !sha().MatchString(e.After) || e.Ref == "" {
		return plan{}, fmt.Errorf("the event file is not of a push: it has no ref with before and after")
	}
	branch, ok := strings.CutPrefix(e.Ref, "refs/heads/")
	switch {
	case !ok:
		return plan{nothing: fmt.Sprintf("%s is no branch", e.Ref)}, nil
	case e.Deleted || zero(e.After):
		return plan{nothing: fmt.Sprintf("branch %s was deleted", branch)}, nil
	}
	p := plan{base: e.Before, head: e.After}
	if zero(e.Before) {
		if e.Repository.DefaultBranch == "" || branch == e.Repository.DefaultBranch {
			return plan{nothing: fmt.Sprintf("branch %s is new and there is nothing to compare it with; set base-ref", branch)}, nil
		}
		p.base = "origin/" + e.Repository.DefaultBranch
	}
	if e.HeadCommit != nil {
		p.title, p.body = subject(e.HeadCommit.Message)
	}
	return p, nil
}

// planRef is for events that carry no change: the commit against base-ref, or a branch against the
// default branch.
func planRef(name string, e *event, in inputs, commit, ref string) (plan, error) {
	if !sha().MatchString(commit) {
		return plan{}, fmt.Errorf("GITHUB_SHA is %q: want a commit name", commit)
	}
	p := plan{base: in.baseRef, head: commit}
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	if p.base == "" && ok && e.Repository.DefaultBranch != "" && branch != e.Repository.DefaultBranch {
		p.base = "origin/" + e.Repository.DefaultBranch
	}
	if p.base == "" {
		return plan{nothing: fmt.Sprintf("%s brings no change; set base-ref to compare the commit with", name)}, nil
	}
	return p, nil
}

func zero(sha string) bool { return strings.Trim(sha, "0") == "" }

// subject splits a message into its first line and the rest.
func subject(message string) (title, body string) {
	title, body, _ = strings.Cut(strings.TrimSpace(message), "\n")
	return strings.TrimSpace(title), strings.TrimSpace(body)
}
