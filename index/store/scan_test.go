package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

func write(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestScan(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"a/x.go":       "package a\n\nimport \"fmt\"\n\ntype T struct{}\n\nfunc (t T) Run() { fmt.Println() }\n\nfunc Run() {}\n",
		"a/broken.go":  "package a\n\nfunc {{{{\n",
		"notes.md":     "# func notMe() {}\n",
		"vendor/v.go":  "package v\n",
		".hidden/h.go": "package h\n",
	})
	o := ScanOptions{Rules: ignore.New(ignore.Options{}), Mode: symbols.Auto, Time: time.Unix(0, 0)}
	calls := 0
	o.Progress = func(done, total int) {
		if calls++; done != calls || total != 2 {
			t.Errorf("progress %d of %d", done, total)
		}
	}
	x, skipped, err := Scan(context.Background(), root, o)
	if err != nil || len(skipped) != 0 {
		t.Fatal(skipped, err)
	}
	var got []string
	x.Walk(func(n *Node) { got = append(got, fmt.Sprint(n.FullPath, n.Symbols, n.Fault != "")) })
	want := []string{"a[] false", "a/broken.go[] true", "a/x.go[T Run] false", "notes.md[] false"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := x.Find("a/x.go"); n.ModTime == 0 || n.Size == 0 || len(n.Imports) != 1 {
		t.Errorf("%+v", n)
	}
}

func TestScanGuard(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{"top.txt": ""}
	for i := range 6 {
		files[fmt.Sprintf("third/party/f%d.txt", i)] = ""
		files[fmt.Sprintf("src/%d.txt", i%4)] = ""
	}
	write(t, root, files)
	o := ScanOptions{Rules: ignore.New(ignore.Options{}), MaxFiles: 11}
	if _, _, err := Scan(context.Background(), root, o); err != nil {
		t.Fatal(err)
	}
	o.MaxFiles = 10
	_, _, err := Scan(context.Background(), root, o)
	want := `11 files after ignores, more than common.max_files = 10; largest folders: third/party/ 6, src/ 4; ` +
		`leave a folder out with: ctxt init . --ignore "/src" (or ignore = ["/src"] under [common] in .ctxt/ctx_config.toml); ` +
		`or raise the limit: max_files under [common] in .ctxt/ctx_config.toml, 0 for none`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
