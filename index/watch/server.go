package watch

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxt-dev/ctxt/analyze/search"
)

// The limits of the endpoint.
const (
	maxRequestBytes = 64 << 10
	maxAtOnce       = 16
)

// server is the loopback endpoint:
//
//	POST /search   a search.Request in, a search.Response out: what search-hints --json prints
//	POST /status   {} in, a Status out
//
// A page in a browser can reach loopback, and a host name can be made to resolve to it. So, in this
// order: the Host header must be this endpoint's address, a request with an Origin or from a browser is refused,
// only POST of JSON is accepted, and the bearer token of the discovery file is wanted.
type server struct {
	token  [sha256.Size]byte // digest, so that comparing takes the same time whatever is sent
	hosts  map[string]bool
	slots  chan struct{}
	search func(search.Request) (*search.Response, error)
	status func() Status
	log    func(q string, results int, took time.Duration) // nil: nothing is logged
}

func newServer(addr netip.AddrPort, token string) *server {
	port := addr.Port()
	return &server{
		token: sha256.Sum256([]byte(token)),
		hosts: map[string]bool{addr.String(): true, fmt.Sprintf("localhost:%d", port): true},
		slots: make(chan struct{}, maxAtOnce),
	}
}

// listen opens a port on 127.0.0.1 that the system chooses.
func listen() (net.Listener, netip.AddrPort, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, netip.AddrPort{}, fmt.Errorf("open the search endpoint on 127.0.0.1: %w", err)
	}
	return l, l.Addr().(*net.TCPAddr).AddrPort(), nil
}

// serve answers until the context ends, then lets requests under way finish for a second.
func (s *server) serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 2 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      15 * time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // headers of foreign requests stay out of the log
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if h.Shutdown(wait) != nil {
			h.Close()
		}
	}()
	err := h.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		return nil
	}
	return fmt.Errorf("serve the search endpoint: %w", err)
}

// ServeHTTP checks a request and answers it. A refusal says why in one line and nothing else.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if code, why := s.refuse(r); code != 0 {
		if code == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", http.MethodPost)
		}
		reply(w, code, map[string]string{"error": why})
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		reply(w, http.StatusServiceUnavailable, map[string]string{"error": "too many requests at once"})
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxRequestBytes)
	switch r.URL.Path {
	case "/search":
		s.answer(w, r)
	case "/status":
		reply(w, http.StatusOK, s.status())
	}
}

// refuse returns the status and the reason with which a request is turned away; 0 lets it pass.
func (s *server) refuse(r *http.Request) (int, string) {
	switch {
	case !s.hosts[r.Host]:
		return http.StatusForbidden, "the Host header is not this endpoint's address"
	case len(r.Header["Origin"]) > 0 || len(r.Header["Sec-Fetch-Site"]) > 0 || len(r.Header["Referer"]) > 0:
		return http.StatusForbidden, "requests from web pages are not answered"
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "only POST is answered"
	case !s.authorised(r):
		return http.StatusUnauthorized, "the bearer token of the discovery file is wanted"
	case r.URL.Path != "/search" && r.URL.Path != "/status" || r.URL.RawQuery != "":
		return http.StatusNotFound, "only /search and /status are answered"
	case r.Header.Get("Content-Type") != "application/json":
		return http.StatusUnsupportedMediaType, "the body must be application/json"
	case r.ContentLength > maxRequestBytes:
		return http.StatusRequestEntityTooLarge, "the body is too large"
	}
	return 0, ""
}

func (s *server) authorised(r *http.Request) bool {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return false
	}
	token, ok := strings.CutPrefix(values[0], "Bearer ")
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1 && ok
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	var req search.Request
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	err := dec.Decode(&req)
	if err == nil {
		if _, err = dec.Token(); err == io.EOF {
			err = nil
		} else {
			err = errors.New("more than one JSON value")
		}
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		reply(w, http.StatusRequestEntityTooLarge, map[string]string{"error": "the body is too large"})
		return
	case err != nil:
		reply(w, http.StatusBadRequest, map[string]string{"error": "the body is not a search request: " + err.Error()})
		return
	}
	res, err := s.search(req)
	if err != nil {
		reply(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	reply(w, http.StatusOK, res)
	if s.log != nil {
		s.log(req.Query, len(res.Results)+len(res.Dirs), time.Since(start))
	}
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the other side went away
}

// clipQuery cuts a query for the log to n characters; 0 leaves it out.
func clipQuery(q string, n int) string {
	if utf8.RuneCountInString(q) <= n {
		return q
	}
	return string([]rune(q)[:n]) + "…"
}
