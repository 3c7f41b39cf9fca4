package synonyms

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// Config says how to reach a model and how much to ask of it. Zero values take the defaults named.
type Config struct {
	Endpoint    string  // full URL, ending in /chat/completions
	Model       string  //
	Key         string  // empty is allowed on loopback only
	Temperature float64 // sent as it is
	BatchSize   int     // entries a request; 0: smart, up to 60
	Parallel    int     // requests at once; 10
	Min, Max    int     // synonyms an entry; 5 and 12

	Timeout time.Duration // of one request, body included; 2 minutes
	MaxBody int64         // bytes of one response; 4 MiB
	Retry   Retry

	Offline bool                                  // refuse every connection
	Dial    DialFunc                              // nil: a direct dialer that looks at the resolved address
	Proxy   func(*http.Request) (*url.URL, error) // nil: none; never used for plain HTTP
	TLS     *tls.Config                           // nil: the system's roots
}

// Retry bounds the repetition of a request that failed for a passing reason.
type Retry struct {
	Tries      int           // in all; 4
	Base       time.Duration // the first wait, doubled each time; 1 s
	Max        time.Duration // longest wait of ours; 30 s
	RetryAfter time.Duration // longest wait that a server may ask for; 60 s. A longer one ends the tries.
	// Sleep waits; nil is a timer. Tests replace it.
	Sleep func(context.Context, time.Duration) error
}

func (c Config) withDefaults() Config {
	def(&c.Parallel, 10)
	def(&c.Min, 5)
	def(&c.Max, 12)
	def(&c.Timeout, 2*time.Minute)
	def(&c.MaxBody, 4<<20)
	def(&c.Retry.Tries, 4)
	def(&c.Retry.Base, time.Second)
	def(&c.Retry.Max, 30*time.Second)
	def(&c.Retry.RetryAfter, time.Minute)
	if c.Retry.Sleep == nil {
		c.Retry.Sleep = sleep
	}
	return c
}

