package git

import (
	"context"
	"sync"
)

// keptReaders are sessions of the git program that outlive a reading.
type keptReaders struct {
	ctx  context.Context // of the processes
	mu   sync.Mutex
	idle []*catFile
	over bool
}

// KeepReaders has readings of objects share processes of git, which otherwise are started for each of
// them: two for every tree, diff or handful of blobs. They end when stop is called or ctx ends. It is for
// a caller that reads often, and must not be called while the repository is used.
func (r *Repo) KeepReaders(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	k := &keptReaders{ctx: ctx}
	r.kept = k
	return func() {
		k.mu.Lock()
		idle := k.idle
		k.idle, k.over = nil, true
		k.mu.Unlock()
		cancel()
		for _, c := range idle {
			c.close()
		}
	}
}

// lend gives a session whose processes go on when it is closed.
func (k *keptReaders) lend(ctx context.Context, r *Repo) objectSession {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.idle); n > 0 {
		c := k.idle[n-1]
		k.idle = k.idle[:n-1]
		c.restarts = 0
		return &lentReader{k, c, ctx}
	}
	return &lentReader{k, &catFile{repo: r, ctx: k.ctx}, ctx}
}

// lentReader is a kept session in use.
type lentReader struct {
	k   *keptReaders
	c   *catFile
	ctx context.Context // of this reading
}

func (l *lentReader) read(hashes []Hash, max int64, fn func(int, kind, []byte, error) error) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	return l.c.read(hashes, max, func(i int, k kind, data []byte, err error) error {
		if ended := l.ctx.Err(); ended != nil {
			return ended
		}
		return fn(i, k, data, err)
	})
}

func (l *lentReader) close() {
	l.k.mu.Lock()
	over := l.k.over
	if !over {
		l.k.idle = append(l.k.idle, l.c)
	}
	l.k.mu.Unlock()
	if over {
		l.c.close()
	}
}
