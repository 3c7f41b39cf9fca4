// Package githubtest is a GitHub API on loopback for tests: comments, accounts, pull requests, and
// faults on demand. A request that it does not expect fails the test.
package githubtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// User is an account.
type User struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// Comment is a comment of the pull request.
type Comment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	User User   `json:"user"`
}

// Pull is an open pull request, as the list shows it.
type Pull struct {
	Number   int
	HeadRef  string // owner:branch
	HeadSHA  string
	HeadRepo int64
	BaseSHA  string
}

// Fault is what happens to a request instead of, or after, its effect.
type Fault struct {
	Status int
	Header map[string]string
	Body   string
	Cut    bool // close the connection without an answer
	After  bool // the request has its effect first
}

// Server is the API. Set its fields before the first request; the methods are safe at any time.
type Server struct {
	T      testing.TB
	URL    string // of the REST API, as GITHUB_API_URL
	Me     User   // whom the token writes as
	Viewer bool   // GraphQL's viewer answers
	// ViewerID is the number that GraphQL gives the account; 0: that of Me.
	ViewerID int64
	Person   bool   // /user answers
	Repo     string // owner/name
	Number   int    // of the pull request
	Token    string // required of every request
	Pulls    []Pull
	// OnRequest may return a fault for the n-th request of the method and path (from 1).
	OnRequest func(method, path string, n int) *Fault

	mu       sync.Mutex
	comments []Comment
	nextID   int64
	log      []string
	counts   map[string]int
}

// New starts a server whose API lies at the given path ("" or "/api/v3"), for octo/repo#7.
func New(t testing.TB, path string) *Server {
	s := &Server{T: t, Me: User{41898282, "github-actions[bot]", "Bot"}, Viewer: true, Repo: "octo/repo", Number: 7, Token: "canary-token-7f3a", nextID: 100, counts: map[string]int{}}
	srv := httptest.NewServer(http.StripPrefix(path, http.HandlerFunc(s.serve)))
	if path != "" {
		srv.Config.Handler = s.enterprise(path)
	}
	t.Cleanup(srv.Close)
	s.URL = srv.URL + path
	return s
}

// enterprise serves REST under path and GraphQL beside it, as a GitHub Enterprise Server does.
func (s *Server) enterprise(path string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, path); ok {
			r.URL.Path = rest
		} else if r.URL.Path == "/api/graphql" {
			r.URL.Path = "/graphql"
		} else {
			s.unexpected(w, r)
			return
		}
		s.serve(w, r)
	})
}

// GraphQL is the address of GraphQL, as GITHUB_GRAPHQL_URL.
func (s *Server) GraphQL() string {
	if root, ok := strings.CutSuffix(s.URL, "/api/v3"); ok {
		return root + "/api/graphql"
	}
	return s.URL + "/graphql"
}

// Add puts a comment there and returns its id.
func (s *Server) Add(user User, body string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	s.comments = append(s.comments, Comment{s.nextID, body, user})
	return s.nextID
}

// Comments are the comments as they stand.
func (s *Server) Comments() []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Comment(nil), s.comments...)
}

// Requests are the requests so far, "METHOD path".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.log...)
}

// Writes are the requests that change something.
func (s *Server) Writes() []string {
	var out []string
	for _, l := range s.Requests() {
		if !strings.HasPrefix(l, "GET ") && !strings.HasSuffix(l, "/graphql") {
			out = append(out, l)
		}
	}
	return out
}

func (s *Server) unexpected(w http.ResponseWriter, r *http.Request) {
	s.T.Errorf("unexpected request: %s %s", r.Method, r.URL)
	http.Error(w, "unexpected", http.StatusTeapot)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if got := r.Header.Get("Authorization"); got != "Bearer "+s.Token {
		s.T.Errorf("%s %s: Authorization is not the token's", r.Method, r.URL.Path)
	}
	s.mu.Lock()
	key := r.Method + " " + r.URL.Path
	s.log = append(s.log, key)
	s.counts[key]++
	n := s.counts[key]
	s.mu.Unlock()
	var fault *Fault
	if s.OnRequest != nil {
		fault = s.OnRequest(r.Method, r.URL.Path, n)
	}
	if fault == nil {
		s.answer(w, r)
		return
	}
	if fault.After {
		s.answer(httptest.NewRecorder(), r)
	}
	if fault.Cut {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			s.T.Error(err)
			return
		}
		conn.Close()
		return
	}
	for k, v := range fault.Header {
		w.Header().Set(k, v)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(fault.Status)
	_, _ = io.WriteString(w, fault.Body)
}

