// Package imports resolves what files import to other files of the same tree.
//
//  1. Index the files by path, by folder and by base name.
//  2. Read the manifests: go.mod, package.json, tsconfig.json, Cargo.toml, composer.json.
//  3. For each file, resolve each import by the rules of its language, nearest candidate first.
//
// What lies outside the tree (a standard library, an installed package) has no edge. The result
// depends on the files alone, and the work grows with the number of imports, not with its square.
package imports

import (
	"context"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ctxt-dev/ctxt/index/symbols"
)

// File is one file of the tree. Lang is named by [symbols.Language].
type File struct {
	Path    string
	Lang    string
	Imports []symbols.Import
	Symbols []symbols.Symbol // may be nil; Kotlin, C# and Elixir need them
}

// The limits against hostile trees.
const (
	maxManifest  = 1 << 20 // bytes of a manifest that is read
	maxManifests = 5000    // manifests read of one kind
	maxEdges     = 4000    // files that one file imports
	maxWindow    = 256     // files of one base name that are looked at, nearest in path order
	maxFolder    = 500     // files of one package folder
)

// Resolve returns, for each file, the ascending ids of the files that it imports, itself left out;
// an id is an index into files, which must be sorted by path. read gives the content of a file of
// the tree, or nil when there is none; it is called for manifests only, from one goroutine. It may
// be nil. It fails only when ctx ends.
func Resolve(ctx context.Context, files []File, read func(path string) []byte) ([][]int32, error) {
	t, err := newTree(ctx, files, read)
	if err != nil {
		return nil, err
	}
	out := make([][]int32, len(files))
	workers := min(runtime.GOMAXPROCS(0), len(files)/64+1)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(files) && ctx.Err() == nil; i += workers {
				out[i] = t.edges(int32(i))
			}
		})
	}
	wg.Wait()
	return out, ctx.Err()
}

// edges resolves the imports of one file.
func (t *tree) edges(i int32) []int32 {
	f := &t.files[i]
	resolve := resolvers[f.Lang]
	if resolve == nil || len(f.Imports) == 0 {
		return nil
	}
	r := request{tree: t, id: i, file: f, dir: dirOf(f.Path)}
	for _, imp := range f.Imports {
		if len(r.out) >= maxEdges {
			break
		}
		if len(imp.Spec) <= 1024 {
			resolve(&r, imp.Spec)
		}
	}
	slices.Sort(r.out)
	r.out = slices.Compact(r.out)
	if at, ok := slices.BinarySearch(r.out, i); ok {
		r.out = slices.Delete(r.out, at, at+1)
	}
	if len(r.out) == 0 {
		return nil
	}
	return slices.Clip(r.out)
}

// resolvers are the rules by language.
var resolvers = map[string]func(*request, string){
	"go":         (*request).golang,
	"python":     (*request).python,
	"javascript": (*request).script, "typescript": (*request).script, "tsx": (*request).script,
	"vue": (*request).script, "svelte": (*request).script, "astro": (*request).script,
	"rust": (*request).rust,
	"java": (*request).jvm, "kotlin": (*request).jvm, "scala": (*request).jvm, "groovy": (*request).jvm,
	"c": (*request).include, "cpp": (*request).include, "objc": (*request).include,
	"php": (*request).php, "ruby": (*request).ruby, "csharp": (*request).namespace,
	"elixir": (*request).module, "lua": (*request).lua, "bash": (*request).relativeOrSuffix,
	"protobuf": (*request).relativeOrSuffix, "thrift": (*request).relativeOrSuffix,
	"dart": (*request).dart, "zig": (*request).relativeOrSuffix, "solidity": (*request).relativeOrSuffix,
	"julia": (*request).relativeOrSuffix, "r": (*request).relativeOrSuffix,
	"perl": (*request).perl, "haskell": (*request).haskell,
}

// request is the resolution of one file's imports.
type request struct {
	*tree
	id   int32
	file *File
	dir  string
	out  []int32
}

// add records an edge to a file that exists, and reports whether it does.
func (r *request) add(p string) bool {
	id, ok := r.byPath[p]
	if ok {
		r.out = append(r.out, id)
	}
	return ok
}

// addFirst records an edge to the first of the paths that exists.
func (r *request) addFirst(paths ...string) bool {
	return slices.ContainsFunc(paths, r.add)
}

// tree is the index of the files.
type tree struct {
	files  []File
	byPath map[string]int32
	byDir  map[string][]int32 // files directly in a folder, ascending
	byBase map[string][]int32 // by base name without extension, ascending; code only

	vendored bool // there is a folder named vendor

	mods    goModules
	py      pyRoots
	js      jsProject
	crates  rustCrates
	psr4    phpAutoload
	modules map[string][]int32  // declared modules and namespaces of C# and Elixir
	tops    map[string][]int32  // top-level Kotlin and Scala functions and properties by name
	jvmDirs map[string][]string // folders of the Java family by their last name
	// names holds, for a file that stands for a package, its imports by the name they bring in.
	names map[int32]map[string]string
}

