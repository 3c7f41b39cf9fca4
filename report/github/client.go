// Package github writes a report to a pull request: one comment that is found again and kept.
//
//  1. New makes a client for one host; the token goes to that host alone.
//  2. Sticky finds its own earlier comment by marker and author, over all pages, and creates it,
//     updates it, or leaves it, so that runs at the same time and runs out of order end in one
//     comment that holds the newest run's report.
//  3. A token that may not write gives ErrReadOnly, and the caller goes down the ladder.
//
// Every request is tried at most three times, and all waits of a client together last at most a
// minute.
package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"
)

// What a caller tells apart.
var (
	ErrReadOnly     = errors.New("the token may not write here")
	ErrUnauthorized = errors.New("the token is not accepted")
	ErrLimited      = errors.New("the API's rate limit is reached")
)

const (
	maxTries = 3
	maxWait  = time.Minute
	// maxRequest bounds one request, its answer included.
	maxRequest = time.Minute
	perPage    = 100
	maxPages   = 100
	maxBody    = 16 << 20 // bytes of one answer
)

// Options make a client.
type Options struct {
	Token      string
	APIURL     string // of the REST API; empty: https://api.github.com
	GraphQLURL string // empty: asked for nothing
	UserAgent  string
	Transport  http.RoundTripper // nil: the default one, without kept connections
	Now        func() time.Time  // nil: time.Now
	Sleep      func(context.Context, time.Duration) error
}

// Client talks to one host. It is not safe for concurrent use.
type Client struct {
	api     *gh.Client
	graphql string
	waited  time.Duration
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	me      identity
	asked   bool
}

// New checks the URLs. HTTPS is required, except of a loopback address.
func New(o Options) (*Client, error) {
	if o.APIURL == "" {
		o.APIURL = "https://api.github.com"
	}
	base, err := url.Parse(strings.TrimSuffix(o.APIURL, "/") + "/")
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("API address %q is no URL", o.APIURL)
	}
	if base.Scheme != "https" && !(base.Scheme == "http" && loopback(base.Hostname())) {
		return nil, fmt.Errorf("API address %q: want https", o.APIURL)
	}
	if o.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DisableKeepAlives = true // else the transport repeats requests on its own
		t.ResponseHeaderTimeout = 30 * time.Second
		o.Transport = t
	}
	c := &Client{now: o.Now, sleep: o.Sleep}
	if c.now == nil {
		c.now = time.Now
	}
	if c.sleep == nil {
		c.sleep = sleep
	}
	hc := &http.Client{
		// No Timeout here: go-github leaves the bodies of errors open, and each would hold a goroutine.
		Transport: &hostOnly{base: base, token: o.Token, next: o.Transport, now: c.now},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > 3 {
				return errors.New("too many redirects")
			}
			return nil // hostOnly refuses any other host
		},
	}
	c.api = gh.NewClient(hc)
	c.api.BaseURL = base
	c.api.UserAgent = o.UserAgent
	if u, err := url.Parse(o.GraphQLURL); err == nil && u.Host == base.Host && u.Scheme == base.Scheme {
		c.graphql = o.GraphQLURL
	}
	return c, nil
}

func loopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// hostOnly adds the token for one host, refuses all others, and turns a rate limit into an error.
type hostOnly struct {
	base  *url.URL
	token string
	next  http.RoundTripper
	now   func() time.Time
}

