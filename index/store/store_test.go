package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func sample() *Index {
	x := New("/abs/project", time.Date(2024, 1, 2, 3, 4, 5, 6, time.UTC))
	x.Put(&Node{FullPath: "cmd/main.go", Type: TypeFile, Size: 120, Symbols: []string{"main", "Änderung", `a"b\`}, Synonyms: []string{"entry point"}, ModTime: 1704164645000000001})
	x.Put(&Node{FullPath: "README.md", Type: TypeFile, ModTime: 5})
	x.Put(&Node{FullPath: "cmd", Type: TypeDirectory, Synonyms: []string{"commands"}})
	x.Put(&Node{FullPath: "a\tb<c>.go", Type: TypeFile, Size: 1, Fault: "nesting deeper than 500"})
	x.Put(&Node{FullPath: "empty", Type: TypeDirectory})
	return x
}

const sampleText = `{"version":2,
"root_path":"/abs/project",
"timestamp":"2024-01-02T03:04:05Z",
"root":{"full_path":".","type":"directory","children":[
 {"full_path":"README.md","type":"file"},
 {"full_path":"a\tb\u003cc\u003e.go","type":"file","size":1,"fault":"nesting deeper than 500"},
 {"full_path":"cmd","type":"directory","synonyms":["commands"],"children":[
  {"full_path":"cmd/main.go","type":"file","size":120,"symbols":["main","Änderung","a\"b\\"],"synonyms":["entry point"]}
 ]},
 {"full_path":"empty","type":"directory"}
]}}
`

func TestIndexFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".ctxt", "ctx_index.json")
	x := sample()
	if err := Save(file, x); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sampleText, string(data)); d != "" {
		t.Error(d)
	}
	y, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(x, y); d != "" {
		t.Error(d)
	}
	if y.Find("cmd/main.go").ModTime != 1704164645000000001 || y.Find("nope/x") != nil || y.Find("cmd/main.go/x") != nil {
		t.Error("Find")
	}
	if files, dirs := y.Counts(); files != 3 || dirs != 2 {
		t.Error(files, dirs)
	}
	if !y.Remove("cmd/main.go") || y.Remove("cmd/main.go") || y.Remove("x/y") || y.Find("cmd") == nil {
		t.Error("Remove")
	}
}

// TestStaleTimes checks that times of another index are not believed.
func TestStaleTimes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".ctxt/ctx_index.json", "other.json"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := Save(file, sample()); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(sampleText, "entry", "other", 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		x, err := Load(file)
		if err != nil || x.Find("cmd/main.go").ModTime != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefused(t *testing.T) {
	const rebuild = "; rebuild it with: ctxt init . (without any LLM request: ctxt init . --offline)"
	root := func(children string) string {
		return `{"version":2,"timestamp":"2024-01-02T03:04:05Z","root":{"full_path":".","type":"directory","children":[` + children + `]}}`
	}
	tests := []struct{ name, text, want string }{
		{"version 1", `{"version":1,"root":{}}`, " has version 1; only version 2 is read" + rebuild},
		{"version 3", `{"version":3}`, " has version 3; only version 2 is read" + rebuild},
		{"no version", `{"root_path":"/x","tree":{}}`, " has no version; only version 2 is read" + rebuild},
		{"version of text", `{"version":"2"}`, ` has version "2"; only version 2 is read` + rebuild},
		{"empty", "", ": the file is empty" + rebuild},
		{"array", "[]", ": line 1, column 1: array where a struct is expected"},
		{"cut off", "{\"version\":2,\n\"root\":{\"full", ": line 2, column 13: unexpected end of JSON input" + rebuild},
		{"broken", "{\"version\":2,\n\"root\":x}", ": line 2, column 8: invalid character 'x' looking for beginning of value" + rebuild},
		{"type", "{\"version\":2,\n\"root\":{\"type\":3}}", ": line 2, column 16: number where a string is expected (root.type)" + rebuild},
		{"no root", `{"version":2,"timestamp":"2024-01-02T03:04:05Z"}`, `: "root" is not a folder with full_path "."`},
		{"time", `{"version":2,"timestamp":"now","root":{"full_path":".","type":"directory"}}`, `: timestamp "now" is not in RFC 3339 form`},
		{"outside", root(`{"full_path":"../x","type":"file"}`), `: node "../x" does not lie directly in "."`},
		{"parent", root(`{"full_path":"..","type":"file"}`), `: node ".." does not lie directly in "."`},
		{"absolute", root(`{"full_path":"/etc","type":"file"}`), `: node "/etc" does not lie directly in "."`},
		{"elsewhere", root(`{"full_path":"a","type":"directory","children":[{"full_path":"b/c","type":"file"}]}`), `: node "b/c" does not lie directly in "a"`},
		{"twice", root(`{"full_path":"a","type":"file"},{"full_path":"a","type":"file"}`), `: node "a" is out of order or twice there`},
		{"order", root(`{"full_path":"b","type":"file"},{"full_path":"a","type":"file"}`), `: node "a" is out of order or twice there`},
		{"unknown type", root(`{"full_path":"a","type":"link"}`), `: node "a" has the unknown type "link"`},
		{"file with children", root(`{"full_path":"a","type":"file","children":[{"full_path":"a/b","type":"file"}]}`), `: node "a" is a file with children`},
		{"null", root(`null`), `: child 0 of "." is null`},
		{"not UTF-8", root(`{"full_path":"a` + "\xe3" + `","type":"file"}`), ": not all of it is UTF-8" + rebuild},
		{"deep", strings.Repeat("[", 100000), ": line 1, column "},
	}
	file := filepath.Join(t.TempDir(), ".ctxt", "ctx_index.json")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Load(file)
			if err == nil || !strings.HasPrefix(err.Error(), file+tt.want) {
				t.Errorf("got  %v\nwant %s%s", err, file, tt.want)
			}
		})
	}
}

func TestCacheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".ctxt", "ctx_cache.json")
	if c, err := LoadCache(file); err != nil || len(c.Entries) != 0 {
		t.Fatal(c, err)
	}
	c := NewCache()
	c.Entries["b/routes/index.ts"] = CacheEntry{Fingerprint: "9f2c", Synonyms: []string{"b routes"}}
	c.Entries["a/routes/index.ts"] = CacheEntry{Fingerprint: "00"}
	if err := SaveCache(file, c); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(file)
	want := `{"version":2,"entries":{
"a/routes/index.ts":{"fingerprint":"00","synonyms":[]},
"b/routes/index.ts":{"fingerprint":"9f2c","synonyms":["b routes"]}
}}
`
	if string(data) != want {
		t.Errorf("got %s", data)
	}
	d, err := LoadCache(file)
	if err != nil || len(d.Entries) != 2 || d.Entries["b/routes/index.ts"].Fingerprint != "9f2c" {
		t.Error(d, err)
	}
	for text, want := range map[string]string{
		`{"main.go":["entry"]}`:                          " has no version; only version 2 is read; remove it and rebuild with: rm ",
		`{"version":1,"entries":{}}`:                     " has version 1; only version 2 is read; remove it",
		`{"version":2,"entries":{"../x":{}}}`:            `: entry "../x" is not a clean project-relative path`,
		`{"version":2,"entries":{"/etc/x":{}}}`:          `: entry "/etc/x" is not a clean project-relative path`,
		`{"version":2,"entries":{"a":{"synonyms":[1]}}}`: ": line 1, column ",
	} {
		os.WriteFile(file, []byte(text), 0o644)
		if _, err := LoadCache(file); err == nil || !strings.HasPrefix(err.Error(), file+want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestReadFileRefuses(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	os.WriteFile(big, make([]byte, 100), 0o644)
	if _, err := ReadFile(big, 99); err == nil || !strings.Contains(err.Error(), "larger than the limit of 99 bytes") {
		t.Error(err)
	}
	if _, err := ReadFile(dir, 99); err == nil || !strings.Contains(err.Error(), "not a regular file (a folder)") {
		t.Error(err)
	}
	link := filepath.Join(dir, "link")
	os.Symlink(big, link)
	if _, err := ReadFile(link, 999); err == nil || !strings.Contains(err.Error(), "a symbolic link") {
		t.Error(err)
	}
	os.Symlink(t.TempDir(), filepath.Join(dir, Dir))
	for _, f := range []string{".ctxt/ctx_index.json", ".ctxt/cache/stat.json"} {
		name := filepath.Join(dir, filepath.FromSlash(f))
		if _, err := ReadFile(name, 999); err == nil || !strings.Contains(err.Error(), "is a symbolic link, which is not followed") {
			t.Error(err)
		}
		if err := WriteFile(name, nil, 0o644); err == nil || !strings.Contains(err.Error(), "is a symbolic link, which is not followed") {
			t.Error(err)
		}
	}
	if _, err := ReadFile(filepath.Join(dir, "none"), 9); !IsNotExist(err) {
		t.Error(err)
	}
}

// TestWriteFileReplacesLink checks that a link in the place of the file is replaced, not written through.
func TestWriteFileReplacesLink(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	os.WriteFile(victim, []byte("mine"), 0o644)
	os.Symlink(victim, filepath.Join(dir, "f"))
	if err := WriteFile(filepath.Join(dir, "f"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(victim); string(data) != "mine" {
		t.Errorf("the link's target was written: %s", data)
	}
	info, err := os.Lstat(filepath.Join(dir, "f"))
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestLock(t *testing.T) {
	root := t.TempDir()
	w, err := Lock(root)
	if err != nil || w.Stale != 0 {
		t.Fatal(w, err)
	}
	_, err = Lock(root)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Fatalf("second writer: %v", err)
	}
	if s, err := Inspect(root); err != nil || !s.Held || s.PID != os.Getpid() {
		t.Error(s, err)
	}
	if err := w.Unlock(); err != nil {
		t.Fatal(err)
	}
	if s, err := Inspect(root); err != nil || s.Held || s.PID != 0 {
		t.Error(s, err)
	}
	if _, err := os.Stat(filepath.Join(root, LockDir, "lock")); err != nil {
		t.Error("the lock file is gone:", err)
	}
	if w, err = Lock(root); err != nil {
		t.Fatal(err)
	}
	w.Unlock()
}

func TestLockTakesOver(t *testing.T) {
	root := t.TempDir()
	// An older release's empty folder.
	os.Mkdir(filepath.Join(root, LockDir), 0o755)
	w, err := Lock(root)
	if err != nil {
		t.Fatal(err)
	}
	w.Unlock()
	// An owner that ended without releasing, half way through a write.
	left := filepath.Join(root, Dir, ".ctx_index.json.123.tmp")
	os.Mkdir(filepath.Dir(left), 0o755)
	os.WriteFile(left, []byte("{"), 0o644)
	os.WriteFile(filepath.Join(root, LockDir, "owner"), []byte("999999\n"), 0o644)
	if s, err := Inspect(root); err != nil || s.Held || s.PID != 999999 {
		t.Error(s, err)
	}
	if w, err = Lock(root); err != nil || w.Stale != 999999 {
		t.Fatal(w, err)
	}
	if _, err := os.Lstat(left); !IsNotExist(err) {
		t.Error("the temporary file is still there")
	}
	w.Unlock()
	// Links are refused.
	for _, name := range []string{"lock", "owner"} {
		p := filepath.Join(root, LockDir, name)
		os.Remove(p)
		os.Symlink(filepath.Join(root, "elsewhere"), p)
		if _, err := Lock(root); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
		os.Remove(p)
	}
	if s, err := Inspect(t.TempDir()); err != nil || s.Held {
		t.Error(s, err)
	}
}

// TestPutRemove compares an index with a plain set of paths.
func TestPutRemove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, files := New("/r", time.Unix(0, 0)), map[string]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			p := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "a-b", "c.go"}), 1, 4).Draw(t, "path"), "/")
			if rapid.Bool().Draw(t, "put") {
				for f := range files { // a file gives way to a folder, and a folder to a file
					if strings.HasPrefix(p, f+"/") || strings.HasPrefix(f, p+"/") {
						delete(files, f)
					}
				}
				x.Put(&Node{FullPath: p, Type: TypeFile})
				files[p] = true
			} else {
				x.Remove(p)
				for f := range files {
					if f == p || strings.HasPrefix(f, p+"/") {
						delete(files, f)
					}
				}
			}
			if err := x.check(); err != nil {
				t.Fatal(err)
			}
		}
		n, _ := x.Counts()
		if n != len(files) {
			t.Fatalf("%d files, want %d", n, len(files))
		}
		for f := range files {
			if x.Find(f) == nil {
				t.Fatalf("%s is not there", f)
			}
		}
	})
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(sampleText))
	f.Add([]byte(`{"version":2,"timestamp":"2024-01-02T03:04:05Z","root":{"full_path":".","type":"directory","children":[{}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "x.json")
		os.WriteFile(file, data, 0o644)
		x, err := Load(file)
		if err != nil {
			return
		}
		if err := Save(file, x); err != nil {
			t.Fatal(err)
		}
		y, err := Load(file)
		if err != nil {
			t.Fatalf("what was saved is refused: %v", err)
		}
		x.Version, y.Version = 0, 0
	})
}

func BenchmarkLoad(b *testing.B) {
	x := New("/r", time.Unix(0, 0))
	for i := range 5500 {
		n := &Node{FullPath: fmt.Sprintf("d%d/e%d/file%d.ts", i%20, i%200, i), Type: TypeFile, Size: 1, ModTime: 1}
		for k := range 20 {
			n.Symbols = append(n.Symbols, fmt.Sprintf("symbolNumber%dOf%d", k, i))
		}
		x.Put(n)
	}
	file := filepath.Join(b.TempDir(), "x.json")
	if err := Save(file, x); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Load(file); err != nil {
			b.Fatal(err)
		}
	}
}
