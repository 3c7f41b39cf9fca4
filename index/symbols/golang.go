package symbols

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

// extractGo reads Go by go/parser. A file with syntax errors yields what was understood before and
// between them; it is a fault only when that is nothing.
func extractGo(b *builder, src []byte) string {
	if fault := unsafeForParser("go", src); fault != "" {
		return fault
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if file == nil {
		return "go/parser: " + err.Error()
	}
	g := goFile{b: b, tf: fset.File(file.FileStart)}
	if g.tf == nil {
		return "go/parser: no position"
	}
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			b.imp(path, g.line(spec.Pos()))
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			kind, recv := Function, ""
			if d.Recv != nil && len(d.Recv.List) > 0 {
				kind, recv = Method, receiver(d.Recv.List[0].Type)
			}
			b.add(d.Name.Name, kind, recv, g.line(d.Pos()), g.endLine(d.End()))
		case *ast.GenDecl:
			g.general(d)
		}
	}
	if err != nil && len(b.symbols) == 0 && len(b.imports) == 0 {
		return "go/parser: syntax error"
	}
	return ""
}

type goFile struct {
	b  *builder
	tf *token.File
}

// line is the physical line of a position: //line comments do not move it.
func (g goFile) line(p token.Pos) int {
	if p < token.Pos(g.tf.Base()) || p > token.Pos(g.tf.Base()+g.tf.Size()) {
		return 1
	}
	return g.tf.PositionFor(p, false).Line
}

// endLine is the line of the byte before p, which is where a node that ends at p ends.
func (g goFile) endLine(p token.Pos) int { return g.line(p - 1) }

func (g goFile) general(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		start, end := g.line(spec.Pos()), g.endLine(spec.End())
		if !d.Lparen.IsValid() {
			start, end = g.line(d.Pos()), g.endLine(d.End())
		}
		switch s := spec.(type) {
		case *ast.ValueSpec:
			kind := Variable
			if d.Tok == token.CONST {
				kind = Constant
			}
			for _, name := range s.Names {
				g.b.add(name.Name, kind, "", start, end)
			}
		case *ast.TypeSpec:
			g.typeSpec(s, start, end)
		}
	}
}

func (g goFile) typeSpec(s *ast.TypeSpec, start, end int) {
	name := s.Name.Name
	switch t := s.Type.(type) {
	case *ast.StructType:
		g.b.add(name, Struct, "", start, end)
		if t.Fields == nil {
			return
		}
		for _, f := range t.Fields.List {
			for _, id := range f.Names {
				g.b.add(id.Name, Property, name, g.line(f.Pos()), g.endLine(f.End()))
			}
		}
	case *ast.InterfaceType:
		g.b.add(name, Interface, "", start, end)
		if t.Methods == nil {
			return
		}
		for _, m := range t.Methods.List {
			if _, ok := m.Type.(*ast.FuncType); !ok {
				continue
			}
			for _, id := range m.Names {
				g.b.add(id.Name, Method, name, g.line(m.Pos()), g.endLine(m.End()))
			}
		}
	default:
		g.b.add(name, Type, "", start, end)
	}
}

// receiver is the name of a receiver's type, without pointer and type parameters.
func receiver(expr ast.Expr) string {
	for range maxNest {
		switch t := expr.(type) {
		case *ast.StarExpr:
			expr = t.X
		case *ast.ParenExpr:
			expr = t.X
		case *ast.IndexExpr:
			expr = t.X
		case *ast.IndexListExpr:
			expr = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
	return ""
}
