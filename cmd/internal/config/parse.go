package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/ctxt-dev/ctxt/index/store"
)

// Warning is something in a configuration file that has no effect, or not the one that was meant.
type Warning struct {
	File string `json:"file"`
	Line int    `json:"line"` // 1-based; 0 when the format gives none
	Text string `json:"text"`
}

func (w Warning) String() string {
	if w.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Text)
	}
	return w.File + ": " + w.Text
}

// Load reads the two files of a root folder. A missing file gives nothing.
func Load(root string) (*Config, []Warning, error) {
	return LoadFile(root, filepath.Join(root, filepath.FromSlash(store.ConfigFile)))
}

// LoadFile is Load with another TOML file.
func LoadFile(root, file string) (*Config, []Warning, error) {
	text, err := store.ReadFile(file, store.MaxConfigBytes)
	if err != nil && !store.IsNotExist(err) {
		return nil, nil, err
	}
	ledger, err := store.ReadFile(filepath.Join(root, filepath.FromSlash(CodeledgerFile)), store.MaxConfigBytes)
	if err != nil && !store.IsNotExist(err) {
		return nil, nil, err
	}
	return Parse(text, ledger)
}

// Parse lays the two files, either of which may be empty, over the defaults. nil is a file that is
// not there.
func Parse(tomlBytes, codeledgerBytes []byte) (*Config, []Warning, error) {
	c := Default()
	c.set = map[string]bool{}
	warnings, err := c.codeledger(codeledgerBytes)
	if err != nil {
		return nil, nil, err
	}
	c.hasTOML = tomlBytes != nil
	more, err := c.toml(tomlBytes)
	if err != nil {
		return nil, nil, err
	}
	warnings = append(warnings, more...)
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	return c, warnings, nil
}

// toml lays the TOML file over c.
func (c *Config) toml(data []byte) ([]Warning, error) {
	const file = store.ConfigFile
	if len(data) > store.MaxConfigBytes {
		return nil, fmt.Errorf("%s: larger than the limit of %d bytes", file, store.MaxConfigBytes)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var keys map[string]any
	if err := toml.Unmarshal(data, &keys); err != nil {
		return nil, tomlFault(file, err)
	}
	d := toml.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	weights := c.Selector.Weights
	c.Selector.Weights = nil
	err := d.Decode(c)
	var strict *toml.StrictMissingError
	if err != nil && !errors.As(err, &strict) {
		return nil, tomlFault(file, err)
	}
	if c.Selector.Weights == nil {
		c.Selector.Weights = weights
	}
	c.mark("", keys)
	if c.set["common.llm_model"] && !c.set["llm.model"] {
		c.LLM.Model = c.Common.LLMModel
	}
	var warnings []Warning
	if strict != nil {
		for i := range strict.Errors {
			e := &strict.Errors[i]
			line, _ := e.Position()
			warnings = append(warnings, Warning{file, line, fmt.Sprintf("unknown key %q has no effect; correct or remove it", strings.Join(e.Key(), "."))})
		}
	}
	for _, w := range c.weights(file) {
		w.Line = lineOf(data, w.Text)
		warnings = append(warnings, w)
	}
	slices.SortStableFunc(warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text))
	})
	return warnings, nil
}

// lineOf finds the line on which the last part of a key named in a warning is given. The map of
// weights takes any key, so its decoder does not say.
func lineOf(data []byte, text string) int {
	_, key, _ := strings.Cut(text, `"`)
	key, _, _ = strings.Cut(key, `"`)
	key = key[strings.LastIndexByte(key, '.')+1:]
	for i, line := range bytes.Split(data, []byte("\n")) {
		name, _, ok := bytes.Cut(line, []byte("="))
		if ok && string(bytes.Trim(bytes.TrimSpace(name), `"'`)) == key {
			return i + 1
		}
	}
	return 0
}

