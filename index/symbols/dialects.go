package symbols

import "strings"

// The comments and strings of the language families.
var (
	cSyntax      = syntax{line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"'`, noChar: true}
	jsSyntax     = syntax{line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"'`, long: "`"}
	goSyntax     = syntax{line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"'`, long: "`"}
	pySyntax     = syntax{line: []string{"#"}, quotes: `"'`, long: "t"}
	jvmSyntax    = syntax{line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"'`, long: "t", noChar: true}
	phpSyntax    = syntax{line: []string{"//", "#"}, block: [2]string{"/*", "*/"}, long: `"'`}
	rubySyntax   = syntax{line: []string{"#"}, block: [2]string{"\n=begin", "\n=end"}, quotes: `"'`}
	luaSyntax    = syntax{line: []string{"--"}, quotes: `"'`}
	shellSyntax  = syntax{line: []string{"#"}, quotes: `"'`}
	mlSyntax     = syntax{block: [2]string{"(*", "*)"}, quotes: `"`}
	lispSyntax   = syntax{line: []string{";"}, quotes: `"`}
	hashSyntax   = syntax{line: []string{"#"}, block: [2]string{"/*", "*/"}, quotes: `"`}
	dashSyntax   = syntax{line: []string{"--"}, block: [2]string{"/*", "*/"}, quotes: `"'`}
	percentStyle = syntax{line: []string{"%"}, quotes: `"`}
)

// words makes a set.
func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

var keywords = words("if for while switch catch return else do try function new throw case sizeof using lock foreach when match with " +
	"await yield delete typeof super this in of and or not synchronized assert")

// visibility prefixes of the curly languages.
const mods = `^\s*(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override|virtual|async|` +
	`readonly|partial|unsafe|extern|default|native|synchronized|inline|suspend|operator|infix|tailrec|data|inner|` +
	`value|annotation|companion|lateinit|const|implicit|lazy|case|strictfp|transient|volatile|new|export|declare|` +
	`fileprivate|required|convenience|mutating|indirect|actual|expect|external|fun|record|@\w+(?:\([^)]*\))?)\s+)*`

// dialectTable lists the languages of the regular-expression extractor.
func dialectTable() map[string]*dialect {
	js := javascriptDialect()
	return map[string]*dialect{
		"go": goDialect(), "python": pythonDialect(), "starlark": pythonDialect(), "javascript": js, "typescript": js, "tsx": js,
		"rust": rustDialect(), "java": javaDialect(), "kotlin": kotlinDialect(), "scala": scalaDialect(), "groovy": groovyDialect(),
		"c": cDialect(), "cpp": cDialect(), "objc": cDialect(), "csharp": csharpDialect(), "ruby": rubyDialect(),
		"crystal": rubyDialect(), "php": phpDialect(), "swift": swiftDialect(), "lua": luaDialect(), "bash": bashDialect(),
		"elixir": elixirDialect(), "dart": dartDialect(), "perl": perlDialect(), "zig": zigDialect(), "ocaml": ocamlDialect(),
		"haskell": haskellDialect(), "clojure": lispDialect(), "lisp": lispDialect(), "scheme": lispDialect(), "r": rDialect(),
		"julia": juliaDialect(), "erlang": erlangDialect(), "fsharp": ocamlDialect(), "powershell": powershellDialect(),
		"protobuf": protobufDialect(), "sql": sqlDialect(), "graphql": graphqlDialect(), "thrift": protobufDialect(),
		"hcl": hclDialect(), "solidity": solidityDialect(), "nim": nimDialect(), "make": makeDialect(), "cmake": cmakeDialect(),
		"d": cDialect(),
	}
}

func goDialect() *dialect {
	return &dialect{syntax: goSyntax, patterns: []pattern{
		{kind: Method, need: "func", expr: `^func\s*\(\s*(?:\w+\s+)?\*?(?P<recv>\w+)(?:\[[^\]]*\])?\s*\)\s*(?P<name>\w+)`},
		{kind: Function, need: "func", expr: `^func\s+(\w+)`},
		{kind: Struct, need: "struct", expr: `^(?:type\s+|\t)(\w+)(?:\[[^\]]*\])?\s+struct\b`},
		{kind: Interface, need: "interface", expr: `^(?:type\s+|\t)(\w+)(?:\[[^\]]*\])?\s+interface\b`},
		{kind: Type, need: "type", expr: `^type\s+(\w+)`},
		{kind: Constant, need: "const", expr: `^const\s+(\w+)`},
		{kind: Variable, need: "var", expr: `^var\s+(\w+)`},
	}, imports: []importer{
		{need: `"`, expr: `^import\s+(?:[\w.]+\s+)?"([^"]+)"`},
		{need: `"`, expr: `^\t(?:[\w.]+\s+)?"([^"\s]+)"\s*(?://.*)?$`},
	}}
}

func pythonDialect() *dialect {
	return &dialect{layout: indented, syntax: pySyntax, patterns: []pattern{
		{kind: Function, need: "def ", expr: `^\s*(?:async\s+)?def\s+(\w+)`},
		{kind: Class, need: "class ", expr: `^\s*class\s+(\w+)`},
		{kind: Constant, need: "=", expr: `^([A-Z][A-Z0-9_]*)\s*(?::[^=]+)?=(?:[^=]|$)`},
		{kind: Variable, need: "=", expr: `^(\w+)\s*(?::[^=]+)?=(?:[^=]|$)`},
		{kind: Property, inClass: true, expr: `^\s+(\w+)\s*(?::\s*[\w."'\[]|=[^=])`},
	}, imports: []importer{
		{need: "import", expr: `(?s)^\s*(from\s+[\w.]+\s+import\s*\(.*)`, more: ')', read: pythonImport},
		{need: "import", expr: `(?s)^\s*(from\s+[\w.]+\s+import\s.*)`, read: pythonImport},
		{need: "import", expr: `^\s*(import\s.*)`, read: pythonImport},
	}, skip: words("if else elif for while try except finally with return lambda print")}
}

func javascriptDialect() *dialect {
	const exp = `^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?`
	const fn = `(?:async\s*)?(?:function\b|(?:<[^>]*>\s*)?\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?::[^=]+)?=>|\w+\s*=>|\(\s*$)`
	return &dialect{syntax: jsSyntax, skip: keywords, patterns: []pattern{
		{kind: Function, need: "function", expr: exp + `(?:async\s+)?function\s*\*?\s*([\w$]+)`},
		{kind: Class, need: "class", expr: exp + `(?:abstract\s+)?class\s+([\w$]+)`},
		{kind: Interface, need: "interface", expr: exp + `interface\s+([\w$]+)`},
		{kind: Enum, need: "enum", expr: exp + `(?:const\s+)?enum\s+([\w$]+)`},
		{kind: Type, need: "type", expr: exp + `type\s+([\w$]+)\s*(?:<.*)?=`, atTop: true},
		{kind: Module, need: "namespace", expr: exp + `namespace\s+([\w$.]+)`},
		{kind: Module, need: "module", expr: exp + `module\s+([\w$.]+)\s*\{`},
		{kind: Function, need: "=", expr: exp + `(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*` + fn, atTop: true},
		{kind: Constant, need: "const", expr: `^(?:\t|  )?(?:export\s+)?(?:declare\s+)?const\s+([\w$]+)`, atTop: true},
		{kind: Variable, expr: `^(?:\t|  )?(?:export\s+)?(?:declare\s+)?(?:let|var)\s+([\w$]+)`, atTop: true},
		{kind: Method, need: ".prototype.", expr: `^(?:[\w$.]+\.)?(?P<recv>[\w$]+)\.prototype\.(?P<name>[\w$]+)\s*=\s*` + fn},
		{kind: Function, need: "exports.", expr: `^(?:module\.)?exports\.([\w$]+)\s*=\s*` + fn},
		{kind: Method, need: ".", expr: `^(?P<recv>[\w$]+)\.(?P<name>[\w$]+)\s*=\s*` + fn},
		{kind: Method, need: "(", inClass: true, expr: `^\s+(?:(?:public|private|protected|static|async|abstract|override|readonly|get|set)\s+)*\*?\s*(#?[\w$]+)\s*(?:<[^>]*>)?\([^;]*$`},
		{kind: Method, need: "(", inClass: true, expr: `^\s+(?:(?:public|private|protected|static|async|abstract|override|get|set)\s+)*\*?\s*(#?[\w$]+)\s*(?:<[^>]*>)?\(.*\{.*\}`},
		{kind: Property, inClass: true, expr: `^\s+(?:(?:public|private|protected|static|override|readonly|declare)\s+)*(#?[\w$]+)[?!]?\s*(?:[:=]|;)`},
	}, imports: []importer{
		{need: "from", expr: `(?s)^\s*(?:import|export)\b[^'"]*\bfrom\s*['"]([^'"]+)['"]`},
		{need: "from", expr: `^\s*\}[^'"]*\bfrom\s*['"]([^'"]+)['"]`},
		{need: "import", expr: `^\s*import\s*['"]([^'"]+)['"]`},
	}}
}

func rustDialect() *dialect {
	const vis = `^\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?`
	return &dialect{syntax: cSyntax, patterns: []pattern{
		{kind: impl, need: "impl", expr: `^\s*(?:unsafe\s+)?impl\b(?:<.*>)?\s+.*\bfor\s+&?(?:\w+::)*(\w+)`},
		{kind: impl, need: "impl", expr: `^\s*(?:unsafe\s+)?impl\b(?:\s*<.*?>)?\s*&?(?:\w+::)*(\w+)`},
		{kind: Function, need: "fn ", expr: vis + `(?:(?:const|async|unsafe|extern(?:\s+"[^"]*")?)\s+)*fn\s+(\w+)`},
		{kind: Struct, need: "struct", expr: vis + `struct\s+(\w+)`},
		{kind: Struct, need: "union", expr: vis + `union\s+(\w+)`},
		{kind: Enum, need: "enum", expr: vis + `enum\s+(\w+)`},
		{kind: Trait, need: "trait", expr: vis + `(?:unsafe\s+)?trait\s+(\w+)`},
		{kind: Type, need: "type", expr: vis + `type\s+(\w+)`},
		{kind: Module, need: "mod", expr: vis + `mod\s+(\w+)`},
		{kind: Constant, need: "const", expr: vis + `const\s+(\w+)\s*:`},
		{kind: Variable, need: "static", expr: vis + `static\s+(?:mut\s+)?(\w+)\s*:`},
		{kind: Macro, need: "macro_rules!", expr: `^\s*macro_rules!\s*(\w+)`},
	}, imports: []importer{
		{need: "use", expr: `(?s)^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);`, more: ';', read: rustUse},
		{need: "mod", expr: `^\s*(?:pub(?:\([^)]*\))?\s+)?(mod\s+\w+)\s*;`},
		{need: "extern crate", expr: `^\s*(?:pub\s+)?extern crate (\w+)`},
	}}
}

func javaDialect() *dialect {
	return &dialect{syntax: jvmSyntax, skip: keywords, patterns: []pattern{
		{kind: Class, need: "class", expr: mods + `class\s+(\w+)`},
		{kind: Class, need: "record", expr: `^\s*(?:\w+\s+)*record\s+(\w+)\s*[(<]`},
		{kind: Interface, need: "interface", expr: mods + `@?interface\s+(\w+)`},
		{kind: Enum, need: "enum", expr: mods + `enum\s+(\w+)`},
		{kind: Method, need: "(", inClass: true, expr: mods + `(?:<[^>]+>\s+)?(?:[\w.]+(?:<.*>)?(?:\[\])*\s+)(\w+)\s*\([^=;]*(?:[{,;(]|\)|throws\s.*)\s*\}?;?$`},
		{kind: Method, need: "(", inClass: true, expr: `^\s*(?:public|private|protected)\s+(\w+)\s*\(`},
		{kind: Constant, need: "static final", inClass: true, expr: mods + `[\w.<>,\[\]? ]+\s(\w+)\s*=`},
		{kind: Property, inClass: true, expr: `^\s*(?:(?:public|private|protected|static|final|volatile|transient)\s+)+[\w.]+(?:<.*>)?(?:\[\])*\s+(\w+)\s*(?:[=;]|$)`},
	}, imports: []importer{{need: "import", expr: `^\s*(import\s[^;]+)`, read: one(importPath)}}}
}

func one(f func(string) string) func(string) []string {
	return func(s string) []string { return []string{f(s)} }
}

func kotlinDialect() *dialect {
	return &dialect{syntax: jvmSyntax, skip: keywords, patterns: []pattern{
		{kind: Enum, need: "enum class", expr: mods + `enum class\s+(\w+)`},
		{kind: Class, need: "class", expr: mods + `class\s+(\w+)`},
		{kind: Interface, need: "interface", expr: mods + `interface\s+(\w+)`},
		{kind: Class, need: "object", expr: mods + `object\s+(\w+)`},
		{kind: impl, need: "object", inherit: true, expr: mods + `(object)\s*[:{]`},
		{kind: Function, need: "fun ", expr: mods + `fun\s+(?:<[^>]+>\s*)?(?:(?P<recv>\w+)(?:<.*>)?\??\.)?(?P<name>\w+|` + "`[^`]+`" + `)\s*\(`},
		{kind: Type, need: "typealias", expr: mods + `typealias\s+(\w+)`},
		{kind: Constant, need: "const val", expr: mods + `val\s+(\w+)`},
		{kind: Variable, expr: mods + `va[lr]\s+(?:<[^>]+>\s*)?(?:\w+\.)?(\w+)`},
	}, imports: []importer{{need: "import", expr: `^\s*(import\s.+)`, read: one(importPath)}}}
}

func scalaDialect() *dialect {
	return &dialect{syntax: jvmSyntax, patterns: []pattern{
		{kind: Class, need: "class", expr: mods + `class\s+(\w+)`},
		{kind: Module, need: "package object", expr: `^\s*package object\s+(\w+)`},
		{kind: Class, need: "object", expr: mods + `object\s+(\w+)`},
		{kind: Trait, need: "trait", expr: mods + `trait\s+(\w+)`},
		{kind: Enum, need: "enum", expr: mods + `enum\s+(\w+)`},
		{kind: Function, need: "def ", expr: mods + `(?:private\[\w+\]\s+)?def\s+(\w+)`},
		{kind: Type, need: "type", expr: mods + `type\s+(\w+)`},
		{kind: Variable, expr: mods + `va[lr]\s+(\w+)`},
	}, imports: []importer{{need: "import", expr: `^\s*import\s+(.+)`, read: scalaImport}}}
}

func groovyDialect() *dialect {
	d := javaDialect()
	d.patterns = append([]pattern{
		{kind: Function, need: "def ", expr: mods + `def\s+(\w+)\s*\(`},
		{kind: Function, need: "task ", expr: `^task\s+(\w+)`},
	}, d.patterns...)
	return d
}

func cDialect() *dialect {
	return &dialect{syntax: cSyntax, skip: keywords, patterns: []pattern{
		{kind: Macro, need: "#", expr: `^\s*#\s*define\s+(\w+)`},
		{kind: Class, need: "class", expr: `^\s*(?:template\s*<.*>\s*)?(?:export\s+)?(?:enum\s+)?class\s+(?:\w+\s+)?(?:\[\[.*\]\]\s*)?(\w+)\s*(?:final\s*)?(?:[:{]|$)`},
		{kind: Class, need: "@", expr: `^@(?:interface|implementation|protocol)\s+(\w+)`},
		{kind: Struct, need: "struct", expr: `^\s*(?:typedef\s+)?(?:static\s+)?(?:const\s+)?(?:template\s*<.*>\s*)?struct\s+(\w+)\s*(?:[:{]|$)`},
		{kind: Struct, need: "union", expr: `^\s*(?:typedef\s+)?union\s+(\w+)\s*(?:\{|$)`},
		{kind: Enum, need: "enum", expr: `^\s*(?:typedef\s+)?enum\s+(?:class\s+|struct\s+)?(\w+)`},
		{kind: Module, need: "namespace", expr: `^\s*(?:inline\s+)?namespace\s+([\w:]+)`},
		{kind: Type, need: "using", expr: `^\s*using\s+(\w+)\s*=`},
		{kind: Type, need: "}", expr: `^\}\s*(\w+)\s*;`},
		{kind: Type, need: "typedef", expr: `^\s*typedef\b.*\(\s*\*\s*(\w+)\s*\)\s*\(`},
		{kind: Type, need: "typedef", expr: `^\s*typedef\b[^{]*?(\w+)\s*;`},
		{kind: Method, need: "::", expr: `^\s*[\w:<>,*&\s~]*?\b(?P<recv>\w+)(?:<[^>]*>)?::(?P<name>~?\w+|operator\S+)\s*\([^;]*$`},
		{kind: Function, need: "(", expr: `^(?:\s*(?:static|inline|extern|virtual|explicit|constexpr|friend)\s+)*[A-Za-z_][\w:<>,*&\s]*?[\s*&](\w+)\s*\([^;=]*(?:\{.*)?$`},
		{kind: Function, need: "(", expr: `^(\w+)\s*\([^;=]*\)?\s*\{?$`},
		{kind: Method, need: "(", inClass: true, expr: `^\s+[\w:<>,*&\s]*?(~?\w+)\s*\(.*(?:;|\{.*|,|\()\s*$`},
		{kind: Variable, need: "=", expr: `^(?:(?:static|const|extern|volatile)\s+)*[A-Za-z_][\w:<>]*(?:\s+|\s*\*+\s*)(\w+)\s*(?:\[[^\]]*\])*\s*=`, atTop: true},
	}, imports: []importer{{need: "include", expr: `^\s*#\s*(?:include|import)(?:_next)?\s*[<"]([^>"]+)[>"]`}}}
}

func csharpDialect() *dialect {
	return &dialect{syntax: jvmSyntax, skip: keywords, patterns: []pattern{
		{kind: Module, need: "namespace", expr: `^\s*namespace\s+([\w.]+)`},
		{kind: Class, need: "class", expr: mods + `class\s+(\w+)`},
		{kind: Class, need: "record", expr: `^\s*(?:\w+\s+)*record\s+(\w+)\s*[(<{:]`},
		{kind: Struct, need: "struct", expr: mods + `(?:ref\s+)?struct\s+(\w+)`},
		{kind: Interface, need: "interface", expr: mods + `interface\s+(\w+)`},
		{kind: Enum, need: "enum", expr: mods + `enum\s+(\w+)`},
		{kind: Type, need: "delegate", expr: mods + `delegate\s+[\w<>\[\],.?]+\s+(\w+)`},
		{kind: Method, need: "(", inClass: true, expr: mods + `(?:[\w.]+(?:<.*>)?(?:\[\])*\??\s+)(\w+)\s*(?:<[^>]*>)?\([^=;]*(?:[{,;(]|\)|=>.*|where\s.*)\s*\}?$`},
		{kind: Method, need: "(", inClass: true, expr: `^\s*(?:public|private|protected|internal)\s+(\w+)\s*\(`},
		{kind: Constant, need: "const ", inClass: true, expr: mods + `const\s+[\w.<>\[\]?]+\s+(\w+)`},
		{kind: Property, inClass: true, expr: `^\s*(?:(?:public|private|protected|internal|static|readonly|virtual|override|required|abstract|event)\s+)+[\w.]+(?:<.*>)?(?:\[\])*\??\s+(\w+)\s*(?:[{=;]|$)`},
	}, imports: []importer{{need: "using", expr: `^\s*((?:global\s+)?using\s+[^;(]+);`, read: one(usingPath)}}}
}

func rubyDialect() *dialect {
	return &dialect{layout: ended, modules: true, syntax: rubySyntax, patterns: []pattern{
		{kind: Class, need: "class", expr: `^\s*class\s+(?:\w+::)*([A-Z]\w*)`},
		{kind: Module, need: "module", expr: `^\s*module\s+(?:\w+::)*([A-Z]\w*)`},
		{kind: Function, need: "def ", expr: `^\s*(?:(?:private|protected|public|private_class_method)\s+)?def\s+(?:self\.|\w+\.)?([A-Za-z_]\w*[?!=]?|[^\s\w(]+)`},
		{kind: Class, need: "=", expr: `^\s*([A-Z]\w*)\s*=\s*(?:Struct|Class|Data)\.`},
		{kind: Constant, need: "=", expr: `^\s*([A-Z]\w*)\s*=[^=~>]`},
	}, imports: []importer{
		{need: "require_relative", expr: `^\s*require_relative[ (]+['"]([^'"]+)['"]`, read: one(relativeSpec)},
		{need: "require", expr: `^\s*require[ (]+['"]([^'"]+)['"]`},
		{need: "load", expr: `^\s*load[ (]+['"]([^'"]+)['"]`},
		{need: "autoload", expr: `^\s*autoload[ (]+:\w+,\s*['"]([^'"]+)['"]`},
	}}
}

func phpDialect() *dialect {
	return &dialect{syntax: phpSyntax, skip: keywords, patterns: []pattern{
		{kind: Module, need: "namespace", expr: `^\s*(?:<\?php\s+)?namespace\s+([\w\\]+)`},
		{kind: Class, need: "class", expr: `^\s*(?:(?:abstract|final|readonly)\s+)*class\s+(\w+)`},
		{kind: Interface, need: "interface", expr: `^\s*interface\s+(\w+)`},
		{kind: Trait, need: "trait", expr: `^\s*trait\s+(\w+)`},
		{kind: Enum, need: "enum", expr: `^\s*enum\s+(\w+)`},
		{kind: Function, need: "function", expr: `^\s*(?:(?:public|private|protected|static|abstract|final)\s+)*function\s+&?\s*(\w+)`},
		{kind: Constant, need: "const", expr: `^\s*(?:(?:public|private|protected|final)\s+)*const\s+(?:\??\w+\s+)?(\w+)\s*=`},
		{kind: Constant, need: "case", inClass: true, expr: `^\s*case\s+(\w+)\s*[=;]`},
		{kind: Property, need: "$", inClass: true, expr: `^\s*(?:(?:public|private|protected|static|readonly|var)\s+)+(?:\??[\w|\\]+\s+)?\$(\w+)`},
	}, imports: []importer{
		{need: "use", expr: `(?s)^use\s+([\w\\][^;()]*);`, more: ';', read: phpUse},
		{need: "re", expr: `^\s*(?:return\s+)?((?:require|include)(?:_once)?\b.*)`, read: one(phpPath)},
		{need: "include", expr: `^\s*((?:include)(?:_once)?\b.*)`, read: one(phpPath)},
	}}
}

func swiftDialect() *dialect {
	return &dialect{syntax: jvmSyntax, skip: keywords, patterns: []pattern{
		{kind: impl, need: "extension", expr: mods + `extension\s+(?:\w+\.)*(\w+)`},
		{kind: Class, need: "class", expr: mods + `class\s+(\w+)`},
		{kind: Class, need: "actor", expr: mods + `actor\s+(\w+)`},
		{kind: Struct, need: "struct", expr: mods + `struct\s+(\w+)`},
		{kind: Enum, need: "enum", expr: mods + `enum\s+(\w+)`},
		{kind: Interface, need: "protocol", expr: mods + `protocol\s+(\w+)`},
		{kind: Function, need: "func", expr: mods + `(?:class\s+)?func\s+(\w+)`},
		{kind: Method, need: "init", inClass: true, expr: mods + `(init)[?!]?\s*[(<]`},
		{kind: Type, need: "typealias", expr: mods + `typealias\s+(\w+)`},
		{kind: Variable, expr: mods + `(?:let|var)\s+(\w+)`},
	}, imports: []importer{{need: "import", expr: `^\s*(?:@\w+\s+)?import\s+(?:(?:class|struct|enum|protocol|func|var|typealias)\s+)?([\w.]+)`}}}
}

func luaDialect() *dialect {
	return &dialect{layout: ended, syntax: luaSyntax, patterns: []pattern{
		{kind: Method, need: "function", expr: `^\s*function\s+(?:\w+\.)*(?P<recv>\w+)[.:](?P<name>\w+)`},
		{kind: Function, need: "function", expr: `^\s*(?:local\s+)?function\s+(\w+)`},
		{kind: Method, need: "function", expr: `^(?:\w+\.)*(?P<recv>\w+)\.(?P<name>\w+)\s*=\s*function`},
		{kind: Function, need: "function", expr: `^(?:local\s+)?(\w+)\s*=\s*function`},
		{kind: Constant, need: "=", expr: `^(?:local\s+)?([A-Z][A-Z0-9_]+)\s*=[^=]`},
		{kind: Variable, need: "=", expr: `^(?:local\s+)?(\w+)\s*=\s*(?:[^=r\s]|r[^e]|re[^q])`},
	}, imports: []importer{{need: "require", expr: `\brequire\s*\(?\s*['"]([^'"]+)['"]`}}}
}

func bashDialect() *dialect {
	return &dialect{syntax: shellSyntax, patterns: []pattern{
		{kind: Function, need: "function", expr: `^\s*function\s+([\w:.-]+)`},
		{kind: Function, need: "(", expr: `^\s*([\w:.-]+)\s*\(\)`},
		{kind: Constant, need: "=", expr: `^\s*(?:readonly|declare\s+-r)\s+(\w+)=`},
		{kind: Variable, need: "=", expr: `^(?:export\s+|declare\s+(?:-\w+\s+)?)?(\w+)=`},
	}, imports: []importer{{expr: `^\s*(?:source|\.)\s+(\S.*)`, read: one(sourcePath)}}}
}
