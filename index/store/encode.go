package store

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// encodeIndex writes the form that Index documents.
func encodeIndex(b *bytes.Buffer, x *Index) {
	b.WriteString(`{"version":`)
	b.WriteString(strconv.Itoa(Version))
	b.WriteString(",\n\"root_path\":")
	writeString(b, x.RootPath)
	b.WriteString(",\n\"timestamp\":")
	writeString(b, x.Timestamp)
	b.WriteString(",\n\"root\":")
	encodeNode(b, x.Root, 0)
	b.WriteString("}\n")
}

func encodeNode(b *bytes.Buffer, n *Node, depth int) {
	b.WriteString(`{"full_path":`)
	writeString(b, n.FullPath)
	b.WriteString(`,"type":`)
	writeString(b, n.Type)
	if n.Size != 0 {
		b.WriteString(`,"size":`)
		b.WriteString(strconv.FormatInt(n.Size, 10))
	}
	writeStrings(b, `,"symbols":`, n.Symbols)
	writeStrings(b, `,"synonyms":`, n.Synonyms)
	if n.Fault != "" {
		b.WriteString(`,"fault":`)
		writeString(b, n.Fault)
	}
	if len(n.Children) > 0 {
		b.WriteString(`,"children":[`)
		for i, c := range n.Children {
			if i > 0 {
				b.WriteByte(',')
			}
			newline(b, depth+1)
			encodeNode(b, c, depth+1)
		}
		newline(b, depth)
		b.WriteByte(']')
	}
	b.WriteByte('}')
}

func newline(b *bytes.Buffer, depth int) {
	b.WriteByte('\n')
	for range depth {
		b.WriteByte(' ')
	}
}

func writeStrings(b *bytes.Buffer, key string, list []string) {
	if len(list) == 0 {
		return
	}
	b.WriteString(key)
	for i, s := range list {
		b.WriteByte("[,"[min(i, 1)])
		writeString(b, s)
	}
	b.WriteByte(']')
}

// writeString writes a JSON string. Plain ASCII, which nearly all is, takes the short way.
func writeString(b *bytes.Buffer, s string) {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // strings always encode
			b.Write(quoted)
			return
		}
	}
	b.WriteByte('"')
	b.WriteString(s)
	b.WriteByte('"')
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
