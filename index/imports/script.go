package imports

import (
	"path"
	"slices"
	"strings"
)

// jsProject holds the packages and the compiler settings of the JavaScript and TypeScript world.
type jsProject struct {
	packages map[string]jsPackage // by name
	byDir    map[string]jsPackage // by folder
	configs  map[string]tsConfig  // by path
	nearest  map[string]string    // folder → path of its tsconfig.json or jsconfig.json
}

type jsPackage struct {
	dir     string
	entries []string   // what main, module, source, types and exports name
	imports []tsMapped // the "imports" field: #name → file
}

type tsConfig struct {
	extends []string
	base    string // folder that non-relative paths start from, when set
	hasBase bool
	paths   []tsMapped
}

// tsMapped is one entry of "paths" or "imports": the pattern, with at most one *, and its targets
// from the top of the tree.
type tsMapped struct {
	pattern string
	targets []string
}

func newJSProject() jsProject {
	return jsProject{packages: map[string]jsPackage{}, byDir: map[string]jsPackage{},
		configs: map[string]tsConfig{}, nearest: map[string]string{}}
}

func (j *jsProject) readPackage(p string, src []byte) {
	var m struct {
		Name    any            `json:"name"`
		Main    any            `json:"main"`
		Module  any            `json:"module"`
		Source  any            `json:"source"`
		Types   any            `json:"types"`
		Svelte  any            `json:"svelte"`
		Exports any            `json:"exports"`
		Imports map[string]any `json:"imports"`
	}
	if !decodeJSON(src, &m) {
		return
	}
	pkg := jsPackage{dir: dirOf(p)}
	var exports any = m.Exports
	if e, ok := exports.(map[string]any); ok && e["."] != nil {
		exports = e["."]
	}
	for _, v := range []any{m.Source, m.Svelte, m.Module, m.Main, exports, m.Types} {
		pkg.entries = append(pkg.entries, leaves(v, 0)...)
	}
	for _, key := range sortedKeys(m.Imports) {
		entry := tsMapped{pattern: key}
		for _, leaf := range leaves(m.Imports[key], 0) {
			if target, ok := join(pkg.dir, leaf); ok {
				entry.targets = append(entry.targets, target)
			}
		}
		pkg.imports = append(pkg.imports, entry)
	}
	j.byDir[pkg.dir] = pkg
	name, _ := m.Name.(string)
	if _, taken := j.packages[name]; name != "" && !taken {
		j.packages[name] = pkg
	}
}