var commentPath = regexp.MustCompile(`^/repos/([^/]+/[^/]+)/issues/comments/([0-9]+)$`)

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	list := fmt.Sprintf("/repos/%s/issues/%d/comments", s.Repo, s.Number)
	m := commentPath.FindStringSubmatch(r.URL.Path)
	switch {
	case r.Method == "POST" && r.URL.Path == "/graphql":
		if !s.Viewer {
			reply(w, 403, map[string]string{"message": "Resource not accessible by integration"})
			return
		}
		id := s.Me.ID
		if s.ViewerID != 0 {
			id = s.ViewerID
		}
		reply(w, 200, map[string]any{"data": map[string]any{"viewer": map[string]any{"login": s.Me.Login, "databaseId": id}}})
	case r.Method == "GET" && r.URL.Path == "/user":
		if !s.Person {
			reply(w, 403, map[string]string{"message": "Resource not accessible by integration"})
			return
		}
		reply(w, 200, s.Me)
	case r.Method == "GET" && r.URL.Path == list:
		s.page(w, r)
	case r.Method == "POST" && r.URL.Path == list:
		id := s.Add(s.Me, s.body(r))
		reply(w, 201, Comment{id, "", s.Me})
	case m != nil && m[1] == s.Repo:
		id, _ := strconv.ParseInt(m[2], 10, 64)
		s.one(w, r, id)
	case r.Method == "GET" && r.URL.Path == "/repos/"+s.Repo+"/pulls":
		s.pulls(w, r)
	default:
		s.unexpected(w, r)
	}
}

func (s *Server) body(r *http.Request) string {
	var in struct {
		Body *string `json:"body"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Body == nil {
		s.T.Errorf("%s %s: no body in the request (%v)", r.Method, r.URL.Path, err)
		return ""
	}
	if n := len([]rune(*in.Body)); n > 65536 {
		s.T.Errorf("a comment of %d characters", n)
	}
	return *in.Body
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("per_page") != "100" {
		s.T.Errorf("per_page=%q", q.Get("per_page"))
	}
	page, _ := strconv.Atoi(q.Get("page"))
	all := s.Comments()
	from, to := min(100*(page-1), len(all)), min(100*page, len(all))
	if to < len(all) {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?per_page=100&page=%d>; rel="next"`, s.URL, r.URL.Path, page+1))
	}
	reply(w, 200, append([]Comment{}, all[from:to]...))
}

func (s *Server) one(w http.ResponseWriter, r *http.Request, id int64) {
	var body string
	if r.Method == "PATCH" {
		body = s.body(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.comments {
		if s.comments[i].ID != id {
			continue
		}
		switch r.Method {
		case "GET":
			reply(w, 200, s.comments[i])
		case "PATCH":
			s.comments[i].Body = body
			reply(w, 200, s.comments[i])
		case "DELETE":
			s.comments = append(s.comments[:i], s.comments[i+1:]...)
			w.WriteHeader(204)
		default:
			s.unexpected(w, r)
		}
		return
	}
	reply(w, 404, map[string]string{"message": "Not Found"})
}

func (s *Server) pulls(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("state") != "open" {
		s.T.Errorf("pulls: state=%q", r.URL.Query().Get("state"))
	}
	out := []any{}
	for _, p := range s.Pulls {
		if r.URL.Query().Get("head") != p.HeadRef {
			continue
		}
		out = append(out, map[string]any{"number": p.Number,
			"head": map[string]any{"sha": p.HeadSHA, "repo": map[string]any{"id": p.HeadRepo}},
			"base": map[string]any{"sha": p.BaseSHA}})
	}
	reply(w, 200, out)
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
