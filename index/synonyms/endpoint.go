package synonyms

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// completions is the path that every OpenAI-compatible endpoint ends in; the client library appends
// it to the base URL by itself.
const completions = "/chat/completions"

// Endpoint is a checked address of a chat-completions API.
type Endpoint struct {
	Base     string // what the client library wants: the URL without /chat/completions, with a final slash
	Host     string // host and port, for messages
	Loopback bool   // the host names this machine
	plain    bool   // HTTP without TLS; only on loopback
}

// ParseEndpoint checks an endpoint as written in the configuration: the full URL of the
// chat-completions call. HTTPS is required, except on loopback. User names, passwords, queries and
// fragments are refused, because they would end up in logs. The error never repeats a password.
func ParseEndpoint(raw string) (Endpoint, error) {
	const name = "llm endpoint"
	if len(raw) > 2048 {
		return Endpoint{}, errors.New(name + ": longer than 2048 characters")
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return Endpoint{}, errors.New(name + ": not a URL; want https://HOST/…" + completions)
	}
	switch {
	case u.Host == "" || u.Opaque != "":
		return Endpoint{}, errors.New(name + ": no host; want https://HOST/…" + completions)
	case strings.Contains(u.Host, "%"):
		return Endpoint{}, errors.New(name + ": an address with a zone is not accepted")
	case u.User != nil:
		return Endpoint{}, fmt.Errorf("%s on %s: a user name or password in the URL is not accepted; use api_key_env", name, u.Host)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Endpoint{}, fmt.Errorf("%s on %s: a query or fragment is not accepted", name, u.Host)
	}
	at := u.Scheme + "://" + u.Host + u.Path
	e := Endpoint{Host: u.Host, Loopback: loopback(u.Hostname())}
	switch {
	case u.Scheme == "http" && e.Loopback:
		e.plain = true
	case u.Scheme == "http":
		return Endpoint{}, fmt.Errorf("%s %s: plain HTTP is accepted only on loopback; use https", name, at)
	case u.Scheme != "https":
		return Endpoint{}, fmt.Errorf("%s %s: want https, or http on loopback", name, at)
	}
	p, ok := strings.CutSuffix(strings.TrimSuffix(u.EscapedPath(), "/"), completions)
	if !ok {
		return Endpoint{}, fmt.Errorf("%s %s: the path must end in %s", name, at, completions)
	}
	e.Base = u.Scheme + "://" + u.Host + p + "/"
	return e, nil
}

// loopback reports whether a host name, without port, names this machine by itself.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// Keys are the places that a key may come from, as they were given.
type Keys struct {
	Flag   string  // --api-key
	Config *string // api_key; nil when the key is not in the file, empty when it is there and says: no model
	Env    string  // api_key_env: the name of an environment variable
}

// Resolve finds the key: the flag, the configuration's api_key, the variable that api_key_env names,
// LLM_API_KEY, then OPENROUTER_API_KEY. An api_key that is present and empty turns the model off,
// unless the flag is given. From says where the key came from, for people, and is empty when there
// is none; off is true when the configuration turned it off.
func (k Keys) Resolve(getenv func(string) (string, bool)) (key, from string, off bool, err error) {
	try := func(value, name string) bool {
		if value = strings.TrimSpace(value); value == "" {
			return false
		}
		key, from = value, name
		return true
	}
	switch {
	case try(k.Flag, "--api-key"):
	case k.Config != nil && strings.TrimSpace(*k.Config) == "":
		return "", "", true, nil
	case k.Config != nil && try(*k.Config, "api_key in the configuration"):
	default:
		for _, name := range []string{k.Env, "LLM_API_KEY", "OPENROUTER_API_KEY"} {
			if name == "" {
				continue
			}
			if v, _ := getenv(name); try(v, "the variable "+name) {
				break
			}
		}
	}
	for _, c := range []byte(key) {
		if c <= ' ' || c >= 0x7f || len(key) > 4096 {
			return "", "", false, fmt.Errorf("llm key from %s: not a key: it holds spaces, control or non-ASCII characters, or is too long", from)
		}
	}
	return key, from, false, nil
}

// repeatsKey reports whether s shares a run of eight characters (or all of a shorter key) with the
// key, in any case. Keys shorter than least are placeholders, not secrets, and never match.
func repeatsKey(s, key string, least int) bool {
	if key == "" || len(key) < least {
		return false
	}
	s, key = strings.ToLower(s), strings.ToLower(key)
	n := min(8, len(key))
	for i := 0; i+n <= len(key); i++ {
		if strings.Contains(s, key[i:i+n]) {
			return true
		}
	}
	return false
}
