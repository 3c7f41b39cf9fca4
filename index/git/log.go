package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// History calls fn for the commits that are reachable from tips, newest first in the order of git
// log (by committer time, and among equal times the one found first), each with its changes against
// its first parent, sorted by path, renames as a deletion and an addition. A root commit is compared
// with the empty tree. At the boundary of a shallow clone a commit's changes are unknown and left
// out. An error from fn ends the walk and is returned.
func (r *Repo) History(ctx context.Context, tips []Hash, o HistoryOptions, fn func(*Commit) error) (Extent, error) {
	x := Extent{Shallow: r.Shallow()}
	if len(tips) == 0 {
		return x, nil
	}
	count := func(c *Commit) error {
		if o.Limit > 0 && x.Commits == o.Limit {
			x.Limited = true
			return errEnough
		}
		x.Commits++
		return fn(c)
	}
	var err error
	if r.program != nil {
		err = r.logProgram(ctx, tips, o, count)
	} else {
		err = r.logGoGit(ctx, tips, o, 0, count)
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	return x, err
}

var errEnough = errors.New("enough commits")

const logFormat = "--format=%H%x00%P%x00%an%x00%ae%x00%ct%x00%B%x00"

// maxRecords bounds the differing entries, folders included, that are looked at in one commit.
const maxRecords = 2_000_000

// logStall is how long git log may be silent. It prints a commit's changes when it has all of them,
// which, for a tree that names itself again and again, is never.
const logStall = 5 * time.Second

// logProgram reads git log; where that falls silent, needs too much memory, or a commit's changes do
// not end, go-git takes over from the next commit on, with the same result.
func (r *Repo) logProgram(ctx context.Context, tips []Hash, o HistoryOptions, fn func(*Commit) error) error {
	done := 0
	err := r.runLog(ctx, tips, logArgs(o), func(c *Commit) error {
		done++
		return fn(c)
	})
	if !errors.Is(err, errEndless) {
		return err
	}
	return r.logGoGit(ctx, tips, o, done, fn)
}

// logForm makes git log write what logParser reads.
var logForm = []string{"log", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-color", "--no-decorate", "--no-notes",
	"--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=none", "--encoding=UTF-8", logFormat}

func logArgs(o HistoryOptions) []string {
	args := slices.Clone(logForm)
	if o.Merges {
		args = append(args, "--diff-merges=first-parent")
	} else {
		args = append(args, "--no-merges")
	}
	if o.FirstParent {
		args = append(args, "--first-parent")
	}
	if o.Limit > 0 {
		args = append(args, "--max-count="+strconv.Itoa(o.Limit+1))
	}
	return append(args, "--stdin")
}

// runLog runs git log, which reads the tips from its standard input.
func (r *Repo) runLog(ctx context.Context, tips []Hash, args []string, fn func(*Commit) error) error {
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd, e := r.program.command(run, args...)
	var in bytes.Buffer
	for _, h := range tips {
		fmt.Fprintln(&in, h)
	}
	cmd.Stdin = &in
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := r.program.start(cmd); err != nil {
		return r.program.fail(ctx, "log", err, e)
	}
	w := &watched{r: out, limit: r.stall, stop: cancel}
	perr, ferr := r.readLog(bufio.NewReaderSize(w, 1<<18), fn)
	if perr != nil || ferr != nil {
		cancel()
	}
	werr := cmd.Wait()
	switch {
	case ferr != nil:
		return ferr
	case ctx.Err() != nil:
		return ctx.Err()
	case w.silent.Load() || werr != nil && e.outOfMemory():
		return errEndless
	case werr != nil && (perr == nil || errors.Is(perr, io.ErrUnexpectedEOF)):
		return r.logFailure(ctx, werr, e)
	case perr != nil:
		return fmt.Errorf("read the output of git log: %w", perr)
	}
	return nil
}

// watched is a reader that calls stop when one Read takes longer than limit.
type watched struct {
	r      io.Reader
	limit  time.Duration
	stop   func()
	silent atomic.Bool
}

func (w *watched) Read(b []byte) (int, error) {
	t := time.AfterFunc(w.limit, func() {
		w.silent.Store(true)
		w.stop()
	})
	defer t.Stop()
	return w.r.Read(b)
}

// readLog reads commits to the end. perr says that the output could not be read, ferr is fn's error.
func (r *Repo) readLog(out *bufio.Reader, fn func(*Commit) error) (perr, ferr error) {
	p := newLogParser(out)
	for {
		c, err := p.next()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return err, nil
		}
		if r.shallow[c.Hash] {
			c.Parents, c.Changes, c.Boundary = nil, nil, true
		}
		if p.endless {
			return nil, errEndless
		}
		if err := fn(c); err != nil {
			return nil, err
		}
	}
}

var errEndless = errors.New("changes without end")

func (r *Repo) logFailure(ctx context.Context, err error, e *stderr) error {
	err = r.program.fail(ctx, "log", err, e)
	if r.config.partial {
		return fmt.Errorf("%w; this is a partial clone: clone without --filter=tree", err)
	}
	return err
}

