package imports

import (
	"slices"
	"strings"

	"github.com/ctxt-dev/ctxt/index/symbols"
)

var jvmLangs = []string{"java", "kotlin", "scala", "groovy"}

// jvm resolves a fully qualified name to the file whose folder is its package and whose name is its
// class, to the Kotlin or Scala file that declares it, or, for a wildcard, to the package's files.
func (r *request) jvm(spec string) {
	if pkg, ok := strings.CutSuffix(spec, ".*"); ok {
		want := strings.ReplaceAll(pkg, ".", "/")
		if r.suffix(want, jvmLangs...) {
			return // the members of a class
		}
		r.jvmPackage(want)
		return
	}
	segs := strings.Split(spec, ".")
	for n := len(segs); n > 1 && n > len(segs)-3; n-- {
		if r.suffix(strings.Join(segs[:n], "/"), jvmLangs...) {
			return
		}
	}
	if len(segs) < 2 {
		return
	}
	pkg, name := strings.Join(segs[:len(segs)-1], "/"), segs[len(segs)-1]
	if id, ok := r.nearest(r.tops[name], func(p string) bool { return hasSuffix(dirOf(p), pkg) }); ok {
		r.out = append(r.out, id)
	}
}

// jvmPackage adds the files of the folder nearest to the importing file that ends in a package's path.
func (r *request) jvmPackage(want string) {
	dirs := r.jvmDirs[baseOf(want)]
	best, most := "", -1
	for _, dir := range dirs[:min(len(dirs), maxWindow)] {
		if !hasSuffix(dir, want) {
			continue
		}
		if n := shared(dir+"/", r.file.Path); n > most {
			best, most = dir, n
		}
	}
	if most < 0 {
		return
	}
	added := 0
	for _, id := range r.byDir[best] {
		if slices.Contains(jvmLangs, r.files[id].Lang) && added < maxFolder/5 {
			r.out = append(r.out, id)
			added++
		}
	}
}

// include resolves an include of C or C++: beside the includer, from the usual include folders and
// the top, else the nearest file whose path ends in it.
func (r *request) include(spec string) {
	if p, ok := join(r.dir, spec); ok && r.add(p) {
		return
	}
	for strings.HasPrefix(spec, "../") || strings.HasPrefix(spec, "./") {
		_, spec, _ = strings.Cut(spec, "/")
	}
	if spec == "" || r.addFirst(spec, "include/"+spec, "src/"+spec) {
		return
	}
	id, ok := r.nearest(r.byBase[stem(spec)], func(p string) bool { return hasSuffix(p, spec) })
	if ok {
		r.out = append(r.out, id)
	}
}

// phpAutoload are the PSR-4 prefixes of the tree, longest first.
type phpAutoload []phpPrefix

type phpPrefix struct {
	prefix string // with / for \, ending in /
	dirs   []string
}

