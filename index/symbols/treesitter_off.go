//go:build !cgo

package symbols

// HasTreeSitter reports whether this build holds the tree-sitter grammars, which need cgo.
func HasTreeSitter() bool { return false }

func canParse(string) bool { return false }

func parse(*builder, string, []byte) string { return "built without cgo" }
