package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/ctxt-dev/ctxt"

// layer is one package and what it may import of this module. The layers are in order: a row names
// only packages of rows above it, and may also import whatever those may import.
type layer struct {
	pkg  string
	uses []string
}

var layers = []layer{
	{"index/text", nil},
	{"index/git", nil},
	{"index/symbols", nil},
	{"index/ignore", nil},
	{"index/imports", []string{"index/symbols"}},
	{"index", []string{"index/text", "index/git", "index/symbols", "index/ignore", "index/imports"}},
	{"index/store", []string{"index"}},
	{"index/cache", []string{"index", "index/store"}},
	{"index/synonyms", []string{"index", "index/store"}},
	{"index/history", []string{"index/git", "index/text", "index/cache"}},
	{"analyze/search", []string{"index", "index/store"}},
	{"index/watch", []string{"index", "index/store", "index/synonyms", "analyze/search"}},
	{"analyze/task", []string{"index/text", "index"}},
	{"analyze/score", []string{"analyze/task", "index", "index/history"}},
	{"analyze/pick", []string{"analyze/score"}},
	{"analyze/risk", []string{"analyze/score", "index/git", "index/history"}},
	{"bench", nil},
	{"bench/cases", []string{"bench", "index/git"}},
	{"bench/engines", []string{"bench", "bench/cases"}},
	{"bench/eval", []string{"bench", "bench/cases", "bench/engines"}},
	{"bench/speed", []string{"index/git"}},
	{"docs/schema", nil},
	{"report", []string{"analyze/pick", "analyze/risk", "bench", "docs/schema"}},
	{"report/github", nil},
	// The option structs of every stage are composed here, so it may see the stages.
	{"cmd/internal/config", []string{"analyze/pick", "analyze/risk", "analyze/search", "index/store", "index/synonyms", "bench/eval"}},
	{"cmd/internal/job", []string{"cmd/internal/config", "index/cache", "report", "analyze/search", "index/store", "index/synonyms", "bench/eval"}},
	{"cmd/internal/action", []string{"cmd/internal/job", "report/github"}},
	{"cmd/internal/mcp", []string{"cmd/internal/job"}},
	{"cmd/internal/agent", []string{"index/store"}},
	{"cmd/internal/cli", []string{"cmd/internal/action", "cmd/internal/mcp", "cmd/internal/agent", "index/watch"}},
	{"cmd/ctxt", []string{"cmd/internal/cli"}},
}

// testSupport are the packages that only tests and other test support may import.
var testSupport = []string{
	"index/git/gittest",
	"report/github/githubtest",
}

// mayRunPrograms, mayReadEnvironment and mayPassEnvironment are the packages that start other
// programs, that read environment variables, and that hand the environment on to a child process.
var (
	mayRunPrograms     = []string{"index/git", "index/symbols", "bench/engines", "bench/speed", "analyze/search"}
	mayReadEnvironment = []string{"cmd/ctxt", "cmd/internal/action", "cmd/internal/cli"}
	mayPassEnvironment = append([]string{"cmd/ctxt"}, mayRunPrograms...)
)

// sourceFile is one parsed .go file of the module.
type sourceFile struct {
	name string // slash separated, relative to the module's root
	pkg  string // its folder
	test bool
	ast  *ast.File
	fset *token.FileSet
}

// TestLayers checks every .go file of the module against the table: a package imports only what its
// row allows. A _test.go file may import what its package may, the package itself, and test support.
func TestLayers(t *testing.T) {
	allowed := closure(t)
	seen := map[string]bool{}
	for _, f := range goFiles(t) {
		seen[f.pkg] = true
		support := slices.Contains(testSupport, f.pkg)
		may, listed := allowed[f.pkg]
		if !listed && !support {
			t.Errorf("%s: package %s is not in the table of layers", f.name, f.pkg)
			continue
		}
		for _, imp := range f.imports() {
			dep, ours := strings.CutPrefix(imp, modulePath+"/")
			switch {
			case !ours || support:
			case f.test && (dep == f.pkg || slices.Contains(testSupport, dep)):
			case !may[dep]:
				t.Errorf("%s: %s may not import %s", f.name, f.pkg, dep)
			}
		}
	}
	if !seen["cmd/ctxt"] || !seen["index"] {
		t.Errorf("found only %d packages; the walk starts in the wrong folder", len(seen))
	}
}

