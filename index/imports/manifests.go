package imports

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// readManifests reads the project files of the tree. A manifest that cannot be understood is as
// good as none.
func (t *tree) readManifests(read func(string) []byte) {
	t.mods, t.js, t.crates, t.psr4 = goModules{}, newJSProject(), newRustCrates(), phpAutoload{}
	if read == nil {
		return
	}
	counts := map[string]int{}
	for i := range t.files {
		p := t.files[i].Path
		base := baseOf(p)
		kind := base
		if strings.HasSuffix(base, ".json") && (strings.HasPrefix(base, "tsconfig") || strings.HasPrefix(base, "jsconfig")) {
			kind = "tsconfig.json"
		}
		parse := manifestReaders[kind]
		if parse == nil || counts[kind] >= maxManifests {
			continue
		}
		counts[kind]++
		src := read(p)
		if len(src) == 0 || len(src) > maxManifest {
			continue
		}
		parse(t, p, src)
	}
	t.js.finish()
	t.crates.finish(t)
	t.psr4.finish()
}

var manifestReaders = map[string]func(t *tree, p string, src []byte){
	"go.mod":        func(t *tree, p string, src []byte) { t.mods.read(p, src) },
	"package.json":  func(t *tree, p string, src []byte) { t.js.readPackage(p, src) },
	"tsconfig.json": func(t *tree, p string, src []byte) { t.js.readConfig(p, src) },
	"Cargo.toml":    func(t *tree, p string, src []byte) { t.crates.read(p, src) },
	"composer.json": func(t *tree, p string, src []byte) { t.psr4.read(p, src) },
}

// decodeJSON decodes JSON that may hold comments and trailing commas, as tsconfig.json does.
func decodeJSON(src []byte, into any) bool {
	if json.Unmarshal(src, into) == nil {
		return true
	}
	return json.Unmarshal(plainJSON(src), into) == nil
}

// plainJSON removes comments and trailing commas.
func plainJSON(src []byte) []byte {
	out := make([]byte, 0, len(src))
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"':
			end := i + 1
			for end < len(src) && src[end] != '"' {
				if src[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(src))
			out = append(out, src[i:end]...)
			i = end - 1
		case c == '/' && i+1 < len(src) && src[i+1] == '/':
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(src) && src[i+1] == '*':
			end := strings.Index(string(src[i+2:min(i+2+1<<16, len(src))]), "*/")
			if end < 0 {
				return out
			}
			i += 2 + end + 1
		case c == '}' || c == ']':
			for n := len(out); n > 0; n = len(out) {
				last := out[n-1]
				if last != ' ' && last != '\n' && last != '\t' && last != '\r' {
					if last == ',' {
						out = out[:n-1]
					}
					break
				}
				out = out[:n-1]
			}
			out = append(out, c)
		default:
			out = append(out, c)
		}
	}
	return out
}

func decodeTOML(src []byte, into any) bool { return toml.Unmarshal(src, into) == nil }

// goModules are the modules of the tree by folder.
type goModules []goModule

type goModule struct{ dir, path string }

func (m *goModules) read(p string, src []byte) {
	for line := range strings.Lines(string(src)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module ")
		if !ok {
			continue
		}
		rest, _, _ = strings.Cut(rest, "//")
		if mod := strings.Trim(strings.TrimSpace(rest), "\"`"); mod != "" {
			*m = append(*m, goModule{dirOf(p), mod})
		}
		return
	}
}

// golang resolves an import path to the files of its package: by the module whose path is its
// longest beginning, or in the vendor folder of the importing file's module.
func (r *request) golang(spec string) {
	best := -1
	for i, m := range r.mods {
		if strings.HasPrefix(spec, m.path) && (len(spec) == len(m.path) || spec[len(m.path)] == '/') && (best < 0 || len(m.path) > len(r.mods[best].path)) {
			best = i
		}
	}
	if best >= 0 {
		m := r.mods[best]
		r.goPackage(child(m.dir, strings.TrimPrefix(strings.TrimPrefix(spec, m.path), "/")))
		return
	}
	if r.vendored && strings.Contains(spec, ".") {
		for dir := r.dir; ; dir = dirOf(dir) {
			if r.goPackage(child(dir, "vendor/"+spec)) || dir == "" {
				return
			}
		}
	}
}

// goPackage adds the files of a package folder that are not tests.
func (r *request) goPackage(dir string) bool {
	ids := r.byDir[dir]
	added := 0
	for _, id := range ids {
		f := &r.files[id]
		if f.Lang == "go" && !strings.HasSuffix(f.Path, "_test.go") && added < maxFolder {
			r.out = append(r.out, id)
			added++
		}
	}
	return added > 0
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