func (h *hostOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != h.base.Host || req.URL.Scheme != h.base.Scheme {
		return nil, &refusedHost{req.URL.Host}
	}
	ctx, cancel := context.WithTimeout(req.Context(), maxRequest)
	req = req.Clone(ctx)
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	resp, err := h.next.RoundTrip(req)
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &answer{body: resp.Body, left: io.LimitReader(resp.Body, maxBody), cancel: cancel}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusForbidden {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
		resp.Body.Close()
		if wait, limited := h.limit(resp, string(body)); limited {
			return nil, &limitedError{status: resp.StatusCode, wait: wait}
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
	}
	// go-github refuses requests by itself for up to an hour when it sees these.
	for _, k := range []string{"X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Limit"} {
		resp.Header.Del(k)
	}
	return resp, nil
}

// answer is a body that ends its request at its own end, closed or not.
type answer struct {
	body   io.Closer
	left   io.Reader
	cancel func()
}

func (a *answer) Read(b []byte) (int, error) {
	n, err := a.left.Read(b)
	if err != nil {
		a.Close()
	}
	return n, err
}

func (a *answer) Close() error {
	defer a.cancel()
	return a.body.Close()
}

// limit tells a rate limit from a missing permission, and how long to wait: by Retry-After, by the
// reset time, or not said (-1).
func (h *hostOnly) limit(resp *http.Response, body string) (time.Duration, bool) {
	after, spent := resp.Header.Get("Retry-After"), resp.Header.Get("X-RateLimit-Remaining") == "0"
	secondary := strings.Contains(strings.ToLower(body), "rate limit") || strings.Contains(body, "abuse detection")
	if resp.StatusCode != http.StatusTooManyRequests && after == "" && !spent && !secondary {
		return 0, false
	}
	if s, err := strconv.ParseInt(after, 10, 32); err == nil && s >= 0 {
		return time.Duration(s) * time.Second, true
	}
	if t, err := http.ParseTime(after); err == nil {
		return max(t.Sub(h.now()), 0), true
	}
	if s, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil && spent {
		return max(time.Unix(s, 0).Sub(h.now()), 0), true
	}
	return -1, true
}

type refusedHost struct{ host string }

func (e *refusedHost) Error() string { return fmt.Sprintf("refused to follow to host %q", e.host) }

type limitedError struct {
	status int
	wait   time.Duration // -1: not said
}

func (e *limitedError) Error() string { return fmt.Sprintf("rate limit (HTTP %d)", e.status) }

// try runs f until it succeeds, fails for good, or the tries or the waiting time are spent. again,
// when not nil, is asked after a failure that may still have had its effect; true ends the tries.
func (c *Client) try(ctx context.Context, what string, f func() error, again func() (bool, error)) error {
	for n := 1; ; n++ {
		err := f()
		if err == nil {
			return nil
		}
		wait, retry, unsure := c.judge(err, n)
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", what, ctx.Err())
		}
		if retry && (n == maxTries || c.waited+wait > maxWait) {
			retry = false
		}
		if retry {
			c.waited += wait
			if serr := c.sleep(ctx, wait); serr != nil {
				return fmt.Errorf("%s: %w", what, serr)
			}
		}
		if unsure && again != nil {
			if done, aerr := again(); aerr == nil && done {
				return nil
			} else if aerr != nil {
				return fmt.Errorf("%s: %w", what, final(err)) // unknown whether it happened: do not repeat
			}
		}
		if !retry {
			return fmt.Errorf("%s: %w", what, final(err))
		}
	}
}

// judge says how long to wait after the n-th failure, whether trying again makes sense, and whether
// the request may have had its effect all the same.
func (c *Client) judge(err error, n int) (wait time.Duration, retry, unsure bool) {
	backoff := time.Duration(1<<(n-1)) * time.Second
	var limited *limitedError
	var refused *refusedHost
	var resp *gh.ErrorResponse
	switch {
	case errors.As(err, &limited):
		if limited.wait < 0 {
			return 5 * backoff, true, false
		}
		return limited.wait, true, false
	case errors.As(err, &refused):
		return 0, false, false
	case errors.As(err, &resp):
		return backoff, resp.Response.StatusCode >= 500, resp.Response.StatusCode >= 500
	}
	return backoff, true, true // the connection was cut, or the answer was
}

// final gives a failure the error that callers tell apart.
func final(err error) error {
	var limited *limitedError
	var resp *gh.ErrorResponse
	switch {
	case errors.As(err, &limited):
		return fmt.Errorf("%w (HTTP %d)", ErrLimited, limited.status)
	case errors.As(err, &resp):
		switch resp.Response.StatusCode {
		case http.StatusUnauthorized:
			return fmt.Errorf("%w (HTTP 401)", ErrUnauthorized)
		case http.StatusForbidden, http.StatusNotFound:
			return fmt.Errorf("%w (HTTP %d: %s)", ErrReadOnly, resp.Response.StatusCode, resp.Message)
		}
		return fmt.Errorf("HTTP %d: %s", resp.Response.StatusCode, resp.Message)
	}
	return err
}

// Repo names a repository.
type Repo struct{ Owner, Name string }

// ParseRepo reads "owner/name".
func ParseRepo(s string) (Repo, error) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok || !nameOK(owner) || !nameOK(name) {
		return Repo{}, fmt.Errorf("repository %q: want owner/name", s)
	}
	return Repo{owner, name}, nil
}

func nameOK(s string) bool {
	if s == "" || s == "." || s == ".." || len(s) > 200 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}) < 0
}

// Pull is an open pull request.
type Pull struct {
	Number     int
	Head, Base string // commit names
}

// Pulls lists the open pull requests whose head is the given branch of the given owner and stands at
// the given commit, lowest number first. It is how a fork's pull request is found from a trusted
// event that does not name it.
func (c *Client) Pulls(ctx context.Context, repo Repo, headOwner, headBranch, headSHA string, headRepo int64) ([]Pull, error) {
	var found []Pull
	o := &gh.PullRequestListOptions{State: "open", Head: headOwner + ":" + headBranch, Sort: "created", Direction: "asc", ListOptions: gh.ListOptions{PerPage: perPage}}
	err := c.try(ctx, "list pull requests", func() error {
		prs, _, err := c.api.PullRequests.List(ctx, repo.Owner, repo.Name, o)
		if err != nil {
			return err
		}
		found = nil
		for _, p := range prs {
			if p.GetHead().GetSHA() == headSHA && p.GetHead().GetRepo().GetID() == headRepo {
				found = append(found, Pull{Number: p.GetNumber(), Head: headSHA, Base: p.GetBase().GetSHA()})
			}
		}
		return nil
	}, nil)
	return found, err
}
