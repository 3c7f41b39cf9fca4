package index

import (
	"path"
	"strings"

	"github.com/ctxt-dev/ctxt/index/symbols"
)

// RoleOf says what a file is for, by its path alone.
func RoleOf(p string) Role {
	lower := strings.ToLower(p)
	base := path.Base(lower)
	lang := symbols.Language(p)
	switch {
	case generated(lower, base):
		return Generated
	case isCode(lang, base):
		if testPath(p, lower, base) {
			return Test
		}
		return Source
	case strings.HasPrefix(base, "readme") || strings.HasPrefix(base, "changelog") || strings.HasPrefix(base, "license") || documents[path.Ext(base)]:
		return Document
	case configs[path.Ext(base)] || configNames[base] || strings.HasPrefix(lower, ".github/"):
		return Config
	}
	return Other
}

// Code reports whether the role is that of program text that people write.
func (r Role) Code() bool { return r == Source || r == Test }

// moreCode are extensions of program text that symbols need not know.
var moreCode = set(".tcl", ".m", ".mm", ".vue", ".svelte", ".astro", ".sql", ".proto", ".graphql", ".r", ".jl", ".hs", ".erl", ".ex", ".exs", ".clj", ".dart", ".zig", ".nim", ".pl", ".pm", ".s", ".asm", ".fs", ".vb", ".groovy", ".gradle", ".kts", ".sh", ".blade.php")

var documents = set(".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".asciidoc", ".org", ".tex", ".pod", ".1", ".8")

var configs = set(".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".xml", ".properties", ".lock", ".sum", ".mod", ".env", ".editorconfig", ".csv", ".tsv", ".svg", ".html", ".css", ".scss", ".less", ".sass", ".styl")

var configNames = set("makefile", "dockerfile", "cmakelists.txt", "go.mod", "go.sum", "package.json", ".gitignore", ".gitattributes", ".npmrc", ".nvmrc", "gemfile", "rakefile", "procfile", "codeowners", "jenkinsfile")

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

func isCode(lang, base string) bool {
	return symbols.IsCode(lang) || moreCode[path.Ext(base)]
}

// generated recognises vendored, minified and generated files by their customary names.
func generated(lower, base string) bool {
	for _, dir := range [...]string{"node_modules/", "vendor/", "third_party/", "bower_components/", "dist/"} {
		if strings.HasPrefix(lower, dir) || dir != "dist/" && strings.Contains(lower, "/"+dir) {
			return true
		}
	}
	for _, end := range [...]string{".min.js", ".min.css", ".pb.go", "_pb2.py", ".pb.cc", ".pb.h", ".generated.go", "_generated.go", ".g.dart", ".map", ".snap", "-lock.json", "-lock.yaml", ".lock", "go.sum"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return strings.HasPrefix(base, "zz_generated.")
}

// testPath recognises test code by its customary folders and names.
func testPath(p, lower, base string) bool {
	dir := "/" + path.Dir(lower) + "/"
	for _, d := range [...]string{"/test/", "/tests/", "/__tests__/", "/spec/", "/specs/", "/testdata/", "/fixtures/", "/e2e/", "/__mocks__/", "/testing/", "/androidtest/", "/jvmtest/", "/commontest/"} {
		if strings.Contains(dir, d) {
			return true
		}
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	if strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") ||
		strings.HasSuffix(stem, "_spec") || strings.HasPrefix(stem, "test_") || stem == "conftest" || strings.HasSuffix(stem, ".test-d") {
		return true
	}
	orig := strings.TrimSuffix(path.Base(p), path.Ext(p))
	switch path.Ext(base) {
	case ".java", ".kt", ".php", ".cs", ".scala", ".swift", ".groovy":
		return strings.HasSuffix(orig, "Test") || strings.HasSuffix(orig, "Tests") || strings.HasSuffix(orig, "Spec") || strings.HasSuffix(orig, "TestCase")
	}
	return false
}

// Stem is a path's base name without extensions and without test affixes, lower case: what a test
// and its source have in common.
func Stem(p string) string {
	base := path.Base(p)
	orig := base
	if i := strings.IndexByte(base, '.'); i > 0 {
		base = base[:i]
	}
	switch path.Ext(orig) {
	case ".java", ".kt", ".php", ".cs", ".scala", ".swift", ".groovy":
		for _, s := range [...]string{"TestCase", "Tests", "Test", "Spec"} {
			if len(base) > len(s) && strings.HasSuffix(base, s) {
				base = base[:len(base)-len(s)]
				break
			}
		}
	}
	base = strings.ToLower(base)
	for _, s := range [...]string{"_test", "_spec", "-test", "-spec", "_tests"} {
		base = strings.TrimSuffix(base, s)
	}
	if t := strings.TrimPrefix(base, "test_"); t != "" {
		base = t
	}
	return base
}
