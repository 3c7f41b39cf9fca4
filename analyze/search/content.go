package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// These bound one run of ripgrep.
const (
	maxArgBytes     = 96 << 10 // of file names on one command line
	maxContentBytes = 16 << 20 // of its answer
)

// ErrNoRipgrep says that content search has no program to do it with.
var ErrNoRipgrep = errors.New("ripgrep (rg) is not installed or not on PATH; install it, or leave --hybrid out")

// Ripgrep is the path of the ripgrep program, empty when there is none.
func Ripgrep() string {
	path, err := exec.LookPath("rg")
	if err != nil {
		return ""
	}
	return path
}

// Content finds the indexed files whose text holds any term of a query, whatever the case, by
// ripgrep under root. Each gets the score. The warning is empty unless some files could not be read.
func (x *Index) Content(ctx context.Context, root, text string, score float64) (found []Result, warning string, err error) {
	rg := Ripgrep()
	if rg == "" {
		return nil, "", ErrNoRipgrep
	}
	args := []string{"--no-config", "--no-messages", "--files-with-matches", "--null", "--ignore-case", "--fixed-strings",
		"--max-filesize", "4M", "--color", "never"}
	q := parseQuery(text)
	for _, t := range q.terms {
		args = append(args, "-e", t.text)
	}
	if len(q.terms) == 0 {
		return nil, "", nil
	}
	args = append(args, "--")
	for at := 0; at < len(x.nodes); {
		var files []string
		for n := 0; at < len(x.nodes) && n < maxArgBytes; at++ {
			if d := &x.nodes[at]; !d.dir {
				files = append(files, "./"+d.path)
				n += len(d.path) + 3
			}
		}
		if len(files) == 0 {
			continue
		}
		out, partial, err := ripgrep(ctx, rg, root, append(args[:len(args):len(args)], files...))
		if err != nil {
			return nil, "", err
		}
		if partial {
			warning = "some indexed files could not be read; the index may be stale: ctxt init ."
		}
		for path := range strings.SplitSeq(out, "\x00") {
			if path = strings.TrimPrefix(path, "./"); path != "" {
				found = append(found, Result{Path: path, Type: "file", Score: score,
					Explain: []Points{{Matcher: "content", Points: score, Match: "matched by ripgrep"}}})
			}
		}
	}
	return found, warning, nil
}

// ripgrep runs one command. Exit status 1 means that nothing matched, 2 that some file could not be read.
func ripgrep(ctx context.Context, rg, root string, args []string) (out string, partial bool, err error) {
	cmd := exec.CommandContext(ctx, rg, args...)
	cmd.Dir = root
	var stdout, stderr limited
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return "", false, nil
	case errors.As(err, &exit) && exit.ExitCode() == 2 && stderr.buf.Len() == 0:
		partial = true
	case err != nil:
		return "", false, fmt.Errorf("run ripgrep in %s: %w: %.200s", root, err, strings.TrimSpace(stderr.buf.String()))
	}
	if stdout.full {
		return "", false, fmt.Errorf("run ripgrep in %s: its answer is larger than %d bytes", root, maxContentBytes)
	}
	return stdout.buf.String(), partial, nil
}

// limited keeps the first bytes of what is written to it and takes the rest.
type limited struct {
	buf  bytes.Buffer
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.buf.Len()+len(p) > maxContentBytes {
		l.full = true
		return len(p), nil
	}
	return l.buf.Write(p)
}
