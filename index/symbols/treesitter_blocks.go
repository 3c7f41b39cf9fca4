//go:build cgo

package symbols

// parseBlocks reads the script blocks of a Vue, Svelte or Astro file by the TypeScript grammar.
func parseBlocks(b *builder, lang string, src []byte) string {
	for _, block := range scriptBlocks(lang, src) {
		if fault := parseAt(b, grammars["typescript"], src[block.from:block.to], block.line); fault != "" {
			return fault
		}
	}
	return ""
}
