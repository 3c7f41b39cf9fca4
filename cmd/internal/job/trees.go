package job

import (
	"sync"

	"github.com/ctxt-dev/ctxt/index/git"
)

// trees is a git.Memory for as long as the process runs: the folders of neighbouring commits are
// nearly all the same.
type trees struct {
	mu   sync.RWMutex
	data map[git.Hash][]byte
	kind map[git.Hash]byte
	size int
}

// maxTrees bounds what is remembered, in bytes.
const maxTrees = 256 << 20

func newTrees() *trees { return &trees{data: map[git.Hash][]byte{}, kind: map[git.Hash]byte{}} }

// Get implements git.Memory.
func (t *trees) Get(h git.Hash, kind byte) ([]byte, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	data, ok := t.data[h]
	return data, ok && t.kind[h] == kind
}

// Put implements git.Memory.
func (t *trees) Put(h git.Hash, kind byte, data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.data[h]; ok || t.size+len(data) > maxTrees {
		return
	}
	t.data[h], t.kind[h] = data, kind
	t.size += len(data)
}
