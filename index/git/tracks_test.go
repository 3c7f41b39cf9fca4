package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

// TestTracks holds that what a checkout brought along is known for it, by both backends.
func TestTracks(t *testing.T) {
	r := gittest.New(t)
	r.Write(".ctxt/cache/docs/a", "forged")
	r.Write(".ctxt/cached", "another folder's neighbour")
	r.Commit("first")
	if err := os.MkdirAll(filepath.Join(r.Dir, "other", "cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(r.Dir, ".ctxt"), link); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {Backend: "go-git"}} {
		repo, err := Open(r.Dir, o)
		if err != nil {
			t.Fatal(err)
		}
		for dir, want := range map[string]bool{
			".ctxt/cache": true, ".CTXT/Cache": true, ".ctxt/cache/docs": true, ".ctxt": true, ".ctxt/cach": false, ".ctxt/cache/none/yet": false,
			"other/cache": false, "../elsewhere": false, ".": false,
		} {
			if got, err := repo.Tracks(t.Context(), filepath.Join(r.Dir, dir)); err != nil || got != want {
				t.Errorf("%s, %s: %t, %v", repo.Backend(), dir, got, err)
			}
		}
		if got, err := repo.Tracks(t.Context(), filepath.Join(link, "cache")); err != nil || !got {
			t.Errorf("%s, by a link: %t, %v", repo.Backend(), got, err)
		}
	}
}
