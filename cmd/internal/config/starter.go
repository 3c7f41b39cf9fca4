package config

import (
	_ "embed" // the starter file
	"os"
	"path/filepath"
	"strings"
)

// Starter is the file that config init and a first init write. It documents every key and parses to
// the defaults.
//
//go:embed starter.toml
var Starter string

// StarterFor is the starter file for a root folder. Where .codeledger/config.json is, the selector's
// keys are commented out: given here, the defaults would overrule that file.
func StarterFor(root string) string {
	if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(CodeledgerFile))); err != nil {
		return Starter
	}
	var b strings.Builder
	selector := false
	for line := range strings.Lines(Starter) {
		if strings.HasPrefix(line, "[") {
			selector = strings.HasPrefix(line, "[selector")
		}
		if selector && line != "\n" && !strings.HasPrefix(line, "#") {
			b.WriteString("# ")
		}
		b.WriteString(line)
	}
	return b.String()
}
