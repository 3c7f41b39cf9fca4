//go:build cgo

package symbols

import (
	"bytes"
	"context"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// The rules of Rust and Swift.
var rustRules, swiftRules = map[string]rule{}, map[string]rule{}

func init() {
	r := rustRules
	types(r, through, "declaration_list", "field_declaration_list", "enum_variant_list", "foreign_mod_item", "expression_statement")
	types(r, within(Function, Method), "function_item", "function_signature_item")
	types(r, holder(Struct), "struct_item", "union_item")
	r["enum_item"] = holder(Enum)
	r["enum_variant"] = leaf(Constant)
	r["field_declaration"] = leaf(Property)
	r["trait_item"] = holder(Trait)
	types(r, leaf(Type), "type_item", "associated_type")
	r["const_item"] = leaf(Constant)
	r["static_item"] = leaf(Variable)
	r["macro_definition"] = leaf(Macro)
	r["impl_item"] = rule{do: rustImpl}
	r["mod_item"] = rule{do: rustMod}
	r["use_declaration"] = rule{do: rustUses}
	r["extern_crate_declaration"] = rule{do: rustCrate}
	r["macro_invocation"] = rule{do: rustMacro}

	s := swiftRules
	types(s, through, "class_body", "enum_class_body", "protocol_body")
	s["class_declaration"] = rule{do: swiftType}
	s["protocol_declaration"] = holder(Interface)
	types(s, within(Function, Method), "function_declaration", "protocol_function_declaration")
	s["init_declaration"] = leaf(Method)
	types(s, rule{do: swiftProperty}, "property_declaration", "protocol_property_declaration")
	s["typealias_declaration"] = leaf(Type)
	s["enum_entry"] = rule{do: swiftCases}
	s["import_declaration"] = rule{do: swiftImport}
}

// rustImpl walks an impl block with the implementing type as the receiver.
func rustImpl(w *walker, n *sitter.Node, _ string) (bool, string) {
	return true, rustType(w.field(n, "type"))
}

// rustType is the last name of a type, without its path, references and parameters.
func rustType(text string) string {
	text = strings.TrimLeft(text, "&* ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "mut "), "dyn ")
	text, _, _ = strings.Cut(text, "<")
	if i := strings.LastIndex(text, "::"); i >= 0 {
		text = text[i+2:]
	}
	return strings.TrimSpace(text)
}

// rustMod reads mod x { … } as a module, whose functions stay functions, and mod x; as an import too.
func rustMod(w *walker, n *sitter.Node, _ string) (bool, string) {
	id := n.ChildByFieldName("name")
	name := w.text(id)
	w.add(n, id, name, Module, "")
	if n.ChildByFieldName("body") == nil {
		w.imp(n, "mod "+name)
		return false, ""
	}
	return true, ""
}

func rustUses(w *walker, n *sitter.Node, _ string) (bool, string) {
	for _, spec := range rustUse(w.field(n, "argument")) {
		w.imp(n, spec)
	}
	return false, ""
}

func rustCrate(w *walker, n *sitter.Node, _ string) (bool, string) {
	w.imp(n, w.field(n, "name"))
	return false, ""
}

// rustMacro reads the items inside a macro call with braces, such as cfg_rt! { mod x; }.
func rustMacro(w *walker, n *sitter.Node, recv string) (bool, string) {
	start, end := int(n.StartByte()), int(n.EndByte())
	if end > len(w.src) || start >= end || w.src[end-1] != '}' || w.depth >= 3 {
		return false, ""
	}
	open := bytes.IndexByte(w.src[start:end], '{')
	if open < 0 {
		return false, ""
	}
	body := w.src[start+open+1 : end-1]
	if !bytes.Contains(body, []byte{'\n'}) {
		return false, ""
	}
	row := int(n.StartPoint().Row) + bytes.Count(w.src[start:start+open], []byte{'\n'})
	w.reparse(body, w.line+row, recv)
	return false, ""
}

// reparse walks a part of the file that the grammar left unread; line lines stand before it.
func (w *walker) reparse(src []byte, line int, recv string) {
	p := sitter.NewParser()
	defer p.Close()
	p.SetLanguage(w.g.lang)
	p.SetOperationLimit(int(w.b.limit.Microseconds()))
	tree, err := p.ParseCtx(context.Background(), nil, src)
	if err != nil {
		return
	}
	defer tree.Close()
	in := walker{b: w.b, g: w.g, src: src, line: line, depth: w.depth + 1}
	in.cursor = sitter.NewTreeCursor(tree.RootNode())
	defer in.cursor.Close()
	in.children(recv, 0)
}

func swiftType(w *walker, n *sitter.Node, recv string) (bool, string) {
	id := n.ChildByFieldName("name")
	name, _, _ := strings.Cut(w.text(id), "<")
	kind := Class
	switch w.field(n, "declaration_kind") {
	case "struct":
		kind = Struct
	case "enum":
		kind = Enum
	case "extension":
		// It adds to a type that is declared elsewhere.
		return true, name
	}
	w.add(n, id, name, kind, recv)
	return true, name
}

func swiftProperty(w *walker, n *sitter.Node, recv string) (bool, string) {
	id := n.ChildByFieldName("name")
	if id == nil {
		return false, ""
	}
	if b := id.ChildByFieldName("bound_identifier"); b != nil {
		id = b
	}
	kind := Variable
	if recv != "" {
		kind = Property
	} else if v := childOf(n, "value_binding_pattern"); v != nil && w.text(v) == "let" {
		kind = Constant
	}
	if name := w.text(id); isIdentifier(name) {
		w.add(n, id, name, kind, recv)
	}
	return false, ""
}

func swiftCases(w *walker, n *sitter.Node, recv string) (bool, string) {
	for i := range min(int(n.NamedChildCount()), 64) {
		if c := n.NamedChild(i); c != nil && c.Type() == "simple_identifier" {
			w.add(c, c, w.text(c), Constant, recv)
		}
	}
	return false, ""
}

func swiftImport(w *walker, n *sitter.Node, _ string) (bool, string) {
	w.imp(n, w.text(childOf(n, "identifier")))
	return false, ""
}
