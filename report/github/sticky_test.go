package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxt-dev/ctxt/report/github"
	"github.com/ctxt-dev/ctxt/report/github/githubtest"
)

const (
	head1 = "1111111111111111111111111111111111111111"
	head2 = "2222222222222222222222222222222222222222"
)

var (
	repo   = github.Repo{Owner: "octo", Name: "repo"}
	person = githubtest.User{ID: 5, Login: "someone", Type: "User"}
	path   = "/repos/octo/repo/issues/7/comments"
)

// clock counts the waits instead of waiting.
type clock struct{ waits []time.Duration }

func (c *clock) sleep(_ context.Context, d time.Duration) error {
	c.waits = append(c.waits, d)
	return nil
}

func (c *clock) total() (sum time.Duration) {
	for _, d := range c.waits {
		sum += d
	}
	return sum
}

func client(t testing.TB, s *githubtest.Server, c *clock) *github.Client {
	t.Helper()
	o := github.Options{Token: s.Token, APIURL: s.URL, GraphQLURL: s.GraphQL(), UserAgent: "ctxt/test"}
	if c != nil {
		o.Sleep = c.sleep
		o.Now = func() time.Time { return time.Unix(1700000000, 0) }
	}
	cl, err := github.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

func run(id int64, head string) github.Run {
	return github.Run{Key: "ctxt", Head: head, ID: id, Attempt: 1}
}

func sticky(t testing.TB, s *githubtest.Server, r github.Run, text string) (github.Result, error) {
	t.Helper()
	return client(t, s, &clock{}).Sticky(context.Background(), repo, 7, r, r.Marker()+"\n"+text)
}

func must(t testing.TB, got github.Result, err error, want github.Outcome) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if got.Outcome != want {
		t.Fatalf("outcome %s, want %s", got.Outcome, want)
	}
}

func only(t testing.TB, s *githubtest.Server, text string) {
	t.Helper()
	cs := s.Comments()
	if len(cs) != 1 || !strings.HasSuffix(cs[0].Body, text) {
		t.Fatalf("comments %+v, want one with %q", cs, text)
	}
}

func TestCreateThenUnchangedThenUpdate(t *testing.T) {
	for name, set := range map[string]func(*githubtest.Server){
		"token of the workflow": func(*githubtest.Server) {},
		"token of a person": func(s *githubtest.Server) {
			s.Viewer, s.Person, s.Me = false, true, githubtest.User{ID: 9, Login: "robot-owner", Type: "User"}
		},
		"token of an app":           func(s *githubtest.Server) { s.Me = githubtest.User{ID: 77, Login: "my-app[bot]", Type: "Bot"} },
		"another number in GraphQL": func(s *githubtest.Server) { s.ViewerID = 123456 },
		"nobody says who":           func(s *githubtest.Server) { s.Viewer = false },
	} {
		t.Run(name, func(t *testing.T) {
			s := githubtest.New(t, "")
			set(s)
			r, err := sticky(t, s, run(1, head1), "report A")
			must(t, r, err, github.Created)
			first := r.ID
			before := len(s.Writes())
			r, err = sticky(t, s, run(2, head1), "report A")
			must(t, r, err, github.Unchanged)
			if s.Viewer || s.Person {
				if n := len(s.Writes()) - before; n != 0 {
					t.Errorf("%d writes for an unchanged report", n)
				}
			}
			r, err = sticky(t, s, run(3, head2), "report B")
			must(t, r, err, github.Updated)
			if r.ID != first {
				t.Errorf("comment %d, want the first, %d", r.ID, first)
			}
			only(t, s, "report B")
		})
	}
}

func TestOlderRunNeverReplacesNewer(t *testing.T) {
	s := githubtest.New(t, "")
	r, err := sticky(t, s, run(20, head2), "new")
	must(t, r, err, github.Created)
	r, err = sticky(t, s, run(10, head1), "old")
	must(t, r, err, github.Superseded)
	again := run(10, head1) // a re-run of the old run is still the older one
	again.Attempt = 5
	r, err = sticky(t, s, again, "old")
	must(t, r, err, github.Superseded)
	newer := run(20, head2)
	newer.Attempt = 2
	r, err = sticky(t, s, newer, "newest")
	must(t, r, err, github.Updated)
	only(t, s, "newest")
}