// logParser reads what git log writes with -z --raw and logFormat: for each commit six fields that
// end with NUL, then (after a NUL and a newline, which vary) one record for each changed path,
// ":MODE MODE HASH HASH STATUS" NUL PATH NUL.
type logParser struct {
	r     *bufio.Reader
	names map[string]string // paths and people, each kept once
	buf   []byte
	// endless is set when next stopped in the middle of a commit, at maxRecords.
	endless bool
}

func newLogParser(r *bufio.Reader) *logParser {
	return &logParser{r: r, names: map[string]string{}}
}

// next returns the next commit, or io.EOF.
func (p *logParser) next() (*Commit, error) {
	b, err := p.peek()
	if err != nil {
		return nil, err
	}
	if b == ':' {
		return nil, errors.New("a change without a commit")
	}
	c := &Commit{}
	if err := p.header(c); err != nil {
		return nil, unexpectedEnd(err)
	}
	records := 0
	for {
		b, err := p.peek()
		if err == io.EOF || err == nil && b != ':' {
			break
		}
		if err != nil {
			return nil, err
		}
		ch, err := p.change(!c.Oversize)
		if err != nil {
			return nil, unexpectedEnd(err)
		}
		if records++; records > maxRecords {
			c.Oversize, p.endless = true, true
			break
		}
		if c.Oversize {
			continue
		}
		if c.Changes = append(c.Changes, ch); len(c.Changes) > MaxChanges {
			c.Changes, c.Oversize = nil, true
		}
	}
	sortChanges(c.Changes)
	return c, nil
}

func unexpectedEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func sortChanges(c []Change) {
	byPath := func(a, b Change) int { return strings.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(c, byPath) {
		slices.SortStableFunc(c, byPath)
	}
}

// peek skips separators and returns the first byte of the next field without taking it.
func (p *logParser) peek() (byte, error) {
	for {
		b, err := p.r.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != 0 && b != '\n' {
			return b, p.r.UnreadByte()
		}
	}
}

// field reads to the next NUL and keeps at most limit bytes. The result is valid until the next call.
func (p *logParser) field(limit int) ([]byte, error) {
	b, err := p.r.ReadSlice(0)
	if err == nil {
		return b[:min(len(b)-1, limit)], nil
	}
	p.buf = p.buf[:0]
	for {
		p.buf = append(p.buf, b[:min(len(b), limit-len(p.buf))]...)
		if err == nil {
			return bytes.TrimSuffix(p.buf, []byte{0}), nil
		}
		if err != bufio.ErrBufferFull {
			return nil, err
		}
		b, err = p.r.ReadSlice(0)
	}
}

func (p *logParser) intern(b []byte) string {
	if s, ok := p.names[string(b)]; ok {
		return s
	}
	s := string(b)
	p.names[s] = s
	return s
}

const maxField = 1 << 16

func (p *logParser) header(c *Commit) error {
	b, err := p.field(maxField)
	if err != nil {
		return err
	}
	if c.Hash, err = parseHash(b); err != nil {
		return err
	}
	if b, err = p.field(1 << 20); err != nil {
		return err
	}
	for _, f := range bytes.Fields(b) {
		h, err := parseHash(f)
		if err != nil {
			return err
		}
		c.Parents = append(c.Parents, h)
	}
	if b, err = p.field(maxField); err != nil {
		return err
	}
	c.Author = p.intern(bytes.ToValidUTF8(b, []byte("\uFFFD")))
	if b, err = p.field(maxField); err != nil {
		return err
	}
	c.Email = p.intern(bytes.ToLower(bytes.ToValidUTF8(b, []byte("\uFFFD"))))
	if b, err = p.field(maxField); err != nil {
		return err
	}
	c.Time = clampTime(parseDate(b))
	if b, err = p.field(maxMessage); err != nil {
		return err
	}
	c.Message = cleanMessage(b)
	return nil
}

// change reads one record; the path is left out where it is not wanted.
func (p *logParser) change(path bool) (ch Change, err error) {
	b, err := p.field(maxField)
	if err != nil {
		return ch, err
	}
	// :100644 100644 <40> <40> M
	if len(b) < 98 || b[7] != ' ' || b[14] != ' ' || b[55] != ' ' || b[96] != ' ' {
		return ch, fmt.Errorf("malformed change %q", b[:min(len(b), 120)])
	}
	oldMode, err1 := strconv.ParseUint(string(b[1:7]), 8, 32)
	newMode, err2 := strconv.ParseUint(string(b[8:14]), 8, 32)
	var err3, err4 error
	ch.Old, err3 = parseHash(b[15:55])
	ch.New, err4 = parseHash(b[56:96])
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return ch, fmt.Errorf("malformed change %q", b)
	}
	ch.OldMode, ch.NewMode = Mode(oldMode), Mode(newMode)
	switch b[97] {
	case 'A':
		ch.Status = Added
	case 'D':
		ch.Status = Deleted
	case 'M', 'T':
		ch.Status = Modified
	default:
		return ch, fmt.Errorf("unknown status in change %q", b)
	}
	if b, err = p.field(maxField); err != nil {
		return ch, err
	}
	if path {
		ch.Path = p.intern(b)
	}
	return ch, nil
}
