package risk

import (
	"bytes"

	"github.com/ctxt-dev/ctxt/index/git"
)

const sniffBytes = 8000 // where a NUL byte makes a content binary, as in git

// lineDiff is git.LineDiff, the lines that both ends share set aside first: successive contents of a
// file are mostly alike, and comparing bytes is cheaper than hashing lines.
func lineDiff(old, new []byte) (hunks []git.Hunk, added, deleted int, binary bool) {
	if binaryData(old) || binaryData(new) {
		return nil, 0, 0, true
	}
	head := bytes.LastIndexByte(old[:samePrefix(old, new)], '\n') + 1
	a, b := old[head:], new[head:]
	tail := sameSuffix(a, b)
	if at := len(a) - tail; tail > 0 && (at > 0 && a[at-1] != '\n' || len(b) > tail && b[len(b)-tail-1] != '\n') {
		tail -= bytes.IndexByte(a[at:], '\n') + 1
		if !bytes.Contains(a[at:], []byte{'\n'}) {
			tail = 0
		}
	}
	rest := a[len(a)-tail:]
	a, b = a[:len(a)-tail], b[:len(b)-tail]
	if binaryData(a) || binaryData(b) {
		return git.LineDiff(old, new)
	}
	hunks, added, deleted, binary = git.LineDiff(a, b)
	if slides(hunks, a, b, rest) {
		return git.LineDiff(old, new)
	}
	skipped := bytes.Count(old[:head], []byte{'\n'})
	for i := range hunks {
		hunks[i].OldStart += skipped
		hunks[i].NewStart += skipped
	}
	return hunks, added, deleted, binary
}

// slides reports whether changed lines at the end of a or of b could move down into rest, the lines
// that follow both: the last run of them begins with the line that rest begins with.
func slides(hunks []git.Hunk, a, b, rest []byte) bool {
	next, _, whole := bytes.Cut(rest, []byte{'\n'})
	if len(hunks) == 0 || !whole {
		return false
	}
	h := hunks[len(hunks)-1]
	starts := func(text []byte, start, lines int) bool {
		if lines == 0 || start+lines != lineCount(text)+1 {
			return false
		}
		first, _, _ := bytes.Cut(lastLines(text, lines), []byte{'\n'})
		return bytes.Equal(first, next)
	}
	return starts(a, h.OldStart, h.OldLines) || starts(b, h.NewStart, h.NewLines)
}

func lineCount(b []byte) int { return bytes.Count(b, []byte{'\n'}) }

// lastLines returns the last n lines of b, which ends with a line end.
func lastLines(b []byte, n int) []byte {
	at := len(b)
	for range n {
		at = bytes.LastIndexByte(b[:at-1], '\n') + 1
	}
	return b[at:]
}

func binaryData(b []byte) bool { return bytes.IndexByte(b[:min(len(b), sniffBytes)], 0) >= 0 }

const stride = 1024

// samePrefix is the number of bytes that two contents begin with alike.
func samePrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+stride <= n && bytes.Equal(a[i:i+stride], b[i:i+stride]) {
		i += stride
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// sameSuffix is the number of bytes that two contents end with alike.
func sameSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+stride <= n && bytes.Equal(a[len(a)-i-stride:len(a)-i], b[len(b)-i-stride:len(b)-i]) {
		i += stride
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}
