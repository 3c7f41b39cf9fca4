package cache

import (
	"context"
	"encoding/binary"

	"github.com/ctxt-dev/ctxt/index/git"
)

// Objects implements git.Memory over a folder.
type Objects struct{ s *segments }

// OpenObjects reads the git objects in a folder, which need not exist.
func OpenObjects(dir string) (*Objects, error) {
	s, err := openSegments(dir, "ctxtobj")
	if err != nil {
		return nil, err
	}
	return &Objects{s}, nil
}

// Get implements git.Memory.
func (o *Objects) Get(h git.Hash, kind byte) ([]byte, bool) {
	p, ok := o.s.get(key{h, uint32(kind)})
	if !ok || len(p) < 4 {
		return nil, false
	}
	n := binary.LittleEndian.Uint32(p)
	if uint64(n) > uint64(len(p)-4) {
		return nil, false
	}
	return p[4 : 4+n : 4+n], true
}

// Put implements git.Memory.
func (o *Objects) Put(h git.Hash, kind byte, data []byte) {
	o.s.put(key{h, uint32(kind)}, payload{len(data) + 4, func(b []byte) []byte {
		return append(binary.LittleEndian.AppendUint32(b, uint32(len(data))), data...) //nolint:gosec // git objects that are read are smaller
	}})
}

// Close writes what was put since OpenObjects. A failure costs the next run time and nothing
// else; so does ctx, when it ends meanwhile.
func (o *Objects) Close(ctx context.Context) error { return o.s.close(ctx) }
