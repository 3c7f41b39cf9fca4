//go:build cgo

package symbols

import (
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// The rules of Java, Kotlin, Scala and C#.
var javaRules, kotlinRules, scalaRules, csharpRules = map[string]rule{}, map[string]rule{}, map[string]rule{}, map[string]rule{}

func init() {
	j := javaRules
	types(j, through, "class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body")
	types(j, holder(Class), "class_declaration", "record_declaration")
	types(j, holder(Interface), "interface_declaration", "annotation_type_declaration")
	j["enum_declaration"] = holder(Enum)
	types(j, leaf(Method), "method_declaration", "constructor_declaration", "compact_constructor_declaration",
		"annotation_type_element_declaration")
	j["enum_constant"] = leaf(Constant)
	types(j, rule{do: fields}, "field_declaration", "constant_declaration")
	j["import_declaration"] = rule{do: jvmImport}
	j["package_declaration"] = rule{do: packageName}

	k := kotlinRules
	types(k, through, "import_list", "class_body", "enum_class_body", "companion_object")
	k["class_declaration"] = rule{do: kotlinClass}
	k["object_declaration"] = rule{kind: Class, name: byChild("type_identifier"), inner: true, own: true}
	k["function_declaration"] = rule{do: kotlinFunction}
	k["property_declaration"] = rule{do: kotlinProperty}
	k["type_alias"] = rule{kind: Type, name: byChild("type_identifier")}
	k["enum_entry"] = rule{kind: Constant, name: byChild("simple_identifier")}
	k["import_header"] = rule{do: jvmImport}
	k["package_header"] = rule{do: packageName}

	s := scalaRules
	types(s, through, "template_body", "enum_body", "package_clause", "extension_definition", "enum_case_definitions")
	types(s, holder(Class), "class_definition", "object_definition")
	s["trait_definition"] = holder(Trait)
	s["enum_definition"] = holder(Enum)
	s["package_object"] = holder(Module)
	types(s, within(Function, Method), "function_definition", "function_declaration")
	types(s, rule{kind: Constant, member: Property, name: byField("pattern")}, "val_definition")
	types(s, rule{kind: Constant, member: Property}, "val_declaration")
	types(s, rule{kind: Variable, member: Property, name: byField("pattern")}, "var_definition")
	types(s, rule{kind: Variable, member: Property}, "var_declaration")
	types(s, leaf(Constant), "simple_enum_case", "full_enum_case")
	s["type_definition"] = leaf(Type)
	s["import_declaration"] = rule{do: scalaImports}

	c := csharpRules
	types(c, through, "declaration_list", "enum_member_declaration_list", "global_statement", "preproc_if",
		"preproc_else", "preproc_region", "file_scoped_namespace_declaration")
	c["namespace_declaration"] = rule{kind: Module, inner: true}
	c["file_scoped_namespace_declaration"] = rule{kind: Module, inner: true}
	types(c, holder(Class), "class_declaration", "record_declaration")
	types(c, holder(Struct), "struct_declaration", "record_struct_declaration")
	c["interface_declaration"] = holder(Interface)
	c["enum_declaration"] = holder(Enum)
	c["enum_member_declaration"] = leaf(Constant)
	types(c, leaf(Method), "method_declaration", "constructor_declaration", "destructor_declaration")
	c["local_function_statement"] = leaf(Function)
	types(c, leaf(Property), "property_declaration", "event_declaration")
	c["delegate_declaration"] = leaf(Type)
	types(c, rule{do: fields}, "field_declaration", "event_field_declaration")
	c["using_directive"] = rule{do: csharpUsing}
}

// fields reads the declarators of a field declaration of Java or C#.
func fields(w *walker, n *sitter.Node, recv string) (bool, string) {
	kind := Property
	head := w.head(n, 64)
	if n.Type() == "constant_declaration" || strings.Contains(head, "static final") || strings.Contains(head, "const ") {
		kind = Constant
	}
	list := n
	if v := childOf(n, "variable_declaration"); v != nil {
		list = v
	}
	for i := range min(int(list.NamedChildCount()), 32) {
		if d := list.NamedChild(i); d != nil && d.Type() == "variable_declarator" {
			id := d.ChildByFieldName("name")
			w.add(n, id, w.text(id), kind, recv)
		}
	}
	return false, ""
}

// jvmImport reads an import of Java or Kotlin: the words of its text, static and alias dropped.
func jvmImport(w *walker, n *sitter.Node, _ string) (bool, string) {
	w.imp(n, importPath(w.text(n)))
	return false, ""
}

// packageName records nothing: the package of a file is told by its folder.
func packageName(*walker, *sitter.Node, string) (bool, string) { return false, "" }

func kotlinClass(w *walker, n *sitter.Node, recv string) (bool, string) {
	id := childOf(n, "type_identifier", "simple_identifier")
	name := trimTicks(w.text(id))
	kind := Class
	for i := range min(int(n.ChildCount()), 8) {
		switch c := n.Child(i); c.Type() {
		case "interface":
			kind = Interface
		case "enum":
			kind = Enum
		}
	}
	w.add(n, id, name, kind, recv)
	return true, name
}

func kotlinFunction(w *walker, n *sitter.Node, recv string) (bool, string) {
	id := childOf(n, "simple_identifier")
	kind := Function
	if recv != "" {
		kind = Method
	} else if t := n.NamedChild(0); id != nil && t != nil {
		// An extension: the receiver's type stands before the name.
		if t = childOf(n, "user_type"); t != nil && t.StartByte() < id.StartByte() {
			recv, _, _ = strings.Cut(w.text(t), "<")
			kind = Method
		}
	}
	w.add(n, id, trimTicks(w.text(id)), kind, recv)
	return false, ""
}

func kotlinProperty(w *walker, n *sitter.Node, recv string) (bool, string) {
	v := childOf(n, "variable_declaration", "multi_variable_declaration")
	if v == nil {
		return false, ""
	}
	id := childOf(v, "simple_identifier")
	kind := Variable
	if m := childOf(n, "modifiers"); m != nil && strings.Contains(w.text(m), "const") {
		kind = Constant
	} else if recv != "" {
		kind = Property
	} else if b := childOf(n, "binding_pattern_kind"); b != nil && w.text(b) == "val" {
		kind = Constant
	}
	w.add(n, id, trimTicks(w.text(id)), kind, recv)
	return false, ""
}

func trimTicks(s string) string { return strings.Trim(s, "`") }

func scalaImports(w *walker, n *sitter.Node, _ string) (bool, string) {
	for _, spec := range scalaImport(strings.TrimPrefix(w.text(n), "import")) {
		w.imp(n, spec)
	}
	return false, ""
}

func csharpUsing(w *walker, n *sitter.Node, _ string) (bool, string) {
	w.imp(n, usingPath(w.text(n)))
	return false, ""
}
