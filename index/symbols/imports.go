package symbols

import (
	"bytes"
	"strings"
)

// The import statements of several languages are read from their text, by the grammars and by the
// regular expressions alike.

// unquote removes one pair of quotes or angle brackets.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 2 {
		return ""
	}
	switch s[0] {
	case '\'', '"', '`', '<':
		end := s[0]
		if end == '<' {
			end = '>'
		}
		if i := strings.IndexByte(s[1:], end); i >= 0 {
			return s[1 : 1+i]
		}
	}
	return ""
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// isIdentifier reports whether s is one name in most languages ($ and # are those of JavaScript).
func isIdentifier(s string) bool {
	if s == "" || len(s) > maxName || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if !isWordByte(s[i]) && s[i] != '$' && !(i == 0 && s[i] == '#') {
			return false
		}
	}
	return true
}

// lateImports finds require("x") and import("x") wherever they stand; before is the number of lines
// in front of src.
func lateImports(b *builder, src []byte, before int) {
	for _, call := range []string{"require(", "import("} {
		line, at := before+1, 0
		for {
			i := bytes.Index(src[at:], []byte(call))
			if i < 0 {
				break
			}
			line += bytes.Count(src[at:at+i], []byte{'\n'})
			start := at + i
			at = start + len(call)
			if start > 0 && (isWordByte(src[start-1]) || src[start-1] == '.' || src[start-1] == '$') {
				continue
			}
			rest := src[at:min(at+300, len(src))]
			rest = bytes.TrimLeft(rest, " \t\r\n")
			if len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' && rest[0] != '`' {
				continue
			}
			if spec := unquote(string(rest)); !strings.ContainsAny(spec, "\n${") {
				b.imp(spec, line)
			}
		}
	}
}

// looksLikeCPP reports whether a header that is C by its name is C++ by its content.
func looksLikeCPP(src []byte) bool {
	for _, word := range []string{"\nnamespace ", "\ntemplate", "\nclass ", "std::", "\npublic:", "\n public:", "\n  public:"} {
		if bytes.Contains(src, []byte(word)) {
			return true
		}
	}
	return false
}

// pythonImport reads one import statement. "from .x import y" gives ".x" and ".x.y", since y may
// be a module; "from . import y" gives "." and ".y".
func pythonImport(text string) []string {
	text = stripComments(text, "#")
	if rest, ok := strings.CutPrefix(text, "import"); ok {
		var specs []string
		for _, part := range strings.Split(rest, ",") {
			specs = append(specs, firstWord(part))
		}
		return specs
	}
	rest, ok := strings.CutPrefix(text, "from")
	if !ok {
		return nil
	}
	module, names, ok := strings.Cut(strings.TrimSpace(rest), "import")
	for ok && module != "" && !isSpaceOrDot(module[len(module)-1]) {
		// "import" was a part of the module's name.
		var more string
		more, names, ok = strings.Cut(names, "import")
		module += "import" + more
	}
	module = strings.Join(strings.Fields(module), "")
	if !ok || module == "" {
		return nil
	}
	specs := []string{module}
	dot := "."
	if strings.HasSuffix(module, ".") {
		dot = ""
	}
	for _, part := range strings.Split(strings.Trim(strings.TrimSpace(names), "()"), ",") {
		if name := firstWord(part); isIdentifier(name) {
			specs = append(specs, module+dot+name)
		}
	}
	return specs
}

func isSpaceOrDot(c byte) bool { return c == '.' || c == ' ' || c == '\t' || c == '\\' }

// stripComments removes line comments and joins the lines.
func stripComments(text, mark string) string {
	if !strings.Contains(text, "\n") && !strings.Contains(text, mark) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		l, _, _ = strings.Cut(l, mark)
		lines[i] = strings.TrimSuffix(strings.TrimRight(l, " \t\r"), "\\")
	}
	return strings.Join(lines, " ")
}

func firstWord(s string) string {
	f := strings.Fields(s)
	if len(f) == 0 {
		return ""
	}
	return f[0]
}

// expandGroup expands the braces of a use tree: a::{b, c::{d, self}} gives a::b, a::c::d, a::c.
// sep is the separator of the language, and names that follow "as" are dropped.
func expandGroup(prefix, text, sep string, depth int, out []string) []string {
	if depth > 8 || len(out) >= 1000 {
		return out
	}
	for _, item := range splitTop(text) {
		item = strings.TrimSpace(item)
		if open := strings.IndexByte(item, '{'); open >= 0 {
			end := strings.LastIndexByte(item, '}')
			if end < open {
				end = len(item)
			}
			out = expandGroup(prefix+strings.Join(strings.Fields(item[:open]), ""), item[open+1:end], sep, depth+1, out)
			continue
		}
		item = firstWord(item)
		switch item {
		case "":
		case "self":
			out = append(out, strings.TrimSuffix(prefix, sep))
		default:
			out = append(out, prefix+item)
		}
	}
	return out
}

// splitTop splits at the commas outside braces.
func splitTop(s string) []string {
	var parts []string
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, s[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, s[from:])
}

// rustUse reads the tree of a use declaration, without "use" and the semicolon.
func rustUse(text string) []string {
	return expandGroup("", stripComments(text, "//"), "::", 0, nil)
}

// phpUse reads a use declaration, without "use" and the semicolon.
func phpUse(text string) []string {
	text = strings.TrimSpace(stripComments(text, "//"))
	for _, kind := range []string{"function ", "const "} {
		text = strings.TrimPrefix(text, kind)
	}
	specs := expandGroup("", text, `\`, 0, nil)
	for i, s := range specs {
		specs[i] = strings.TrimPrefix(s, `\`)
	}
	return specs
}

// scalaImport reads an import declaration, without "import".
func scalaImport(text string) []string {
	specs := expandGroup("", stripComments(text, "//"), ".", 0, nil)
	for i, s := range specs {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "._"), ".*")
		if s != specs[i] {
			s += ".*"
		}
		specs[i] = s
	}
	return specs
}

// importPath is the path of a Java or Kotlin import statement: static, alias and semicolon dropped.
func importPath(text string) string {
	text = strings.TrimPrefix(strings.TrimSpace(text), "import ")
	text = strings.TrimPrefix(strings.TrimSpace(text), "static ")
	text, _, _ = strings.Cut(text, ";")
	text, _, _ = strings.Cut(text, " as ")
	return strings.Join(strings.Fields(text), "")
}

// usingPath is the namespace of a C# using directive.
func usingPath(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), ";")
	for _, word := range []string{"global ", "using ", "static "} {
		text = strings.TrimSpace(strings.TrimPrefix(text, word))
	}
	if _, target, ok := strings.Cut(text, "="); ok {
		text = target
	}
	return strings.Join(strings.Fields(text), "")
}

// relativeSpec marks a path as relative to the importing file.
func relativeSpec(spec string) string {
	if strings.HasPrefix(spec, ".") {
		return spec
	}
	return "./" + spec
}

// phpPath is the literal part of a require or include expression: __DIR__.'/x.php' gives "./x.php".
func phpPath(text string) string {
	i := strings.IndexAny(text, `'"`)
	if i < 0 {
		return ""
	}
	spec := unquote(text[i:])
	if strings.ContainsAny(spec, "${") {
		return ""
	}
	if strings.Contains(text[:i], "__DIR__") || strings.Contains(text[:i], "dirname") {
		return relativeSpec(strings.TrimPrefix(spec, "/"))
	}
	return spec
}

// sourcePath is the argument of source or ".", with a leading variable or command taken as the
// folder of the script: "$(dirname "$0")/x.sh" gives "./x.sh".
func sourcePath(text string) string {
	text = strings.Trim(text, `"'`)
	if strings.HasPrefix(text, "$") {
		i := strings.LastIndexAny(text, ")}\"")
		if i < 0 {
			i = 0
		}
		j := strings.IndexByte(text[i:], '/')
		if j < 0 {
			return ""
		}
		text = "./" + strings.TrimLeft(text[i+j:], "/")
	}
	if strings.ContainsAny(text, "$`{(\" ") {
		return ""
	}
	return text
}
