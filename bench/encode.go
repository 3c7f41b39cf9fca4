package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode writes a result as indented JSON that ends in a newline. Decoding what it wrote and
// encoding that again gives the same bytes.
func Encode[T any](v *T) ([]byte, error) {
	b, err := encode(v)
	if err != nil {
		return nil, err
	}
	// Text that is not UTF-8 is written as an escape at first and as the character from then on.
	if !bytes.Contains(b, []byte(`\ufffd`)) {
		return b, nil
	}
	var again T
	if err := json.Unmarshal(b, &again); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return encode(&again)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	// A CI system may take "##[" anywhere in a line of a log for a command.
	return bytes.ReplaceAll(b.Bytes(), []byte("##["), []byte(`#\u0023[`)), nil
}
