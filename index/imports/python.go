package imports

import (
	"slices"
	"strings"
)

// pyRoots are the folders from which absolute Python imports start, by the first name of the
// import: those that hold NAME.py or a folder NAME with Python files.
type pyRoots map[string][]string

// findPython takes as roots the top of the tree, src, lib and python there, and the parent of each
// outermost folder with an __init__.py.
func findPython(t *tree) pyRoots {
	packages := map[string]bool{} // folders with an __init__.py
	for dir, ids := range t.byDir {
		for _, id := range ids {
			if f := &t.files[id]; f.Lang == "python" && stem(f.Path) == "__init__" {
				packages[dir] = true
				break
			}
		}
	}
	roots := map[string]bool{"": true, "src": true, "lib": true, "python": true}
	for dir := range packages {
		if parent := dirOf(dir); dir != "" && !packages[parent] {
			roots[parent] = true
		}
	}
	tops := pyRoots{}
	add := func(name, root string) {
		if !slices.Contains(tops[name], root) {
			tops[name] = append(tops[name], root)
		}
	}
	seen := map[string]bool{}
	for i := range t.files {
		f := &t.files[i]
		if f.Lang != "python" {
			continue
		}
		dir := dirOf(f.Path)
		if roots[dir] {
			add(stem(f.Path), dir)
		}
		for child := dir; child != "" && !seen[child]; child = dirOf(child) {
			seen[child] = true
			if parent := dirOf(child); roots[parent] {
				add(baseOf(child), parent)
			}
		}
	}
	for name := range tops {
		slices.Sort(tops[name])
	}
	return tops
}

// python resolves an absolute or a relative module.
func (r *request) python(spec string) {
	if strings.HasPrefix(spec, ".") {
		dir, rest := r.dir, spec[1:]
		for strings.HasPrefix(rest, ".") {
			if dir == "" {
				return
			}
			dir, rest = dirOf(dir), rest[1:]
		}
		r.pyFrom(dir, rest, 0)
		return
	}
	top, _, _ := strings.Cut(spec, ".")
	// A script sees its own folder first.
	if _, inPackage := r.byPath[child(r.dir, "__init__.py")]; !inPackage && r.pyFrom(r.dir, spec, 0) {
		return
	}
	roots := r.py[top]
	if len(roots) > 1 {
		roots = slices.Clone(roots[:min(len(roots), maxWindow)])
		slices.SortStableFunc(roots, func(a, b string) int {
			return shared(b+"/", r.file.Path) - shared(a+"/", r.file.Path)
		})
	}
	for _, root := range roots {
		if r.pyFrom(root, spec, 0) {
			return
		}
	}
}

// pyFrom resolves a dotted module under a folder; when its last name is not a module but one that
// the package's __init__ imports, the module that it comes from.
func (r *request) pyFrom(dir, spec string, depth int) bool {
	p := child(dir, strings.ReplaceAll(spec, ".", "/"))
	if spec != "" && r.addFirst(p+".py", p+".pyi", p+".pyx") {
		return true
	}
	if r.addFirst(child(p, "__init__.py"), child(p, "__init__.pyi")) {
		return true
	}
	if spec == "" || depth > 2 {
		return false
	}
	id, ok := r.byPath[child(dirOf(p), "__init__.py")]
	if !ok {
		return false
	}
	from := r.names[id][baseOf(p)]
	if !strings.HasPrefix(from, ".") || strings.HasPrefix(from, "..") {
		return false
	}
	module, _, ok := cutLast(from[1:], ".")
	if !ok {
		return false
	}
	// First the module, then the name through it.
	return r.pyFrom(dirOf(p), module, depth+1)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
