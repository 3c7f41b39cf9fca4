package config

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestConfigurationReference checks that docs/configuration.md says what the starter file and the
// checks say. UPDATE=1 rewrites it between its markers.
func TestConfigurationReference(t *testing.T) {
	const (
		from = "<!-- generated from here; UPDATE=1 go test writes it -->\n"
		to   = "<!-- generated up to here -->\n"
	)
	file := filepath.Join("..", "..", "..", "docs", "configuration.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), from)
	got, after, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the lines %q and %q", file, from, to)
	}
	want := "\n" + reference(t) + "\n"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(before+from+want+to+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != want {
		t.Errorf("%s is not what the code says: run UPDATE=1 go test ./cmd/internal/config", file)
	}
}

var (
	tableLine  = regexp.MustCompile(`^(?:# )?\[+([a-z_.]+)\]+\s*(?:#\s*(.*))?$`)
	keyLine    = regexp.MustCompile(`^(# )?([a-z_0-9]+) = (.*)$`)
	valueParts = regexp.MustCompile(`^("[^"]*"|\[[^\]]*\]|[^#\s]+)\s*(?:#\s*(.*))?$`)
)

// reference makes one table for each section of the starter file.
func reference(t *testing.T) string {
	t.Helper()
	ranges, fields := accepted(t), fieldComments(t)
	var b strings.Builder
	section, prose, open := "", "", false
	for _, line := range strings.Split(Starter, "\n") {
		if m := tableLine.FindStringSubmatch(line); m != nil {
			section, open = m[1], false
			fmt.Fprintf(&b, "\n### [%s]\n\n", section)
			said := strings.TrimSpace(prose + " " + m[2])
			if said == "" {
				said = fields[section]
			}
			if said != "" {
				b.WriteString(said + "\n\n")
			}
			prose = ""
			continue
		}
		if m := keyLine.FindStringSubmatch(line); m != nil && section != "" {
			v := valueParts.FindStringSubmatch(m[3])
			if v == nil {
				t.Fatalf("the starter file's line %q is not read", line)
			}
			if !open {
				b.WriteString("| key | default | accepted | meaning |\n|---|---|---|---|\n")
				open = true
			}
			def := "`" + v[1] + "`"
			if m[1] != "" {
				def = "not set; for example " + def
			}
			key := section + "." + m[2]
			if section == "selector.weights" {
				fields[key] = "[signals.md](signals.md)"
			}
			meaning := strings.TrimSpace(prose + " " + v[2])
			if meaning == "" {
				meaning = fields[key]
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m[2], def, ranges[key], meaning)
			prose = ""
			continue
		}
		if said, ok := strings.CutPrefix(line, "# "); ok && section+prose != "" || ok && !strings.HasPrefix(said, "ctxt configuration") {
			prose = strings.TrimSpace(prose + " " + said)
		} else if line == "" && section == "" {
			prose = "" // the head of the file
		}
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// fieldComments reads the comments of Config's fields by key, for keys on which the starter file says
// nothing.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	structs := map[string]*ast.StructType{}
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if s, ok := spec.Type.(*ast.StructType); ok {
				structs[spec.Name.Name] = s
			}
		}
		return true
	})
	out := map[string]string{}
	var walk func(prefix string, s *ast.StructType)
	walk = func(prefix string, s *ast.StructType) {
		for _, field := range s.Fields.List {
			if field.Tag == nil {
				continue
			}
			tag, _ := literal(field.Tag)
			key := prefix + reflect.StructTag(tag).Get("toml")
			out[key] = strings.TrimSpace(field.Comment.Text())
			kind := field.Type
			if list, ok := kind.(*ast.ArrayType); ok {
				kind = list.Elt
			}
			if name, ok := kind.(*ast.Ident); ok && structs[name.Name] != nil {
				walk(key+".", structs[name.Name])
			}
		}
	}
	walk("", structs["Config"])
	if len(out) < 40 {
		t.Fatalf("only %d keys were read from config.go", len(out))
	}
	return out
}

// accepted reads from check.go what each key accepts.
func accepted(t *testing.T) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "check.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			return true
		}
		fn, ok := call.Fun.(*ast.Ident)
		key, isText := literal(call.Args[0])
		if !ok || !isText {
			return true
		}
		key, _, _ = strings.Cut(key, " ")
		switch fn.Name {
		case "atLeast", "between":
			out[key] = bound(call.Args[2]) + " to " + bound(call.Args[3])
			if strings.HasPrefix(key, "watch.debounce") {
				out[key] = "1ms to 1h"
			}
		case "oneOf":
			var names []string
			for _, a := range call.Args[2:] {
				s, _ := literal(a)
				names = append(names, "`"+s+"`")
			}
			out[key] = strings.Join(names, ", ")
		case "mode":
			out[key] = "`observe`, `warn`, `block`, empty"
		case "inside":
			out[key] = "path inside the project"
		case "globs":
			out[key] = fmt.Sprintf("up to %d patterns", maxGlobs)
		}
		return true
	})
	if len(out) < 30 {
		t.Fatalf("only %d checks were read from check.go", len(out))
	}
	for name := range weightNames {
		out["selector.weights."+name] = "0 to 1000000"
	}
	for _, gate := range []string{"eval", "bench"} {
		key := "gates." + gate + "."
		out[key+"mode"], out[key+"tolerance"] = out["gates.intent.mode"], out["gates.intent.min_score"]
		out[key+"cases"], out[key+"baseline"] = out["common.output"], out["common.output"]
	}
	out["gates.tests.mode"], out["gates.tests.paths"], out["gates.tests.tests"] = out["gates.intent.mode"], out["gates.control_plane.paths"], out["gates.control_plane.paths"]
	return out
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}

// bound writes a limit as a reader would.
func bound(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.FLOAT {
			if v, err := strconv.ParseFloat(e.Value, 64); err == nil {
				return strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
		return strings.ReplaceAll(e.Value, "_", "")
	case *ast.SelectorExpr:
		if e.Sel.Name == "MaxInt32" {
			return "2147483647"
		}
		return "`" + map[string]string{"SynonymsMin": "synonyms_min"}[e.Sel.Name] + "`"
	}
	return "?"
}
