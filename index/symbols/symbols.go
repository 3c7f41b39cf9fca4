// Package symbols finds the declarations and the imports of one source file.
//
// Go is read by go/parser, other languages by tree-sitter grammars, and everything else, or
// whatever a grammar cannot survive, by regular expressions. It is the only user of tree-sitter.
package symbols

// Kind classifies a declaration; the names are those of the Language Server Protocol, lower case.
type Kind string

// The kinds.
const (
	Function  Kind = "function"
	Method    Kind = "method"
	Class     Kind = "class"
	Struct    Kind = "struct"
	Interface Kind = "interface"
	Trait     Kind = "trait"
	Enum      Kind = "enum"
	Type      Kind = "type"
	Constant  Kind = "constant"
	Variable  Kind = "variable"
	Module    Kind = "module"
	Macro     Kind = "macro"
	Property  Kind = "property"
)

// Symbol is one named declaration.
type Symbol struct {
	Name  string
	Kind  Kind
	Recv  string // receiver type or enclosing class, for methods and members
	Start int    // first line, 1-based, doc comment not included
	End   int    // last line, inclusive
}

// Import is one import, include, require or use, as written (quotes removed).
type Import struct {
	Spec string
	Line int
}

// Mode chooses the extractor.
type Mode string

// The modes of --symbol-extractor.
const (
	Auto       Mode = "auto"       // the best there is, regular expressions as fallback
	TreeSitter Mode = "treesitter" // no fallback
	Regex      Mode = "regex"
)

// Result is what one file declares. Symbols are in order of Start, then End descending, then Name.
type Result struct {
	Symbols []Symbol
	Imports []Import
	By      Mode   // what read it: "goparser", "treesitter" or "regex"
	Fault   string // why the first choice could not read it; empty when it could
}
