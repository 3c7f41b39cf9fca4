package job

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"hash/crc32"
	"os"
	"sync"

	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/index/history"
)

// kept is what risk learned of one history: on disk a checksum (CRC-32, 4 bytes, little-endian), then
// this in the form of encoding/gob.
type kept struct {
	Past       *risk.Past
	Companions risk.CompanionModel
}

// learned reads what became of past changes, and learns what usually changes together, or takes both
// from the cache: they follow from the history and the program alone. companions may be nil; risk.Assess
// then learns them itself and says what is wrong.
func (e *Engine) learned(ctx context.Context, h *history.History) (*risk.Past, *risk.Companions, error) {
	name, keep := e.learnedName(h)
	if keep {
		if k, ok := decodeKept(e.lines.Read(name), len(h.Commits)); ok {
			if c, ok := risk.CompanionsOf(h, k.Companions); ok {
				return k.Past, c, nil
			}
		}
	}
	var companions *risk.Companions
	var cerr error
	var learning sync.WaitGroup
	learning.Go(func() { companions, cerr = risk.NewCompanions(ctx, h) })
	past, err := risk.ReadPast(ctx, e.repo, h, risk.PastChanges)
	learning.Wait()
	if cerr != nil {
		companions = nil
	}
	if keep && err == nil && cerr == nil {
		werr := e.lines.Write(name, encodeKept(kept{past, companions.Model()}))
		e.mu.Lock()
		e.kept = cmp.Or(e.kept, werr)
		e.mu.Unlock()
	}
	return past, companions, err
}

// learnedName names the file of a history, or says that nothing is kept: in a partial clone what is read
// depends on which contents were fetched. How the past is read may differ between two builds, so the
// program's own file is part of the name.
func (e *Engine) learnedName(h *history.History) (string, bool) {
	if e.lines == nil || e.repo.Partial() {
		return "", false
	}
	exe, err := os.Executable()
	if err != nil {
		return "", false
	}
	info, err := os.Stat(exe)
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("%s-%d-%d%.8s-%x-%x", h.Tip, len(h.Commits), risk.PastChanges, e.repo.Boundary(), info.Size(), info.ModTime().UnixNano()), true
}

func encodeKept(k kept) []byte {
	b := bytes.NewBuffer(make([]byte, 4))
	if err := gob.NewEncoder(b).Encode(k); err != nil {
		return nil
	}
	data := b.Bytes()
	binary.LittleEndian.PutUint32(data, crc32.ChecksumIEEE(data[4:]))
	return data
}

// decodeKept reads a file; false means that it is damaged, or of another history.
func decodeKept(data []byte, commits int) (k kept, ok bool) {
	if len(data) < 4 || crc32.ChecksumIEEE(data[4:]) != binary.LittleEndian.Uint32(data) {
		return k, false
	}
	if gob.NewDecoder(bytes.NewReader(data[4:])).Decode(&k) != nil || k.Past == nil {
		return k, false
	}
	in := func(i int) bool { return i >= -1 && i < commits }
	for _, c := range k.Past.Changes {
		if c.Commit < 0 || !in(c.Commit) {
			return k, false
		}
		for _, by := range c.FixedBy {
			if !in(by) {
				return k, false
			}
		}
		for _, r := range c.Repaired {
			if r.By < 0 || !in(r.By) {
				return k, false
			}
		}
	}
	return k, len(k.Past.Changes) <= commits
}
