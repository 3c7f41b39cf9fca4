package cache

import (
	"encoding/binary"
	"hash/fnv"
	"unsafe"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// hashed is the key of the record of a doc.
func hashed(k index.Key) key {
	h := fnv.New32a()
	h.Write([]byte(k.Lang))
	return key{k.Blob, h.Sum32()}
}

// pool collects the strings of one payload.
type pool struct {
	text []byte
	at   map[string]uint32
}

func (p *pool) ref(s string) (offset, length uint32) {
	if off, ok := p.at[s]; ok {
		return off, uint32(len(s))
	}
	off := uint32(len(p.text))
	p.at[s] = off
	p.text = append(p.text, s...)
	return off, uint32(len(s))
}

// sizeOf is about how many bytes encode appends.
func sizeOf(d *index.Doc) int {
	return 104 + 4*(len(d.Tokens)+len(d.Lines)+len(d.Names)+len(d.Decls)) + 48*len(d.Symbols) + 32*len(d.Imports)
}

// encode appends the payload of a doc.
func encode(buf []byte, d *index.Doc) []byte {
	le := binary.LittleEndian
	var flags uint32
	if d.Binary {
		flags = 1
	}
	p := &pool{at: make(map[string]uint32)}
	var tail []byte
	str := func(s string) {
		off, n := p.ref(s)
		tail = le.AppendUint32(le.AppendUint32(tail, off), n)
	}
	for _, s := range d.Symbols {
		str(s.Name)
		str(string(s.Kind))
		str(s.Recv)
		tail = le.AppendUint32(le.AppendUint32(tail, uint32(s.Start)), uint32(s.End))
	}
	for _, i := range d.Imports {
		str(i.Spec)
		tail = le.AppendUint32(tail, uint32(i.Line))
	}
	for _, s := range [...]string{d.Reason, d.Lang, string(d.By), d.Fault} {
		str(s)
	}
	buf = le.AppendUint32(le.AppendUint64(buf, uint64(d.Size)), flags)
	for _, n := range [...]int{len(d.Tokens), len(d.Lines), len(d.Names), len(d.Decls), len(d.Symbols), len(d.Imports), len(p.text)} {
		buf = le.AppendUint32(buf, uint32(n))
	}
	for _, a := range [...][]uint32{d.Tokens, d.Lines, d.Names, d.Decls} {
		for _, v := range a {
			buf = le.AppendUint32(buf, v)
		}
	}
	return append(append(buf, tail...), p.text...)
}

// reader takes a payload apart; bad is set when it does not add up.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) u32() uint32 {
	if len(r.b) < 4 {
		r.bad = true
		return 0
	}
	v := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v
}

// array returns n integers. On little-endian machines they stay where they are.
func (r *reader) array(n uint32) []uint32 {
	if uint64(len(r.b)) < 4*uint64(n) {
		r.bad = true
		return nil
	}
	if n == 0 {
		return nil
	}
	raw := r.b[:4*n]
	r.b = r.b[4*n:]
	if littleEndian && uintptr(unsafe.Pointer(&raw[0]))%4 == 0 { // #nosec G103 -- aligned, length checked above
		return unsafe.Slice((*uint32)(unsafe.Pointer(&raw[0])), n) // #nosec G103
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return out
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// decode reads a payload; it fails on one that is no doc, or not the key's.
func decode(payload []byte, k index.Key) (*index.Doc, bool) {
	r := &reader{b: payload}
	d := &index.Doc{Size: int64(r.u32()) | int64(r.u32())<<32}
	d.Binary = r.u32() == 1
	var n [7]uint32
	for i := range n {
		n[i] = r.u32()
	}
	d.Tokens, d.Lines, d.Names, d.Decls = r.array(n[0]), r.array(n[1]), r.array(n[2]), r.array(n[3])
	fixed := 32*uint64(n[4]) + 12*uint64(n[5]) + 32
	if r.bad || fixed+uint64(n[6]) > uint64(len(r.b)) {
		return nil, false
	}
	txt := r.b[fixed : fixed+uint64(n[6])]
	str := func() string {
		off, length := uint64(r.u32()), uint64(r.u32())
		if off+length > uint64(len(txt)) {
			r.bad = true
			return ""
		}
		if length == 0 {
			return ""
		}
		return unsafe.String(&txt[off], int(length)) // #nosec G103 -- within txt, which is never written again
	}
	if n[4] > 0 {
		d.Symbols = make([]symbols.Symbol, n[4])
	}
	for i := range d.Symbols {
		d.Symbols[i] = symbols.Symbol{Name: str(), Kind: symbols.Kind(str()), Recv: str(), Start: int(r.u32()), End: int(r.u32())}
	}
	if n[5] > 0 {
		d.Imports = make([]symbols.Import, n[5])
	}
	for i := range d.Imports {
		d.Imports[i] = symbols.Import{Spec: str(), Line: int(r.u32())}
	}
	d.Reason, d.Lang, d.By, d.Fault = str(), str(), symbols.Mode(str()), str()
	if r.bad || d.Lang != "" && d.Lang != k.Lang || !sound(d) {
		return nil, false
	}
	return d, true
}

// sound checks what later stages rely on, so that no segment can make them read out of range.
func sound(d *index.Doc) bool {
	if len(d.Lines) == 0 || len(d.Decls) != len(d.Symbols) {
		return false
	}
	for i, at := range d.Lines {
		if int(at) > len(d.Tokens) || i > 0 && at < d.Lines[i-1] {
			return false
		}
	}
	for _, s := range d.Symbols {
		if s.Start < 0 || s.End < s.Start-1 {
			return false
		}
	}
	return int(d.Lines[len(d.Lines)-1]) == len(d.Tokens)
}
