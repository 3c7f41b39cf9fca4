package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ctxt-dev/ctxt/docs/schema"
)

// MaxJSON is the largest report that Parse reads, in bytes.
const MaxJSON = 32 << 20

// JSON is the report as report.json: indented, in the order of the fields, with a final newline. Its
// form is docs/schema/report.schema.json.
func JSON(r *Report) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("write the report as JSON: %w", err)
	}
	return b.Bytes(), nil
}

var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.Report))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report.schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("report.schema.json")
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
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("report: no JSON: %w", err)
	}
	if err := s.Validate(doc); err != nil {
		var v *jsonschema.ValidationError
		if errors.As(err, &v) {
			for len(v.Causes) > 0 {
				v = v.Causes[0]
			}
			return nil, fmt.Errorf("report does not fit its schema at /%s", Plain(join(v.InstanceLocation), 200))
		}
		return nil, fmt.Errorf("report does not fit its schema: %w", err)
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return &r, nil
}

func join(path []string) string {
	var b bytes.Buffer
	for i, p := range path {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(p)
	}
	return b.String()
}
