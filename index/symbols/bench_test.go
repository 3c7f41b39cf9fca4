package symbols

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkExtract reads each sample by each mode; bytes a second and allocations are the result.
//
//	go test -bench . ./index/symbols
func BenchmarkExtract(b *testing.B) {
	for _, file := range samples(b) {
		src, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		lang := Language(file)
		for _, mode := range []Mode{Auto, Regex} {
			b.Run(filepath.Base(file)+"/"+string(mode), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					Extract(lang, src, mode)
				}
			})
		}
	}
}
