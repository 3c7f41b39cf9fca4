package synonyms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// DialFunc opens a connection; it is the only way out of this package.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

var (
	errRedirect = errors.New("the endpoint redirects; redirects are not followed: configure the final address")
	errTooLarge = errors.New("answer too large")
	// ErrOffline is what every use of an offline client returns.
	ErrOffline = errors.New("offline: no request to a language model is made")
)

// offlineDial is the dialer of an offline client.
func offlineDial(context.Context, string, string) (net.Conn, error) { return nil, ErrOffline }

// guardedDial connects directly, and looks at the address that the name resolved to: a plain HTTP
// endpoint must be on loopback, and link-local addresses (cloud metadata services), multicast and
// unspecified ones are never dialled.
func guardedDial(plain bool) DialFunc {
	d := net.Dialer{Timeout: 15 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		return checkAddress(address, plain)
	}}
	return d.DialContext
}

func checkAddress(address string, plain bool) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %s: %w", address, err)
	}
	switch a := ap.Addr().Unmap(); {
	case plain && !a.IsLoopback():
		return fmt.Errorf("plain HTTP endpoint resolves to %s, which is not loopback; use https", a)
	case a.IsLinkLocalUnicast(), a.IsMulticast(), a.IsUnspecified():
		return fmt.Errorf("endpoint resolves to %s, which no model is served from", a)
	}
	return nil
}

// transport sends requests, turns every redirect into an error and caps what is read.
type transport struct {
	next *http.Transport
	cap  int64 // bytes of one body, after decompression
}

func newTransport(c Config, plain bool) *transport {
	dial := c.Dial
	switch {
	case c.Offline:
		dial = offlineDial
	case dial == nil:
		dial = guardedDial(plain)
	}
	t := &http.Transport{
		DialContext:            dial,
		Proxy:                  c.Proxy,
		TLSClientConfig:        c.TLS,
		TLSHandshakeTimeout:    15 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    c.Parallel,
		IdleConnTimeout:        30 * time.Second,
		ForceAttemptHTTP2:      true,
	}
	if plain {
		t.Proxy = nil
	}
	return &transport{next: t, cap: c.MaxBody}
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch {
	case res.StatusCode >= 400:
		err = newStatusError(res)
	case res.StatusCode >= 300:
		err = errRedirect
	case res.ContentLength > t.cap:
		err = errTooLarge
	}
	if err != nil {
		res.Body.Close()
		return nil, err
	}
	// The client library returns anything else as text; a model server that forgets the type is
	// still answered with a decoding error that says so.
	res.Header.Set("Content-Type", "application/json")
	res.Body = &cappedBody{ReadCloser: res.Body, left: t.cap}
	return res, nil
}

// statusError is a response of 400 and above. Its message comes from the server and is not yet safe
// to print.
type statusError struct {
	code    int
	message string
	after   time.Duration // Retry-After; -1 when it says nothing usable
}

func (e *statusError) Error() string {
	s := fmt.Sprintf("HTTP %d %s", e.code, http.StatusText(e.code))
	if e.message != "" {
		s += ": " + e.message
	}
	return s
}

// newStatusError reads at most 64 KiB of the body for the message that OpenAI-compatible servers put
// under error.message.
func newStatusError(res *http.Response) *statusError {
	b, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // a cut body costs the message only
	return &statusError{code: res.StatusCode, message: errorMessage(b), after: retryAfter(res.Header, time.Now())}
}

// errorMessage is error.message of a body, or error itself when it is a string.
func errorMessage(body []byte) string {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	var inner struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &outer) != nil || len(outer.Error) == 0 {
		return ""
	}
	if json.Unmarshal(outer.Error, &inner) == nil {
		return inner.Message
	}
	var s string
	if json.Unmarshal(outer.Error, &s) != nil {
		return ""
	}
	return s
}

// retryAfter reads Retry-After, as seconds or as a date; -1 when it says nothing usable.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(t.Sub(now), 0)
	}
	return -1
}

// cappedBody fails, rather than ends, past its cap: half an answer must not look like a whole one.
type cappedBody struct {
	io.ReadCloser
	left int64
}

func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLarge
	}
	return n, err
}
