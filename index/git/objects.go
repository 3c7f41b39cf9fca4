package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
)

// kind is an object's type.
type kind byte

const (
	kindCommit kind = iota + 1
	kindTree
	kindBlob
	kindTag
)

var kindNames = map[string]kind{"commit": kindCommit, "tree": kindTree, "blob": kindBlob, "tag": kindTag}

// maxObject bounds commits, trees and tags.
const maxObject = 64 << 20

// objectSession reads objects for one goroutine. read calls fn once per element, in order; err is
// set, wrapping ErrAbsent, ErrTooLarge or ErrUnreadable, where an object cannot be had. data is the
// callee's. An error from fn ends the reading and is returned.
type objectSession interface {
	read(hashes []Hash, max int64, fn func(i int, k kind, data []byte, err error) error) error
	close()
}

// catFile is the session of the git program: one process tells sizes, another one gives contents.
// With once set, both are run to their end for each read and may buffer their output.
type catFile struct {
	repo        *Repo
	ctx         context.Context
	once        bool
	check, full *batch
	restarts    int
}

// batch is one running git cat-file.
type batch struct {
	cmd    *exec.Cmd
	stderr *stderr
	in     io.WriteCloser
	out    *bufio.Reader
	cancel context.CancelFunc
	done   chan struct{} // closed when the writer of the current request has ended
}

func (c *catFile) start(mode string) (*batch, error) {
	ctx, cancel := context.WithCancel(c.ctx)
	args := []string{"cat-file", mode}
	if c.once {
		args = append(args, "--buffer")
	}
	b := &batch{cancel: cancel}
	b.cmd, b.stderr = c.repo.program.command(ctx, args...)
	var err error
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		cancel()
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	if err := c.repo.program.start(b.cmd); err != nil {
		cancel()
		return nil, c.repo.program.fail(c.ctx, "cat-file", err, b.stderr)
	}
	b.out = bufio.NewReaderSize(out, 1<<17)
	return b, nil
}

// send writes the request in the background.
func (b *batch) send(hashes []Hash, last bool) {
	b.done = make(chan struct{})
	go func() {
		defer close(b.done)
		w := bufio.NewWriterSize(b.in, 1<<15)
		line := make([]byte, 0, 41)
		for _, h := range hashes {
			line = append(appendHex(line[:0], h), '\n')
			if _, err := w.Write(line); err != nil {
				return // the reader sees the end of the output
			}
		}
		if w.Flush() == nil && last {
			b.in.Close()
		}
	}()
}

func (b *batch) stop() {
	if b == nil {
		return
	}
	b.in.Close()
	b.cancel()
	if b.done != nil {
		<-b.done
	}
	_ = b.cmd.Wait() // killed or ended: nothing more to learn
}

