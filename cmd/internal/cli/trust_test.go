package cli

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/index/store"
)

// TestForeignEndpointWantsConfirmation: a project's own configuration must not make a command send a
// key, or the project's names, to a host that only the project names.
func TestForeignEndpointWantsConfirmation(t *testing.T) {
	const evil = "https://llm.example.com/v1/chat/completions"
	const builtIn = "https://openrouter.ai/api/v1/chat/completions"
	key := func(name string, more ...string) map[string]string {
		env := map[string]string{name: canaryKey}
		for i := 0; i+1 < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return env
	}
	for _, tt := range []struct {
		name, endpoint string
		env            map[string]string
		args           []string
		dials          string // the address that is dialled; empty for none
	}{
		{"a secret that the file names", evil, key("MY_KEY"), nil, ""},
		{"the key of another endpoint", evil, key("OPENROUTER_API_KEY"), nil, ""},
		{"LLM_API_KEY", evil, key("LLM_API_KEY"), nil, ""},
		{"the flag's key", evil, nil, []string{"--api-key", canaryKey}, ""},
		{"confirmed by the flag", evil, key("MY_KEY"), []string{"--trust-endpoint", "llm.example.com"}, "llm.example.com:443"},
		{"confirmed by a URL", evil, key("MY_KEY"), []string{"--trust-endpoint", evil}, "llm.example.com:443"},
		{"confirmed by the variable", evil, key("MY_KEY", "CTXT_TRUST_ENDPOINT", "a.example, LLM.example.com"), nil, "llm.example.com:443"},
		{"another host confirmed", evil, key("MY_KEY", "CTXT_TRUST_ENDPOINT", "example.com,llm.example.com.evil"), nil, ""},
		{"another port", "https://llm.example.com:8443/v1/chat/completions", key("MY_KEY"), []string{"--trust-endpoint", "llm.example.com"}, ""},
		{"nothing confirmed", evil, key("MY_KEY", "CTXT_TRUST_ENDPOINT", ",,"), nil, ""},
		{"the built-in endpoint, its key", builtIn, key("OPENROUTER_API_KEY"), nil, "openrouter.ai:443"},
		{"the built-in endpoint, some other secret", builtIn, key("MY_KEY"), nil, ""},
		{"looks like it", "https://openrouter.ai.example.com/api/v1/chat/completions", key("OPENROUTER_API_KEY"), nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var dialled []string
			dial := func(_ context.Context, _, address string) (net.Conn, error) {
				dialled = append(dialled, address)
				return nil, &net.OpError{Op: "dial", Err: errors.New("refused by the test")}
			}
			dir := llmProject(t, tt.endpoint, "verbose = false\n")
			code, stdout, stderr := ctxt(t, tt.env, dial, append([]string{"init", dir}, tt.args...)...)
			noCanaryIn(t, dir, stdout, stderr)
			if tt.dials != "" {
				if code != 2 || len(dialled) == 0 || dialled[0] != tt.dials {
					t.Errorf("init: exit code %d, dialled %v\n%s", code, dialled, stderr)
				}
				return
			}
			if code != 0 || len(dialled) > 0 || !strings.Contains(stderr, "no synonyms are generated: not confirmed: ") || !strings.Contains(stderr, "--trust-endpoint ") {
				t.Errorf("init: exit code %d, dialled %v\n%s", code, dialled, stderr)
			}
			code, stdout, stderr = ctxt(t, tt.env, dial, append([]string{"sync", dir}, tt.args...)...)
			if code != 2 || len(dialled) > 0 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "CTXT_TRUST_ENDPOINT=") {
				t.Errorf("sync: exit code %d, dialled %v\n%s", code, dialled, stderr)
			}
			noCanaryIn(t, dir, stdout, stderr)
			if len(tt.args) == 0 {
				_, stdout, _ = ctxt(t, tt.env, dial, "doctor", dir)
				if !strings.Contains(stdout, "warn  api key         not confirmed: ") || !strings.Contains(stdout, "export CTXT_TRUST_ENDPOINT=") {
					t.Errorf("doctor: %s", stdout)
				}
			}
		})
	}
	// An index is made all the same.
	dir := llmProject(t, evil, "")
	if code, _, stderr := ctxt(t, key("MY_KEY"), nil, "init", dir); code != 0 || !exists(filepath.Join(dir, filepath.FromSlash(store.IndexFile))) {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
