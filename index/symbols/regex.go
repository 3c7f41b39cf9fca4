package symbols

import (
	"bytes"
	"regexp"
	"slices"
	"sync"
)

// The regular-expression extractor reads a file line by line, after a linear pass has blanked its
// comments and strings. It knows three layouts of a body: braces, indentation, and "end".
//
// Its limits: one declaration a line at most; a declaration that starts in the middle of a line, or
// whose name stands on a later line than its keyword, is not seen.

type layout uint8

const (
	braces layout = iota
	indented
	ended
)

// pattern finds one kind of declaration. Group 1 is the name, unless the expression names groups
// "name" and "recv".
type pattern struct {
	kind Kind
	need string // a literal that every match contains; most lines are passed over by it
	expr string
	// inClass keeps only what stands directly in a class; atTop only what stands in none.
	inClass, atTop bool
	inherit        bool // an impl whose members belong to the class around it

	re         *regexp.Regexp
	name, recv int
}

// importer finds imports in one line of the file as written. read turns group 1 into specs; nil
// takes it as it is.
type importer struct {
	need string
	expr string
	read func(string) []string
	// more continues a statement over lines until this byte.
	more byte

	re *regexp.Regexp
}

// dialect describes one language to the extractor.
type dialect struct {
	layout   layout
	modules  bool // modules are the receivers of what they hold
	syntax   syntax
	patterns []pattern
	imports  []importer
	skip     map[string]bool // words that are not names

	once sync.Once // see dialectOf
}

const impl Kind = "impl" // a block that lends its name to its members, and is no symbol itself

const (
	maxRegexLine = 2000 // bytes; longer lines are not looked at
	maxHead      = 2000 // bytes between a name and its body
)

// dialects holds what is in dialectTable.
var dialects = sync.OnceValue(dialectTable)

// dialectOf returns the dialect of a language, or nil. Each is compiled when it is first asked for:
// all together that takes longer than most commands.
func dialectOf(lang string) *dialect {
	d := dialects()[lang]
	if d != nil {
		d.once.Do(d.compile)
	}
	return d
}

func (d *dialect) compile() {
	for i := range d.patterns {
		p := &d.patterns[i]
		p.re = regexp.MustCompile(p.expr)
		p.name, p.recv = max(p.re.SubexpIndex("name"), 1), p.re.SubexpIndex("recv")
	}
	for i := range d.imports {
		d.imports[i].re = regexp.MustCompile(d.imports[i].expr)
	}
}

// extractRegex reads src by regular expressions; languages that it does not know have no symbols.
func extractRegex(b *builder, lang string, src []byte) {
	if blockLanguage(lang) {
		for _, bl := range scriptBlocks(lang, src) {
			var in builder
			extractRegex(&in, "typescript", src[bl.from:bl.to])
			for _, s := range in.symbols {
				b.add(s.Name, s.Kind, s.Recv, s.Start+bl.line, s.End+bl.line)
			}
			for _, i := range in.imports {
				b.imp(i.Spec, i.Line+bl.line)
			}
		}
		return
	}
	d := dialectOf(lang)
	if d == nil {
		return
	}
	f := scanned{dialect: d, src: src}
	f.mask()
	f.declarations()
	f.ends()
	f.nest(b)
	f.imports(b)
	switch lang {
	case "javascript", "typescript", "tsx":
		lateImports(b, src, 0)
	}
}

// found is one match before its place is known.
type found struct {
	Symbol
	p      *pattern
	at     int // byte offset of the name
	indent int
}

// brace is a pair of braces.
type brace struct{ open, line, close int } // byte offset, line index, line index of its end

type scanned struct {
	*dialect
	src    []byte
	masked []byte
	starts []int // byte offsets of the lines
	braces []brace
	found  []found
}

// line is the masked text of line i, without its line break.
func (f *scanned) line(i int, text []byte) []byte {
	end := len(text)
	if i+1 < len(f.starts) {
		end = f.starts[i+1] - 1
	}
	return bytes.TrimSuffix(text[f.starts[i]:end], []byte{'\r'})
}

// declarations applies the patterns to the lines; the first that fits a line wins.
func (f *scanned) declarations() {
	for i := range f.starts {
		line := f.line(i, f.masked)
		if len(line) > maxRegexLine || len(line) == 0 {
			continue
		}
		indent := indentation(line)
		if indent == len(line) {
			continue
		}
		for k := range f.patterns {
			p := &f.patterns[k]
			if p.need != "" && !bytes.Contains(line, []byte(p.need)) {
				continue
			}
			m := p.re.FindSubmatchIndex(line)
			if m == nil || m[2*p.name] < 0 {
				continue
			}
			name := string(line[m[2*p.name]:m[2*p.name+1]])
			if f.skip[name] {
				continue
			}
			s := Symbol{Name: name, Kind: p.kind, Start: i + 1, End: i + 1}
			if p.recv > 0 && m[2*p.recv] >= 0 {
				s.Recv = string(line[m[2*p.recv]:m[2*p.recv+1]])
			}
			f.found = append(f.found, found{Symbol: s, p: p, at: f.starts[i] + m[2*p.name], indent: indent})
			break
		}
		if len(f.found) >= maxSymbols {
			return
		}
	}
}

// indentation is the length of the leading white space.
func indentation(line []byte) int {
	for i, c := range line {
		if c != ' ' && c != '\t' {
			return i
		}
	}
	return len(line)
}

