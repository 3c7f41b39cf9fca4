package git

import "context"

// Memory keeps commits and trees between runs, by name and type. What Get gives is what Put was
// given, unchanged; it may forget. It must be safe for concurrent use.
type Memory interface {
	Get(h Hash, kind byte) (data []byte, ok bool)
	Put(h Hash, kind byte, data []byte)
}

// Remember makes Tree use a memory. It must be called before the repository is used.
func (r *Repo) Remember(m Memory) { r.memory = m }

// remembering is a session that asks the memory first.
type remembering struct {
	memory Memory
	want   kind // of what is read next
	open   func() (objectSession, error)
	s      objectSession // nil until something is not remembered
}

// remember opens a session for commits and trees.
func (r *Repo) remember(ctx context.Context) *remembering {
	return &remembering{memory: r.memory, open: func() (objectSession, error) { return r.session(ctx, false) }}
}

func (m *remembering) close() {
	if m.s != nil {
		m.s.close()
	}
}

func (m *remembering) read(hashes []Hash, limit int64, fn func(int, kind, []byte, error) error) error {
	all := make([]got, len(hashes))
	var missing []Hash
	var at []int
	for i, h := range hashes {
		if m.memory != nil {
			if data, ok := m.memory.Get(h, byte(m.want)); ok && int64(len(data)) <= limit {
				all[i] = got{kind: m.want, data: data}
				continue
			}
		}
		missing, at = append(missing, h), append(at, i)
	}
	if len(missing) > 0 {
		if m.s == nil {
			s, err := m.open()
			if err != nil {
				return err
			}
			m.s = s
		}
		err := m.s.read(missing, limit, func(i int, k kind, data []byte, err error) error {
			all[at[i]] = got{k, data, err}
			if err == nil && k == m.want && m.memory != nil {
				m.memory.Put(missing[i], byte(k), data)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i, g := range all {
		if err := fn(i, g.kind, g.data, g.err); err != nil {
			return err
		}
	}
	return nil
}
