package symbols

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// extractors are the languages that have an extractor of any kind.
func extractors() []string {
	var langs []string
	for _, lang := range byExt {
		langs = append(langs, lang)
	}
	return sortedUnique(langs)
}

// hostile are inputs that are known to break or slow parsers.
func hostile() map[string]string {
	rng := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 50_000)
	printable := make([]byte, 50_000)
	const chars = "(){}[]<>\"'`/\\*#@$%&|=+-.,:;!?~^ \n\tabcdefclassfunctiondefimportif0123456789"
	for i := range random {
		random[i] = byte(rng.Uint32())
		printable[i] = chars[rng.IntN(len(chars))]
	}
	words := strings.Fields("class function def if else for while struct enum impl trait fn let const var import from return " +
		"public static { } ( ) [ ] < > ; , . : = => -> :: \" ' ` // /* */ # @ x y z 1 2 3 end do then module namespace template")
	var soup strings.Builder
	for soup.Len() < 20_000 {
		soup.WriteString(words[rng.IntN(len(words))])
		soup.WriteByte(" \n"[rng.IntN(2)])
	}
	deep := func(open, close string, n int) string { return strings.Repeat(open, n) + strings.Repeat(close, n) }
	var indent strings.Builder
	for i := range 600 {
		indent.WriteString(strings.Repeat(" ", i) + "class A:\n")
	}
	return map[string]string{
		"braces":      strings.Repeat("{{", 40_000),
		"parens20k":   deep("(", ")", 20_000),
		"parens200k":  deep("(", ")", 200_000),
		"parens400":   "x = " + deep("(", ")", 400),
		"brackets400": strings.Repeat("a["+"\n", 400) + strings.Repeat("]", 400),
		"longline":    "x = \"" + strings.Repeat("a", 1<<20-10) + "\"",
		"random":      string(random),
		"printable":   string(printable),
		"soup":        soup.String(),
		"unary":       "x = " + strings.Repeat("!", 19_000),
		"minus":       "x = " + strings.Repeat("- ", 9_000) + "1",
		"ifs":         strings.Repeat("if (a)\n", 5_000) + "x;",
		"elseif":      "if (a) {}" + strings.Repeat("\nelse if (a) {}", 5_000),
		"plus":        "x = 1" + strings.Repeat("\n + 1", 10_000),
		"dots":        "x" + strings.Repeat("\n.a()", 10_000),
		"generics":    "x = " + strings.Repeat("a<", 9_000),
		"less":        strings.Repeat("a < b > c\n", 4_000),
		"indent":      indent.String(),
		"heredoc":     strings.Repeat("<<A\n", 3_000) + strings.Repeat("<<"+strings.Repeat("W", 2_000)+"\n", 8),
		"rawstring":   strings.Repeat("r#\"\nR\"abc(\n", 5_000) + "r" + strings.Repeat("#", 2_000) + "\"",
		"templates":   strings.Repeat("`${\n", 300),
		"quotes":      strings.Repeat("\"'`\n", 5_000),
		"comments":    strings.Repeat("/* \n", 4_000),
		"decls":       strings.Repeat("int a;\nvar b = 1\nfunction f() {}\nclass C {}\ndef g():\n  pass\n", 1_000),
		"commas":      "var " + strings.Repeat("a,\n", 10_000),
		"scripts":     strings.Repeat("<script>\n", 5_000),
		"dashes":      "---\n" + strings.Repeat("<script>\nlet x = 1\n</script>\n", 2_000),
		"fields":      "struct S {\n" + strings.Repeat("int a, b, c;\n", 2_000) + "};",
		"stars":       "int " + strings.Repeat("*", 9_000) + "f(void) {}",
		"colons":      "void " + strings.Repeat("A::", 5_000) + "f() {}",
		"nul":         "class A {}\x00class B {}",
		"ruby":        "attr_reader do\nend\nprivate do\nend\nrequire do\nend\nautoload 1\nX = Struct.new\nY ||= Class.new do\nend\n",
		"empty":       "",
		"newlines":    strings.Repeat("\n", 100_000),
		"crlf":        strings.Repeat("class A {\r\n}\r\n", 5_000),
		"bom":         "\xef\xbb\xbfclass A {}\n",
		"surrogates":  strings.Repeat("class \xed\xa0\x80 {}\n", 1_000),
		"macros":      strings.Repeat("m! {\n", 400) + strings.Repeat("}\n", 400),
		"use":         "use " + strings.Repeat("a::{b,\n", 400) + strings.Repeat("}", 400) + ";",
	}
}