// ends finds the last lines.
func (f *scanned) ends() {
	if f.layout == braces {
		for i := range f.found {
			f.found[i].End = f.braceEnd(&f.found[i])
		}
		return
	}
	var open []int // indices into found
	next, last := 0, 0
	for i := range f.starts {
		line := f.line(i, f.masked)
		indent := indentation(line)
		if indent == len(line) {
			continue
		}
		closer := line[indent] == ')' || line[indent] == ']' || line[indent] == '}'
		for len(open) > 0 {
			top := &f.found[open[len(open)-1]]
			if indent > top.indent || closer && f.layout == indented {
				break
			}
			top.End = last + 1
			if indent == top.indent && f.layout == ended && (closer || bytes.HasPrefix(line[indent:], []byte("end"))) {
				top.End = i + 1
			}
			open = open[:len(open)-1]
		}
		for next < len(f.found) && f.found[next].Start == i+1 {
			open = append(open, next)
			next++
		}
		last = i
	}
	for _, i := range open {
		f.found[i].End = last + 1
	}
	for i := range f.found {
		switch s := &f.found[i]; s.Kind {
		case Variable, Constant, Property, Type:
			if f.layout == ended {
				s.End = s.Start
			}
		}
	}
}

// braceEnd is the line that closes the body of a declaration.
func (f *scanned) braceEnd(s *found) int {
	at := f.bodyBrace(s)
	i, ok := slices.BinarySearchFunc(f.braces, at, func(b brace, at int) int { return b.open - at })
	if !ok {
		return s.End
	}
	return f.braces[i].close + 1
}

// bodyBrace is the offset of the first brace after a name that no parenthesis holds, or -1.
func (f *scanned) bodyBrace(s *found) int {
	depth := 0
	for i := s.at; i < len(f.masked) && i < s.at+maxHead; i++ {
		switch f.masked[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '{':
			if depth <= 0 {
				return i
			}
		case ';':
			if depth <= 0 {
				return -1
			}
		case '\n':
			switch s.Kind {
			case Variable, Constant, Type, Property, Macro:
				// A value that spans lines opens its brace on the line of the name.
				return -1
			}
			if depth <= 0 && i+1 < len(f.masked) && f.masked[i+1] == '\n' {
				return -1
			}
		}
	}
	return -1
}

// nest drops what is local to a function, and gives members their class.
func (f *scanned) nest(b *builder) {
	slices.SortStableFunc(f.found, func(x, y found) int {
		if x.Start != y.Start {
			return x.Start - y.Start
		}
		return y.End - x.End
	})
	type frame struct {
		end  int
		kind Kind
		name string
	}
	var stack []frame
	for _, s := range f.found {
		for len(stack) > 0 && s.Start > stack[len(stack)-1].end {
			stack = stack[:len(stack)-1]
		}
		in := frame{kind: Module}
		if len(stack) > 0 {
			in = stack[len(stack)-1]
		}
		recv := in.name
		if in.kind == Module && !f.modules {
			recv = ""
		}
		if s.Kind == impl && s.p.inherit {
			s.Name = in.name
		}
		keep := isHolder(in.kind) && !(s.p.inClass && in.kind == Module) && !(s.p.atTop && in.kind != Module)
		if s.End > s.Start || isHolder(s.Kind) {
			stack = append(stack, frame{s.End, s.Kind, s.Name})
		}
		if !keep || s.Kind == impl {
			continue
		}
		if s.Recv == "" {
			s.Recv = recv
		}
		switch {
		case s.Kind == Function && s.Recv != "":
			s.Kind = Method
		case s.Kind == Variable && s.Recv != "":
			s.Kind = Property
		}
		b.add(s.Name, s.Kind, s.Recv, s.Start, s.End)
	}
}

func isHolder(k Kind) bool {
	switch k {
	case Class, Struct, Interface, Trait, Enum, Module, impl:
		return true
	}
	return false
}

// imports applies the importers to the lines as written, outside comments and strings.
func (f *scanned) imports(b *builder) {
	if len(f.dialect.imports) == 0 {
		return
	}
	for i := range f.starts {
		masked := f.line(i, f.masked)
		indent := indentation(masked)
		if len(masked) > maxRegexLine || indent == len(masked) {
			continue
		}
		line := f.line(i, f.src)
		for k := range f.dialect.imports {
			p := &f.dialect.imports[k]
			if !bytes.Contains(line, []byte(p.need)) {
				continue
			}
			text := line
			if p.more != 0 && bytes.IndexByte(masked, p.more) < 0 {
				text = f.statement(i, p.more)
			}
			m := p.re.FindSubmatch(text)
			if m == nil {
				continue
			}
			if p.read == nil {
				b.imp(string(m[1]), i+1)
				break
			}
			for _, spec := range p.read(string(m[1])) {
				b.imp(spec, i+1)
			}
			break
		}
	}
}

// statement is the text from line i to the first stop byte, at most maxHead bytes; the line alone
// when there is none.
func (f *scanned) statement(i int, stop byte) []byte {
	start := f.starts[i]
	rest := f.masked[start:min(start+maxHead, len(f.masked))]
	j := bytes.IndexByte(rest, stop)
	if j < 0 {
		return f.line(i, f.src)
	}
	return f.src[start : start+j+1]
}
