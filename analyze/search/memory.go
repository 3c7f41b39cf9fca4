package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/ctxt-dev/ctxt/index/store"
)

// RuntimeVersion is the version of Runtime.
const RuntimeVersion = 1

// Runtime is ctx_runtime.json, mode 0600: where a running watch answers.
//
//	{"version":1,"root_path":"/abs/project","address":"127.0.0.1:41234","token":"…","pid":4711,
//	 "started_at":"2024-01-02T03:04:05Z"}
//
// The daemon answers POST http://ADDRESS/search with the header "Authorization: Bearer TOKEN" and a
// Request as JSON. The answer is a Response, or a status of 400 and above with {"error":"…"}.
type Runtime struct {
	Version   int    `json:"version"`
	RootPath  string `json:"root_path"`
	Address   string `json:"address"` // a loopback address and port
	Token     string `json:"token"`
	PID       int    `json:"pid"`
	StartedAt string `json:"started_at"` // RFC 3339
}

// SearchPath is the path of the endpoint.
const SearchPath = "/search"

// The caps of the client.
const (
	maxRuntimeBytes  = 64 << 10
	maxResponseBytes = 32 << 20
	memoryTimeout    = 5 * time.Second
)

// LoadRuntime reads and checks a runtime file. The file may be a repository's, so any address but a
// loopback one is refused: a query goes nowhere else.
func LoadRuntime(path string) (*Runtime, error) {
	data, err := store.ReadFile(path, maxRuntimeBytes)
	if err != nil {
		return nil, err
	}
	r := new(Runtime)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %s; restart the watch: ctxt watch .", path, store.JSONFault(data, err))
	}
	if r.Version != RuntimeVersion {
		return nil, fmt.Errorf("%s has version %d, not %d; restart the watch: ctxt watch .", path, r.Version, RuntimeVersion)
	}
	if a, err := netip.ParseAddrPort(r.Address); err != nil || !a.Addr().IsLoopback() || a.Port() == 0 {
		return nil, fmt.Errorf("%s: address %q is not a loopback address and port; restart the watch: ctxt watch .", path, r.Address)
	}
	return r, nil
}

// Ask sends a request to a running watch.
func (r *Runtime) Ask(ctx context.Context, req Request) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, memoryTimeout)
	defer cancel()
	body, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("ask the watch daemon: %w", err)
	}
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.Address+SearchPath, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask the watch daemon: %w", err)
	}
	hr.Header.Set("Content-Type", "application/json")
	hr.Header.Set("Authorization", "Bearer "+r.Token)
	// No proxy, no redirect, no connection kept.
	client := &http.Client{
		Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: time.Second}).DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the daemon answered with a redirect")
		},
	}
	resp, err := client.Do(hr)
	if err != nil {
		return nil, fmt.Errorf("ask the watch daemon at %s: %w", r.Address, errors.Unwrap(err))
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxResponseBytes+1))
	if err != nil {
		return nil, fmt.Errorf("ask the watch daemon at %s: %w", r.Address, err)
	}
	if len(data) > maxResponseBytes {
		return nil, fmt.Errorf("ask the watch daemon at %s: the answer is larger than %d bytes", r.Address, maxResponseBytes)
	}
	if resp.StatusCode != http.StatusOK {
		var e struct {
			Error string `json:"error"`
		}
		_ = json.Unmarshal(data, &e)
		return nil, fmt.Errorf("ask the watch daemon at %s: status %d: %.200s", r.Address, resp.StatusCode, e.Error)
	}
	out := new(Response)
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("ask the watch daemon at %s: %s", r.Address, store.JSONFault(data, err))
	}
	if out.Version != ResponseVersion {
		return nil, fmt.Errorf("the watch daemon at %s answers in version %d, not %d; restart it: ctxt watch .", r.Address, out.Version, ResponseVersion)
	}
	out.Source = Memory
	return out, nil
}
