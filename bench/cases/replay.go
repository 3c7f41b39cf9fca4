package cases

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Caps on a replay file; it may come from anywhere.
const (
	MaxReplayLine  = 1 << 20 // bytes of one line
	MaxReplayCases = 100_000
	MaxGold        = 1_000 // expected files of one case
)

// Replay is one past change, posed as a task: given its title and body and the tree at Base, which
// files did it change?
type Replay struct {
	Repo  string   `json:"repo"`  // owner/name; informative
	SHA   string   `json:"sha"`   // the change; its hunks are compared with the bundle when it is present
	Base  string   `json:"base"`  // the commit whose tree is searched: the change's parent
	Title string   `json:"title"` // subject of the change
	Body  string   `json:"body"`
	Gold  []string `json:"gold"` // files that the change modified or removed and that exist at Base
}

// LineError says where a file is wrong.
type LineError struct {
	File string // empty when the reader has no name
	Line int    // 1-based
	Msg  string
}

func (e *LineError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// OpenReplay reads a replay file; its errors name the file and the line.
func OpenReplay(file string) ([]Replay, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read replay file: %w", err)
	}
	defer f.Close()
	cs, err := ReadReplay(f)
	var at *LineError
	switch {
	case errors.As(err, &at):
		at.File = file
		return nil, at
	case err != nil:
		return nil, fmt.Errorf("read replay file %s: %w", file, err)
	}
	return cs, nil
}

// ReadReplay reads JSON lines, one Replay each; blank lines and unknown fields are ignored. A line
// that is not such an object is a *LineError, and a file without a case is an error.
func ReadReplay(r io.Reader) ([]Replay, error) {
	var out []Replay
	br := bufio.NewReaderSize(r, 64<<10)
	for line := 1; ; line++ {
		text, err := readLine(br, MaxReplayLine)
		if errors.Is(err, errLong) {
			return nil, &LineError{Line: line, Msg: fmt.Sprintf("line is longer than %d bytes", MaxReplayLine)}
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			c, bad := parseReplay(text)
			if bad != "" {
				return nil, &LineError{Line: line, Msg: bad}
			}
			if out = append(out, c); len(out) > MaxReplayCases {
				return nil, &LineError{Line: line, Msg: fmt.Sprintf("more than %d cases", MaxReplayCases)}
			}
		}
		if err == io.EOF {
			break
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no cases: want one JSON object a line with repo, sha, base, title, body and gold")
	}
	return out, nil
}

var errLong = errors.New("line too long")

// readLine returns the next line without holding more than limit bytes of it. At the end of the
// input it returns what is left and io.EOF.
func readLine(br *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errLong
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// parseReplay returns the case or what is wrong with it.
func parseReplay(text []byte) (c Replay, bad string) {
	if err := json.Unmarshal(text, &c); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Field != "" {
			return c, fmt.Sprintf("field %q: want %s, got %s", kind.Field, typeName(kind.Type.Kind()), kind.Value)
		}
		return c, "not a JSON object: " + err.Error()
	}
	switch {
	case c.Base == "":
		return c, `field "base": missing or empty`
	case c.Title == "" && c.Body == "":
		return c, `fields "title" and "body": one of them must hold text`
	case len(c.Gold) == 0:
		return c, `field "gold": missing or empty`
	case len(c.Gold) > MaxGold:
		return c, fmt.Sprintf("field %q: more than %d files", "gold", MaxGold)
	}
	for i, p := range c.Gold {
		if p == "" {
			return c, fmt.Sprintf("field %q: empty path at position %d", "gold", i)
		}
	}
	return c, ""
}
