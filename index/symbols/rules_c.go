//go:build cgo

package symbols

import (
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// cRules are for C, cppRules for C++.
var cRules, cppRules = map[string]rule{}, map[string]rule{}

func init() {
	for _, m := range []map[string]rule{cRules, cppRules} {
		types(m, through, "preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "preproc_elifdef",
			"linkage_specification", "declaration_list", "enumerator_list")
		types(m, leaf(Macro), "preproc_def", "preproc_function_def")
		m["preproc_include"] = rule{do: cInclude}
		types(m, rule{do: cRecord}, "struct_specifier", "union_specifier", "class_specifier", "enum_specifier")
		m["enumerator"] = leaf(Constant)
		types(m, rule{do: cDeclaration}, "function_definition", "declaration", "type_definition", "field_declaration")
	}
	types(cppRules, through, "template_declaration", "field_declaration_list", "export_declaration")
	cppRules["namespace_definition"] = rule{kind: Module, inner: true}
	cppRules["alias_declaration"] = leaf(Type)
	cppRules["concept_definition"] = leaf(Type)
}

func cInclude(w *walker, n *sitter.Node, _ string) (bool, string) {
	w.imp(n, unquote(w.field(n, "path")))
	return false, ""
}

// cRecord reads a struct, union, class or enum that has a body; without one it only names a type.
func cRecord(w *walker, n *sitter.Node, recv string) (bool, string) {
	if n.ChildByFieldName("body") == nil {
		return false, ""
	}
	id := n.ChildByFieldName("name")
	name, scope := w.qualified(id)
	if scope != "" {
		recv = scope
	}
	kind := Struct
	switch n.Type() {
	case "class_specifier":
		kind = Class
	case "enum_specifier":
		kind = Enum
	}
	w.add(n, id, name, kind, recv)
	if name == "" {
		return true, recv
	}
	return true, name
}

// qualified splits a C++ name into its last part and the part before it, without template arguments.
func (w *walker) qualified(n *sitter.Node) (name, scope string) {
	for range maxNest {
		if n == nil {
			return "", scope
		}
		switch n.Type() {
		case "qualified_identifier":
			s := n.ChildByFieldName("scope")
			if s != nil && s.Type() == "template_type" {
				s = s.ChildByFieldName("name")
			}
			if s != nil {
				scope = w.text(s)
			}
			n = n.ChildByFieldName("name")
			continue
		case "template_type", "template_function":
			n = n.ChildByFieldName("name")
			continue
		}
		break
	}
	return strings.Join(strings.Fields(w.text(n)), " "), scope
}

// declared follows a declarator to its name; call tells whether what it declares is a function
// rather than a pointer to one.
func (w *walker) declared(n *sitter.Node) (id *sitter.Node, call bool) {
	for range maxNest {
		next := n.ChildByFieldName("declarator")
		if next == nil {
			switch n.Type() {
			case "parenthesized_declarator", "reference_declarator", "attributed_declarator":
				next = n.NamedChild(0)
			}
		}
		if next == nil {
			return n, call
		}
		switch n.Type() {
		case "function_declarator":
			call = true
		case "pointer_declarator", "array_declarator", "reference_declarator":
			call = false
		}
		n = next
	}
	return n, call
}

// cDeclaration reads functions, prototypes, variables, typedefs and fields, and the struct or enum
// that one of them may define.
func cDeclaration(w *walker, n *sitter.Node, recv string) (bool, string) {
	kind := n.Type()
	inner, own := false, ""
	if t := n.ChildByFieldName("type"); t != nil && kind != "function_definition" {
		switch t.Type() {
		case "struct_specifier", "union_specifier", "class_specifier", "enum_specifier":
			inner = t.ChildByFieldName("body") != nil
			if inner && kind == "type_definition" && t.ChildByFieldName("name") == nil {
				// The members of an unnamed struct belong to its alias.
				own = w.field(n, "declarator")
			}
		}
	}
	count := min(int(n.ChildCount()), 64)
	if kind == "function_definition" {
		count = 1
	}
	for i := range count {
		d := n.ChildByFieldName("declarator")
		if i > 0 {
			d = n.Child(i)
			if d == nil || n.FieldNameForChild(i) != "declarator" || d.Equal(n.ChildByFieldName("declarator")) {
				continue
			}
		}
		if d == nil {
			break
		}
		w.declarator(n, d, kind, recv)
	}
	if own != "" {
		recv = own
	}
	return inner, recv
}

// between is the source from the start of a node to the start of one of its children.
func (w *walker) between(n, d *sitter.Node) string {
	start, end := int(n.StartByte()), int(d.StartByte())
	if start > end || end > len(w.src) || end-start > maxHead {
		return ""
	}
	return string(w.src[start:end])
}

func (w *walker) declarator(n, d *sitter.Node, node, recv string) {
	id, call := w.declared(d)
	name, scope := w.qualified(id)
	kind := Variable
	switch {
	case node == "type_definition":
		kind = Type
	case call && node != "type_definition":
		kind = Function
		if scope != "" || recv != "" {
			kind = Method
		}
	case recv != "":
		kind = Property
	case strings.Contains(w.between(n, d), "const"):
		kind = Constant
	}
	if scope != "" {
		recv = scope
	}
	if !strings.HasPrefix(name, "operator") && !strings.HasPrefix(name, "~") && !isIdentifier(name) {
		return
	}
	w.add(n, id, name, kind, recv)
}