func TestPagesAndSomeonesMarker(t *testing.T) {
	s := githubtest.New(t, "")
	quoted := run(999, head2).Marker() + "\nforged"
	theirs := s.Add(person, quoted)
	s.Add(person, "> "+quoted)
	for i := range 240 {
		s.Add(person, fmt.Sprintf("comment %d", i))
	}
	old := run(1, head1)
	ours := s.Add(s.Me, old.Marker()+"\nold")
	other := old
	other.Key = "another"
	theOther := s.Add(s.Me, other.Marker()+"\nother key")
	s.Add(s.Me, "look: "+old.Marker()+"\nnot at the start")
	r, err := sticky(t, s, run(2, head2), "new")
	must(t, r, err, github.Updated)
	if r.ID != ours {
		t.Errorf("comment %d, want %d", r.ID, ours)
	}
	if w := s.Writes(); len(w) != 1 || w[0] != fmt.Sprintf("PATCH /repos/octo/repo/issues/comments/%d", ours) {
		t.Errorf("writes %v", w)
	}
	for _, c := range s.Comments() {
		if c.ID == theirs && c.Body != quoted || c.ID == theOther && !strings.HasSuffix(c.Body, "other key") {
			t.Errorf("comment %d was touched: %q", c.ID, c.Body)
		}
	}
}

