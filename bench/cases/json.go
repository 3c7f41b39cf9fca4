package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDepth caps the nesting of a case file; a valid one needs six levels.
const maxDepth = 16

// node is a JSON value that knows where it stands, so that an error can name its line.
type node struct {
	offset int  // in the input, just after the value's first token
	kind   byte // '{', '[', 's', 'n', 'b' or '0' (null)
	text   string
	names  []string // of an object's members, in order
	kids   []node   // members or elements
}

// member returns an object's member.
func (n *node) member(name string) (*node, bool) {
	for i := range n.names {
		if n.names[i] == name {
			return &n.kids[i], true
		}
	}
	return nil, false
}

// kindName is the JSON word for the node's kind.
func (n *node) kindName() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 's':
		return "a string"
	case 'n':
		return "a number"
	case 'b':
		return "true or false"
	default:
		return "null"
	}
}

// place is an error at an offset of the input.
type place struct {
	offset int
	msg    string
}

func (p *place) Error() string { return p.msg }

// parseJSON reads one JSON value, keeping positions and the order of members, and refuses doubled
// members, deep nesting and anything after the value. Its errors are *place.
func parseJSON(data []byte) (node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	n, err := parseNode(dec, maxDepth)
	if err == nil {
		if _, end := dec.Token(); end != io.EOF {
			err = &place{int(dec.InputOffset()), "text after the end of the document"}
		}
	}
	return n, err
}

func parseNode(dec *json.Decoder, depth int) (node, error) {
	tok, err := dec.Token()
	n := node{offset: int(dec.InputOffset())}
	if err != nil {
		return n, tokenError(dec, err)
	}
	switch v := tok.(type) {
	case json.Delim:
		if depth == 0 {
			return n, &place{n.offset, fmt.Sprintf("nested deeper than %d levels", maxDepth)}
		}
		n.kind = byte(v)
		return n, n.parseKids(dec, depth-1)
	case string:
		n.kind, n.text = 's', v
	case json.Number:
		n.kind, n.text = 'n', v.String()
	case bool:
		n.kind, n.text = 'b', fmt.Sprint(v)
	default:
		n.kind = '0'
	}
	return n, nil
}

// parseKids reads what an object or array holds and its closing delimiter.
func (n *node) parseKids(dec *json.Decoder, depth int) error {
	seen := map[string]bool{}
	for dec.More() {
		if n.kind == '{' {
			tok, err := dec.Token()
			if err != nil {
				return tokenError(dec, err)
			}
			name, _ := tok.(string) // the decoder allows nothing else here
			if seen[name] {
				return &place{int(dec.InputOffset()), fmt.Sprintf("member %q appears twice", name)}
			}
			seen[name] = true
			n.names = append(n.names, name)
		}
		kid, err := parseNode(dec, depth)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, kid)
	}
	if _, err := dec.Token(); err != nil {
		return tokenError(dec, err)
	}
	return nil
}

// mendHere is the next step for a file whose place the error names.
const mendHere = "; mend it there"

func tokenError(dec *json.Decoder, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return &place{int(syntax.Offset), "not valid JSON: " + syntax.Error() + mendHere}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &place{int(dec.InputOffset()), "not valid JSON: the document ends too early" + mendHere}
	default:
		return &place{int(dec.InputOffset()), "not valid JSON: " + err.Error() + mendHere}
	}
}

// lineOf is the 1-based line of an offset.
func lineOf(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), len(data))], []byte("\n"))
}
