//go:build cgo

package symbols

import (
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// The rules of Python, Ruby, PHP, Lua and Bash.
var pythonRules, rubyRules, phpRules, luaRules, bashRules = map[string]rule{}, map[string]rule{}, map[string]rule{}, map[string]rule{}, map[string]rule{}

func init() {
	p := pythonRules
	types(p, through, "decorated_definition", "block", "if_statement", "else_clause", "elif_clause", "try_statement",
		"except_clause", "except_group_clause", "finally_clause", "with_statement", "expression_statement")
	p["function_definition"] = within(Function, Method)
	p["class_definition"] = holder(Class)
	p["assignment"] = rule{do: pythonAssignment}
	p["type_alias_statement"] = rule{kind: Type, name: func(n *sitter.Node) *sitter.Node { return childOf(n, "type") }}
	types(p, rule{do: pythonImports}, "import_statement", "import_from_statement", "future_import_statement")

	r := rubyRules
	types(r, through, "body_statement", "singleton_class", "begin", "if", "unless", "do_block")
	types(r, rule{do: rubyClass}, "class", "module")
	types(r, within(Function, Method), "method", "singleton_method")
	r["assignment"] = rule{do: rubyAssignment}
	r["call"] = rule{do: rubyCall}

	h := phpRules
	types(h, through, "declaration_list", "enum_declaration_list", "compound_statement", "if_statement",
		"expression_statement")
	h["namespace_definition"] = rule{kind: Module, inner: true}
	h["class_declaration"] = holder(Class)
	h["interface_declaration"] = holder(Interface)
	h["trait_declaration"] = holder(Trait)
	h["enum_declaration"] = holder(Enum)
	h["enum_case"] = leaf(Constant)
	h["function_definition"] = leaf(Function)
	h["method_declaration"] = leaf(Method)
	h["const_declaration"] = through
	h["const_element"] = rule{kind: Constant, name: byChild("name")}
	h["property_declaration"] = through
	h["property_element"] = rule{do: phpProperty}
	h["namespace_use_declaration"] = rule{do: phpUses}
	types(h, rule{do: phpRequire}, "require_expression", "require_once_expression", "include_expression", "include_once_expression")
	h["function_call_expression"] = rule{do: phpDefine}

	l := luaRules
	types(l, through, "do_statement", "if_statement")
	types(l, rule{do: luaFunction}, "function_statement", "function_declaration")
	l["variable_declaration"] = rule{do: luaVariable}
	types(l, rule{do: luaCall}, "function_call")

	b := bashRules
	types(b, through, "if_statement", "else_clause", "elif_clause", "declaration_command", "compound_statement", "list")
	b["function_definition"] = leaf(Function)
	b["variable_assignment"] = rule{do: bashVariable}
	b["command"] = rule{do: bashSource}
}

func isUpper(name string) bool {
	return len(name) > 1 && name == strings.ToUpper(name) && strings.ToLower(name) != name
}

func pythonAssignment(w *walker, n *sitter.Node, recv string) (bool, string) {
	left := n.ChildByFieldName("left")
	if left == nil {
		return false, ""
	}
	add := func(id *sitter.Node) {
		name := w.text(id)
		kind := Variable
		switch {
		case recv != "":
			kind = Property
		case isUpper(name):
			kind = Constant
		}
		w.add(n, id, name, kind, recv)
	}
	switch left.Type() {
	case "identifier":
		add(left)
	case "pattern_list", "tuple_pattern":
		for i := range min(int(left.NamedChildCount()), 32) {
			if c := left.NamedChild(i); c != nil && c.Type() == "identifier" {
				add(c)
			}
		}
	}
	return false, ""
}

func pythonImports(w *walker, n *sitter.Node, _ string) (bool, string) {
	for _, spec := range pythonImport(w.text(n)) {
		w.imp(n, spec)
	}
	return false, ""
}

func rubyClass(w *walker, n *sitter.Node, recv string) (bool, string) {
	id := n.ChildByFieldName("name")
	name := w.text(id)
	if i := strings.LastIndex(name, "::"); i >= 0 {
		recv, name = name[:i], name[i+2:]
	}
	kind := Class
	if n.Type() == "module" {
		kind = Module
	}
	w.add(n, id, name, kind, recv)
	return true, name
}

func rubyAssignment(w *walker, n *sitter.Node, recv string) (bool, string) {
	left := n.ChildByFieldName("left")
	if left == nil {
		return false, ""
	}
	name := w.text(left)
	switch left.Type() {
	case "constant":
	case "global_variable":
		w.add(n, left, name, Variable, recv)
		return false, ""
	default:
		return false, ""
	}
	right := n.ChildByFieldName("right")
	if right != nil && right.Type() == "call" {
		switch w.text(right.ChildByFieldName("receiver")) {
		case "Struct", "Class", "Data", "Module":
			w.add(n, left, name, Class, recv)
			if block := right.ChildByFieldName("block"); block != nil {
				return w.into(block, name)
			}
			return false, ""
		}
	}
	w.add(n, left, name, Constant, recv)
	return false, ""
}

func rubyCall(w *walker, n *sitter.Node, recv string) (bool, string) {
	if n.ChildByFieldName("receiver") != nil {
		return false, ""
	}
	args := n.ChildByFieldName("arguments")
	switch method := w.field(n, "method"); method {
	case "require", "load", "require_dependency":
		if args != nil {
			w.imp(n, unquote(w.text(args.NamedChild(0))))
		}
	case "require_relative":
		// The dot tells a relative path from one of the load path.
		if args != nil {
			if spec := unquote(w.text(args.NamedChild(0))); spec != "" {
				w.imp(n, relativeSpec(spec))
			}
		}
	case "autoload":
		if args != nil {
			w.imp(n, unquote(w.text(args.NamedChild(1))))
		}
	case "attr_reader", "attr_writer", "attr_accessor":
		if args == nil {
			return false, ""
		}
		for i := range min(int(args.NamedChildCount()), 32) {
			if a := args.NamedChild(i); a != nil && a.Type() == "simple_symbol" {
				w.add(a, a, strings.TrimPrefix(w.text(a), ":"), Property, recv)
			}
		}
	case "private", "protected", "public", "module_function", "private_class_method", "memoize":
		if args != nil && args.NamedChildCount() == 1 {
			if m := args.NamedChild(0); m.Type() == "method" || m.Type() == "singleton_method" {
				id := m.ChildByFieldName("name")
				w.add(m, id, w.text(id), Method, recv)
			}
		}
	case "namespace", "included", "class_methods", "concerning":
		return true, recv
	}
	return false, ""
}

func phpProperty(w *walker, n *sitter.Node, recv string) (bool, string) {
	if v := childOf(n, "variable_name"); v != nil {
		w.add(n, v, strings.TrimPrefix(w.text(v), "$"), Property, recv)
	}
	return false, ""
}

func phpUses(w *walker, n *sitter.Node, _ string) (bool, string) {
	text := strings.TrimSuffix(strings.TrimPrefix(w.text(n), "use"), ";")
	for _, spec := range phpUse(text) {
		w.imp(n, spec)
	}
	return false, ""
}

func phpRequire(w *walker, n *sitter.Node, _ string) (bool, string) {
	w.imp(n, phpPath(w.text(n)))
	return false, ""
}

// phpDefine reads define('NAME', value).
func phpDefine(w *walker, n *sitter.Node, _ string) (bool, string) {
	if w.field(n, "function") != "define" {
		return false, ""
	}
	if args := n.ChildByFieldName("arguments"); args != nil && args.NamedChildCount() > 0 {
		if name := unquote(w.text(args.NamedChild(0))); isIdentifier(name) {
			w.add(n, args, name, Constant, "")
		}
	}
	return false, ""
}

func luaFunction(w *walker, n *sitter.Node, _ string) (bool, string) {
	id := n.ChildByFieldName("name")
	name, recv := luaName(w.text(id))
	kind := Function
	if recv != "" {
		kind = Method
	}
	w.add(n, id, name, kind, recv)
	return false, ""
}

// luaName splits a.b.c and a.b:c into the last part and the part before it.
func luaName(s string) (name, recv string) {
	s = strings.Join(strings.Fields(s), "")
	i := strings.LastIndexAny(s, ".:")
	if i < 0 {
		return s, ""
	}
	recv = s[:i]
	if j := strings.LastIndexAny(recv, ".:"); j >= 0 {
		recv = recv[j+1:]
	}
	return s[i+1:], recv
}

func luaVariable(w *walker, n *sitter.Node, _ string) (bool, string) {
	id, value := n.ChildByFieldName("name"), n.ChildByFieldName("value")
	if id == nil {
		return false, ""
	}
	name, recv := luaName(w.text(id))
	kind := Variable
	switch {
	case value != nil && value.Type() == "function":
		kind = Function
		if recv != "" {
			kind = Method
		}
	case value != nil && value.Type() == "function_call" && luaImport(w, value):
		return false, ""
	case recv != "":
		kind = Property
	case isUpper(name):
		kind = Constant
	}
	if isIdentifier(name) {
		w.add(n, id, name, kind, recv)
	}
	return false, ""
}

func luaImport(w *walker, call *sitter.Node) bool {
	if w.field(call, "prefix") != "require" {
		return false
	}
	text := strings.TrimPrefix(w.text(call), "require")
	w.imp(call, unquote(strings.Trim(strings.TrimSpace(text), "()")))
	return true
}

func luaCall(w *walker, n *sitter.Node, _ string) (bool, string) {
	luaImport(w, n)
	return false, ""
}

func bashVariable(w *walker, n *sitter.Node, _ string) (bool, string) {
	id := n.ChildByFieldName("name")
	name := w.text(id)
	kind := Variable
	if p := n.Parent(); p != nil && strings.HasPrefix(w.head(p, 8), "readonly") {
		kind = Constant
	}
	if isIdentifier(name) {
		w.add(n, id, name, kind, "")
	}
	return false, ""
}

func bashSource(w *walker, n *sitter.Node, _ string) (bool, string) {
	if name := w.field(n, "name"); name == "source" || name == "." {
		w.imp(n, sourcePath(w.text(n.ChildByFieldName("argument"))))
	}
	return false, ""
}