func def[T int | int64 | time.Duration](v *T, to T) {
	if *v == 0 {
		*v = to
	}
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

// Client asks one endpoint. It is safe for concurrent use.
type Client struct {
	cfg  Config
	at   Endpoint
	http *http.Client
}

// New checks the configuration and makes a client; it opens no connection.
func New(c Config) (*Client, error) {
	c = c.withDefaults()
	at, err := ParseEndpoint(c.Endpoint)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.TrimSpace(c.Model) == "" || !printable(c.Model) || len(c.Model) > 256:
		return nil, errors.New("llm model: want a model name")
	case c.Key == "" && !at.Loopback:
		return nil, fmt.Errorf("llm endpoint on %s needs a key; set OPENROUTER_API_KEY, the variable that api_key_env names, or --api-key, or use --offline", at.Host)
	case c.BatchSize < 0 || c.BatchSize > 1000:
		return nil, fmt.Errorf("batch_size %d: want 0 (smart) to 1000", c.BatchSize)
	case c.Parallel < 1 || c.Parallel > 100:
		return nil, fmt.Errorf("parallel_requests %d: want 1 to 100", c.Parallel)
	case c.Min < 1 || c.Max < c.Min || c.Max > 100:
		return nil, fmt.Errorf("synonyms_min %d, synonyms_max %d: want 1 ≤ min ≤ max ≤ 100", c.Min, c.Max)
	case !(c.Temperature >= 0 && c.Temperature <= 2):
		return nil, fmt.Errorf("temperature %v: want 0 to 2", c.Temperature)
	}
	cl := &Client{cfg: c, at: at}
	cl.http = &http.Client{
		Transport:     newTransport(c, at.plain),
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
	return cl, nil
}

// Host is the endpoint's host and port, for messages.
func (c *Client) Host() string { return c.at.Host }

// Close drops idle connections.
func (c *Client) Close() { c.http.Transport.(*transport).next.CloseIdleConnections() }

// fault is why an attempt failed and what that means for the rest.
type fault struct {
	err   error         // safe to print: no part of the key
	retry bool          // a later try may pass
	fatal bool          // every other batch would fail the same way
	split bool          // a smaller batch may pass
	after time.Duration // the server's Retry-After; negative when there was none
}

// completion is the part of a chat completion that is used, of a request and of its answer. The whole
// client of the API is a third of a binary that asks one question.
type completion struct {
	Model       string        `json:"model,omitempty"`
	Messages    []chatMessage `json:"messages,omitempty"`
	Temperature *float64      `json:"temperature,omitempty"`
	Choices     []struct {
		Message      chatMessage `json:"message"`
		FinishReason string      `json:"finish_reason"`
	} `json:"choices,omitempty"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// complete posts one request to the endpoint; raw is the body of the answer.
func (c *Client) complete(ctx context.Context, system, user string) (res completion, raw []byte, err error) {
	body, err := json.Marshal(completion{Model: c.cfg.Model, Temperature: &c.cfg.Temperature,
		Messages: []chatMessage{{"system", system}, {"user", user}}})
	if err != nil {
		return res, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.at.Base+strings.TrimPrefix(completions, "/"), bytes.NewReader(body))
	if err != nil {
		return res, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "ctxt")
	if c.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	answer, err := c.http.Do(req)
	if err != nil {
		return res, nil, err
	}
	defer answer.Body.Close()
	if raw, err = io.ReadAll(answer.Body); err != nil { // the transport caps it
		return res, nil, err
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return res, raw, fmt.Errorf("not a chat completion: %w", err)
	}
	return res, raw, nil
}

// attempt sends one batch once.
func (c *Client) attempt(ctx context.Context, batch []entry) (answer, *fault) {
	system, user := messages(batch, c.cfg.Min, c.cfg.Max)
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	res, raw, err := c.complete(ctx, system, user)
	if err != nil {
		return nil, c.classify(err)
	}
	if len(res.Choices) == 0 {
		f := &fault{err: errAnswer, retry: true, after: -1}
		if msg := errorMessage(raw); msg != "" { // some gateways answer 200 with an error inside
			f.err = c.safe("the endpoint says: " + msg)
		}
		return nil, f
	}
	a, err := parseAnswer(res.Choices[0].Message.Content)
	if err != nil {
		cut := res.Choices[0].FinishReason == "length"
		if cut {
			err = errors.New("the model ran out of room for its answer")
		}
		return nil, &fault{err: err, retry: !cut, split: cut, after: -1}
	}
	return a, nil
}

// classify turns an error of the HTTP client into a fault.
func (c *Client) classify(err error) *fault {
	f := &fault{after: -1}
	var status *statusError
	var cert *tls.CertificateVerificationError
	var url *url.Error
	switch {
	case errors.As(err, &status):
		c.status(f, status)
	case errors.Is(err, ErrOffline):
		f.err, f.fatal = ErrOffline, true
	case errors.Is(err, errRedirect):
		f.err, f.fatal = errRedirect, true
	case errors.Is(err, errTooLarge):
		f.err = fmt.Errorf("answer larger than %d bytes", c.cfg.MaxBody)
	case errors.As(err, &cert):
		f.err, f.fatal = c.safe("certificate of "+c.at.Host+" not accepted: "+cert.Err.Error()), true
	case errors.Is(err, context.DeadlineExceeded):
		f.err, f.retry = fmt.Errorf("no answer within %s", c.cfg.Timeout), true
	case errors.As(err, &url):
		f.err, f.retry = c.safe(c.at.Host+": "+url.Err.Error()), true
	default:
		f.err, f.retry = c.safe("response of "+c.at.Host+": "+err.Error()), true
	}
	return f
}

func (c *Client) status(f *fault, e *statusError) {
	f.err, f.after = c.safe(e.Error()), e.after
	switch e.code {
	case 401, 402, 403, 404, 405, 410:
		f.fatal = true
	case 413:
		f.split = true
	case 408, 409, 425, 429:
		f.retry = true
	default:
		f.retry = e.code >= 500
	}
}

// safe makes a message printable, short and free of the key.
func (c *Client) safe(msg string) error {
	if repeatsKey(msg, c.cfg.Key, 1) {
		head, _, _ := strings.Cut(msg, ":")
		if repeatsKey(head, c.cfg.Key, 1) {
			head = "request failed"
		}
		return errors.New(head + " (the message repeats a part of the key and is withheld)")
	}
	r := []rune(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(msg, "?")))
	if len(r) > 300 {
		r = append(r[:300], '…')
	}
	return errors.New(string(r))
}

// wait gives the pause before the next try; ok is false when the server asks for more than allowed.
func (r Retry) wait(try int, f *fault) (d time.Duration, ok bool) {
	if f.after >= 0 {
		return f.after, f.after <= r.RetryAfter
	}
	d = min(r.Base<<min(try, 20), r.Max)
	return d - rand.N(d/4+1), true
}
