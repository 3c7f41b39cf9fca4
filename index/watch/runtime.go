package watch

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"time"

	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/index/store"
)

// RuntimeVersion is the version of Runtime.
const RuntimeVersion = 2

// Runtime is ctx_runtime.json: how to reach the watch of a project. It exists while the watch runs,
// is readable by its owner alone, and is replaced in one step.
//
//	{"version":2,"address":"127.0.0.1:40123","token":"64 hexadecimal digits","pid":4711,
//	 "root_path":"/abs/project","started":"2024-01-02T03:04:05Z"}
type Runtime struct {
	Version int    `json:"version"`
	Address string `json:"address"` // always 127.0.0.1 and a port
	Token   string `json:"token"`
	PID     int    `json:"pid"`
	Root    string `json:"root_path"`
	Started string `json:"started"` // RFC 3339, UTC
}

// Status is what a running watch says of itself.
type Status struct {
	Version   int    `json:"version"`
	PID       int    `json:"pid"`
	Root      string `json:"root_path"`
	Started   string `json:"started"`
	Timestamp string `json:"index_timestamp"`
	Files     int    `json:"files"`
	Dirs      int    `json:"directories"`
	Rounds    int    `json:"rounds"`  // of changes applied since the start
	Watcher   string `json:"watcher"` // "events" or "polling"
	Faults    int    `json:"faults"`  // files that their grammar could not read
}

const (
	maxRuntimeBytes = 4 << 10
	maxAnswerBytes  = 16 << 20
	askTimeout      = 10 * time.Second
)

// ErrNotRunning says that no watch answers at the place that the discovery file names, or that
// there is no such file.
var ErrNotRunning = errors.New("no watch is running")

// LoadRuntime reads a discovery file. The address must be on 127.0.0.1 and the file readable by its
// owner alone, as the watch writes it: a file that came with a repository is neither believed nor sent
// anything. A missing file is ErrNotRunning.
func LoadRuntime(path string) (*Runtime, error) {
	data, err := store.ReadFile(path, maxRuntimeBytes)
	if store.IsNotExist(err) {
		return nil, fmt.Errorf("%w: no %s; start one with: ctxt watch .", ErrNotRunning, path)
	}
	if err != nil {
		return nil, err
	}
	bad := func(what string) error {
		return fmt.Errorf("%s: %s; remove it and start the watch again: rm %q", path, what, path)
	}
	if info, err := os.Lstat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, bad("others may read it, so no watch of this user has written it")
	}
	var r Runtime
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, bad(store.JSONFault(data, err))
	}
	at, err := netip.ParseAddrPort(r.Address)
	switch {
	case r.Version != RuntimeVersion:
		return nil, bad(fmt.Sprintf("version %d; only version %d is read", r.Version, RuntimeVersion))
	case err != nil || at.Addr() != netip.AddrFrom4([4]byte{127, 0, 0, 1}) || at.Port() == 0:
		return nil, bad("address is not a port of 127.0.0.1")
	case !isToken(r.Token):
		return nil, bad("token is not 64 hexadecimal digits")
	}
	return &r, nil
}

func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func isToken(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32
}

func saveRuntime(path string, r Runtime) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return store.WriteFile(path, append(b, '\n'), 0o600)
}

// removeRuntime removes the discovery file if it is still the one with this token.
func removeRuntime(path, token string) error {
	if r, err := LoadRuntime(path); err != nil || r.Token != token {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove %s: %w", path, errors.Unwrap(err))
	}
	return nil
}

// Search asks the watch. When nothing answers the error is ErrNotRunning; otherwise it is what the
// watch found wrong with the request.
func (r *Runtime) Search(ctx context.Context, req search.Request) (*search.Response, error) {
	var res search.Response
	if err := r.post(ctx, "/search", req, &res); err != nil {
		return nil, err
	}
	if res.Version != search.ResponseVersion {
		return nil, fmt.Errorf("the watch (process %d) answers in version %d; restart it with this release", r.PID, res.Version)
	}
	return &res, nil
}

// Status asks the watch how it is.
func (r *Runtime) Status(ctx context.Context) (*Status, error) {
	var s Status
	if err := r.post(ctx, "/status", struct{}{}, &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// post sends one request on a connection of its own: no proxy, no redirect, a bounded answer.
func (r *Runtime) post(ctx context.Context, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.Address+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the watch: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+r.Token)
	t := &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext}
	res, err := t.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("%w: nothing answers for process %d on %s; start one with: ctxt watch .", ErrNotRunning, r.PID, r.Address)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes+1))
	if err != nil || len(data) > maxAnswerBytes {
		return fmt.Errorf("the watch on %s did not answer in full", r.Address)
	}
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusBadRequest:
		var e struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(data, &e) == nil && e.Error != "" {
			return errors.New(e.Error)
		}
		fallthrough
	default: // another program got the port of a watch that has ended
		return fmt.Errorf("%w: %s answers with status %d", ErrNotRunning, r.Address, res.StatusCode)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("the watch on %s answers with something else than JSON: %s", r.Address, store.JSONFault(data, err))
	}
	return nil
}
