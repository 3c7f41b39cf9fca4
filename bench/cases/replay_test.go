package cases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const good = `{"repo":"o/n","sha":"s","base":"b","title":"t","body":"x","gold":["a.go"],"number":7,"added":[]}`

func TestReadReplay(t *testing.T) {
	got, err := ReadReplay(strings.NewReader("\n" + good + "\r\n\n" + good))
	if err != nil {
		t.Fatal(err)
	}
	want := Replay{Repo: "o/n", SHA: "s", Base: "b", Title: "t", Body: "x", Gold: []string{"a.go"}}
	if d := cmp.Diff([]Replay{want, want}, got); d != "" {
		t.Error(d)
	}
}

func TestReadReplayErrors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "no cases"},
		{"blank", "\n \n", "no cases"},
		{"array", good + "\n[]", "line 2: not a JSON object"},
		{"cut", good + "\n\n" + `{"repo":`, "line 3: not a JSON object"},
		{"two", good + good, "line 1: not a JSON object"},
		{"type", `{"base":"b","title":1}`, `line 1: field "title": want a string, got number`},
		{"gold type", `{"base":"b","title":"t","gold":"a"}`, `line 1: field "gold": want an array, got string`},
		{"no base", `{"title":"t","gold":["a"]}`, `field "base"`},
		{"no text", `{"base":"b","gold":["a"]}`, `fields "title" and "body"`},
		{"no gold", `{"base":"b","title":"t"}`, `field "gold"`},
		{"empty gold", `{"base":"b","title":"t","gold":["a",""]}`, `empty path at position 1`},
		{"many gold", `{"base":"b","title":"t","gold":[` + strings.Repeat(`"a",`, MaxGold) + `"a"]}`, "more than 1000 files"},
		{"long", `{"base":"` + strings.Repeat("b", MaxReplayLine) + `"}`, "longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadReplay(strings.NewReader(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestOpenReplayNamesTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(file, []byte(good+"\n{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := OpenReplay(file)
	if err == nil || !strings.HasPrefix(err.Error(), file+`:2: field "base"`) {
		t.Errorf("error %v", err)
	}
}

func FuzzReadReplay(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"gold":[null],"base":"b","title":"` + "\xff" + `"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		cs, err := ReadReplay(strings.NewReader(string(b)))
		if err == nil && len(cs) == 0 {
			t.Error("no cases and no error")
		}
	})
}