// TestHostile feeds every language what is known to break parsers. A test's own bound is generous,
// since it shares its machine: what counts is that the work ends and the result is in range.
func TestHostile(t *testing.T) {
	inputs := hostile()
	for _, lang := range extractors() {
		if dialectOf(lang) == nil && !canParse(lang) {
			continue
		}
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			for _, name := range sortedUnique(keysOf(inputs)) {
				src := []byte(inputs[name])
				if !canParse(lang) && len(src) > 50_000 {
					continue // the regular expressions read these for the languages with a grammar
				}
				start := time.Now()
				for _, mode := range []Mode{Auto, Regex} {
					check(t, name, src, extract(lang, src, mode, 50*time.Millisecond))
				}
				if d := time.Since(start); d > time.Minute {
					t.Errorf("%s took %v", name, d)
				}
			}
		})
	}
}

// check reports lines out of range and symbols out of order.
func check(t testing.TB, name string, src []byte, r Result) {
	t.Helper()
	lines := strings.Count(string(src), "\n") + 1
	last := 0
	for _, s := range r.Symbols {
		if s.Start < 1 || s.End < s.Start || s.End > lines || s.Name == "" || s.Start < last {
			t.Fatalf("%s: symbol %+v of a file of %d lines", name, s, lines)
		}
		last = s.Start
	}
	for _, i := range r.Imports {
		if i.Line < 1 || i.Line > lines || i.Spec == "" {
			t.Fatalf("%s: import %+v of a file of %d lines", name, i, lines)
		}
	}
	if len(r.Symbols) > maxSymbols || len(r.Imports) > maxImports {
		t.Fatalf("%s: %d symbols, %d imports", name, len(r.Symbols), len(r.Imports))
	}
}

// TestAfterFault alternates a file whose parse is stopped by its time limit, or that is refused before,
// with a small one, a thousand times in a row: a parser that was stopped goes on with the old file at the
// next one, or refuses it.
func TestAfterFault(t *testing.T) {
	langs := []string{"python", "rust", "typescript", "c", "java"}
	slow := []byte(strings.Repeat("x = f(a, b)[c] + d;\n", 2_000))
	deep := []byte(strings.Repeat("(", 20_000))
	small := []byte("class A {}")
	want := map[string]Result{}
	for _, lang := range langs {
		want[lang] = Extract(lang, small, Auto)
	}
	stopped := 0
	for i := range 1000 {
		lang, bad, limit := langs[i%5], deep, maxTime
		if i%4 == 0 {
			bad, limit = slow, time.Millisecond
		}
		r := extract(lang, bad, Auto, limit)
		if r.Fault == "" && HasTreeSitter() && i%4 != 0 {
			t.Fatalf("%s: no fault", lang)
		}
		if strings.Contains(r.Fault, "time limit") {
			stopped++
		}
		check(t, lang, bad, r)
		r = Extract(lang, small, Auto)
		check(t, lang, small, r)
		if d := cmp.Diff(want[lang], r); d != "" || HasTreeSitter() && r.Fault != "" {
			t.Fatalf("%s: the small file after a stopped one: %+v\n%s", lang, r, d)
		}
	}
	if HasTreeSitter() && stopped < 100 {
		t.Errorf("only %d parses were stopped", stopped)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, lang string
		src        string
		mode       Mode
		by         Mode
		fault      string
	}{
		{"over the grammars' cap", "python", strings.Repeat("a\n", 1<<18+1), Auto, Regex, "larger than 512 KiB"},
		{"a long line", "python", "x = \"" + strings.Repeat("a", 20_000) + "\"\n", Auto, Regex, "a line longer than 20,000 bytes"},
		{"deep for a grammar", "python", strings.Repeat("(\n", 501), Auto, Regex, "nested deeper than 500 brackets"},
		{"binary", "python", "a = 1\x00\n", Auto, Regex, "binary"},
		{"over the cap", "python", strings.Repeat("a\n", 1<<19+1), Auto, Regex, "larger than 1 MiB"},
		{"deep", "go", "package a\nvar x = " + strings.Repeat("(", 600), Auto, Regex, "nested deeper"},
		{"not Go", "go", "nothing", Auto, Regex, "go/parser"},
		{"no grammar", "elixir", "defmodule A do\nend\n", TreeSitter, TreeSitter, "no grammar"},
		{"prose", "markdown", "# Title\n", Auto, Regex, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.lang == "python" && len(c.src) <= maxSize && !canParse(c.lang) {
				c.fault = "" // nothing keeps a file from a grammar that is not there
			}
			r := Extract(c.lang, []byte(c.src), c.mode)
			if r.By != c.by || (r.Fault == "") != (c.fault == "") || !strings.Contains(r.Fault, c.fault) {
				t.Errorf("by %s, fault %q; want %s, %q", r.By, r.Fault, c.by, c.fault)
			}
		})
	}
}

