package job

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

func newTestDocs() index.Cache { return index.NewMemory() }

func writeFile(t testing.TB, file string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSessionChanges compares contents with those of the beginning, whatever was committed since.
func TestSessionChanges(t *testing.T) {
	r := gittest.New(t)
	for _, p := range []string{"same", "edited", "committed", "gone", "dirty", "dirtier", "back", "link-target"} {
		r.Write(p+".go", "package p // "+p+"\n")
	}
	r.Commit("first")
	r.Write("dirty.go", "package p // before the session\n")
	r.Write("dirtier.go", "package p // before the session\n")
	r.Write("untracked.go", "package p // before the session\n")
	s, err := NewSession(context.Background(), r.Dir, "", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	changes := func() string {
		t.Helper()
		s, err := LoadSession(r.Dir, s.ID)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Progress(context.Background(), r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range p.Changed {
			state := "?"
			if c.Committed {
				state = ""
			}
			all = append(all, c.Path+" "+c.Status+state)
		}
		return strings.Join(all, ", ")
	}
	if got := changes(); s.ID != "s1" || got != "" {
		t.Errorf("session %s begins with %s", s.ID, got)
	}
	r.Write("edited.go", "package p // again\n")
	r.Write("dirtier.go", "package p // in the session\n")
	r.Remove("gone.go")
	if err := os.Symlink("same.go", filepath.Join(r.Dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	if got := changes(); got != "dirtier.go modified?, edited.go modified?, gone.go deleted?, link.go added?" {
		t.Errorf("uncommitted: %s", got)
	}
	r.Write("committed.go", "package p // now\n")
	r.Write("back.go", "package p // and back\n")
	r.Commit("everything, what was there before the session too")
	r.Write("back.go", "package p // back\n")
	if got := changes(); got != "committed.go modified, dirtier.go modified, edited.go modified, gone.go deleted, link.go added" {
		t.Errorf("committed: %s", got)
	}
	touched, err := SessionTouched(context.Background(), r.Dir, "s1")
	if err != nil || !touched["committed.go"] || touched["dirty.go"] || len(touched) != 5 {
		t.Errorf("touched: %v, %v", touched, err)
	}
}

// TestFolderGuard refuses a large folder that is no repository, by the configured limit, and no repository.
func TestFolderGuard(t *testing.T) {
	c := config.Default()
	c.Common.MaxFiles = 2
	dir := t.TempDir()
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		writeFile(t, filepath.Join(dir, name), []byte("package p\n"))
	}
	o := ActivateOptions{Dir: dir, Task: "retry an upload", Config: c}
	if _, err := Activate(context.Background(), o); err == nil || !strings.Contains(err.Error(), "is no git repository and has more than 2 files; give the folder of a project with --root") {
		t.Errorf("three files, two allowed: %v", err)
	}
	for _, limit := range []int{0, 3} {
		c.Common.MaxFiles = limit
		if _, err := Activate(context.Background(), o); err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	r := gittest.New(t)
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		r.Write(name, "package p\n")
	}
	r.Commit("first")
	o.Dir, c.Common.MaxFiles = r.Dir, 2
	if _, err := Activate(context.Background(), o); err != nil {
		t.Errorf("a repository: %v", err)
	}
}

// FuzzSession reads any file as a session: an error of one line, never a panic.
func FuzzSession(f *testing.F) {
	f.Add([]byte(`{"version":1,"id":"s","base":"","dirty":[{"path":"../../etc/passwd","content":""}]}`))
	f.Add([]byte(`{"version":1,"id":"s","base":"0123456789012345678901234567890123456789"}`))
	f.Add([]byte(`{"version":2}`))
	r := gittest.New(f)
	r.Write("a.go", "package a\n")
	r.Commit("first")
	f.Fuzz(func(t *testing.T, data []byte) {
		writeFile(t, filepath.Join(r.Dir, ".ctxt", "sessions", "s.json"), data)
		s, err := LoadSession(r.Dir, "s")
		if err == nil {
			_, err = s.Progress(context.Background(), r.Dir)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %v", err)
		}
	})
}
