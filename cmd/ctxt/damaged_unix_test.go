//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// damages are what a broken disk, a cut-off copy and a bad merge leave of a file.
var damages = map[string]func([]byte) []byte{
	"empty":           func([]byte) []byte { return nil },
	"cut in half":     func(b []byte) []byte { return b[:len(b)/2] },
	"last bytes cut":  func(b []byte) []byte { return b[:max(len(b)-3, 0)] },
	"first byte bad":  func(b []byte) []byte { return flipped(b, 0) },
	"middle byte bad": func(b []byte) []byte { return flipped(b, len(b)/2) },
	"zeros":           func(b []byte) []byte { return make([]byte, len(b)) },
	"noise":           func(b []byte) []byte { return bytes.Repeat([]byte("\xff\x00{[\"\n"), 700) },
	"conflict":        func(b []byte) []byte { return append([]byte("<<<<<<< ours\n"), b...) },
}

// flipped changes two bits of the first quotation mark from a place on, or of that place where there is none.
func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	if n := bytes.IndexByte(b[at:], '"'); n >= 0 {
		at += n
	}
	if at < len(b) {
		b[at] ^= 0x81
	}
	return b
}

// took is what a run says of its time.
var took = regexp.MustCompile(` in \d+\.\d s`)

// reader is a command that reads a file, and how it meets a damaged one.
type reader struct {
	file  string // a pattern under the project
	args  []string
	mends bool     // it works, and prints the same as with the file as it was
	works bool     // it works, and says that the file is damaged
	next  string   // what is said of the mend; the command ends with exit code 2 if it neither mends nor works
	mend  []string // that mend, if it is a command
}

var readers = []reader{
	{file: ".ctxt/ctx_index.json", args: []string{"search-hints", "store entries"}, next: "ctxt init .", mend: []string{"init", ".", "--offline", "-q"}},
	{file: ".ctxt/ctx_index.json", args: []string{"status"}, works: true, next: "ctxt init .", mend: []string{"init", ".", "--offline", "-q"}},
	{file: ".ctxt/ctx_index.json", args: []string{"sync", ".", "--offline"}, next: "ctxt init .", mend: []string{"init", ".", "--offline", "-q"}},
	{file: ".ctxt/ctx_index.json", args: []string{"init", ".", "--offline", "-q"}, mends: true},
	{file: ".ctxt/ctx_cache.json", args: []string{"init", ".", "--offline", "-q"}, next: "remove it"},
	{file: ".ctxt/cache/stat.json", args: []string{"activate", "--task", "keep the entries sorted", "--stdout"}, mends: true},
	{file: ".ctxt/cache/*/*.seg", args: []string{"activate", "--task", "keep the entries sorted", "--stdout"}, mends: true},
	{file: ".ctxt/cache/history/*.past", args: []string{"activate", "--task", "keep the entries sorted", "--stdout"}, mends: true},
	{file: ".ctxt/active-bundle.json", args: []string{"refine", "--learned", "they are sorted by name"}, next: "ctxt activate", mend: []string{"activate", "--task", "keep the entries sorted", "-q"}},
	{file: ".ctxt/sessions/first.json", args: []string{"activate", "--session", "first", "--task", "keep the entries sorted", "--stdout"}, next: "ctxt session"},
	{file: ".ctxt/baseline.json", args: []string{"eval", "--cases", ".ctxt/cases.json", "--baseline", ".ctxt/baseline.json"}, next: "--update-baseline", mend: []string{"eval", "--cases", ".ctxt/cases.json", "--update-baseline"}},
	{file: ".ctxt/cases.json", args: []string{"eval", "--cases", ".ctxt/cases.json"}, next: "mend it there"},
	{file: ".ctxt/ctx_config.toml", args: []string{"activate", "--task", "keep the entries sorted", "--stdout"}, next: "ctxt config init"},
	{file: ".ctxt/ctx_runtime.json", args: []string{"search-hints", "store entries"}, works: true, next: "remove it"},
	{file: ".ctxt-writer/owner", args: []string{"init", ".", "--offline", "-q"}, mends: true},
}

// TestDamagedFiles damages each file that ctxt keeps, in eight ways: a cache costs nothing but time; of
// every other file the next command says, in one line with exit code 2, which it is and what mends it,
// and does so after that mend; none is taken for whole.
func TestDamagedFiles(t *testing.T) {
	for _, r := range readers {
		t.Run(r.args[0]+" "+filepath.Base(r.file), func(t *testing.T) {
			t.Parallel()
			p := newCrashProject(t)
			p.must("init", ".", "-q")
			p.must("session", "init", "first")
			p.must("activate", "--task", "keep the entries sorted", "-q")
			p.must("eval", "--cases", ".ctxt/cases.json", "--update-baseline")
			if strings.HasSuffix(r.file, "runtime.json") {
				text := `{"version": 2, "address": "127.0.0.1:1", "token": "` + strings.Repeat("0a", 32) + `", "pid": 1, "root_path": "/", "started": "2024-01-02T03:04:05Z"}`
				if err := os.WriteFile(filepath.Join(p.repo.Dir, filepath.FromSlash(r.file)), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			files, err := filepath.Glob(filepath.Join(p.repo.Dir, filepath.FromSlash(r.file)))
			if err != nil || len(files) == 0 {
				t.Fatalf("no %s (%v)", r.file, err)
			}
			want := took.ReplaceAllString(p.must(r.args...), "")
			whole := map[string][]byte{}
			for _, f := range files {
				whole[f] = p.read(strings.TrimPrefix(filepath.ToSlash(f), filepath.ToSlash(p.repo.Dir)+"/"))
			}
			restore := func() {
				for f, data := range whole {
					if err := os.WriteFile(f, data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			for name, damage := range damages {
				for f, data := range whole {
					if err := os.WriteFile(f, damage(data), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				code, out, errs := p.as("ctxt", nil, r.args...)
				fair := code == 2 && strings.Count(errs, "\n") == 1 && strings.HasPrefix(errs, "ctxt: ") && strings.Contains(errs, filepath.Base(r.file)) && strings.Contains(errs, r.next)
				switch {
				case r.mends:
					fair = code == 0 && took.ReplaceAllString(out, "") == want
				case r.works:
					fair = code == 0 && strings.Contains(out+errs, filepath.Base(r.file)) && strings.Contains(out+errs, r.next)
				case name == "empty" && strings.HasSuffix(r.file, ".toml"):
					fair = code == 0 // that is what a configuration without settings looks like
				}
				if !fair {
					t.Errorf("%s: exit code %d\n%s%s", name, code, errs, out)
				}
				if r.mend != nil {
					p.must(r.mend...)
				} else if !r.mends {
					restore()
				}
				if got := took.ReplaceAllString(p.must(r.args...), ""); r.mends && got != want {
					t.Errorf("%s: afterwards it prints\n%s\nand not\n%s", name, got, want)
				}
				restore()
			}
		})
	}
}
