package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"path/filepath"
	"strconv"
)

// statFile holds the modification times of the files of one index, for the bootstrap diff of watch:
//
//	{"version":1,"index":"SHA-256 of the index file, hexadecimal","files":{"cmd/main.go":1704164645000000000}}
//
// Times are nanoseconds since 1970, sorted by path. It lies in cache/stat.json beside an index in a
// .ctxt folder, and in INDEX.stat beside any other. It is derived: a missing, broken or foreign one
// means that no times are known, and every file counts as changed.
type statFile struct {
	Version int              `json:"version"`
	Index   string           `json:"index"`
	Files   map[string]int64 `json:"files"`
}

const statVersion = 1

func statPath(index string) string {
	dir := filepath.Dir(index)
	if filepath.Base(dir) == Dir && filepath.Base(index) == filepath.Base(IndexFile) {
		return filepath.Join(dir, "cache", "stat.json")
	}
	return index + ".stat"
}

func loadStat(index string, sum [sha256.Size]byte, x *Index) {
	data, err := ReadFile(statPath(index), MaxIndexBytes)
	if err != nil {
		return
	}
	var s statFile
	if json.Unmarshal(data, &s) != nil || s.Version != statVersion || s.Index != digest(sum) {
		return
	}
	x.Walk(func(n *Node) { n.ModTime = s.Files[n.FullPath] })
}

func saveStat(index string, sum [sha256.Size]byte, x *Index) error {
	var b bytes.Buffer
	b.WriteString(`{"version":` + strconv.Itoa(statVersion) + `,"index":"` + digest(sum) + `","files":{`)
	first := true
	x.Walk(func(n *Node) {
		if n.ModTime == 0 {
			return
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteByte('\n')
		writeString(&b, n.FullPath)
		b.WriteByte(':')
		b.WriteString(strconv.FormatInt(n.ModTime, 10))
	})
	b.WriteString("\n}}\n")
	return WriteFile(statPath(index), b.Bytes(), 0o644)
}
