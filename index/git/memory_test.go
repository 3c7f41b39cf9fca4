package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

type mapMemory map[string][]byte

func (m mapMemory) Get(h Hash, k byte) ([]byte, bool) {
	d, ok := m[h.String()+string(k)]
	return d, ok
}
func (m mapMemory) Put(h Hash, k byte, data []byte) { m[h.String()+string(k)] = data }

// What was remembered is not read again: another commit's tree is listed though the folders that it
// shares with the first are gone from the repository.
func TestTreeIsRemembered(t *testing.T) {
	for _, b := range backends {
		r := gittest.New(t)
		for _, p := range []string{"a/b/c.go", "a/d.go", "e/f.go", "g.go"} {
			r.Write(p, p+"\n")
		}
		r.Commit("first")
		memory := mapMemory{}
		repo := open(t, r.Dir, b)
		repo.Remember(memory)
		if _, err := repo.Tree(context.Background(), resolve(t, repo, "HEAD")); err != nil {
			t.Fatal(err)
		}
		r.Write("e/f.go", "changed\n")
		r.Commit("second")
		want, err := open(t, r.Dir, b).Tree(context.Background(), resolve(t, repo, "HEAD"))
		if err != nil {
			t.Fatal(err)
		}
		shared := strings.TrimSpace(r.Git("rev-parse", "HEAD:a"))
		if err := os.Remove(filepath.Join(r.Dir, ".git/objects", shared[:2], shared[2:])); err != nil {
			t.Fatal(err)
		}
		repo = open(t, r.Dir, b)
		if got, err := repo.Tree(context.Background(), resolve(t, repo, "HEAD")); err != nil || len(got.Skipped) == 0 {
			t.Fatalf("%s: the shared folder can still be read: %v", b, err)
		}
		repo.Remember(memory)
		got, err := repo.Tree(context.Background(), resolve(t, repo, "HEAD"))
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got)\n%s", b, err, d)
		}
	}
}
