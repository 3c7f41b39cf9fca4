package ignore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		name    string
		o       Options
		ignored []string // a trailing slash means a folder
		kept    []string
	}{
		{name: "built-in", ignored: []string{".git/", ".venv/", "lib/site-packages/", "a/__pycache__/", "node_modules/", "vendor/",
			"dist/", "db/migrations/", "pb_migrations/", "alembic/", "flyway/", "a/vendor/b/c.go", "dist"},
			kept: []string{"src/", "src/vendored.go", "distribution/a.go", "main.go"}},
		{name: "no defaults", o: Options{NoDefaults: true}, kept: []string{"vendor/", "dist/x.js"}},
		{name: "dot files", ignored: []string{".env", ".cache/", ".cache/a.go", "a/.hidden/b.go", "a/.b"},
			kept: []string{".env.example", ".prettierrc", ".editorconfig", "a/.prettierrc.json", ".gitignore"}},
		{name: "dot whitelist", o: Options{DotWhitelist: []string{".github", ".my*"}},
			ignored: []string{".gitlab/"}, kept: []string{".github/workflows/ci.yml", ".mything", ".editorconfig"}},
		{name: "dots kept", o: Options{KeepDots: true}, ignored: []string{".git/config"}, kept: []string{".github/x", ".env"}},
		{name: "whitelisted, explicitly ignored", o: Options{Gitignore: []byte(".prettierrc\n"), Ignore: []string{".editorconfig"}},
			ignored: []string{".prettierrc", ".editorconfig"}, kept: []string{".env.example"}},
		{name: "configured", o: Options{Ignore: []string{"generated", "*.pb.go", "/docs/api", "tmp/"}},
			ignored: []string{"a/generated/x.go", "a/x.pb.go", "docs/api/a.md", "x/tmp/", "x/tmp/a"},
			kept:    []string{"x/docs/api/a.md", "tmp", "x.go"}},
		{name: "ordered negation", o: Options{Gitignore: []byte("*.log\n!keep.log\nlast/*.log\n")},
			ignored: []string{"a.log", "x/b.log", "last/keep.log"}, kept: []string{"keep.log", "x/keep.log"}},
		{name: "negation below an excluded folder", o: Options{Gitignore: []byte("build/\n!build/keep.go\n")},
			ignored: []string{"build/keep.go", "build/"}, kept: []string{"build"}},
		{name: "negation of the content form", o: Options{Gitignore: []byte("build/*\n!build/keep.go\n")},
			ignored: []string{"build/a.go"}, kept: []string{"build/keep.go", "build/"}},
		{name: "negation of built-in and configured", o: Options{Gitignore: []byte("!vendor\n!gen\n!.env\n"), Ignore: []string{"gen"}},
			ignored: []string{"vendor/", "gen/", ".env"}},
		{name: "rooted", o: Options{Gitignore: []byte("/top\nsub/only\n")},
			ignored: []string{"top", "top/a", "sub/only"}, kept: []string{"a/top", "a/sub/only"}},
		{name: "folders only", o: Options{Gitignore: []byte("out/\n")},
			ignored: []string{"out/", "a/out/b"}, kept: []string{"out", "a/out"}},
		{name: "two asterisks", o: Options{Gitignore: []byte("**/foo\nbar/**\na/**/b\nx**y\n")},
			ignored: []string{"foo", "q/r/foo", "bar/z", "bar/z/y", "a/b", "a/c/d/b", "x1y"},
			kept:    []string{"bar/", "z/bar/y", "a/bc", "x/y"}},
		{name: "wildcards", o: Options{Gitignore: []byte("?.txt\n[a-c].md\n[!x].c\nf[o/]o\n")},
			ignored: []string{"a.txt", "b.md", "y.c", "foo"}, kept: []string{"ab.txt", "d.md", "x.c", "f/o"}},
		{name: "quoting", o: Options{Gitignore: []byte("\\#a\n\\!b\nspace\\ \ntrail   \n\\*star\n")},
			ignored: []string{"#a", "!b", "space ", "trail", "*star"}, kept: []string{"xstar", "space"}},
		{name: "line ends", o: Options{Gitignore: []byte("\ufeffone\r\n\r\n# two\r\nthree\r\n")},
			ignored: []string{"one", "three"}, kept: []string{"two", "# two"}},
		{name: "the root", o: Options{Gitignore: []byte("*\n")}, kept: []string{"."}, ignored: []string{"a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := New(tt.o)
			if w := r.Warnings(); len(w) > 0 {
				t.Errorf("warnings: %q", w)
			}
			for _, p := range tt.ignored {
				name, dir := strings.CutSuffix(p, "/")
				if !r.Match(name, dir) {
					t.Errorf("%q is kept", p)
				}
			}
			for _, p := range tt.kept {
				name, dir := strings.CutSuffix(p, "/")
				if r.Match(name, dir) {
					t.Errorf("%q is ignored", p)
				}
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	r := New(Options{
		Gitignore: []byte("[abc\n" + strings.Repeat("x", MaxLength+1) + "\n" + strings.Repeat("p\n", MaxPatterns+5)),
		Ignore:    []string{"!vendor"},
	})
	want := []string{
		`ignore pattern "!vendor": only .gitignore can negate; the pattern is not used`,
		`.gitignore: pattern "[abc" is not used: a bracket is not closed`,
		`.gitignore: pattern 2 is longer than 512 bytes and is not used`,
		`.gitignore: more than 2000 patterns; the last 5 are not used`,
	}
	if got := r.Warnings(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestAgainstGit compares with git check-ignore on generated patterns and paths.
func TestAgainstGit(t *testing.T) {
	repo := gittest.New(t)
	atom := rapid.SampledFrom([]string{"a", "b", "ab", "*", "?", "**", "[ab]", "[!a]", "[/a]", "[a-c]", "\\a", "c.x", "*.x"})
	// "a**" is left out: git strips the literal head of a pattern and then reads the rest as "**".
	segment := rapid.Custom(func(t *rapid.T) string {
		atoms := rapid.SliceOfN(atom, 1, 2).Draw(t, "atoms")
		if slices.Contains(atoms, "**") || strings.Join(atoms, "") == "**" {
			return "**"
		}
		return strings.Join(atoms, "")
	})
	line := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(segment, 1, 3).Draw(t, "segments"), "/")
		return rapid.SampledFrom([]string{"", "", "!"}).Draw(t, "not") + rapid.SampledFrom([]string{"", "", "/"}).Draw(t, "root") +
			s + rapid.SampledFrom([]string{"", "", "/"}).Draw(t, "dir")
	})
	name := rapid.SampledFrom([]string{"a", "b", "ab", "abc", "c.x", "aa", "z"})
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(line, 1, 5).Draw(rt, "lines")
		var paths []string
		for range 12 {
			paths = append(paths, strings.Join(rapid.SliceOfN(name, 1, 4).Draw(rt, "path"), "/"))
		}
		text := strings.Join(lines, "\n") + "\n"
		repo.Write(".gitignore", text)
		cmd := exec.Command("git", "-C", repo.Dir, "check-ignore", "--no-index", "--stdin", "-z")
		cmd.Env = append(os.Environ(), "HOME="+repo.Dir, "XDG_CONFIG_HOME="+repo.Dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
			rt.Fatal(err)
		}
		ignored := strings.Split(string(out), "\x00")
		r := New(Options{Gitignore: []byte(text), NoDefaults: true, KeepDots: true})
		for _, p := range paths {
			if got, want := r.Match(p, false), slices.Contains(ignored, p); got != want {
				rt.Fatalf("patterns %q, path %q: ignored %v, git says %v", lines, p, got, want)
			}
		}
	})
}

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"b.go", "a/x.go", "a/.hidden/y.go", "vendor/v.go", "a-b/z.go", "out/o.go", "\xff.go"} {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	for link, to := range map[string]string{"link.go": "/etc/passwd", "a/up": "..", "a/out": outside} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var got []string
	skips, err := New(Options{Gitignore: []byte("/out/\n")}).Walk(context.Background(), root, func(e Entry) error {
		got = append(got, fmt.Sprintf("%s %v %d", e.Path, e.Dir, e.Size))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a true 0", "a/x.go false 2", "a-b true 0", "a-b/z.go false 2", "b.go false 2"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	wantSkips := []Skip{{"a/out", "symbolic link"}, {"a/up", "symbolic link"}, {"link.go", "symbolic link"},
		{"\ufffd.go", "name is not UTF-8"}}
	if !slices.Equal(skips, wantSkips) {
		t.Errorf("skips %q\nwant  %q", skips, wantSkips)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add([]byte("*.log\n!keep.log\n/a/**/b\n"), "a/x/b", false)
	f.Add([]byte("[a-\n[[:alpha:]]\n\\"), "q", true)
	f.Add([]byte("\xff*\n[\xff-\xfe]\n"), "\xff", false)
	f.Add([]byte(strings.Repeat("*a", 200)), strings.Repeat("a", 300), false)
	f.Fuzz(func(t *testing.T, gitignore []byte, path string, dir bool) {
		if path = strings.Trim(path, "/"); path == "" || strings.Contains(path, "//") {
			return
		}
		r := New(Options{Gitignore: gitignore})
		got := r.Match(path, dir)
		if again := r.Match(path, dir); again != got {
			t.Errorf("two answers for %q", path)
		}
		if i := strings.LastIndexByte(path, '/'); i > 0 && r.Match(path[:i], true) && !got {
			t.Errorf("%q is kept inside an ignored folder", path)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, "name%d\n*.e%d\n/root%d/**/x\n", i, i, i)
	}
	r := New(Options{Gitignore: []byte(lines.String())})
	for b.Loop() {
		r.Match("src/internal/package/file.go", false)
	}
}
