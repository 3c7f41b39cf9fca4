package symbols

import (
	"os"
	"slices"
	"sync"
	"testing"
)

func sortedUnique(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}

func keysOf[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// Every dialect's expressions compile, and languages that share a dialect may be read at once.
func TestDialectsCompile(t *testing.T) {
	var wg sync.WaitGroup
	for lang := range dialectTable() {
		wg.Go(func() {
			d := dialectOf(lang)
			for _, p := range d.patterns {
				if p.re == nil || p.name < 1 {
					t.Errorf("%s: %s is not compiled", lang, p.expr)
				}
			}
		})
	}
	wg.Wait()
	if dialectOf("no such language") != nil {
		t.Error("an unknown language has a dialect")
	}
}