func tomlFault(file string, err error) error {
	var e *toml.DecodeError
	if errors.As(err, &e) {
		line, col := e.Position()
		return fmt.Errorf("%s: line %d, column %d: %s; correct it, or write a fresh file with: ctxt config init",
			file, line, col, strings.TrimPrefix(e.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %s; correct it, or write a fresh file with: ctxt config init", file, strings.TrimPrefix(err.Error(), "toml: "))
}

// mark notes which keys a file gave.
func (c *Config) mark(prefix string, keys map[string]any) {
	for k, v := range keys {
		c.set[prefix+k] = true
		if sub, ok := v.(map[string]any); ok {
			c.mark(prefix+k+".", sub)
		}
	}
}

// weightNames maps each accepted name of a weight to its signal.
var weightNames = map[string]string{
	"keyword": "keyword", "content_match": "keyword",
	"centrality": "centrality", "churn": "churn", "recent_touch": "recent_touch",
	"test_proximity": "test_proximity", "test_relevant": "test_proximity",
	"shadow_affinity": "shadow_affinity", "temporal_affinity": "shadow_affinity",
}

// weights turns the accepted names into those of the signals. content_match is part of the keyword
// signal here, so its weight is added to keyword's.
func (c *Config) weights(file string) []Warning {
	out := map[string]float64{}
	var warnings []Warning
	for _, k := range sorted(c.Selector.Weights) {
		if name, ok := weightNames[k]; ok {
			out[name] += c.Selector.Weights[k]
		} else {
			warnings = append(warnings, Warning{file, 0, fmt.Sprintf("unknown key %q has no effect; correct or remove it", "selector.weights."+k)})
		}
	}
	c.Selector.Weights = out
	return warnings
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// codeledger lays the selector section of .codeledger/config.json over c. Its other sections belong
// to another program.
func (c *Config) codeledger(data []byte) ([]Warning, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if len(data) > store.MaxConfigBytes {
		return nil, fmt.Errorf("%s: larger than the limit of %d bytes", CodeledgerFile, store.MaxConfigBytes)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var doc struct {
		Selector map[string]any `json:"selector"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %s; correct or remove the file", CodeledgerFile, store.JSONFault(data, err))
	}
	if doc.Selector == nil {
		return nil, nil
	}
	// The keys are those of the TOML section, so the section is read as one: numbers, strings,
	// booleans and tables mean the same in both.
	text, err := toml.Marshal(map[string]any{"selector": whole(doc.Selector)})
	if err != nil {
		return nil, fmt.Errorf("%s: selector cannot be read: %v; correct or remove the file", CodeledgerFile, err)
	}
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(c)
	var strict *toml.StrictMissingError
	var fault *toml.DecodeError
	var warnings []Warning
	switch {
	case errors.As(err, &strict):
		for i := range strict.Errors {
			warnings = append(warnings, Warning{CodeledgerFile, 0,
				fmt.Sprintf("unknown key %q has no effect; correct or remove it", strings.Join(strict.Errors[i].Key(), "."))})
		}
	case errors.As(err, &fault):
		return nil, fmt.Errorf("%s: key %q: %s; correct or remove the file", CodeledgerFile, strings.Join(fault.Key(), "."),
			strings.TrimPrefix(fault.Error(), "toml: "))
	case err != nil:
		return nil, fmt.Errorf("%s: %v; correct or remove the file", CodeledgerFile, err)
	}
	slices.SortFunc(warnings, func(a, b Warning) int { return strings.Compare(a.Text, b.Text) })
	c.mark("selector.", doc.Selector)
	c.set["selector"] = true
	return append(warnings, c.weights(CodeledgerFile)...), nil
}

// whole turns JSON numbers without a fraction into integers and leaves nulls out, as TOML wants them.
func whole(v any) any {
	switch v := v.(type) {
	case float64:
		if n := int64(v); float64(n) == v && n > -1<<53 && n < 1<<53 {
			return n
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if e != nil {
				out[k] = whole(e)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if e != nil {
				out = append(out, whole(e))
			}
		}
		return out
	}
	return v
}
