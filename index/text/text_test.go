package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func texts(s string) (out []string) {
	for _, t := range NewTokenizer().Terms(s) {
		if t.Compound() {
			out = append(out, "="+t.Text)
		} else {
			out = append(out, t.Text)
		}
	}
	return out
}

func TestTerms(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"Fix the parser", "fix the parser"},
		{"HTTPServer", "=httpserver http server"},
		{"foo_bar fooBar FooBar", "=foobar foo bar =foobar foo bar =foobar foo bar"},
		{"userIDs URLs", "=userids user ids urls"},
		{"utf8Decode", "=utf8decode utf8 decode"},
		{"a b c", ""},
		{"x_y", "=xy"},
		{"__init__", "init"},
		{"données réelles", "données réelles"},
		{"検索する", "検索 索す する"},
		{"bad\xffbyte", "bad byte"},
		{strings.Repeat("a", 97) + " ok", "ok"},
	} {
		if got := strings.Join(texts(c.in), " "); got != c.want {
			t.Errorf("Terms(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestSpellingsMeet(t *testing.T) {
	tk := NewTokenizer()
	for _, s := range []string{"fooBar", "FooBar", "foo_bar", "FOO_BAR"} {
		if got := tk.Hashes(s)[0]; got != CompoundHash("foobar") {
			t.Errorf("%s: compound %x, want %x", s, got, CompoundHash("foobar"))
		}
	}
	if a, b := tk.Hashes("parsing")[0], tk.Hashes("parsed")[0]; a != b {
		t.Errorf("parsing and parsed do not meet: %x %x", a, b)
	}
}

func TestLines(t *testing.T) {
	_, lines := NewTokenizer().Document([]byte("one two\n\nthree"))
	if d := cmp.Diff([]uint32{0, 2, 2, 3}, lines); d != "" {
		t.Error(d)
	}
	_, lines = NewTokenizer().Document([]byte("one\n"))
	if d := cmp.Diff([]uint32{0, 1}, lines); d != "" {
		t.Error(d)
	}
	_, lines = NewTokenizer().Document(nil)
	if d := cmp.Diff([]uint32{0}, lines); d != "" {
		t.Error(d)
	}
}

// Document and Terms are one tokenizer: the same terms in the same order, whatever came before.
func TestDocumentAndTermsAgree(t *testing.T) {
	shared := NewTokenizer()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		got := shared.Hashes(s)
		var want []uint32
		for _, term := range NewTokenizer().Terms(s) {
			want = append(want, term.Hash)
		}
		if len(got)+len(want) > 0 && !cmp.Equal(got, want) {
			t.Fatalf("%q: document %x, terms %x", s, got, want)
		}
	})
}

func FuzzDocument(f *testing.F) {
	for _, s := range []string{"", "fooBar\nbaz_qux", "\xff\xfe\n", "検索する\n\n", strings.Repeat("aB", 60), "IDs"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		terms, lines := NewTokenizer().Document(src)
		for i := 1; i < len(lines); i++ {
			if lines[i] < lines[i-1] {
				t.Fatal("lines go back")
			}
		}
		if int(lines[len(lines)-1]) != len(terms) {
			t.Fatal("last line does not end the terms")
		}
		_ = NewTokenizer().Terms(string(src))
	})
}

func BenchmarkDocument(b *testing.B) {
	src := []byte(strings.Repeat("func (s *Server) handleRequest(ctx context.Context, req *http.Request) error {\n\treturn s.writeResponse(ctx, req.URL.Path)\n}\n", 100))
	tk := NewTokenizer()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		tk.Document(src)
	}
}
