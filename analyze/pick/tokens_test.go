package pick

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// estimateByByte is the estimate as its comment tells it, byte by byte.
func estimateByByte(line string) int {
	n, letters, digits, marks := 1, 0, 0, 0
	flush := func() {
		n += (letters+5)/6 + (digits+2)/3 + (marks+1)/2
		letters, digits, marks = 0, 0, 0
	}
	space := true // leading indentation costs one token
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == ' ' || c == '\t':
			if space && i == 0 {
				n++
			}
			flush()
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			if digits+marks > 0 || c <= 'Z' && i > 0 && line[i-1] >= 'a' && line[i-1] <= 'z' {
				flush()
			}
			letters++
		case c >= '0' && c <= '9':
			if letters+marks > 0 {
				flush()
			}
			digits++
		case c >= 0x80:
			marks += 2
		default:
			if letters+digits > 0 {
				flush()
			}
			marks++
		}
	}
	flush()
	return n
}

func TestEstimate(t *testing.T) {
	for line, want := range map[string]int{"": 1, "\n": 2, "foo\n": 3, "  return fooBar(x, 1234)\n": 11} {
		if got := estimate(line); got != want || got != estimateByByte(line) {
			t.Errorf("%q: %d, by byte %d, want %d", line, got, estimateByByte(line), want)
		}
	}
	alphabet := []rune("aabbZZ 09\t\n_({é漢")
	rapid.Check(t, func(t *rapid.T) {
		line := string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 40).Draw(t, "line"))
		line = line[rapid.IntRange(0, len(line)).Draw(t, "from"):] // it may begin within a character
		if got, want := estimate(line), estimateByByte(line); got != want {
			t.Fatalf("%q: %d, want %d", line, got, want)
		}
	})
}

// A file's lines and their costs are those of its text cut at the line ends.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.SampledFrom([]rune("aZ 0\t\n\n\r_({é")), 0, 60).Draw(t, "text"))
		lines := strings.SplitAfter(s, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		got := newText([]byte(s))
		if got.count() != len(lines) {
			t.Fatalf("%q: %d lines, want %d", s, got.count(), len(lines))
		}
		for i, l := range lines {
			if got.join(i+1, i+1) != l || got.cost(i+1, i+1) != estimateByByte(l) {
				t.Fatalf("%q: line %d is %q for %d tokens, want %q for %d", s, i+1, got.join(i+1, i+1), got.cost(i+1, i+1), l, estimateByByte(l))
			}
		}
		if n := len(lines); n > 0 && got.join(1, n) != s {
			t.Fatalf("%q joined is %q", s, got.join(1, n))
		}
	})
}

// The vocabulary finds each token at its place, and nothing else.
func TestVocabularyTable(t *testing.T) {
	v, err := parseVocabulary(tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	last, ok := uint32(0), false
	for at, n := 0, 0; at < len(tokenFile); n++ {
		token := tokenFile[at+1 : at+1+int(tokenFile[at])]
		r, found := v.rank(token)
		if !found || int(r) != at || ok && r <= last {
			t.Fatalf("token %d, %q: rank %d, found %v, want %d", n, token, r, found, at)
		}
		last, ok = r, true
		if _, found := v.rank(token + "\x00\x00\x00"); found {
			t.Fatalf("%q and three NULs is no token", token)
		}
		at += 1 + len(token)
	}
	for _, bad := range []string{"", tokenFile[:len(tokenFile)-1], tokenFile + "\x01a", strings.Replace(tokenFile, "\x01b", "\x01a", 1), "\x00" + tokenFile[1:]} {
		if _, err := parseVocabulary(bad); err == nil {
			t.Errorf("a file of %d bytes: no error", len(bad))
		}
	}
}
