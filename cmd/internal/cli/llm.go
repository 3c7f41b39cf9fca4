package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

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
	Trust     []string
}

func (l *llmFlags) add(f *pflag.FlagSet) {
	d := config.Default()
	f.StringVar(&l.Model, "llm-model", d.LLM.Model, "model that generates synonyms")
	f.IntVar(&l.BatchSize, "batch-size", d.Common.BatchSize, "names per request; 0 for smart batching, up to 60")
	f.IntVar(&l.Min, "synonyms-min", d.Common.SynonymsMin, "fewest synonyms of a name")
	f.IntVar(&l.Max, "synonyms-max", d.Common.SynonymsMax, "most synonyms of a name")
	f.StringVar(&l.Key, "api-key", "", "API key; other processes can see it here: prefer OPENROUTER_API_KEY")
	f.BoolVar(&l.Offline, "offline", false, "make no LLM request, whatever the configuration says")
	f.StringSliceVar(&l.Trust, "trust-endpoint", nil, "host of a configured endpoint that may get the key and the names (also "+trustVariable+")")
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
	if why := l.unconfirmed(app, c, at, from); why != "" {
		return nil, why, nil
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

// trustVariable names the hosts that the user has confirmed, separated by commas.
const trustVariable = "CTXT_TRUST_ENDPOINT"

// unconfirmedPrefix starts the reason of [llmFlags.unconfirmed].
const unconfirmedPrefix = "not confirmed: "

// unconfirmed says why the configured endpoint must not be asked yet, or nothing. The configuration
// lies in the project and may be somebody else's: by itself it may send a key, and the project's names,
// only to this machine and to the built-in endpoint, and to the latter only a key from a variable that
// is for language models. Any other host wants the user's word, from outside the project.
func (l *llmFlags) unconfirmed(app *App, c *config.Config, at synonyms.Endpoint, from string) string {
	if at.Loopback {
		return ""
	}
	what := "the configuration sends the names of this project"
	if from != "" {
		what += " and the key from " + from
	}
	builtIn, err := synonyms.ParseEndpoint(config.Default().LLM.Endpoint)
	if err == nil && hostName(at.Host) == hostName(builtIn.Host) {
		env := c.LLM.APIKeyEnv
		if from != "the variable "+env || env == "LLM_API_KEY" || env == "OPENROUTER_API_KEY" {
			return ""
		}
	}
	variable, _ := app.Getenv(trustVariable)
	for _, host := range append(strings.Split(variable, ","), l.Trust...) {
		if host = hostName(host); host != "" && host == hostName(at.Host) {
			return ""
		}
	}
	return fmt.Sprintf("%s%s to %s; if that is meant, add --trust-endpoint %s or set %s=%s",
		unconfirmedPrefix, what, at.Host, hostName(at.Host), trustVariable, hostName(at.Host))
}

// hostName is a host as it is compared: lower case, without the port of HTTPS. A URL gives its host.
func hostName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	s = strings.TrimPrefix(s, "https://")
	s, _, _ = strings.Cut(s, "/")
	return strings.TrimSuffix(s, ":443")
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