// TestRace lets two runs list before either creates; whatever the order, one comment is left and it
// is the newer run's.
func TestRace(t *testing.T) {
	for range 20 {
		s := githubtest.New(t, "")
		var barrier sync.WaitGroup
		barrier.Add(2)
		s.OnRequest = func(method, p string, n int) *githubtest.Fault {
			if method == "POST" && p == path {
				barrier.Done()
				barrier.Wait()
			}
			return nil
		}
		var wg sync.WaitGroup
		for _, r := range []github.Run{run(1, head1), run(2, head2)} {
			wg.Go(func() {
				if _, err := client(t, s, &clock{}).Sticky(context.Background(), repo, 7, r, r.Marker()+"\nreport of "+r.Head); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		only(t, s, "report of "+head2)
	}
}

// TestOlderWritesBetween holds that a newer run notices an older one that had looked before it, and
// writes right after it.
func TestOlderWritesBetween(t *testing.T) {
	s := githubtest.New(t, "")
	id := s.Add(s.Me, run(1, head1).Marker()+"\nfirst")
	one := fmt.Sprintf("/repos/octo/repo/issues/comments/%d", id)
	looked, release, done := make(chan bool), make(chan bool), make(chan bool)
	s.OnRequest = func(method, p string, n int) *githubtest.Fault {
		switch {
		case method == "PATCH" && p == one && n == 1: // the slow run is about to write
			close(looked)
			<-release
		case method == "GET" && p == one && n == 1: // the newer run has written and checks
			close(release)
			<-done
		}
		return nil
	}
	go func() {
		defer close(done)
		r := run(2, head1)
		if _, err := client(t, s, &clock{}).Sticky(context.Background(), repo, 7, r, r.Marker()+"\nslow"); err != nil {
			t.Error(err)
		}
	}()
	<-looked
	r, err := sticky(t, s, run(3, head2), "newest")
	must(t, r, err, github.Updated)
	only(t, s, "newest")
}

func TestDuplicatesAreJoined(t *testing.T) {
	s := githubtest.New(t, "")
	for i := range 3 {
		s.Add(s.Me, run(int64(i+1), head1).Marker()+"\nduplicate")
	}
	r, err := sticky(t, s, run(9, head2), "joined")
	must(t, r, err, github.Updated)
	only(t, s, "joined")
}

func TestReadOnly(t *testing.T) {
	for _, status := range []int{403, 404} {
		s := githubtest.New(t, "")
		s.OnRequest = func(method, p string, n int) *githubtest.Fault {
			if method == "POST" && p == path {
				return &githubtest.Fault{Status: status, Body: `{"message":"Resource not accessible by integration"}`}
			}
			return nil
		}
		_, err := sticky(t, s, run(1, head1), "x")
		if !errors.Is(err, github.ErrReadOnly) {
			t.Errorf("HTTP %d: %v", status, err)
		}
		if n := len(s.Writes()); n != 1 {
			t.Errorf("HTTP %d: %d tries", status, n)
		}
	}
	s := githubtest.New(t, "")
	s.OnRequest = func(method, p string, n int) *githubtest.Fault {
		return &githubtest.Fault{Status: 401, Body: `{"message":"Bad credentials"}`}
	}
	if _, err := sticky(t, s, run(1, head1), "x"); !errors.Is(err, github.ErrUnauthorized) {
		t.Errorf("401: %v", err)
	}
}

// TestRetries holds three tries and a minute for each kind of failure, on each kind of request.
func TestRetries(t *testing.T) {
	secondary := `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`
	for _, c := range []struct {
		name  string
		fault githubtest.Fault
		fails int // of the first requests
		ok    bool
		waits int
	}{
		{"429 with Retry-After", githubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "7"}}, 1, true, 1},
		{"429 without", githubtest.Fault{Status: 429}, 2, true, 2},
		{"429 for ever", githubtest.Fault{Status: 429}, 99, false, 2},
		{"403 with Retry-After", githubtest.Fault{Status: 403, Header: map[string]string{"Retry-After": "20"}, Body: secondary}, 2, true, 2},
		{"403 without", githubtest.Fault{Status: 403, Body: secondary}, 1, true, 1},
		{"403 for ever", githubtest.Fault{Status: 403, Body: secondary}, 99, false, 2},
		{"403 for an hour", githubtest.Fault{Status: 403, Header: map[string]string{"Retry-After": "3600"}, Body: secondary}, 99, false, 0},
		{"403 until the reset", githubtest.Fault{Status: 403, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000030"}}, 1, true, 1},
		{"403 until a far reset", githubtest.Fault{Status: 403, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700003000"}}, 99, false, 0},
		{"500 once", githubtest.Fault{Status: 500}, 1, true, 1},
		{"502 after the effect", githubtest.Fault{Status: 502, After: true}, 1, true, 1},
		{"500 for ever", githubtest.Fault{Status: 500}, 99, false, 2},
		{"cut", githubtest.Fault{Cut: true}, 1, true, 1},
		{"cut after the effect", githubtest.Fault{Cut: true, After: true}, 1, true, 1},
		{"cut after each effect", githubtest.Fault{Cut: true, After: true}, 99, true, 1},
		{"cut for ever", githubtest.Fault{Cut: true}, 99, false, 2},
	} {
		for _, method := range []string{"POST", "GET"} {
			t.Run(c.name+"/"+method, func(t *testing.T) {
				s := githubtest.New(t, "")
				s.OnRequest = func(m, p string, n int) *githubtest.Fault {
					if m == method && p == path && n <= c.fails {
						f := c.fault
						return &f
					}
					return nil
				}
				ck := &clock{}
				r := run(1, head1)
				res, err := client(t, s, ck).Sticky(context.Background(), repo, 7, r, r.Marker()+"\nreport")
				ok := c.ok && !(method == "GET" && c.fails == 99) // a list that never comes never helps
				if ok != (err == nil) {
					t.Fatalf("%+v, %v", res, err)
				}
				if ck.total() > time.Minute {
					t.Errorf("waited %v", ck.total())
				}
				tries := 0
				for _, l := range s.Requests() {
					if l == method+" "+path {
						tries++
					}
				}
				if method == "POST" && tries > 3 || method == "GET" && !ok && tries > 3 {
					t.Errorf("%d tries", tries)
				}
				if method == "POST" && len(ck.waits) != c.waits {
					t.Errorf("waits %v, want %d", ck.waits, c.waits)
				}
				if n := len(s.Comments()); n > 1 || ok && n != 1 {
					t.Errorf("%d comments", n)
				}
				if err != nil && strings.HasPrefix(c.name, "4") && !errors.Is(err, github.ErrLimited) {
					t.Errorf("error %v", err)
				}
			})
		}
	}
}

func TestEnterprise(t *testing.T) {
	s := githubtest.New(t, "/api/v3")
	r, err := sticky(t, s, run(1, head1), "x")
	must(t, r, err, github.Created)
	only(t, s, "x")
}

// TestTokenGoesToOneHost follows a redirect to another host, which must not be asked.
func TestTokenGoesToOneHost(t *testing.T) {
	evil := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host was asked: %s, Authorization %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer evil.Close()
	s := githubtest.New(t, "")
	s.OnRequest = func(method, p string, n int) *githubtest.Fault {
		if p == path {
			return &githubtest.Fault{Status: 307, Header: map[string]string{"Location": evil.URL + p}}
		}
		return nil
	}
	_, err := sticky(t, s, run(1, head1), "x")
	if err == nil || strings.Contains(err.Error(), s.Token) {
		t.Errorf("error %v", err)
	}
	for _, u := range []string{"http://api.example.com", "ftp://x", "nonsense", "https://"} {
		if _, err := github.New(github.Options{APIURL: u}); err == nil {
			t.Errorf("%q accepted", u)
		}
	}
	// GraphQL of another host is not asked at all.
	c, err := github.New(github.Options{Token: s.Token, APIURL: s.URL, GraphQLURL: evil.URL + "/graphql"})
	if err != nil {
		t.Fatal(err)
	}
	s.OnRequest, s.Person = nil, true
	r := run(1, head1)
	if _, err := c.Sticky(context.Background(), repo, 7, r, r.Marker()+"\nx"); err != nil {
		t.Error(err)
	}
}

func TestPulls(t *testing.T) {
	s := githubtest.New(t, "")
	s.Pulls = []githubtest.Pull{
		{Number: 3, HeadRef: "fork:topic", HeadSHA: head1, HeadRepo: 8, BaseSHA: head2},
		{Number: 7, HeadRef: "fork:topic", HeadSHA: head2, HeadRepo: 8, BaseSHA: head1},
		{Number: 8, HeadRef: "fork:topic", HeadSHA: head2, HeadRepo: 9, BaseSHA: head1},
	}
	got, err := client(t, s, nil).Pulls(context.Background(), repo, "fork", "topic", head2, 8)
	if err != nil || len(got) != 1 || got[0].Number != 7 || got[0].Base != head1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestMarker(t *testing.T) {
	for _, key := range []string{"ctxt", "a b", "--><script>", "x\ny", "é--", "%", ""} {
		r := github.Run{Key: key, Head: head1, ID: 12, Attempt: 3}
		m := r.Marker()
		if strings.ContainsAny(m, "\n\r") || strings.Count(m, "--") != 2 {
			t.Errorf("key %q: marker %q", key, m)
		}
		got, rest, ok := github.ParseMarker(m + "\nbody")
		if !ok || got != r || rest != "body" {
			t.Errorf("key %q: %+v %q %v", key, got, rest, ok)
		}
	}
}

func FuzzParseMarker(f *testing.F) {
	f.Add("<!-- ctxt:comment key=ctxt head=ab run=1 attempt=1 -->\nx")
	f.Add("<!-- ctxt:comment key=%zz head= run=9 attempt=9 -->")
	f.Fuzz(func(t *testing.T, s string) {
		r, rest, ok := github.ParseMarker(s)
		if !ok {
			return
		}
		if again, _, ok := github.ParseMarker(r.Marker() + "\n" + rest); !ok || again != r {
			t.Fatalf("%q: %+v, then %+v", s, r, again)
		}
	})
}
