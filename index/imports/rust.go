package imports

import (
	"slices"
	"strings"
)

// rustCrates are the packages of the tree.
type rustCrates struct {
	byName map[string]rustCrate // with _ for -
	byDir  map[string]rustCrate
}

// rustCrate is one package: its folder, the folder of its modules, and its root file.
type rustCrate struct{ dir, src, root string }

func newRustCrates() rustCrates {
	return rustCrates{byName: map[string]rustCrate{}, byDir: map[string]rustCrate{}}
}

func (c *rustCrates) read(p string, src []byte) {
	var m struct {
		Package struct {
			Name string `toml:"name"`
		} `toml:"package"`
		Lib struct {
			Name string `toml:"name"`
			Path string `toml:"path"`
		} `toml:"lib"`
	}
	if !decodeTOML(src, &m) || m.Package.Name == "" {
		return
	}
	dir := dirOf(p)
	k := rustCrate{dir: dir, src: child(dir, "src")}
	if m.Lib.Path != "" {
		if root, ok := join(dir, m.Lib.Path); ok {
			k.root, k.src = root, dirOf(root)
		}
	}
	name := m.Package.Name
	if m.Lib.Name != "" {
		name = m.Lib.Name
	}
	name = strings.ReplaceAll(name, "-", "_")
	if _, taken := c.byName[name]; !taken {
		c.byName[name] = k
	}
	c.byDir[dir] = k
}

// finish finds the root files.
func (c *rustCrates) finish(t *tree) {
	for _, m := range []map[string]rustCrate{c.byName, c.byDir} {
		for key, k := range m {
			for _, root := range []string{k.root, child(k.src, "lib.rs"), child(k.src, "main.rs")} {
				if _, ok := t.byPath[root]; ok && root != "" {
					k.root = root
					break
				}
			}
			m[key] = k
		}
	}
}

// crateOf is the crate that a file belongs to.
func (r *request) crateOf() (rustCrate, bool) {
	for dir := r.dir; ; dir = dirOf(dir) {
		if k, ok := r.crates.byDir[dir]; ok {
			return k, true
		}
		if dir == "" {
			break
		}
	}
	// Without a manifest, the folder above the last src.
	if i := strings.LastIndex("/"+r.dir+"/", "/src/"); i >= 0 {
		k := rustCrate{dir: r.dir[:max(i-1, 0)], src: r.dir[:i+len("src")]}
		for _, root := range []string{child(k.src, "lib.rs"), child(k.src, "main.rs")} {
			if _, ok := r.byPath[root]; ok {
				k.root = root
				break
			}
		}
		return k, true
	}
	return rustCrate{}, false
}

// moduleDir is the folder in which the modules of a file live: beside lib.rs, main.rs, mod.rs and
// the roots of tests, benches, examples and binaries; else in the folder of the file's name.
func (r *request) moduleDir(k rustCrate) string {
	base := baseOf(r.file.Path)
	if base == "lib.rs" || base == "main.rs" || base == "mod.rs" || r.file.Path == k.root {
		return r.dir
	}
	for _, dir := range []string{"tests", "benches", "examples", "src/bin"} {
		if r.dir == child(k.dir, dir) {
			return r.dir
		}
	}
	return child(r.dir, stem(r.file.Path))
}

// rust resolves "mod x" and the path of a use declaration.
func (r *request) rust(spec string) {
	k, _ := r.crateOf()
	here := r.moduleDir(k)
	if name, ok := strings.CutPrefix(spec, "mod "); ok {
		p := child(here, name)
		r.addFirst(p+".rs", p+"/mod.rs")
		return
	}
	r.rustPath(k, here, spec, 0)
}

// rustPath resolves a path as seen from the module whose children live in the folder here.
func (r *request) rustPath(k rustCrate, here, spec string, depth int) bool {
	segs := strings.Split(strings.TrimPrefix(spec, "::"), "::")
	segs = slices.DeleteFunc(segs, func(s string) bool { return s == "" || s == "*" })
	if len(segs) == 0 || len(segs) > 64 {
		return false
	}
	switch segs[0] {
	case "crate":
		root := k.src
		if !strings.HasPrefix(here+"/", k.src+"/") {
			root = r.dir // a test, bench or example is a crate of its own
		}
		return r.rustModule(k, root, segs[1:], depth)
	case "self":
		return r.rustModule(k, here, segs[1:], depth)
	case "super":
		for len(segs) > 0 && segs[0] == "super" {
			if here == k.src || here == "" {
				break
			}
			here, segs = dirOf(here), segs[1:]
		}
		return r.rustModule(k, here, segs, depth)
	case "std", "core", "alloc":
		return false
	}
	if r.isModule(child(here, segs[0])) {
		return r.rustModule(k, here, segs, depth)
	}
	if other, ok := r.crates.byName[segs[0]]; ok && other.root != "" {
		return r.rustModule(other, other.src, segs[1:], depth)
	}
	return false
}

func (r *request) isModule(p string) bool {
	if _, ok := r.byPath[p+".rs"]; ok {
		return true
	}
	_, ok := r.byPath[p+"/mod.rs"]
	return ok
}

// rustModule adds the file of the deepest module that the segments name below a folder. When a name
// is left over that this file itself brings in by use, the file that declares it is added too.
func (r *request) rustModule(k rustCrate, dir string, segs []string, depth int) bool {
	for n := len(segs); n >= 0; n-- {
		p := child(dir, strings.Join(segs[:n], "/"))
		at, ok := r.moduleFile(k, p)
		if !ok {
			continue
		}
		r.out = append(r.out, at)
		if n < len(segs) && depth < 3 && at != r.id {
			if from := r.names[at][segs[n]]; from != "" && !strings.HasPrefix(from, "mod ") {
				r.rustPath(k, p, from, depth+1)
			}
		}
		return true
	}
	return false
}

// moduleFile is the file of the module whose children live in p.
func (r *request) moduleFile(k rustCrate, p string) (int32, bool) {
	if p == k.src && k.root != "" {
		id, ok := r.byPath[k.root]
		return id, ok
	}
	for _, f := range []string{p + ".rs", child(p, "mod.rs")} {
		if id, ok := r.byPath[f]; ok {
			return id, true
		}
	}
	return 0, false
}
