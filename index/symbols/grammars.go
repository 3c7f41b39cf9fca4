//go:build cgo

package symbols

import (
	"github.com/smacker/go-tree-sitter/bash"
	"github.com/smacker/go-tree-sitter/c"
	"github.com/smacker/go-tree-sitter/cpp"
	"github.com/smacker/go-tree-sitter/csharp"
	"github.com/smacker/go-tree-sitter/java"
	"github.com/smacker/go-tree-sitter/javascript"
	"github.com/smacker/go-tree-sitter/kotlin"
	"github.com/smacker/go-tree-sitter/lua"
	"github.com/smacker/go-tree-sitter/php"
	"github.com/smacker/go-tree-sitter/python"
	"github.com/smacker/go-tree-sitter/ruby"
	"github.com/smacker/go-tree-sitter/rust"
	"github.com/smacker/go-tree-sitter/scala"
	"github.com/smacker/go-tree-sitter/swift"
	"github.com/smacker/go-tree-sitter/typescript/tsx"
	"github.com/smacker/go-tree-sitter/typescript/typescript"
)

// grammars are the languages that tree-sitter reads.
var grammars map[string]*grammar

func init() {
	// In a function: the rules refer to the table when they parse a part of a file again.
	grammars = map[string]*grammar{
		"bash":       {language: bash.GetLanguage, rules: bashRules},
		"c":          {language: c.GetLanguage, rules: cRules},
		"cpp":        {language: cpp.GetLanguage, rules: cppRules},
		"csharp":     {language: csharp.GetLanguage, rules: csharpRules},
		"java":       {language: java.GetLanguage, rules: javaRules},
		"javascript": {language: javascript.GetLanguage, rules: scriptRules, before: lateImports},
		"kotlin":     {language: kotlin.GetLanguage, rules: kotlinRules},
		"lua":        {language: lua.GetLanguage, rules: luaRules},
		"php":        {language: php.GetLanguage, rules: phpRules},
		"python":     {language: python.GetLanguage, rules: pythonRules},
		"ruby":       {language: ruby.GetLanguage, rules: rubyRules},
		"rust":       {language: rust.GetLanguage, rules: rustRules},
		"scala":      {language: scala.GetLanguage, rules: scalaRules},
		"swift":      {language: swift.GetLanguage, rules: swiftRules},
		"tsx":        {language: tsx.GetLanguage, rules: scriptRules, before: lateImports},
		"typescript": {language: typescript.GetLanguage, rules: scriptRules, before: lateImports},
	}
}
