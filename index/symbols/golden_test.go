package symbols

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// update rewrites the golden files: UPDATE=1 go test ./index/symbols
var update = os.Getenv("UPDATE") != ""

func format(r Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "by %s", r.By)
	if r.Fault != "" {
		fmt.Fprintf(&b, " (%s)", r.Fault)
	}
	b.WriteString("\n")
	for _, s := range r.Symbols {
		name := s.Name
		if s.Recv != "" {
			name = s.Recv + " . " + s.Name
		}
		fmt.Fprintf(&b, "%d-%d %s %s\n", s.Start, s.End, s.Kind, name)
	}
	for _, i := range r.Imports {
		fmt.Fprintf(&b, "%d import %s\n", i.Line, i.Spec)
	}
	return b.String()
}

func samples(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		if !strings.HasSuffix(f, ".golden") {
			names = append(names, f)
		}
	}
	if len(names) < 20 {
		t.Fatalf("%d samples in testdata", len(names))
	}
	return names
}

// TestGolden reads each sample by the best extractor and by the regular expressions.
func TestGolden(t *testing.T) {
	for _, file := range samples(t) {
		for _, mode := range []Mode{Auto, Regex} {
			t.Run(filepath.Base(file)+"/"+string(mode), func(t *testing.T) {
				src, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				lang := Language(file)
				if lang == "" {
					t.Fatal("no language")
				}
				if mode == Auto && !HasGrammar(lang) && IsCode(lang) && !regexOnly[lang] {
					mode = Regex // a build without cgo
					return
				}
				got := format(Extract(lang, src, mode))
				golden := file + "." + string(mode) + ".golden"
				if update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("%s differs; UPDATE=1 rewrites it.\ngot:\n%s\nwant:\n%s", golden, got, want)
				}
			})
		}
	}
}

// regexOnly are the samples' languages that have no grammar in any build.
var regexOnly = map[string]bool{"elixir": true, "dart": true, "protobuf": true, "sql": true, "perl": true, "zig": true}
