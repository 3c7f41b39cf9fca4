package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// program runs the git program with an environment of our own: no GIT_* variable from outside, no
// global or system configuration, no hook, pager, filter, file-system monitor or network.
type program struct {
	path string
	dir  string
	base []string
	env  []string
	// memory bounds the private memory of a run, in bytes, where the system can do so.
	memory uint64
}

// programMemory is far above what git needs: for git log over a million commits some 300 MB.
const programMemory = 512 << 20

// errMemory marks the failure of a run that reached its memory limit.
var errMemory = errors.New("more memory needed than allowed")

func findProgram(path string, r *Repo) (*program, error) {
	if path == "" {
		path = "git"
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return nil, fmt.Errorf("find the git program: %w", err)
	}
	p := &program{path: found, dir: r.gitDir, memory: programMemory, base: []string{"--no-pager", "--literal-pathspecs", "--git-dir=" + r.gitDir}}
	if r.root != "" {
		p.dir = r.root
		p.base = append(p.base, "--work-tree="+r.root)
	}
	for _, kv := range []string{
		"safe.directory=*", "protocol.allow=never", "core.fsmonitor=false", "core.hooksPath=" + os.DevNull,
		"core.pager=cat", "advice.graftFileDeprecated=false", "core.untrackedCache=false", "core.quotePath=false", "core.attributesFile=" + os.DevNull,
		"log.showSignature=false", "log.showRoot=true", "log.mailmap=false", "i18n.logOutputEncoding=UTF-8",
		"diff.orderFile=" + os.DevNull, "gc.auto=0", "maintenance.auto=false", "submodule.recurse=false",
	} {
		p.base = append(p.base, "-c", kv)
	}
	p.env = []string{
		"LC_ALL=C", "PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=" + os.DevNull,
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
	}
	return p, nil
}

// command prepares a run of git that ends with ctx. What it writes to standard error, the first
// 4 KiB of it, is in the returned buffer.
func (p *program) command(ctx context.Context, args ...string) (*exec.Cmd, *stderr) {
	cmd := exec.CommandContext(ctx, p.path, append(p.base[:len(p.base):len(p.base)], args...)...)
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.WaitDelay = 2 * time.Second
	e := &stderr{}
	cmd.Stderr = e
	return cmd, e
}

// start starts a prepared run within the memory limit.
func (p *program) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	limitMemory(cmd.Process, p.memory)
	return nil
}

// output runs git and returns its standard output.
func (p *program) output(ctx context.Context, args ...string) (string, error) {
	cmd, e := p.command(ctx, args...)
	var out strings.Builder
	cmd.Stdout = &out
	err := p.start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return "", p.fail(ctx, subcommand(args), err, e)
	}
	return out.String(), nil
}

// subcommand returns the first argument that is not a -c option.
func subcommand(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

// fail makes one line of an error of a run.
func (p *program) fail(ctx context.Context, what string, err error, e *stderr) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e.outOfMemory() {
		return fmt.Errorf("git %s: %w (%w): a folder may hold itself many times; look with git ls-tree", what, errMemory, err)
	}
	if s := e.line(); s != "" {
		switch {
		case badIndex().MatchString(s):
			return fmt.Errorf("git %s: %s (%w); mend it with git reset", what, s, err)
		case damaged().MatchString(s):
			return fmt.Errorf("git %s: %w: %s (%w)", what, ErrUnreadable, s, err)
		}
		return fmt.Errorf("git %s: %s (%w)", what, s, err)
	}
	return fmt.Errorf("git %s: %w", what, err)
}

// damaged is how git says that an object, a pack or the list of references is broken.
var damaged = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)is corrupt|inflate: |failed to validate delta|unable to (?:unpack|read)|non-monotonic index|packfile .* (?:cannot|index)|unexpected line in`)
})

// badIndex is how git says that the list of staged paths is broken.
var badIndex = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)index file (?:corrupt|smaller|open failed)`)
})

// exitCode returns the exit status in err, or -1.
func exitCode(err error) int {
	var x *exec.ExitError
	if errors.As(err, &x) {
		return x.ExitCode()
	}
	return -1
}

// stderr keeps the first 4 KiB that are written to it.
type stderr struct{ buf bytes.Buffer }

func (s *stderr) Write(b []byte) (int, error) {
	if room := 4096 - s.buf.Len(); room > 0 {
		s.buf.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

// outOfMemory reports whether git gave up for want of memory.
func (s *stderr) outOfMemory() bool {
	return bytes.Contains(bytes.ToLower(s.buf.Bytes()), []byte("out of memory"))
}

// line returns what was written as one line of at most 300 bytes, control characters replaced.
func (s *stderr) line() string {
	t := strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s.buf.String(), "\uFFFD"))
	t = strings.Join(strings.Fields(t), " ")
	if len(t) > 300 {
		t = strings.ToValidUTF8(t[:300], "") + "…"
	}
	return t
}
