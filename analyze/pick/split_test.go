package pick

import (
	"os"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"
)

// TestCountIsTheCodecs holds the own cutting and joining against the codec's, on texts made of what the
// expression tells apart. Not with DEL: the codec's expression cuts some texts with it wrongly.
func TestCountIsTheCodecs(t *testing.T) {
	ref := codec.NewCl100kBase()
	parts := rapid.SampledFrom([]string{
		"a", "Ab", "x1", "é", "ſ", "漢", "ß", "'", "'s", "'S", "'ſ", "'re", "'Re", "'ll", "'t", "1", "22", "4444", "½", "٣",
		" ", "  ", "\t", "\n", "\r\n", "\r", "\n\n", "\n\t\t\n", "\u00a0", "\u2003", "\u0085", "\v", ".", "//", "{}", "_", "-", "€", "\u200b", "\ufffd", "e\u0301", "\x00", "$a", "😀", "\xff", "word", "func main()",
	})
	rapid.Check(t, func(rt *rapid.T) {
		s := strings.Join(rapid.SliceOfN(parts, 0, 40).Draw(rt, "parts"), "")
		want, err := ref.Count(s)
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := CountTokens(s); err != nil || got != want {
			rt.Fatalf("%q has %d tokens (%v), want %d", s, got, err, want)
		}
	})
}

// TestVocabulary checks that the file holds the codec's vocabulary. UPDATE=1 makes it anew.
func TestVocabulary(t *testing.T) {
	ref := codec.NewCl100kBase()
	var b strings.Builder
	for id := range uint(vocabularySize) {
		token, err := ref.Decode([]uint{id})
		if err != nil || token == "" || len(token) > 255 {
			t.Fatalf("token %d: %q, %v", id, token, err)
		}
		b.WriteByte(byte(len(token)))
		b.WriteString(token)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("cl100k_base.tokens", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return // what is linked is the file of before
	}
	if b.String() != tokenFile {
		t.Error("cl100k_base.tokens is not the codec's vocabulary; UPDATE=1 makes it anew")
	}
	for _, damaged := range []string{"", tokenFile[:len(tokenFile)-1], tokenFile + "\x01a", "\x00" + tokenFile, tokenFile[2:]} {
		if _, err := parseVocabulary(damaged); err == nil {
			t.Errorf("a vocabulary of %d bytes is accepted", len(damaged))
		}
	}
}

// TestLongPieces holds both ways of joining against the codec, on pieces around and far above the length
// at which they change.
func TestLongPieces(t *testing.T) {
	ref := codec.NewCl100kBase()
	v, err := encoding()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("aeinrstlöß漢")), 2, 300, -1).Draw(rt, "letters")
		want, err := ref.Count(s)
		if err != nil {
			rt.Fatal(err)
		}
		if got := v.tokens(s); got != want {
			rt.Fatalf("%q has %d tokens, want %d", s, got, want)
		}
		if got := v.join(s); len(s) > 1 && got != want {
			rt.Fatalf("%q has %d tokens when joined by the heap, want %d", s, got, want)
		}
	})
	long := strings.Repeat("abcdefghij", 100_000) // a megabyte without a cut
	if n := v.tokens(long); n < 10_000 || n > 1_000_000 {
		t.Errorf("%d tokens", n)
	}
}

func FuzzCountTokens(f *testing.F) {
	ref := codec.NewCl100kBase()
	f.Add("a 'll\n\n x1234 \t y\u00a0\u00a0z'ſ")
	f.Add("\r\n \r\n\tif (x) { return 0; }  \n")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4096 || strings.ContainsRune(s, 0x7f) {
			return
		}
		want, err := ref.Count(s)
		if err != nil {
			return
		}
		if got, err := CountTokens(s); err != nil || got != want {
			t.Fatalf("%q has %d tokens (%v), want %d", s, got, err, want)
		}
	})
}
