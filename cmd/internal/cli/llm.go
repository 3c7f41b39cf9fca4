package cli

import (
	"net/http"
	"net/url"

	"github.com/spf13/pflag"
	"golang.org/x/net/http/httpproxy"

	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index/synonyms"
)

// llmFlags are the flags of the commands that can ask a language model.
type llmFlags struct {
	Model     string
	BatchSize int
	Min, Max  int
	Key       string
	Offline   bool
}

func (l *llmFlags) add(f *pflag.FlagSet) {
	d := config.Default()
	f.StringVar(&l.Model, "llm-model", d.LLM.Model, "model that generates synonyms")
	f.IntVar(&l.BatchSize, "batch-size", d.Common.BatchSize, "names per request; 0 for smart batching, up to 60")
	f.IntVar(&l.Min, "synonyms-min", d.Common.SynonymsMin, "fewest synonyms of a name")
	f.IntVar(&l.Max, "synonyms-max", d.Common.SynonymsMax, "most synonyms of a name")
	f.StringVar(&l.Key, "api-key", "", "API key; other processes can see it here: prefer OPENROUTER_API_KEY")
	f.BoolVar(&l.Offline, "offline", false, "make no LLM request, whatever the configuration says")
}

// overlay lays the flags that were given over the configuration.
func (l *llmFlags) overlay(f *pflag.FlagSet, c *config.Config) {
	if f.Changed("llm-model") {
		c.LLM.Model = l.Model
	}
	if f.Changed("batch-size") {
		c.Common.BatchSize = l.BatchSize
	}
	if f.Changed("synonyms-min") {
		c.Common.SynonymsMin = l.Min
	}
	if f.Changed("synonyms-max") {
		c.Common.SynonymsMax = l.Max
	}
}

// client makes the client of the configured model. It is nil, with the reason, when there is none to
// use: --offline, a configuration without a model, or no key.
func (l *llmFlags) client(app *App, c *config.Config) (client *synonyms.Client, why string, err error) {
	if l.Offline {
		return nil, "--offline", nil
	}
	if l.Key == "" && c.NoLLM() {
		return nil, "the configuration uses no language model", nil
	}
	keys := synonyms.Keys{Flag: l.Key, Env: c.LLM.APIKeyEnv}
	if c.IsSet("llm.api_key") {
		keys.Config = &c.LLM.APIKey
	}
	key, from, off, err := keys.Resolve(app.Getenv)
	if err != nil {
		return nil, "", err
	}
	if off {
		return nil, "the configuration uses no language model", nil
	}
	at, err := synonyms.ParseEndpoint(c.LLM.Endpoint)
	if err != nil {
		return nil, "", err
	}
	if key == "" && !at.Loopback {
		return nil, "no API key; set OPENROUTER_API_KEY or another variable named by api_key_env", nil
	}
	reach := synonyms.Config{
		Endpoint: c.LLM.Endpoint, Model: c.LLM.Model, Key: key, Temperature: c.LLM.Temperature,
		BatchSize: c.Common.BatchSize, Parallel: c.LLM.ParallelRequests,
		Min: c.Common.SynonymsMin, Max: c.Common.SynonymsMax,
		Proxy: app.proxy(),
	}
	if app.LLM != nil {
		app.LLM(&reach)
	}
	client, err = synonyms.New(reach)
	if err == nil && from != "" {
		app.note("synonyms from %s by %s, key from %s", client.Host(), c.LLM.Model, from)
	}
	return client, "", err
}

// proxy chooses the proxy of a request by HTTPS_PROXY and NO_PROXY.
func (app *App) proxy() func(*http.Request) (*url.URL, error) {
	env := func(names ...string) string {
		for _, n := range names {
			if v, ok := app.Getenv(n); ok && v != "" {
				return v
			}
		}
		return ""
	}
	choose := (&httpproxy.Config{HTTPSProxy: env("HTTPS_PROXY", "https_proxy"), NoProxy: env("NO_PROXY", "no_proxy")}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}
