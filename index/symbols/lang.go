package symbols

import (
	"path"
	"strings"
)

// byName maps whole file names, lower case, to languages.
var byName = map[string]string{
	"makefile": "make", "gnumakefile": "make", "cmakelists.txt": "cmake", "dockerfile": "dockerfile",
	"containerfile": "dockerfile", "rakefile": "ruby", "gemfile": "ruby", "vagrantfile": "ruby",
	"podfile": "ruby", "brewfile": "ruby", "fastfile": "ruby", "guardfile": "ruby", "capfile": "ruby",
	"jenkinsfile": "groovy", "build": "starlark", "build.bazel": "starlark", "workspace": "starlark",
	"workspace.bazel": "starlark", "module.bazel": "starlark", "meson.build": "meson",
	".bashrc": "bash", ".bash_profile": "bash", ".profile": "bash", ".zshrc": "bash",
	".babelrc": "json", ".eslintrc": "json", ".prettierrc": "json", ".swcrc": "json",
	"go.mod": "gomod", "go.work": "gomod", "cargo.lock": "toml", "poetry.lock": "toml",
	"pipfile": "toml", "composer.lock": "json", "package-lock.json": "json", "readme": "text",
	"license": "text", "justfile": "make", "sconstruct": "python", "sconscript": "python",
}

// byExt maps extensions, lower case, without the dot, to languages.
var byExt = map[string]string{
	"go": "go",
	"py": "python", "pyi": "python", "pyw": "python", "pyx": "python", "pxd": "python",
	"js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "javascript",
	"es6": "javascript", "ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx",
	"rs": "rust", "java": "java", "kt": "kotlin", "kts": "kotlin",
	"c": "c", "h": "c",
	"cc": "cpp", "cpp": "cpp", "cxx": "cpp", "c++": "cpp", "hh": "cpp", "hpp": "cpp", "hxx": "cpp",
	"h++": "cpp", "inl": "cpp", "ipp": "cpp", "tpp": "cpp", "cu": "cpp", "cuh": "cpp", "ino": "cpp",
	"cs": "csharp", "csx": "csharp",
	"rb": "ruby", "rake": "ruby", "gemspec": "ruby", "ru": "ruby", "podspec": "ruby",
	"php": "php", "phtml": "php", "php5": "php", "php7": "php", "inc": "php",
	"scala": "scala", "sc": "scala", "sbt": "scala", "swift": "swift", "lua": "lua",
	"sh": "bash", "bash": "bash", "zsh": "bash", "ksh": "bash", "bats": "bash", "ash": "bash",
	"svelte": "svelte", "astro": "astro", "vue": "vue",
	"ex": "elixir", "exs": "elixir", "erl": "erlang", "hrl": "erlang",
	"groovy": "groovy", "gradle": "groovy", "ml": "ocaml", "mli": "ocaml", "hs": "haskell",
	"clj": "clojure", "cljs": "clojure", "cljc": "clojure", "dart": "dart", "m": "objc", "mm": "objc",
	"pl": "perl", "pm": "perl", "r": "r", "jl": "julia", "zig": "zig", "nim": "nim", "d": "d",
	"fs": "fsharp", "fsi": "fsharp", "fsx": "fsharp", "vb": "vb", "ps1": "powershell",
	"psm1": "powershell", "sol": "solidity", "cr": "crystal", "elm": "elm", "v": "verilog",
	"sv": "verilog", "vhd": "vhdl", "vhdl": "vhdl", "f": "fortran", "f90": "fortran", "f95": "fortran",
	"asm": "asm", "s": "asm", "tcl": "tcl", "el": "lisp", "lisp": "lisp", "scm": "scheme",
	"star": "starlark", "bzl": "starlark", "cmake": "cmake", "mk": "make", "mak": "make",
	"sql": "sql", "proto": "protobuf", "thrift": "thrift", "graphql": "graphql", "gql": "graphql",
	"tf": "hcl", "tfvars": "hcl", "hcl": "hcl", "cue": "cue", "nix": "nix", "bat": "batch", "cmd": "batch",
	"html": "html", "htm": "html", "xhtml": "html", "css": "css", "scss": "scss", "sass": "scss",
	"less": "less", "styl": "stylus",
	"md": "markdown", "markdown": "markdown", "mdx": "markdown", "rst": "rst", "adoc": "asciidoc",
	"asciidoc": "asciidoc", "txt": "text", "tex": "tex", "org": "org",
	"yaml": "yaml", "yml": "yaml", "toml": "toml", "json": "json", "json5": "json", "jsonc": "json",
	"jsonl": "json", "xml": "xml", "xsd": "xml", "xsl": "xml", "svg": "xml", "plist": "xml",
	"csproj": "xml", "fsproj": "xml", "vbproj": "xml", "props": "xml", "targets": "xml", "pom": "xml",
	"ini": "ini", "cfg": "ini", "conf": "ini", "properties": "ini", "editorconfig": "ini", "env": "ini",
	"csv": "csv", "tsv": "csv", "ipynb": "json", "jinja": "template", "j2": "template",
	"jinja2": "template", "tmpl": "template", "hbs": "template", "ejs": "template", "erb": "template",
	"haml": "template", "pug": "template", "liquid": "template", "twig": "template", "mustache": "template",
}

// notCode are the languages that hold prose, data, markup or style.
var notCode = map[string]bool{
	"": true, "markdown": true, "rst": true, "asciidoc": true, "text": true, "tex": true, "org": true,
	"yaml": true, "toml": true, "json": true, "xml": true, "ini": true, "csv": true, "html": true,
	"css": true, "scss": true, "less": true, "stylus": true, "template": true, "gomod": true,
	"dockerfile": true, "make": true, "cmake": true, "meson": true,
}

// Language names the language of a file by its name and extension alone, lower case: "go",
// "python", "tsx", "csharp" and so on. It is empty when neither is known.
func Language(file string) string {
	base := path.Base(file)
	dot := strings.LastIndexByte(base, '.')
	if dot >= 0 && dot+1 < len(base) {
		ext := base[dot+1:]
		if lang, ok := byExt[ext]; ok && !strings.HasPrefix(base, ".") {
			if lang == "php" && ext == "inc" {
				return incLanguage(base)
			}
			return specialCase(base, lang)
		}
		base = strings.ToLower(base)
		if lang, ok := byName[base]; ok {
			return lang
		}
		return byExt[base[strings.LastIndexByte(base, '.')+1:]]
	}
	base = strings.ToLower(base)
	if lang, ok := byName[base]; ok {
		return lang
	}
	return ""
}

// specialCase corrects the language of names whose extension says too little.
func specialCase(base, lang string) string {
	switch {
	case lang == "text" && strings.EqualFold(base, "cmakelists.txt"):
		return "cmake"
	case strings.EqualFold(base, "build.bazel"):
		return "starlark"
	case strings.HasSuffix(base, ".blade.php"):
		return "template"
	}
	return lang
}

// incLanguage decides what an include file is: foo.h.inc and foo.cpp.inc are C++, foo.inc is PHP.
func incLanguage(base string) string {
	inner := Language(strings.TrimSuffix(base, ".inc"))
	if inner == "c" || inner == "cpp" {
		return "cpp"
	}
	return "php"
}

// IsCode reports whether the language, as named by [Language], is a programming language rather
// than prose, data, markup or style.
func IsCode(lang string) bool { return !notCode[lang] }