// TestForbiddenCalls keeps child processes, the environment, exits and the global logger where the
// architecture has them. Tests and test support may do all of it.
func TestForbiddenCalls(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test || slices.Contains(testSupport, f.pkg) {
			continue
		}
		if slices.Contains(f.imports(), "os/exec") && !slices.Contains(mayRunPrograms, f.pkg) {
			t.Errorf("%s: os/exec is not for %s", f.name, f.pkg)
		}
		isMain := f.ast.Name.Name == "main"
		f.selectors(func(pkg, name string, at token.Position) {
			bad := false
			switch pkg + "." + name {
			case "os.Getenv", "os.LookupEnv", "os.ExpandEnv":
				bad = !slices.Contains(mayReadEnvironment, f.pkg)
			case "os.Setenv", "os.Unsetenv", "os.Clearenv", "os.Chdir":
				bad = true
			case "os.Environ":
				bad = !slices.Contains(mayPassEnvironment, f.pkg)
			case "os.Exit":
				bad = !isMain
			}
			if pkg == "log" && (strings.HasPrefix(name, "Fatal") || strings.HasPrefix(name, "Panic") || strings.HasPrefix(name, "Print")) {
				bad = !isMain
			}
			if bad {
				t.Errorf("%s: %s.%s is not for %s", at, pkg, name, f.pkg)
			}
		})
	}
}

// machinePaths finds folders of a machine that the project was built on. The expression is put
// together so that this file does not match itself.
var machinePaths = regexp.MustCompile(`/wor` + `k/(main|shared|\.mirror|\.library)\b|/roo` + `t/(go|\.cache)/`)

// TestNoMachinePaths fails on a file that names the folder of a checkout or a home folder.
func TestNoMachinePaths(t *testing.T) {
	root := moduleRoot(t)
	files := 0
	walk(t, root, func(name string) {
		files++
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			return
		}
		for i, line := range strings.Split(string(data), "\n") {
			if strings.Contains(line, root+string(filepath.Separator)) || machinePaths.MatchString(line) {
				t.Errorf("%s:%d: names a folder of this machine", name, i+1)
			}
		}
	})
	if files < 20 {
		t.Errorf("looked at %d files only", files)
	}
}

// closure returns for each layer everything it may import, and checks that rows name earlier rows.
func closure(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	for _, l := range layers {
		may := map[string]bool{}
		for _, dep := range l.uses {
			below, ok := all[dep]
			if !ok {
				t.Fatalf("layer %s uses %s, which is not above it in the table", l.pkg, dep)
			}
			may[dep] = true
			for d := range below {
				may[d] = true
			}
		}
		if all[l.pkg] != nil {
			t.Fatalf("layer %s is listed twice", l.pkg)
		}
		all[l.pkg] = may
	}
	return all
}

// goFiles parses every .go file outside testdata.
func goFiles(t *testing.T) []sourceFile {
	t.Helper()
	root := moduleRoot(t)
	var files []sourceFile
	walk(t, root, func(name string) {
		if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
			return
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(name)), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		files = append(files, sourceFile{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), tree, fset})
	})
	if len(files) == 0 {
		t.Fatal("no .go files")
	}
	return files
}

// walk calls fn with the slash-separated name of every regular file that belongs to the project.
func walk(t *testing.T, root string, fn func(name string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", ".ctxt", "dist", ".ctxt-writer"}, rel) {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			fn(filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// moduleRoot is the folder of go.mod, two above this package.
func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(mod), fmt.Sprintf("module %s\n", modulePath)) {
		t.Fatalf("go.mod in %s is not of module %s", root, modulePath)
	}
	return root
}

// imports lists the import paths of the file.
func (f sourceFile) imports() []string {
	var paths []string
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// selectors calls fn for each use of a name of the packages os and log, however imported.
func (f sourceFile) selectors(fn func(pkg, name string, at token.Position)) {
	local := map[string]string{}
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil || p != "os" && p != "log" {
			continue
		}
		name := p
		if spec.Name != nil {
			name = spec.Name.Name
		}
		local[name] = p
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && local[id.Name] != "" {
				fn(local[id.Name], sel.Sel.Name, f.fset.Position(sel.Pos()))
			}
		}
		return true
	})
}
