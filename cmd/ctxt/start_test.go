package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Every command pays for what packages do before main: an expression or a template that is made there
// costs search-hints as much as its answer. They are made when they are first needed.
func TestNothingIsCompiledAtStart(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
			return err
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, at := range compiles(g) {
					t.Errorf("%s: compiled before main; use sync.OnceValue", set.Position(at))
				}
			}
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// compiles finds calls of regexp.MustCompile and template.Must outside of function literals.
func compiles(n ast.Node) (at []token.Pos) {
	ast.Inspect(n, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "MustCompile" || f.Sel.Name == "Must") {
				at = append(at, call.Pos())
			}
		}
		return true
	})
	return at
}

func TestCompiles(t *testing.T) {
	const src = `package p
var a = regexp.MustCompile("a")
var b, c = f(template.Must(x)), sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("b") })
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := compiles(file); len(got) != 2 {
		t.Errorf("%d found, want 2", len(got))
	}
}
