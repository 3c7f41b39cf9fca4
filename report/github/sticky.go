package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	gh "github.com/google/go-github/v62/github"
)

// Run names one run of one comment. Runs are ordered by ID, then by Attempt: the platform numbers
// workflow runs in the order in which they were started.
type Run struct {
	Key     string // which comment; several workflows may each keep one
	Head    string // commit name
	ID      int64
	Attempt int
}

// newer reports whether r was started after o.
func (r Run) newer(o Run) bool {
	return cmp.Or(cmp.Compare(r.ID, o.ID), cmp.Compare(r.Attempt, o.Attempt)) > 0
}

// Marker is the comment's first line, by which it is found again:
//
//	<!-- ctxt:comment key=KEY head=SHA run=ID attempt=N -->
//
// The key is percent-encoded.
func (r Run) Marker() string {
	return fmt.Sprintf("<!-- ctxt:comment key=%s head=%s run=%d attempt=%d -->", strings.ReplaceAll(url.QueryEscape(r.Key), "--", "-%2D"), r.Head, r.ID, r.Attempt)
}

var markerLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<!-- ctxt:comment key=(\S{0,400}) head=([0-9a-f]{0,64}) run=([0-9]{1,18}) attempt=([0-9]{1,9}) -->(?:\r?\n|$)`)
})

// ParseMarker reads the marker that stands at the very start of a comment; quoted or further down it
// does not count.
func ParseMarker(body string) (run Run, rest string, ok bool) {
	m := markerLine().FindStringSubmatch(body)
	if m == nil {
		return Run{}, body, false
	}
	key, err := url.QueryUnescape(m[1])
	if err != nil {
		return Run{}, body, false
	}
	run = Run{Key: key, Head: m[2]}
	run.ID, _ = strconv.ParseInt(m[3], 10, 64)
	run.Attempt, _ = strconv.Atoi(m[4])
	return run, body[len(m[0]):], true
}

// Outcome is what became of the comment.
type Outcome string

// The outcomes.
const (
	Created    Outcome = "created"
	Updated    Outcome = "updated"
	Unchanged  Outcome = "unchanged"  // it holds the same report already
	Superseded Outcome = "superseded" // it holds a newer run's report
)

// Result is the comment that stands after a run.
type Result struct {
	Outcome Outcome
	ID      int64
}

// identity is an account; an id of 0 is unknown.
type identity struct {
	id    int64
	login string
}

func (i identity) known() bool { return i.id != 0 || i.login != "" }

// is compares by id and by login, exactly: the two APIs may number an app's account differently, and
// no person's login ends in "[bot]".
func (i identity) is(u *gh.User) bool {
	return i.id != 0 && u.GetID() == i.id || i.login != "" && u.GetLogin() == i.login
}

// whoami learns which account the token writes as: GraphQL's viewer answers for every kind of token,
// /user for a person's. When neither answers the account stays unknown until a comment is created.
func (c *Client) whoami(ctx context.Context) identity {
	if c.asked {
		return c.me
	}
	c.asked = true
	if c.graphql != "" {
		var out struct {
			Data struct {
				Viewer struct {
					Login      string `json:"login"`
					DatabaseID int64  `json:"databaseId"`
				} `json:"viewer"`
			} `json:"data"`
		}
		err := c.try(ctx, "ask for the account", func() error {
			req, err := c.api.NewRequest(http.MethodPost, c.graphql, map[string]string{"query": "query{viewer{login databaseId}}"})
			if err != nil {
				return err
			}
			_, err = c.api.Do(ctx, req, &out)
			return err
		}, nil)
		if v := out.Data.Viewer; err == nil && (v.DatabaseID != 0 || v.Login != "") {
			c.me = identity{v.DatabaseID, v.Login}
			return c.me
		}
	}
	_ = c.try(ctx, "ask for the account", func() error {
		u, _, err := c.api.Users.Get(ctx, "")
		if err == nil {
			c.me = identity{u.GetID(), u.GetLogin()}
		}
		return err
	}, nil) // an app's token may not ask: unknown is an answer
	return c.me
}

// comment is one that carries a marker of the run's key.
type comment struct {
	id   int64
	user *gh.User
	run  Run
	body string
}

// Sticky makes the pull request's comment of run.Key hold body, which starts with run.Marker().
// Nothing is written when the comment holds the same report already or a newer run's.
func (c *Client) Sticky(ctx context.Context, repo Repo, number int, run Run, body string) (Result, error) {
	if got, _, ok := ParseMarker(body); !ok || got != run {
		return Result{}, fmt.Errorf("comment of run %d does not start with its marker", run.ID)
	}
	me := c.whoami(ctx)
	marked, err := c.list(ctx, repo, number, run.Key)
	if err != nil {
		return Result{}, err
	}
	if own := written(marked, me); len(own) > 0 {
		return c.settle(ctx, repo, run, body, own)
	}
	return c.create(ctx, repo, number, run, body)
}

// list reads all pages and returns the comments with a marker of the key, oldest first.
func (c *Client) list(ctx context.Context, repo Repo, number int, key string) ([]comment, error) {
	var out []comment
	seen := map[int64]bool{}
	o := &gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: perPage, Page: 1}}
	for range maxPages {
		var page []*gh.IssueComment
		var next int
		err := c.try(ctx, "list comments", func() error {
			cs, resp, err := c.api.Issues.ListComments(ctx, repo.Owner, repo.Name, number, o)
			if err == nil {
				page, next = cs, resp.NextPage
			}
			return err
		}, nil)
		if err != nil {
			return nil, err
		}
		for _, x := range page {
			run, _, ok := ParseMarker(x.GetBody())
			if ok && run.Key == key && !seen[x.GetID()] {
				seen[x.GetID()] = true
				out = append(out, comment{x.GetID(), x.GetUser(), run, x.GetBody()})
			}
		}
		if next <= o.Page {
			break
		}
		o.Page = next
	}
	slices.SortFunc(out, func(a, b comment) int { return cmp.Compare(a.id, b.id) })
	return out, nil
}

func written(cs []comment, by identity) []comment {
	var own []comment
	for _, x := range cs {
		if by.is(x.user) {
			own = append(own, x)
		}
	}
	return own
}

// settle makes one comment of the own ones: the oldest, with the newest run's report.
func (c *Client) settle(ctx context.Context, repo Repo, run Run, body string, own []comment) (Result, error) {
	keep := own[0]
	for _, x := range own {
		if x.run.newer(run) {
			return Result{Superseded, keep.id}, nil
		}
	}
	for _, x := range own[1:] {
		err := c.try(ctx, "delete a duplicate of our comment", func() error {
			resp, err := c.api.Issues.DeleteComment(ctx, repo.Owner, repo.Name, x.id)
			if resp != nil && resp.StatusCode == http.StatusNotFound {
				return nil // the other run was faster
			}
			return err
		}, nil)
		if err != nil {
			return Result{}, err
		}
	}
	if same(keep.body, body) {
		return Result{Unchanged, keep.id}, nil
	}
	return c.update(ctx, repo, run, body, keep.id)
}

// update writes, then looks whether an older run wrote in between, and if so writes once more.
func (c *Client) update(ctx context.Context, repo Repo, run Run, body string, id int64) (Result, error) {
	for range 2 {
		err := c.try(ctx, "update the comment", func() error {
			_, _, err := c.api.Issues.EditComment(ctx, repo.Owner, repo.Name, id, &gh.IssueComment{Body: &body})
			return err
		}, nil)
		if err != nil {
			return Result{}, err
		}
		var now *gh.IssueComment
		err = c.try(ctx, "read the comment", func() (err error) {
			now, _, err = c.api.Issues.GetComment(ctx, repo.Owner, repo.Name, id)
			return err
		}, nil)
		if err != nil {
			break // it was written; the check is an extra
		}
		if got, _, ok := ParseMarker(now.GetBody()); ok && got.newer(run) {
			return Result{Superseded, id}, nil
		} else if ok && got == run {
			break
		}
	}
	return Result{Updated, id}, nil
}

// create posts the comment, and then looks for one that another run made at the same time.
func (c *Client) create(ctx context.Context, repo Repo, number int, run Run, body string) (Result, error) {
	var id int64
	var author identity
	mine := func() (bool, error) { // after a cut connection: is it there?
		marked, err := c.list(ctx, repo, number, run.Key)
		for _, x := range marked {
			if x.run == run && same(x.body, body) && (c.me.is(x.user) || !c.me.known()) {
				id, author = x.id, identity{x.user.GetID(), x.user.GetLogin()}
				return true, nil
			}
		}
		return false, err
	}
	err := c.try(ctx, "create the comment", func() error {
		x, _, err := c.api.Issues.CreateComment(ctx, repo.Owner, repo.Name, number, &gh.IssueComment{Body: &body})
		if err == nil {
			id, author = x.GetID(), identity{x.GetUser().GetID(), x.GetUser().GetLogin()}
		}
		return err
	}, mine)
	if err != nil {
		return Result{}, err
	}
	c.me = author
	marked, err := c.list(ctx, repo, number, run.Key)
	if err != nil {
		return Result{Created, id}, nil // it stands; a later run joins duplicates
	}
	own := written(marked, author)
	if len(own) < 2 {
		return Result{Created, id}, nil
	}
	if own[0].id != id { // another was first: ours goes, its content moves there if it is newer
		err := c.try(ctx, "delete a duplicate of our comment", func() error {
			resp, err := c.api.Issues.DeleteComment(ctx, repo.Owner, repo.Name, id)
			if resp != nil && resp.StatusCode == http.StatusNotFound {
				return nil
			}
			return err
		}, nil)
		if err != nil {
			return Result{}, err
		}
		own = slices.DeleteFunc(own, func(x comment) bool { return x.id == id })
		return c.settle(ctx, repo, run, body, own)
	}
	if r, err := c.settle(ctx, repo, run, body, own); err != nil || r.Outcome != Unchanged {
		return r, err
	}
	return Result{Created, id}, nil
}

// same compares two comments without their markers, and as the platform may have stored them.
func same(a, b string) bool {
	_, a, _ = ParseMarker(a)
	_, b, _ = ParseMarker(b)
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}