func FuzzTreeSitter(f *testing.F) {
	langs := parsed()
	seed(f, langs)
	f.Fuzz(func(t *testing.T, lang uint8, src []byte) {
		if len(src) > 1<<16 {
			return
		}
		l := langs[int(lang)%len(langs)]
		check(t, l, src, Extract(l, src, Auto))
	})
}

func FuzzRegex(f *testing.F) {
	langs := extractors()
	seed(f, langs)
	f.Fuzz(func(t *testing.T, lang uint8, src []byte) {
		if len(src) > 1<<16 {
			return
		}
		l := langs[int(lang)%len(langs)]
		check(t, l, src, Extract(l, src, Regex))
	})
}

func FuzzGo(f *testing.F) {
	seed(f, []string{"go"})
	f.Fuzz(func(t *testing.T, _ uint8, src []byte) { check(t, "go", src, Extract("go", src, Auto)) })
}

// seed adds the samples of the languages, and the hostile inputs that are small.
func seed(f *testing.F, langs []string) {
	for i, lang := range langs {
		for _, file := range samples(f) {
			if Language(file) == lang {
				f.Add(uint8(i), read(f, file))
			}
		}
	}
	inputs := hostile()
	for _, name := range sortedUnique(keysOf(inputs)) {
		if src := inputs[name]; len(src) < 10_000 {
			f.Add(uint8(0), []byte(src))
		}
	}
}

// parsed are the languages with a grammar, or all of them in a build without.
func parsed() []string {
	var langs []string
	for _, lang := range extractors() {
		if canParse(lang) {
			langs = append(langs, lang)
		}
	}
	if len(langs) == 0 {
		return extractors()
	}
	return langs
}

func TestHasTreeSitter(t *testing.T) {
	if got := len(parsed()) == len(extractors()); got == HasTreeSitter() {
		t.Errorf("HasTreeSitter() = %v with %d of %d languages", HasTreeSitter(), len(parsed()), len(extractors()))
	}
}

func ExampleExtract() {
	r := Extract("go", []byte("package a\n\nimport \"fmt\"\n\nfunc (t *T) Print() { fmt.Println(t) }\n"), Auto)
	for _, s := range r.Symbols {
		fmt.Println(s.Kind, s.Recv, s.Name, s.Start, s.End)
	}
	for _, i := range r.Imports {
		fmt.Println("import", i.Spec)
	}
	// Output:
	// method T Print 5 5
	// import fmt
}

// TestIncomplete reads each sample cut off at many places, and with single bytes taken out.
func TestIncomplete(t *testing.T) {
	for _, file := range samples(t) {
		src, lang := read(t, file), Language(file)
		step := max(len(src)/40, 1)
		for at := 0; at < len(src); at += step {
			check(t, file, src[:at], Extract(lang, src[:at], Auto))
			cut := append(append([]byte{}, src[:at]...), src[at+1:]...)
			check(t, file, cut, Extract(lang, cut, Auto))
		}
	}
}