// leaves are the strings in a value of exports or imports, at most sixteen.
func leaves(v any, depth int) []string {
	var out []string
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case map[string]any:
		if depth > 4 {
			return nil
		}
		for _, k := range sortedKeys(v) {
			if !strings.HasPrefix(k, "./") {
				out = append(out, leaves(v[k], depth+1)...)
			}
		}
	case []any:
		for _, e := range v[:min(len(v), 16)] {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out[:min(len(out), 16)]
}

func (j *jsProject) readConfig(p string, src []byte) {
	var m struct {
		Extends any `json:"extends"`
		Options struct {
			BaseURL string              `json:"baseUrl"`
			Paths   map[string][]string `json:"paths"`
		} `json:"compilerOptions"`
		References []struct {
			Path string `json:"path"`
		} `json:"references"`
	}
	if !decodeJSON(src, &m) {
		return
	}
	dir := dirOf(p)
	c := tsConfig{}
	c.base, c.hasBase = dir, m.Options.BaseURL != ""
	if base, ok := join(dir, m.Options.BaseURL); c.hasBase && ok {
		c.base = base
	}
	for _, pattern := range sortedKeys(m.Options.Paths) {
		entry := tsMapped{pattern: pattern}
		for _, target := range m.Options.Paths[pattern] {
			if full, ok := join(c.base, target); ok && len(entry.targets) < 16 {
				entry.targets = append(entry.targets, full)
			}
		}
		c.paths = append(c.paths, entry)
	}
	for _, e := range leaves(m.Extends, 0) {
		if target, ok := join(dir, e); ok && strings.HasPrefix(e, ".") {
			c.extends = append(c.extends, target, target+".json", child(target, "tsconfig.json"))
		}
	}
	for _, ref := range m.References[:min(len(m.References), 16)] {
		// A solution file refers to the configurations that hold the paths.
		if target, ok := join(dir, ref.Path); ok && dirOf(target) == dir {
			c.extends = append(c.extends, target)
		}
	}
	j.configs[p] = c
	if base := path.Base(p); base == "tsconfig.json" || base == "jsconfig.json" && j.nearest[dir] == "" {
		j.nearest[dir] = p
	}
}

// finish orders the patterns: the longest part before the * first, as TypeScript does.
func (j *jsProject) finish() {
	for _, c := range j.configs {
		slices.SortStableFunc(c.paths, func(a, b tsMapped) int {
			return len(prefixOf(b.pattern)) - len(prefixOf(a.pattern))
		})
	}
}

func prefixOf(pattern string) string {
	before, _, _ := strings.Cut(pattern, "*")
	return before
}

// match returns what the * of a pattern stands for.
func (m tsMapped) match(spec string) (string, bool) {
	before, after, star := strings.Cut(m.pattern, "*")
	if !star {
		return "", spec == m.pattern
	}
	if len(spec) < len(before)+len(after) || !strings.HasPrefix(spec, before) || !strings.HasSuffix(spec, after) {
		return "", false
	}
	return spec[len(before) : len(spec)-len(after)], true
}

// script resolves an import of JavaScript or TypeScript: relative, by a compiler path, by a package
// of the workspace, or from the root of the package.
func (r *request) script(spec string) {
	spec, _, _ = strings.Cut(spec, "?")
	if strings.HasPrefix(spec, ".") {
		if p, ok := join(r.dir, spec); ok {
			r.scriptFile(p)
		}
		return
	}
	for dir := r.dir; ; dir = dirOf(dir) {
		if at := r.js.nearest[dir]; at != "" && r.byConfig(at, spec, 0) {
			return
		}
		if pkg, ok := r.js.byDir[dir]; ok && r.byPackageRoot(pkg, spec) {
			return
		}
		if dir == "" {
			break
		}
	}
	r.workspace(spec)
}

// byConfig resolves by the paths and the base of a tsconfig.json and of those that it extends.
func (r *request) byConfig(at, spec string, depth int) bool {
	c, ok := r.js.configs[at]
	if !ok || depth > 5 {
		return false
	}
	for _, m := range c.paths {
		if rest, ok := m.match(spec); ok && r.mapped(m, rest) {
			return true
		}
	}
	if c.hasBase && r.scriptFile(child(c.base, spec)) {
		return true
	}
	for _, parent := range c.extends[:min(len(c.extends), 16)] {
		if parent != at && r.byConfig(parent, spec, depth+1) {
			return true
		}
	}
	return false
}

func (r *request) mapped(m tsMapped, rest string) bool {
	for _, target := range m.targets {
		if p, ok := join("", strings.Replace(target, "*", rest, 1)); ok && r.scriptFile(p) {
			return true
		}
	}
	return false
}

// byPackageRoot resolves the imports field, /x from the package's folder, and the aliases @/ and ~/
// that bundlers are configured with by custom.
func (r *request) byPackageRoot(pkg jsPackage, spec string) bool {
	switch {
	case strings.HasPrefix(spec, "#"):
		for _, m := range pkg.imports {
			if rest, ok := m.match(spec); ok && r.mapped(m, rest) {
				return true
			}
		}
	case strings.HasPrefix(spec, "/"):
		return r.scriptFile(child(pkg.dir, spec[1:])) || r.scriptFile(child(pkg.dir, "public"+spec))
	case strings.HasPrefix(spec, "@/") || strings.HasPrefix(spec, "~/"):
		return r.scriptFile(child(pkg.dir, "src"+spec[1:])) || r.scriptFile(child(pkg.dir, spec[2:])) ||
			r.scriptFile(child(pkg.dir, "app"+spec[1:]))
	case strings.HasPrefix(spec, "$lib/"):
		return r.scriptFile(child(pkg.dir, "src/lib"+spec[4:]))
	}
	return false
}

// workspace resolves NAME and NAME/sub for a package of this tree.
func (r *request) workspace(spec string) {
	name, sub := spec, ""
	if i := strings.IndexByte(spec, '/'); i >= 0 {
		if spec[0] == '@' {
			if j := strings.IndexByte(spec[i+1:], '/'); j >= 0 {
				name, sub = spec[:i+1+j], spec[i+2+j:]
			}
		} else {
			name, sub = spec[:i], spec[i+1:]
		}
	}
	pkg, ok := r.js.packages[name]
	if !ok {
		return
	}
	if sub != "" {
		for _, dir := range []string{"src", "", "lib"} {
			if r.scriptFile(child(child(pkg.dir, dir), sub)) {
				return
			}
		}
		return
	}
	if r.scriptFile(child(pkg.dir, "src/index")) || r.scriptFile(child(pkg.dir, "src/main")) || r.scriptFile(child(pkg.dir, "src/"+baseOf(name))) {
		return
	}
	for _, entry := range pkg.entries {
		if p, ok := join(pkg.dir, entry); ok && r.scriptFile(p) {
			return
		}
	}
	r.scriptFile(child(pkg.dir, "index"))
}

// scriptExts are the extensions that may be left out, in the order in which they are tried.
var scriptExts = []string{".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".astro", ".json"}

// scriptSources are the extensions that a compiled one may stand for.
var scriptSources = map[string][]string{".js": {".ts", ".tsx"}, ".jsx": {".tsx"}, ".mjs": {".mts"}, ".cjs": {".cts"}}

// scriptFile adds the file that a path without or with an extension means, or the index of a folder.
func (r *request) scriptFile(p string) bool {
	if p != "" {
		if r.add(p) {
			return true
		}
		if ext := path.Ext(p); scriptSources[ext] != nil {
			for _, source := range scriptSources[ext] {
				if r.add(strings.TrimSuffix(p, ext) + source) {
					return true
				}
			}
		}
		for _, ext := range scriptExts {
			if r.add(p + ext) {
				return true
			}
		}
	}
	if len(r.byDir[p]) == 0 {
		return false
	}
	for _, ext := range scriptExts {
		if r.add(child(p, "index"+ext)) {
			return true
		}
	}
	return false
}