func newTree(ctx context.Context, files []File, read func(string) []byte) (*tree, error) {
	t := &tree{files: files, byPath: make(map[string]int32, len(files)),
		byDir: map[string][]int32{}, byBase: map[string][]int32{}}
	for i := range files {
		f, id := &files[i], int32(i)
		t.byPath[f.Path] = id
		dir := dirOf(f.Path)
		t.byDir[dir] = append(t.byDir[dir], id)
		t.vendored = t.vendored || strings.Contains(dir, "vendor")
		if symbols.IsCode(f.Lang) {
			base := stem(f.Path)
			t.byBase[base] = append(t.byBase[base], id)
		}
	}
	for _, step := range []func(){
		func() { t.readManifests(read) },
		t.indexSymbols,
		t.indexPackages,
		func() { t.py = findPython(t) },
		t.indexNames,
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		step()
	}
	return t, nil
}

// dirOf is the folder of a path; "" at the root.
func dirOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

// baseOf is the last component of a path.
func baseOf(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// stem is the base name without its last extension.
func stem(p string) string {
	base := baseOf(p)
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		return base[:i]
	}
	return base
}

// join joins a folder of the tree and a relative path, and reports whether the result is inside.
func join(dir, rel string) (string, bool) {
	p := path.Join(dir, rel)
	if p == "." {
		return "", true
	}
	if p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") {
		return "", false
	}
	return p, true
}

// child joins a folder, possibly the root, and a clean relative path.
func child(dir, rel string) string {
	switch {
	case dir == "":
		return rel
	case rel == "":
		return dir
	}
	return dir + "/" + rel
}

// nearest picks, from ascending ids of files, the one whose path shares the longest beginning with
// that of the importing file among those that fit; ties go to the first. It looks at the window of
// ids around the importing file, which in path order holds the nearest.
func (r *request) nearest(ids []int32, fits func(p string) bool) (int32, bool) {
	if len(ids) > maxWindow {
		at, _ := slices.BinarySearch(ids, r.id)
		from := min(max(at-maxWindow/2, 0), len(ids)-maxWindow)
		ids = ids[from : from+maxWindow]
	}
	best, most, found := int32(0), -1, false
	for _, id := range ids {
		p := r.files[id].Path
		if id == r.id || !fits(p) {
			continue
		}
		if n := shared(p, r.file.Path); n > most {
			best, most, found = id, n, true
		}
	}
	return best, found
}

// shared counts the leading folders that two paths share.
func shared(a, b string) int {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n++
		}
	}
	return n
}

// suffix records an edge to the nearest file whose path without extension ends in the path want,
// with one of the languages, and reports whether there is one.
func (r *request) suffix(want string, langs ...string) bool {
	id, ok := r.nearest(r.byBase[baseOf(want)], func(p string) bool {
		return hasSuffix(trimExt(p), want) && slices.Contains(langs, r.files[r.byPath[p]].Lang)
	})
	if ok {
		r.out = append(r.out, id)
	}
	return ok
}

// hasSuffix reports whether the path p ends in the components of want.
func hasSuffix(p, want string) bool {
	return strings.HasSuffix(p, want) && (len(p) == len(want) || p[len(p)-len(want)-1] == '/')
}

func trimExt(p string) string { return p[:len(p)-len(path.Ext(p))] }

// indexSymbols finds the declared names that imports can mean.
func (t *tree) indexSymbols() {
	t.modules, t.tops = map[string][]int32{}, map[string][]int32{}
	for i := range t.files {
		f := &t.files[i]
		switch f.Lang {
		case "csharp", "elixir":
			for _, s := range f.Symbols {
				if s.Kind == symbols.Module {
					t.modules[s.Name] = appendOnce(t.modules[s.Name], int32(i))
				}
			}
		case "kotlin", "scala":
			for _, s := range f.Symbols {
				if s.Recv == "" || s.Kind == symbols.Method {
					t.tops[s.Name] = appendOnce(t.tops[s.Name], int32(i))
				}
			}
		}
	}
}

func appendOnce(ids []int32, id int32) []int32 {
	if n := len(ids); n > 0 && ids[n-1] == id {
		return ids
	}
	return append(ids, id)
}

// indexNames finds, for the files that stand for a package or a module, the imports by the name
// that they bring in, so that an import through them reaches the file that declares the name.
func (t *tree) indexNames() {
	t.names = map[int32]map[string]string{}
	for i := range t.files {
		f := &t.files[i]
		var sep string
		switch base := baseOf(f.Path); {
		case f.Lang == "python" && stem(base) == "__init__":
			sep = "."
		case f.Lang == "rust" && len(f.Imports) > 0:
			sep = "::"
		default:
			continue
		}
		m := make(map[string]string, len(f.Imports))
		for _, imp := range f.Imports {
			if at := strings.LastIndex(imp.Spec, sep); at >= 0 {
				if name := imp.Spec[at+len(sep):]; name != "" && m[name] == "" {
					m[name] = imp.Spec
				}
			}
		}
		t.names[int32(i)] = m
	}
}
