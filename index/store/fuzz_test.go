package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzLoadCache reads any bytes as a synonym cache: what is taken is saved and read again the same.
func FuzzLoadCache(f *testing.F) {
	f.Add([]byte(`{"version":2,"entries":{"a/b.go":{"fingerprint":"9f","synonyms":["x y"]},"c":{}}}`))
	f.Add([]byte(`{"version":2,"entries":{"../x":{}}}`))
	f.Add([]byte(`{"version":2,"entries":{"a":{"synonyms":["\u0000\ud800"]}}}`))
	f.Add([]byte(`{"version":2,"version":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "c.json")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := LoadCache(file)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), file) {
				t.Fatalf("%v", err)
			}
			return
		}
		if err := SaveCache(file, c); err != nil {
			t.Fatal(err)
		}
		again, err := LoadCache(file)
		if err != nil {
			t.Fatalf("what was saved is refused: %v", err)
		}
		for p, e := range c.Entries {
			if e.Synonyms == nil {
				e.Synonyms = []string{}
				c.Entries[p] = e
			}
		}
		if d := cmp.Diff(c.Entries, again.Entries); d != "" {
			t.Fatal(d)
		}
	})
}

// FuzzStat reads any bytes as the times beside an index: they never change what is in it.
func FuzzStat(f *testing.F) {
	f.Add([]byte(`{"version":1,"index":"x","files":{"README.md":-1}}`))
	f.Add([]byte(`[`))
	file := filepath.Join(f.TempDir(), "x.json")
	if err := Save(file, sample()); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file+".stat", data, 0o644); err != nil {
			t.Fatal(err)
		}
		x, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		x.Walk(func(n *Node) { n.ModTime = 0 })
		want := sample()
		want.Walk(func(n *Node) { n.ModTime = 0 })
		if d := cmp.Diff(want, x); d != "" {
			t.Fatal(d)
		}
	})
}
