//go:build cgo

package symbols

import (
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// scriptRules are for JavaScript, TypeScript and TSX, whose grammars share their node types.
var scriptRules = map[string]rule{}

func init() {
	m := scriptRules
	types(m, through, "class_body", "interface_body", "object_type", "enum_body", "ambient_declaration",
		"statement_block", "expression_statement", "lexical_declaration", "variable_declaration")
	types(m, leaf(Function), "function_declaration", "generator_function_declaration", "function_signature")
	types(m, within(Function, Method), "method_definition", "method_signature", "abstract_method_signature")
	types(m, leaf(Property), "public_field_definition", "property_signature", "enum_assignment")
	types(m, holder(Class), "class_declaration", "abstract_class_declaration")
	m["interface_declaration"] = holder(Interface)
	m["enum_declaration"] = holder(Enum)
	m["type_alias_declaration"] = leaf(Type)
	types(m, rule{do: scriptModule}, "internal_module", "module")
	m["field_definition"] = rule{kind: Property, name: byField("property")}
	m["property_identifier"] = rule{do: scriptEnumMember}
	m["variable_declarator"] = rule{do: scriptVariable}
	m["assignment_expression"] = rule{do: scriptAssignment}
	m["export_statement"] = rule{do: scriptExport}
	m["import_statement"] = rule{do: scriptImport}
}

// scriptModule reads a namespace, or a declared module, whose functions stay functions.
func scriptModule(w *walker, n *sitter.Node, _ string) (bool, string) {
	id := n.ChildByFieldName("name")
	w.add(n, id, strings.Trim(w.text(id), `'"`), Module, "")
	return true, ""
}

// scriptEnumMember reads the bare members of an enum body.
func scriptEnumMember(w *walker, n *sitter.Node, recv string) (bool, string) {
	if p := n.Parent(); recv != "" && p != nil && p.Type() == "enum_body" {
		w.add(n, n, w.text(n), Property, recv)
	}
	return false, ""
}

// scriptVariable reads a declarator: a function when its value is one, else a constant or a
// variable; the names of a pattern one by one.
func scriptVariable(w *walker, n *sitter.Node, recv string) (bool, string) {
	name := n.ChildByFieldName("name")
	if name == nil {
		return false, ""
	}
	kind := Variable
	decl := n.Parent()
	if decl != nil && strings.HasPrefix(w.head(decl, 8), "const") {
		kind = Constant
	}
	if name.Type() != "identifier" {
		w.pattern(name, kind, recv, 0)
		return false, ""
	}
	value := n.ChildByFieldName("value")
	if value != nil {
		switch value.Type() {
		case "arrow_function", "function_expression", "function", "generator_function":
			kind = Function
		case "class":
			w.add(n, name, w.text(name), Class, recv)
			return w.into(value, w.text(name))
		}
	}
	if decl != nil && decl.NamedChildCount() == 1 {
		n = decl
	}
	w.add(n, name, w.text(name), kind, recv)
	return false, ""
}

// into walks the body of a class expression.
func (w *walker) into(n *sitter.Node, recv string) (bool, string) {
	body := n.ChildByFieldName("body")
	if body == nil {
		return false, ""
	}
	outer := w.cursor
	w.cursor = sitter.NewTreeCursor(body)
	w.children(recv, maxNest/2)
	w.cursor.Close()
	w.cursor = outer
	return false, ""
}

// pattern adds the names that a destructuring pattern binds.
func (w *walker) pattern(n *sitter.Node, kind Kind, recv string, depth int) {
	if depth > 4 {
		return
	}
	for i := range min(int(n.NamedChildCount()), 64) {
		c := n.NamedChild(i)
		if c == nil {
			return
		}
		switch c.Type() {
		case "identifier", "shorthand_property_identifier_pattern":
			w.add(c, c, w.text(c), kind, recv)
		case "pair_pattern":
			if v := c.ChildByFieldName("value"); v != nil && v.Type() == "identifier" {
				w.add(v, v, w.text(v), kind, recv)
			} else if v != nil {
				w.pattern(v, kind, recv, depth+1)
			}
		case "object_assignment_pattern", "assignment_pattern":
			if v := c.ChildByFieldName("left"); v != nil {
				w.add(v, v, w.text(v), kind, recv)
			}
		case "object_pattern", "array_pattern", "rest_pattern":
			w.pattern(c, kind, recv, depth+1)
		}
	}
}

// head is the first few bytes of a node's source.
func (w *walker) head(n *sitter.Node, size int) string {
	start := min(int(n.StartByte()), len(w.src))
	return string(w.src[start:min(start+size, len(w.src))])
}

// scriptAssignment reads functions that are assigned to members: prototypes and exports.
func scriptAssignment(w *walker, n *sitter.Node, recv string) (bool, string) {
	left, right := n.ChildByFieldName("left"), n.ChildByFieldName("right")
	if left == nil || right == nil || left.Type() != "member_expression" {
		return false, ""
	}
	switch right.Type() {
	case "function_expression", "function", "arrow_function", "generator_function", "class":
	default:
		return false, ""
	}
	parts := strings.Split(w.text(left), ".")
	name := parts[len(parts)-1]
	if !isIdentifier(name) {
		return false, ""
	}
	kind := Function
	if len(parts) > 2 && parts[len(parts)-2] == "prototype" {
		kind, recv = Method, parts[len(parts)-3]
	} else if parts[0] != "module" && parts[0] != "exports" && isIdentifier(parts[0]) {
		kind, recv = Method, parts[len(parts)-2]
	}
	if name == "exports" {
		return false, ""
	}
	if right.Type() == "class" {
		kind = Class
	}
	w.add(n, n, name, kind, recv)
	return false, ""
}

func scriptExport(w *walker, n *sitter.Node, recv string) (bool, string) {
	if source := n.ChildByFieldName("source"); source != nil {
		w.imp(n, unquote(w.text(source)))
		return false, ""
	}
	return true, recv
}

func scriptImport(w *walker, n *sitter.Node, _ string) (bool, string) {
	source := n.ChildByFieldName("source")
	if source == nil {
		if clause := childOf(n, "import_require_clause"); clause != nil {
			source = clause.ChildByFieldName("source")
		}
	}
	if source != nil {
		w.imp(n, unquote(w.text(source)))
	}
	return false, ""
}