func appendHex(dst []byte, h Hash) []byte {
	const digits = "0123456789abcdef"
	for _, c := range h {
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return dst
}

func (c *catFile) close() {
	c.check.stop()
	c.full.stop()
	c.check, c.full = nil, nil
}

// header reads "NAME TYPE SIZE" or "NAME missing".
func (b *batch) header(want Hash) (k kind, size int64, err error) {
	line, err := b.out.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	line = line[:len(line)-1]
	var name [40]byte
	if len(line) < 42 || !bytes.Equal(line[:40], appendHex(name[:0], want)) {
		return 0, 0, fmt.Errorf("unexpected answer of git cat-file %q", line)
	}
	typ, num, two := bytes.Cut(line[41:], []byte(" "))
	if !two {
		return 0, -1, nil // missing
	}
	if k = kindNames[string(typ)]; k == 0 {
		return 0, 0, fmt.Errorf("unexpected answer of git cat-file %q", line)
	}
	size, err = strconv.ParseInt(string(num), 10, 64)
	return k, size, err
}

// maxRestarts bounds how many damaged objects, each of which ends git, one request gets over.
const maxRestarts = 32

// known is what the first pass learned of an object.
type known struct {
	size int64 // -1 absent, -2 unreadable
	kind kind
}

func (c *catFile) read(hashes []Hash, max int64, fn func(int, kind, []byte, error) error) error {
	if len(hashes) == 0 {
		return nil
	}
	facts, err := c.sizes(hashes)
	if err == nil {
		err = c.deliver(hashes, facts, max, fn)
	}
	if err != nil || c.once {
		c.close()
	}
	return err
}

// deliver reads the contents of those objects that are there and fit.
func (c *catFile) deliver(hashes []Hash, facts []known, max int64, fn func(int, kind, []byte, error) error) error {
	fit := make([]Hash, 0, len(hashes))
	for i, f := range facts {
		if f.size >= 0 && f.size <= max {
			fit = append(fit, hashes[i])
		}
	}
	for i, f := range facts {
		h := hashes[i]
		var data []byte
		var err error
		switch {
		case f.size == -1:
			err = c.repo.absent(h)
		case f.size == -2:
			err = fmt.Errorf("object %s: %w", h, ErrUnreadable)
		case f.size > max:
			err = fmt.Errorf("object %s of %d bytes: %w", h, f.size, ErrTooLarge)
		default:
			var fault string
			var stop error
			if data, fault, stop = c.content(fit, f); stop != nil {
				return stop
			}
			fit = fit[1:]
			if fault != "" {
				err = fmt.Errorf("object %s: %w: %s", h, ErrUnreadable, fault)
			}
		}
		if err := fn(i, f.kind, data, err); err != nil {
			return err
		}
	}
	return nil
}

// sizes asks for the type and size of each object.
func (c *catFile) sizes(hashes []Hash) ([]known, error) {
	facts := make([]known, len(hashes))
	for i := 0; i < len(hashes); {
		if c.check == nil {
			var err error
			if c.check, err = c.start("--batch-check"); err != nil {
				return nil, err
			}
		}
		c.check.send(hashes[i:], c.once)
		for ; i < len(hashes); i++ {
			k, size, err := c.check.header(hashes[i])
			if err == nil {
				facts[i] = known{size, k}
				continue
			}
			if fail := c.died(&c.check, err); fail != nil {
				return nil, fail
			}
			facts[i] = known{size: -2}
			i++
			break
		}
	}
	if c.check != nil && c.check.done != nil {
		<-c.check.done
	}
	return facts, nil
}

// content reads the next object, the first of the rest, whose request is sent when no process runs
// or the last one was answered in full. A damaged object is a fault; the process is started anew
// for those after it.
func (c *catFile) content(rest []Hash, f known) (data []byte, fault string, err error) {
	if c.full == nil {
		if c.full, err = c.start("--batch"); err != nil {
			return nil, "", err
		}
		c.full.done = nil
	}
	if c.full.done == nil {
		c.full.send(rest, c.once)
	}
	k, size, err := c.full.header(rest[0])
	if err == nil && (k != f.kind || size != f.size) {
		if size >= 0 {
			err = fmt.Errorf("object %s changed its size from %d to %d while it was read", rest[0], f.size, size)
			return nil, "", err
		}
		c.answered(rest)
		return nil, "it was lost while it was read", nil
	}
	if err == nil {
		data = make([]byte, size)
		if _, err = io.ReadFull(c.full.out, data); err == nil {
			_, err = c.full.out.Discard(1)
		}
	}
	if err != nil {
		fault = c.full.faultLine()
		if fail := c.died(&c.full, err); fail != nil {
			return nil, "", fail
		}
		return nil, fault, nil
	}
	c.answered(rest)
	return data, "", nil
}

// answered notes the end of a request.
func (c *catFile) answered(rest []Hash) {
	if len(rest) == 1 {
		<-c.full.done
		c.full.done = nil
	}
}

func (b *batch) faultLine() string {
	b.in.Close()
	b.cancel()
	if b.done != nil {
		<-b.done
		b.done = nil
	}
	_ = b.cmd.Wait() // its standard error is what is wanted
	if s := b.stderr.line(); s != "" {
		return s
	}
	return "git cat-file ended"
}

// died ends a process that stopped answering, and says whether to go on without it.
func (c *catFile) died(b **batch, err error) error {
	e := (*b).stderr
	(*b).stop()
	*b = nil
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	c.restarts++
	if c.restarts > maxRestarts || !(errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return c.repo.program.fail(c.ctx, "cat-file", err, e)
	}
	return nil
}
