package symbols

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// The limits of one file. They depend on the bytes alone, so a file is read the same way everywhere.
const (
	maxSize    = 1 << 20   // bytes; larger files are not read at all
	maxParse   = 512 << 10 // bytes; larger files are not given to a grammar
	maxDepth   = 500       // nesting of brackets that a grammar is given
	maxLine    = 20_000    // bytes of one line that a grammar is given; go/parser has no such limit
	maxSymbols = 20_000    // symbols kept of one file
	maxImports = 20_000    // imports kept of one file
	maxName    = 256       // bytes of a name; longer ones are not names
	maxNest    = 100       // nesting of declarations that is followed
)

// maxTime bounds one parse by a grammar. It is a last resort, since what it stops depends on the
// machine: the limits above come first, and ordinary files stay a hundred times below it.
const maxTime = 1500 * time.Millisecond

// Extract finds the declarations and the imports of src, a file in the language lang as named by
// [Language]. It does not fail: what cannot be read by the best extractor is read by the regular
// expressions, and Result.Fault says why; in mode [TreeSitter] such a file has no symbols.
// src is not kept. Extract may be called from several goroutines.
func Extract(lang string, src []byte, mode Mode) Result { return extract(lang, src, mode, maxTime) }

func extract(lang string, src []byte, mode Mode, limit time.Duration) Result {
	if len(src) > maxSize {
		return Result{By: Regex, Fault: "larger than 1 MiB"}
	}
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	b := builder{limit: limit}
	by, fault := Mode("regex"), ""
	switch {
	case mode == Regex:
	case lang == "go":
		by, fault = "goparser", extractGo(&b, src)
	case canParse(lang):
		by = TreeSitter
		if fault = unsafeForParser(lang, src); fault == "" {
			fault = isolated(&b, lang, src)
		}
	case mode == TreeSitter && IsCode(lang):
		by, fault = TreeSitter, "no grammar for "+lang
	}
	if fault != "" && mode != TreeSitter {
		by = Regex
	}
	if by == Regex {
		b = builder{}
		extractRegex(&b, lang, src)
	} else if fault != "" && by == TreeSitter {
		b = builder{}
	}
	return b.result(by, fault)
}

// HasGrammar reports whether a better reader than the regular expressions exists for the language
// in this build.
func HasGrammar(lang string) bool { return lang == "go" || canParse(lang) }

// builder collects symbols and imports under the caps.
type builder struct {
	limit   time.Duration // of one parse
	symbols []Symbol
	imports []Import
}

func (b *builder) add(name string, kind Kind, recv string, start, end int) {
	if name == "" || name == "_" || len(name) > maxName || len(b.symbols) >= maxSymbols {
		return
	}
	if len(recv) > maxName {
		recv = ""
	}
	b.symbols = append(b.symbols, Symbol{Name: name, Kind: kind, Recv: recv, Start: start, End: max(start, end)})
}

func (b *builder) imp(spec string, line int) {
	if spec == "" || len(spec) > 4*maxName || len(b.imports) >= maxImports {
		return
	}
	b.imports = append(b.imports, Import{Spec: spec, Line: line})
}

// result sorts what was collected and drops what is there twice.
func (b *builder) result(by Mode, fault string) Result {
	slices.SortFunc(b.symbols, func(x, y Symbol) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.End, x.End), cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Recv, y.Recv))
	})
	slices.SortFunc(b.imports, func(x, y Import) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Spec, y.Spec))
	})
	return Result{Symbols: slices.Compact(b.symbols), Imports: slices.Compact(b.imports), By: by, Fault: fault}
}

// unsafeForParser says why a file must not be given to a grammar, or nothing. It reads the bytes
// once: size, brackets nested without regard to strings, the longest line, NUL bytes.
func unsafeForParser(lang string, src []byte) string {
	if len(src) > maxParse {
		return "larger than 512 KiB"
	}
	depth, deepest, line, longest := 0, 0, 0, 0
	for _, c := range src {
		line++
		switch class[c] {
		case open:
			depth++
			deepest = max(deepest, depth)
		case shut:
			depth = max(depth-1, 0)
		case newline:
			longest = max(longest, line)
			line = 0
		case nul:
			return "binary"
		}
	}
	switch {
	case deepest > maxDepth:
		return "nested deeper than 500 brackets"
	case max(longest, line) > maxLine && lang != "go":
		return "a line longer than 20,000 bytes"
	case lang == "lua" && notLua(src):
		return "not Lua by its characters"
	}
	return ""
}

// notLua reports whether a file has many strings that do not close or bytes that are foreign to the
// language: the Lua grammar then reads to the end of the file at each of them, and a time limit does
// not reach it there (20 KB of open quotes take two seconds).
func notLua(src []byte) bool {
	f := scanned{dialect: dialectOf("lua"), src: src}
	f.mask()
	foreign, quotes := 0, [2]int{}
	for _, c := range f.masked {
		switch c {
		case '!', '$', '@', '`', '?', '\\':
			foreign++
		case '"':
			quotes[0]++
		case '\'':
			quotes[1]++
		case '\n':
			foreign += quotes[0]%2 + quotes[1]%2
			quotes = [2]int{}
		}
	}
	return foreign > 20
}

// class sorts bytes for unsafeForParser.
var class = func() (t [256]uint8) {
	for _, c := range "([{" {
		t[c] = open
	}
	for _, c := range ")]}" {
		t[c] = shut
	}
	t['\n'], t[0] = newline, nul
	return t
}()

const (
	open uint8 = iota + 1
	shut
	newline
	nul
)
