package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
)

// Cache is ctx_cache.json, version 2: the synonyms that were generated, by project-relative path.
//
//	{"version":2,"entries":{
//	"billing/routes/index.ts":{"fingerprint":"9f2c…","synonyms":["billing routes","invoices"]}
//	}}
//
// Entries are sorted by path, one a line. fingerprint is the hexadecimal SHA-256 of what the
// generation was told about the entry (symbols and imports); package synonyms computes it.
type Cache struct {
	Version int                   `json:"version"`
	Entries map[string]CacheEntry `json:"entries"`
}

// CacheEntry is what was generated for one path.
type CacheEntry struct {
	Fingerprint string   `json:"fingerprint"`
	Synonyms    []string `json:"synonyms"`
}

// NewCache makes an empty cache.
func NewCache() *Cache { return &Cache{Version: Version, Entries: map[string]CacheEntry{}} }

// LoadCache reads a synonym cache. A file that does not exist is an empty cache.
func LoadCache(file string) (*Cache, error) {
	data, err := ReadFile(file, MaxCacheBytes)
	if IsNotExist(err) {
		return NewCache(), nil
	}
	if err != nil {
		return nil, err
	}
	c := new(Cache)
	if err := decode(file, data, c, rebuildCache(file)); err != nil {
		return nil, err
	}
	if c.Entries == nil {
		c.Entries = map[string]CacheEntry{}
	}
	for p := range c.Entries {
		if p == "" || p != path.Clean(p) || path.IsAbs(p) || p == ".." || len(p) > 2 && p[:3] == "../" {
			return nil, fmt.Errorf("%s: entry %q is not a clean project-relative path; %s", file, p, rebuildCache(file))
		}
	}
	return c, nil
}

// SaveCache writes a synonym cache.
func SaveCache(file string, c *Cache) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"version\":%d,\"entries\":{", Version)
	for i, p := range sortedKeys(c.Entries) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		writeString(&b, p)
		e := c.Entries[p]
		if e.Synonyms == nil {
			e.Synonyms = []string{}
		}
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode entry %q of %s: %w", p, file, err)
		}
		b.WriteByte(':')
		b.Write(line)
	}
	b.WriteString("\n}}\n")
	return WriteFile(file, b.Bytes(), 0o644)
}

func rebuildCache(file string) string {
	return fmt.Sprintf("remove it and rebuild with: rm %q && ctxt init .", file)
}
