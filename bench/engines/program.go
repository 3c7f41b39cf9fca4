package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Limits of one run of a program.
const (
	maxOutput    = 32 << 20         // bytes of standard output
	maxComplaint = 4 << 10          // bytes of standard error that are kept
	maxTime      = 60 * time.Second // of one command
)

// maxArgs is how many bytes of file names go into one command line.
func maxArgs() int {
	if runtime.GOOS == "windows" {
		return 24 << 10
	}
	return 96 << 10
}

// argsFunc makes the arguments of a command from a query's words, nil when nothing can match. batch says that file names
// follow them; without it the program walks the folder that it runs in.
type argsFunc func(words []string) (args []string, batch bool)

// findCommand matches base names. A word stands between asterisks, so it never begins with a dash.
func findCommand(words []string) ([]string, bool) {
	words = nameWords(words)
	if len(words) == 0 {
		return nil, false
	}
	args := []string{".", "-type", "f", "("}
	for i, w := range words {
		if i > 0 {
			args = append(args, "-o")
		}
		args = append(args, "-iname", "*"+globEscape.Replace(w)+"*")
	}
	return append(args, ")", "-print0"), false
}

var globEscape = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// fdCommand matches base names too; ignore rules are off because the indexed files are the rule.
func fdCommand(words []string) ([]string, bool) {
	var quoted []string
	for _, w := range nameWords(words) {
		quoted = append(quoted, regexp.QuoteMeta(w))
	}
	if len(quoted) == 0 {
		return nil, false
	}
	return []string{"--unrestricted", "--type", "f", "--ignore-case", "--color", "never", "--print0", "--",
		strings.Join(quoted, "|"), "."}, false
}

// nameWords are words as they can stand in a base name: of a path, the last segment.
func nameWords(words []string) []string {
	var out []string
	for _, w := range words {
		w = strings.TrimRight(w, "/")
		if w = w[strings.LastIndexByte(w, '/')+1:]; w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

func grepCommand(words []string) ([]string, bool) {
	return append([]string{"--files-with-matches", "--null", "--ignore-case", "--fixed-strings", "--text"}, patterns(words)...), true
}

func rgCommand(words []string) ([]string, bool) {
	return append([]string{"--no-config", "--files-with-matches", "--null", "--ignore-case", "--fixed-strings", "--text",
		"--color", "never", "--no-ignore", "--hidden"}, patterns(words)...), true
}

// patterns gives each word as the value of -e and ends the options.
func patterns(words []string) []string {
	var args []string
	for _, w := range words {
		args = append(args, "-e", w)
	}
	return append(args, "--")
}

// command runs one program in the project's root.
type command struct {
	set   *fileSet
	path  string
	name  string
	args  argsFunc
	fault error
}

// command finds the first of programs.
func (s *fileSet) command(args argsFunc, programs ...string) *command {
	look := s.LookPath
	if look == nil {
		look = exec.LookPath
	}
	c := &command{set: s, args: args, name: programs[0]}
	if s.Root == "" {
		c.fault = fmt.Errorf("program %s needs a folder to search in", programs[0])
		return c
	}
	for _, p := range programs {
		if path, err := look(p); err == nil {
			c.path, c.name = path, p
			return c
		}
	}
	c.fault = fmt.Errorf("program %s is not installed", strings.Join(programs, " or "))
	return c
}

// run returns the paths that the program lists for a query, in its order.
func (c *command) run(ctx context.Context, query string) ([]string, error) {
	words := Words(query)
	if len(words) == 0 {
		return nil, nil
	}
	args, batch := c.args(words)
	if args == nil {
		return nil, nil
	}
	if !batch {
		return c.once(ctx, args)
	}
	var out []string
	for rest := c.set.small; len(rest) > 0; {
		n, size := 0, 0
		for n < len(rest) && (n == 0 || size+len(rest[n])+3 <= maxArgs()) {
			size += len(rest[n]) + 3
			n++
		}
		line := append([]string(nil), args...)
		for _, f := range rest[:n] {
			line = append(line, "./"+f)
		}
		paths, err := c.once(ctx, line)
		if err != nil {
			return nil, err
		}
		out, rest = append(out, paths...), rest[n:]
	}
	return out, nil
}

// once runs one command line. No match is an empty answer; anything else that the program calls a
// failure is an error.
func (c *command) once(ctx context.Context, args []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Dir = c.set.Root
	cmd.Env = []string{"LC_ALL=C.UTF-8"} // no configuration of the user's
	out, fault := &capped{limit: maxOutput, stop: cancel}, &capped{limit: maxComplaint}
	cmd.Stdout, cmd.Stderr = out, fault
	cmd.WaitDelay = time.Second // for a child of the program that keeps its output open
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case out.over:
		return nil, fmt.Errorf("%s wrote more than %d bytes", c.name, maxOutput)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s did not end in time: %w", c.name, ctx.Err())
	case errors.As(err, &exit) && exit.ExitCode() == 1 && fault.kept.Len() == 0 && c.name != "find":
		return nil, nil // nothing matched
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(fault.kept.String()), "\n")
		first = strings.ToValidUTF8(first[:min(len(first), 300)], "")
		return nil, fmt.Errorf("%s failed: %w: %s", c.name, err, first)
	}
	var paths []string
	for p := range strings.SplitSeq(out.kept.String(), "\x00") {
		if p = strings.TrimPrefix(p, "./"); p != "" {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// capped keeps the first limit bytes of what is written to it. With stop it ends the program
// there, without it the rest is dropped. The buffer is not embedded: its ReadFrom has no limit.
type capped struct {
	kept  bytes.Buffer
	limit int
	over  bool
	stop  func()
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.limit - c.kept.Len()
	c.kept.Write(p[:min(room, len(p))])
	if len(p) > room && c.stop != nil && !c.over {
		c.over = true
		c.stop()
	}
	return len(p), nil
}