func (a *phpAutoload) read(p string, src []byte) {
	type autoload struct {
		PSR4 map[string]any `json:"psr-4"`
	}
	var m struct {
		Autoload autoload `json:"autoload"`
		Dev      autoload `json:"autoload-dev"`
	}
	if !decodeJSON(src, &m) {
		return
	}
	for _, load := range []autoload{m.Autoload, m.Dev} {
		for _, prefix := range sortedKeys(load.PSR4) {
			e := phpPrefix{prefix: strings.ReplaceAll(prefix, `\`, "/")}
			for _, dir := range leaves(load.PSR4[prefix], 0) {
				if full, ok := join(dirOf(p), dir); ok {
					e.dirs = append(e.dirs, full)
				}
			}
			if len(*a) < maxManifests {
				*a = append(*a, e)
			}
		}
	}
}

func (a phpAutoload) finish() {
	slices.SortStableFunc(a, func(x, y phpPrefix) int { return len(y.prefix) - len(x.prefix) })
}

// php resolves a class by the autoload rules of composer.json, else by the end of its path; and the
// path of a require.
func (r *request) php(spec string) {
	if strings.HasSuffix(spec, ".php") || strings.HasSuffix(spec, ".inc") {
		r.relativeOrSuffix(spec)
		return
	}
	class := strings.ReplaceAll(spec, `\`, "/")
	for _, e := range r.psr4 {
		rest, ok := strings.CutPrefix(class, e.prefix)
		if !ok || e.prefix == "" {
			continue
		}
		for _, dir := range e.dirs {
			if r.add(child(dir, rest+".php")) {
				return
			}
		}
	}
	segs := strings.Split(class, "/")
	for from := 0; from < len(segs)-1 && from < 4; from++ {
		if r.suffix(strings.Join(segs[from:], "/"), "php") {
			return
		}
	}
}

// ruby resolves a path relative to the file, or on the load path: a lib folder, or the end of a path.
func (r *request) ruby(spec string) {
	spec = strings.TrimSuffix(spec, ".rb")
	if strings.HasPrefix(spec, ".") {
		if p, ok := join(r.dir, spec); ok {
			r.addFirst(p+".rb", p+".rake", p)
		}
		return
	}
	if r.addFirst("lib/"+spec+".rb", spec+".rb") {
		return
	}
	if r.suffix("lib/"+spec, "ruby") || !strings.Contains(spec, "/") {
		return
	}
	r.suffix(spec, "ruby")
}

// namespace resolves a using directive of C# to the files that declare the namespace, when they are
// few, or to the file named like the type that it ends in.
func (r *request) namespace(spec string) {
	if ids := r.modules[spec]; len(ids) > 0 {
		if len(ids) <= 20 {
			r.out = append(r.out, ids...)
		}
		return
	}
	if at := strings.LastIndexByte(spec, '.'); at > 0 && len(r.modules[spec[:at]]) > 0 {
		r.suffix(spec[at+1:], "csharp")
	}
}

// module resolves a module of Elixir to the file that declares it.
func (r *request) module(spec string) {
	if id, ok := r.nearest(r.modules[spec], func(string) bool { return true }); ok {
		r.out = append(r.out, id)
	}
}

func (r *request) lua(spec string) {
	p := strings.ReplaceAll(spec, ".", "/")
	if r.addFirst(p+".lua", p+"/init.lua", "lua/"+p+".lua", "lua/"+p+"/init.lua", child(r.dir, p+".lua")) {
		return
	}
	if r.suffix(p, "lua") {
		return
	}
	r.suffix(p+"/init", "lua")
}

func (r *request) perl(spec string) { r.suffix(strings.ReplaceAll(spec, "::", "/"), "perl") }

func (r *request) haskell(spec string) { r.suffix(strings.ReplaceAll(spec, ".", "/"), "haskell") }

// dart resolves a relative import, and package:NAME/x by its path in a lib folder.
func (r *request) dart(spec string) {
	if rest, ok := strings.CutPrefix(spec, "package:"); ok {
		if _, p, ok := strings.Cut(rest, "/"); ok {
			r.suffix("lib/"+strings.TrimSuffix(p, ".dart"), "dart")
		}
		return
	}
	r.relativeOrSuffix(spec)
}

// relativeOrSuffix resolves a path from the file's folder, from the top, or to the nearest file
// whose path ends in it.
func (r *request) relativeOrSuffix(spec string) {
	if p, ok := join(r.dir, spec); ok && r.add(p) {
		return
	}
	for strings.HasPrefix(spec, "../") || strings.HasPrefix(spec, "./") {
		_, spec, _ = strings.Cut(spec, "/")
	}
	if spec == "" || r.add(spec) {
		return
	}
	if id, ok := r.nearest(r.byBase[stem(spec)], func(p string) bool { return hasSuffix(p, spec) }); ok {
		r.out = append(r.out, id)
	}
}

// indexPackages finds the folders that hold files of the Java family, by their last name.
func (t *tree) indexPackages() {
	t.jvmDirs = map[string][]string{}
	for i := range t.files {
		f := &t.files[i]
		if !slices.Contains(jvmLangs, f.Lang) || !symbols.IsCode(f.Lang) {
			continue
		}
		dir := dirOf(f.Path)
		name := baseOf(dir)
		if dirs := t.jvmDirs[name]; !slices.Contains(dirs[max(0, len(dirs)-8):], dir) {
			t.jvmDirs[name] = append(dirs, dir)
		}
	}
}
