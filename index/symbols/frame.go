package symbols

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

var errFrame = errors.New("malformed frame")

// maxFrame bounds a frame: the largest source, or the most symbols and imports of one file.
const maxFrame = 64 << 20

// frame is a message between a program and its child: a length (4 bytes, little-endian) that is filled in
// last, and so many bytes of parts; numbers in it are varints, texts a length and their bytes.
type frame struct {
	b   []byte
	at  int // of what is read next
	bad bool
}

func (f *frame) number(n int) { f.b = binary.AppendVarint(f.b, int64(n)) }

func (f *frame) bytes(b []byte) { f.number(len(b)); f.b = append(f.b, b...) }

func (f *frame) text(s string) { f.number(len(s)); f.b = append(f.b, s...) }

// write sends the parts that were appended behind the four bytes of the length.
func (f *frame) write(w io.Writer) error {
	binary.LittleEndian.PutUint32(f.b, uint32(len(f.b)-4)) // #nosec G115 -- a frame is far below 4 GiB
	_, err := w.Write(f.b)
	return err
}

// readFrame reads the parts of a message into buf, which is made larger when needed.
func readFrame(r io.Reader, buf []byte) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return buf, err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if n > maxFrame {
		return buf, fmt.Errorf("%w: %d bytes", errFrame, n)
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err := io.ReadFull(r, buf)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the end of the input is an end between messages only
	}
	return buf, err
}

// getInt reads a number from 0 to 2^31-1.
func (f *frame) getInt() int {
	n, size := binary.Varint(f.b[f.at:])
	if size <= 0 || n < 0 || n > 1<<31-1 {
		f.bad = true
		return 0
	}
	f.at += size
	return int(n)
}

// count is a number of elements; each takes a byte at least.
func (f *frame) count() int {
	n := f.getInt()
	if n > len(f.b)-f.at {
		f.bad = true
		return 0
	}
	return n
}

func (f *frame) getBytes() []byte {
	n := f.getInt()
	if f.bad || n > len(f.b)-f.at {
		f.bad = true
		return nil
	}
	f.at += n
	return f.b[f.at-n : f.at]
}

func (f *frame) getText() string { return string(f.getBytes()) }
