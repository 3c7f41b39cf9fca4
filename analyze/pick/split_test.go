package pick

import (
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"
)

// TestCountIsTheCodecs holds the own cutting against the codec's, on texts made of what the
// expression tells apart.
func TestCountIsTheCodecs(t *testing.T) {
	ref := codec.NewCl100kBase()
	parts := rapid.SampledFrom([]string{
		"a", "Ab", "x1", "é", "ſ", "漢", "ß", "'", "'s", "'S", "'ſ", "'re", "'Re", "'ll", "'t", "1", "22", "4444", "½", "٣",
		" ", "  ", "\t", "\n", "\r\n", "\r", "\n\n", "\u00a0", "\u2003", "\u0085", "\v", ".", "//", "{}", "_", "-", "€", "\u200b", "\ufffd", "e\u0301", "\x00", "\x7f", "$a", "😀", "\xff", "word", "func main()",
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

func FuzzCountTokens(f *testing.F) {
	ref := codec.NewCl100kBase()
	f.Add("a 'll\n\n x1234 \t y\u00a0\u00a0z'ſ")
	f.Add("\x7f$a")
	f.Add("\r\n \r\n\tif (x) { return 0; }  \n")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4096 {
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
