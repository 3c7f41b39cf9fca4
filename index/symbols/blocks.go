package symbols

import (
	"bytes"
)

// block is a part of a file that holds TypeScript or JavaScript.
type block struct {
	from, to int // bytes
	line     int // lines before it
}

// blockLanguage reports whether the language holds its code in blocks.
func blockLanguage(lang string) bool { return lang == "vue" || lang == "svelte" || lang == "astro" }

// scriptBlocks finds the <script> elements and, for Astro, the frontmatter. It reads src once.
func scriptBlocks(lang string, src []byte) []block {
	var blocks []block
	at := 0
	if lang == "astro" {
		if b, ok := frontmatter(src); ok {
			blocks = append(blocks, b)
			at = b.to
		}
	}
	for len(blocks) < 100 {
		i := indexFold(src[at:], "<script")
		if i < 0 {
			break
		}
		tag := at + i + len("<script")
		if tag < len(src) && isWordByte(src[tag]) {
			at = tag
			continue
		}
		gt := tagEnd(src, tag)
		if gt < 0 {
			break
		}
		from := gt + 1
		end := indexFold(src[from:], "</script")
		to := len(src)
		if end >= 0 {
			to = from + end
		}
		if src[gt-1] != '/' {
			blocks = append(blocks, block{from: from, to: to})
		} else {
			to = from
		}
		at = to
	}
	line, last := 0, 0
	for i := range blocks {
		line += bytes.Count(src[last:blocks[i].from], []byte{'\n'})
		last = blocks[i].from
		blocks[i].line = line
	}
	return blocks
}

// frontmatter is the part between the first two lines that are "---".
func frontmatter(src []byte) (block, bool) {
	trimmed := bytes.TrimLeft(src, " \t\r\n")
	if !bytes.HasPrefix(trimmed, []byte("---")) {
		return block{}, false
	}
	from := len(src) - len(trimmed) + 3
	end := bytes.Index(src[from:], []byte("\n---"))
	if end < 0 {
		return block{}, false
	}
	return block{from: from, to: from + end}, true
}

// tagEnd is the index of the ">" that ends a tag, quotes respected; -1 when there is none.
func tagEnd(src []byte, at int) int {
	var quote byte
	for i := at; i < len(src) && i < at+4096; i++ {
		switch c := src[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i
		}
	}
	return -1
}

// indexFold is bytes.Index for an ASCII tag opener such as "<script", letter case ignored.
func indexFold(src []byte, tag string) int {
	for at := 0; ; {
		i := bytes.IndexByte(src[at:], tag[0])
		if i < 0 || at+i+len(tag) > len(src) {
			return -1
		}
		if bytes.EqualFold(src[at+i:at+i+len(tag)], []byte(tag)) {
			return at + i
		}
		at += i + 1
	}
}
