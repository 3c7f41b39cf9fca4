package job

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is kept of a past, used, damaged, of another history or removed, changes nothing but time.
func TestCachesChangeTimeOnly(t *testing.T) {
	r := upload(t)
	change(r, "fix: retry once more", map[string]string{"retry/retry.go": retrySource(9)})
	o := PROptions{Dir: r.Dir, Base: "main", Head: "topic", FromHead: true}
	want := encode(t, runPR(t, o))
	o.CacheDir = filepath.Join(t.TempDir(), "cache")
	each := func(fn func(path string, data []byte) []byte) {
		t.Helper()
		err := filepath.WalkDir(o.CacheDir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
				return err
			}
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			if data = fn(p, data); data == nil {
				return os.Remove(p)
			}
			return os.WriteFile(p, data, 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(name string) {
		t.Helper()
		if got := encode(t, runPR(t, o)); !bytes.Equal(got, want) {
			t.Errorf("%s: the report differs\n%s\nwant\n%s", name, got, want)
		}
	}
	check("cold")
	kinds := map[string]bool{}
	each(func(p string, data []byte) []byte {
		kinds[filepath.Ext(p)] = true
		return data
	})
	if !kinds[".seg"] || !kinds[".past"] || !kinds[".lines"] {
		t.Fatalf("the cache holds %v", kinds)
	}
	check("warm")
	each(func(_ string, data []byte) []byte { return data[:len(data)/2] })
	check("cut")
	check("warm after it was cut")
	for at := range 5 {
		each(func(_ string, data []byte) []byte {
			data[(2*at+1)*len(data)/10] ^= 0x55
			return data
		})
		check("flipped")
	}
	each(func(string, []byte) []byte { return []byte("foreign") })
	check("foreign")
	each(func(string, []byte) []byte { return nil })
	check("removed")
	o.Base = "main~2"
	other := o
	other.CacheDir = ""
	if got, want := encode(t, runPR(t, o)), encode(t, runPR(t, other)); !bytes.Equal(got, want) {
		t.Error("another base: the report differs")
	}
}

// A kept past of another history is refused, whatever its checksum says.
func TestDecodeKept(t *testing.T) {
	if _, ok := decodeKept(encodeKept(kept{}), 9); ok {
		t.Error("one without a past is taken")
	}
	if _, ok := decodeKept([]byte{0, 0, 0, 0}, 9); ok {
		t.Error("nothing is taken")
	}
}

func FuzzDecodeKept(f *testing.F) {
	f.Add(encodeKept(kept{}))
	f.Fuzz(func(_ *testing.T, data []byte) { decodeKept(data, 10) })
}
