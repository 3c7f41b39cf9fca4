package symbols

// Languages that only the regular expressions read.

func elixirDialect() *dialect {
	return &dialect{layout: ended, syntax: pySyntax, patterns: []pattern{
		{kind: Module, need: "defmodule", expr: `^\s*defmodule\s+([\w.]+)`},
		{kind: Interface, need: "defprotocol", expr: `^\s*defprotocol\s+([\w.]+)`},
		{kind: Macro, need: "defmacro", expr: `^\s*defmacrop?\s+(\w+[?!]?)`},
		{kind: Function, need: "def", expr: `^\s*(?:def|defp|defdelegate|defguard)\s+(\w+[?!]?)`},
	}, imports: []importer{{expr: `^\s*(?:alias|import|use|require)\s+([A-Z][\w.]*)`}}}
}

func dartDialect() *dialect {
	return &dialect{syntax: jsSyntax, skip: keywords, patterns: []pattern{
		{kind: Class, need: "class", expr: `^\s*(?:(?:abstract|base|final|sealed|interface|mixin)\s+)*class\s+(\w+)`},
		{kind: Trait, need: "mixin", expr: `^\s*mixin\s+(\w+)`},
		{kind: Enum, need: "enum", expr: `^\s*enum\s+(\w+)`},
		{kind: impl, need: "extension", expr: `^\s*extension\s+(?:\w+\s+)?on\s+(\w+)`},
		{kind: Type, need: "typedef", expr: `^\s*typedef\s+(?:[\w<>?]+\s+)?(\w+)`},
		{kind: Function, need: "(", expr: `^\s*(?:(?:static|external|final|const|factory|async|override)\s+)*[\w<>,?\[\]]+\s+(?:get\s+|set\s+)?(\w+)\s*(?:<[^>]*>)?\([^;]*(?:\{|=>.*|,|\()\s*\}?$`},
		{kind: Variable, need: "=", atTop: true, expr: `^(?:final|const|var|late)\s+(?:[\w<>?]+\s+)?(\w+)\s*=`},
	}, imports: []importer{{expr: `^\s*(?:import|export|part)\s+['"]([^'"]+)['"]`}}}
}

func perlDialect() *dialect {
	return &dialect{syntax: shellSyntax, patterns: []pattern{
		{kind: Module, need: "package", expr: `^\s*package\s+([\w:]+)`},
		{kind: Function, need: "sub", expr: `^\s*sub\s+([\w:]+)`},
		{kind: Variable, need: "our", expr: `^\s*our\s+[$@%](\w+)`},
	}, imports: []importer{{expr: `^\s*(?:use|require)\s+([A-Z][\w:]*)`}}}
}

func zigDialect() *dialect {
	return &dialect{syntax: cSyntax, patterns: []pattern{
		{kind: Function, need: "fn ", expr: `^\s*(?:(?:pub|export|inline|extern)\s+)*fn\s+(\w+)`},
		{kind: Struct, need: "struct", expr: `^\s*(?:pub\s+)?const\s+(\w+)\s*=\s*(?:packed\s+|extern\s+)?struct\b`},
		{kind: Enum, need: "enum", expr: `^\s*(?:pub\s+)?const\s+(\w+)\s*=\s*enum\b`},
		{kind: Constant, need: "const", expr: `^\s*(?:pub\s+)?const\s+(\w+)`},
		{kind: Variable, need: "var", expr: `^(?:pub\s+)?var\s+(\w+)`},
	}, imports: []importer{{need: "@import", expr: `@import\("([^"]+)"\)`}}}
}

func ocamlDialect() *dialect {
	return &dialect{layout: indented, syntax: mlSyntax, patterns: []pattern{
		{kind: Module, need: "module", expr: `^\s*module\s+(?:type\s+|rec\s+)?([A-Z]\w*)`},
		{kind: Type, need: "type", expr: `^\s*(?:and\s+)?type\s+(?:[^=]*?\s)?(\w+)\s*(?:=|$)`},
		{kind: Class, need: "class", expr: `^\s*class\s+(?:virtual\s+)?(\w+)`},
		{kind: Function, need: "let", expr: `^let\s+(?:rec\s+|inline\s+)?(\w+'?)\s+[^=\s:]`},
		{kind: Constant, need: "let", expr: `^let\s+(\w+'?)`},
		{kind: Function, need: "val", expr: `^\s*val\s+(\w+'?)`},
		{kind: Method, need: "member", expr: `^\s*(?:static\s+|override\s+)?member\s+(?:\w+\.)?(\w+)`},
	}, imports: []importer{{expr: `^\s*open\s+([\w.]+)`}}}
}

