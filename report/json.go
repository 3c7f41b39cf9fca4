package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxt-dev/ctxt/docs/schema"
)

// MaxJSON is the largest report that Parse reads, in bytes.
const MaxJSON = 32 << 20

// JSON is the report as report.json: indented, in the order of the fields, with a final newline. Its
// form is docs/schema/report.schema.json. It has no "##[", by which a CI runner finds commands in a log.
func JSON(r *Report) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("write the report as JSON: %w", err)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("##["), []byte(`#\u0023[`)), nil
}

// The schema library that the tests use knows more, but takes longer to load than most commands run.
var compiled = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema.Report, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

// Parse reads a report that someone else wrote: at most MaxJSON bytes, of this version, in the
// schema's form. The error names the first place that does not fit.
func Parse(data []byte) (*Report, error) {
	if len(data) > MaxJSON {
		return nil, fmt.Errorf("report of %d bytes: more than the cap of %d", len(data), MaxJSON)
	}
	s, err := compiled()
	if err != nil {
		return nil, fmt.Errorf("the report's schema: %w", err)
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("report: no JSON: %w", err)
	}
	if err := s.Validate(doc); err != nil {
		return nil, fmt.Errorf("report does not fit its schema at %s", Plain(misfit(err), 200))
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return &r, nil
}

// misfit is the place that does not fit, the elements of lists without their numbers, and why.
func misfit(err error) string {
	place, text := "root", err.Error()
	for {
		inner, ok := strings.CutPrefix(text, "validating ")
		at, why, two := strings.Cut(inner, ": ")
		if !ok || !two {
			break
		}
		place, text = at, why
	}
	var path []string
	for _, part := range strings.Split(strings.TrimPrefix(place, "root"), "/") {
		switch part {
		case "", "properties":
		case "items":
			path = append(path, "*")
		default:
			path = append(path, part)
		}
	}
	return "/" + strings.Join(path, "/") + ": " + text
}