func haskellDialect() *dialect {
	return &dialect{layout: indented, syntax: syntax{line: []string{"--"}, block: [2]string{"{-", "-}"}, quotes: `"`}, patterns: []pattern{
		{kind: Module, need: "module", expr: `^module\s+([\w.]+)`},
		{kind: Class, need: "class", expr: `^class\s+(?:.*=>\s*)?(\w+)`},
		{kind: Type, expr: `^(?:data|newtype|type)\s+(\w+)`},
		{kind: Function, need: "::", expr: `^([a-z_][\w']*)\s*::`},
	}, imports: []importer{{need: "import", expr: `^import\s+(?:qualified\s+)?([\w.]+)`}}}
}

func lispDialect() *dialect {
	return &dialect{layout: indented, syntax: lispSyntax, patterns: []pattern{
		{kind: Module, need: "(ns ", expr: `^\(ns\s+(?:\^\S+\s+)?([\w.*+!?<>=-]+)`},
		{kind: Macro, need: "defmacro", expr: `^\s*\(defmacro\s+([\w.*+!?<>=/-]+)`},
		{kind: Interface, need: "defprotocol", expr: `^\s*\(defprotocol\s+([\w.*+!?<>=/-]+)`},
		{kind: Type, expr: `^\s*\((?:defrecord|deftype|defstruct|defclass)\s+\(?([\w.*+!?<>=/-]+)`},
		{kind: Variable, expr: `^\s*\((?:def|defonce|defvar|defcustom|defconst|defparameter)\s+(?:\^\S+\s+)?([\w.*+!?<>=/-]+)`},
		{kind: Function, need: "(def", expr: `^\s*\((?:defn-?|defun|defmethod|defmulti|define)\s+\(?(?:\^\S+\s+)?([\w.*+!?<>=/-]+)`},
	}, imports: []importer{{need: "[", expr: `^\s*(?:\(:require\s+)?\[([\w.-]+)(?:\s+:(?:as|refer).*)?\]?`}}}
}

func rDialect() *dialect {
	return &dialect{syntax: hashSyntax, patterns: []pattern{
		{kind: Function, need: "function", expr: `^\s*([\w.]+)\s*(?:<-|=)\s*function\b`},
		{kind: Variable, need: "<-", expr: `^([\w.]+)\s*<-`},
	}, imports: []importer{
		{expr: `^\s*(?:library|require)\(["']?([\w.]+)`},
		{need: "source", expr: `^\s*source\(["']([^"']+)`},
	}}
}

func juliaDialect() *dialect {
	return &dialect{layout: ended, syntax: hashSyntax, patterns: []pattern{
		{kind: Module, need: "module", expr: `^\s*module\s+(\w+)`},
		{kind: Struct, need: "struct", expr: `^\s*(?:mutable\s+)?struct\s+(\w+)`},
		{kind: Type, need: "abstract", expr: `^\s*abstract\s+type\s+(\w+)`},
		{kind: Macro, need: "macro", expr: `^\s*macro\s+(\w+)`},
		{kind: Function, need: "function", expr: `^\s*function\s+(?:\w+\.)*(\w+!?)`},
		{kind: Function, need: "=", expr: `^(\w+!?)\([^=]*\)\s*=[^=]`},
		{kind: Constant, need: "const", expr: `^\s*const\s+(\w+)`},
	}, imports: []importer{
		{need: "include", expr: `^\s*include\("([^"]+)"\)`},
		{expr: `^\s*(?:using|import)\s+([\w.]+)`},
	}}
}

func erlangDialect() *dialect {
	return &dialect{layout: indented, syntax: percentStyle, patterns: []pattern{
		{kind: Module, need: "-module", expr: `^-module\((\w+)\)`},
		{kind: Macro, need: "-define", expr: `^-define\((\w+)`},
		{kind: Struct, need: "-record", expr: `^-record\((\w+)`},
		{kind: Type, need: "-type", expr: `^-type\s+(\w+)`},
		{kind: Function, need: "(", expr: `^([a-z]\w*)\(.*\)\s*(?:when\s.*)?->`},
	}, imports: []importer{{expr: `^-include(?:_lib)?\("([^"]+)"\)`}}}
}

func powershellDialect() *dialect {
	return &dialect{syntax: syntax{line: []string{"#"}, block: [2]string{"<#", "#>"}, quotes: `"'`}, patterns: []pattern{
		{kind: Function, expr: `^\s*(?i:function|filter)\s+([\w:-]+)`},
		{kind: Class, expr: `^\s*(?i:class)\s+(\w+)`},
		{kind: Enum, expr: `^\s*(?i:enum)\s+(\w+)`},
	}, imports: []importer{{expr: `^\s*(?i:Import-Module)\s+(\S+)`}}}
}

func protobufDialect() *dialect {
	return &dialect{syntax: cSyntax, patterns: []pattern{
		{kind: Struct, expr: `^\s*(?:message|struct|exception|union)\s+(\w+)`},
		{kind: Enum, need: "enum", expr: `^\s*enum\s+(\w+)`},
		{kind: Interface, need: "service", expr: `^\s*service\s+(\w+)`},
		{kind: Method, need: "rpc", expr: `^\s*rpc\s+(\w+)`},
	}, imports: []importer{{expr: `^\s*(?:import\s+(?:public\s+|weak\s+)?|include\s+)"([^"]+)"`}}}
}

func sqlDialect() *dialect {
	const create = `^\s*(?i:create)\s+(?i:or\s+replace\s+)?(?i:temp(?:orary)?\s+)?(?i:unique\s+)?(?i:materialized\s+)?`
	const name = `\s+(?i:if\s+not\s+exists\s+)?["\x60\[]?(?:\w+["\x60\]]?\.["\x60\[]?)?(\w+)`
	return &dialect{syntax: dashSyntax, patterns: []pattern{
		{kind: Struct, expr: create + `(?i:table|view)` + name},
		{kind: Function, expr: create + `(?i:function|procedure|trigger)` + name},
		{kind: Type, expr: create + `(?i:type|domain)` + name},
		{kind: Property, expr: create + `(?i:index)` + name},
	}}
}

func graphqlDialect() *dialect {
	return &dialect{syntax: hashSyntax, patterns: []pattern{
		{kind: Interface, need: "interface", expr: `^\s*interface\s+(\w+)`},
		{kind: Enum, need: "enum", expr: `^\s*enum\s+(\w+)`},
		{kind: Type, expr: `^\s*(?:extend\s+)?(?:type|input|union|scalar)\s+(\w+)`},
		{kind: Function, expr: `^\s*(?:query|mutation|subscription|fragment)\s+(\w+)`},
	}}
}

func hclDialect() *dialect {
	return &dialect{syntax: hashSyntax, patterns: []pattern{
		{kind: Variable, expr: `^(?:variable|output|module|provider|locals)\s+"?([\w-]+)`},
		{kind: Struct, expr: `^(?:resource|data)\s+"?[\w-]+"?\s+"?([\w-]+)`},
	}, imports: []importer{{need: "source", expr: `^\s*source\s*=\s*"(\.[^"]+)"`}}}
}

func solidityDialect() *dialect {
	return &dialect{syntax: cSyntax, patterns: []pattern{
		{kind: Class, expr: `^\s*(?:abstract\s+)?(?:contract|library)\s+(\w+)`},
		{kind: Interface, need: "interface", expr: `^\s*interface\s+(\w+)`},
		{kind: Struct, need: "struct", expr: `^\s*struct\s+(\w+)`},
		{kind: Enum, need: "enum", expr: `^\s*enum\s+(\w+)`},
		{kind: Function, expr: `^\s*(?:function|modifier|event|error)\s+(\w+)`},
	}, imports: []importer{{need: "import", expr: `^\s*import\s+(?:[^"']*from\s+)?["']([^"']+)["']`}}}
}

func nimDialect() *dialect {
	return &dialect{layout: indented, syntax: pySyntax, patterns: []pattern{
		{kind: Function, expr: `^\s*(?:proc|func|method|iterator|converter)\s+` + "`?" + `(\w+)`},
		{kind: Macro, expr: `^\s*(?:template|macro)\s+(\w+)`},
		{kind: Type, need: "= ", expr: `^\s+(\w+)\*?\s*=\s*(?:ref\s+)?(?:object|enum|tuple|distinct)`},
	}, imports: []importer{{expr: `^\s*(?:import|include|from)\s+([\w/.]+)`}}}
}

func makeDialect() *dialect {
	return &dialect{layout: indented, syntax: syntax{line: []string{"#"}}, patterns: []pattern{
		{kind: Variable, need: "=", expr: `^(?:export\s+)?([\w.-]+)\s*(?:[:?+!]|::)?=`},
		{kind: Function, need: ":", expr: `^([\w./-]+)(?:\s+[\w./-]+)*\s*::?(?:[^=]|$)`},
		{kind: Function, need: "define", expr: `^define\s+([\w.-]+)`},
	}, imports: []importer{{need: "include", expr: `^-?include\s+([\w./-]+)`}}}
}

func cmakeDialect() *dialect {
	return &dialect{layout: ended, syntax: hashSyntax, patterns: []pattern{
		{kind: Function, expr: `^\s*(?i:function|macro)\s*\(\s*(\w+)`},
		{kind: Variable, expr: `^(?i:set|option)\s*\(\s*(\w+)`},
		{kind: Module, expr: `^\s*(?i:add_library|add_executable|add_custom_target)\s*\(\s*([\w:.-]+)`},
	}, imports: []importer{
		{need: "nclude", expr: `^\s*(?i:include)\s*\(\s*([\w./-]+)`},
		{expr: `^\s*(?i:add_subdirectory)\s*\(\s*([\w./-]+)`},
	}}
}
