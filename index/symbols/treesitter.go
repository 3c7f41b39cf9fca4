//go:build cgo

package symbols

import (
	"bytes"
	"context"
	"math"
	"sync"

	sitter "github.com/smacker/go-tree-sitter"
)

// HasTreeSitter reports whether this build holds the tree-sitter grammars, which need cgo.
func HasTreeSitter() bool { return true }

func canParse(lang string) bool { return grammars[lang] != nil || blockLanguage(lang) }

// rule says what to do at one node type.
type rule struct {
	kind Kind
	// name finds the declared name; nil is the field "name".
	name func(n *sitter.Node) *sitter.Node
	// inner walks the children, with the declared name as their receiver when own is set, else
	// with the receiver of the node itself.
	inner, own bool
	// member, when set, replaces kind where there is a receiver.
	member Kind
	// do replaces all of the above; it returns whether to walk the children, and their receiver.
	do func(w *walker, n *sitter.Node, recv string) (bool, string)
}

// grammar is one language: its parser table, and rules by node type.
type grammar struct {
	language func() *sitter.Language
	rules    map[string]rule
	// before sees the source, for what is cheaper to find in the text than in the tree.
	before func(b *builder, src []byte, line int)

	once  sync.Once
	lang  *sitter.Language
	table []*rule // by node symbol
}

func (g *grammar) prepare() {
	g.once.Do(func() {
		g.lang = g.language()
		n := g.lang.SymbolCount()
		g.table = make([]*rule, n)
		for s := range n {
			if g.lang.SymbolType(sitter.Symbol(s)) != sitter.SymbolTypeRegular {
				continue
			}
			if r, ok := g.rules[g.lang.SymbolName(sitter.Symbol(s))]; ok {
				g.table[s] = &r
			}
		}
	})
}

// parse reads src by the grammar of lang and returns what went wrong, or nothing.
func parse(b *builder, lang string, src []byte) string {
	if blockLanguage(lang) {
		return parseBlocks(b, lang, src)
	}
	if lang == "c" && looksLikeCPP(src) {
		lang = "cpp"
	}
	return parseAt(b, grammars[lang], src, 0)
}

// parseAt parses src, whose first line is line line+1 of the file.
func parseAt(b *builder, g *grammar, src []byte, line int) string {
	g.prepare()
	// One parser a file: a parser that was stopped once cannot be trusted with the next file.
	p := sitter.NewParser()
	defer p.Close()
	p.SetLanguage(g.lang)
	p.SetOperationLimit(int(b.limit.Microseconds()))
	tree, err := p.ParseCtx(context.Background(), nil, src)
	if err != nil {
		return "tree-sitter: stopped at the time limit"
	}
	defer tree.Close()
	w := walker{b: b, g: g, src: src, line: line}
	w.cursor = sitter.NewTreeCursor(tree.RootNode())
	defer w.cursor.Close()
	w.children("", 0)
	if g.before != nil {
		g.before(b, src, line)
	}
	return ""
}

// walker visits the declarations of one tree.
type walker struct {
	b      *builder
	g      *grammar
	src    []byte
	line   int
	depth  int // of re-parsed parts
	cursor *sitter.TreeCursor
}

const errorSymbol = math.MaxUint16

// children applies the rules to the children of the cursor's node.
func (w *walker) children(recv string, depth int) {
	if depth > maxNest || !w.cursor.GoToFirstChild() {
		return
	}
	for {
		w.visit(w.cursor.CurrentNode(), recv, depth)
		if len(w.b.symbols) >= maxSymbols || !w.cursor.GoToNextSibling() {
			break
		}
	}
	w.cursor.GoToParent()
}

func (w *walker) visit(n *sitter.Node, recv string, depth int) {
	s := n.Symbol()
	if s == errorSymbol {
		w.children(recv, depth+1)
		return
	}
	if int(s) >= len(w.g.table) || w.g.table[s] == nil {
		return
	}
	r := w.g.table[s]
	if r.do != nil {
		if inner, recv := r.do(w, n, recv); inner {
			w.children(recv, depth+1)
		}
		return
	}
	name := ""
	if r.kind != "" {
		var id *sitter.Node
		if r.name != nil {
			id = r.name(n)
		} else {
			id = n.ChildByFieldName("name")
		}
		kind := r.kind
		if r.member != "" && recv != "" {
			kind = r.member
		}
		name = w.text(id)
		w.add(n, id, name, kind, recv)
	}
	if !r.inner {
		return
	}
	if r.own && name != "" {
		recv = name
	}
	w.children(recv, depth+1)
}

// add records a declaration that covers the node. When the node begins with an annotation or an
// attribute, the declaration begins on the line of its name, id.
func (w *walker) add(n, id *sitter.Node, name string, kind Kind, recv string) {
	start, end := int(n.StartByte()), int(n.EndByte())
	if start >= end || end > len(w.src) {
		return
	}
	row := int(n.StartPoint().Row)
	lines := 0
	for start < end && isSpace(w.src[start]) {
		if w.src[start] == '\n' {
			row++
		}
		start++
	}
	for end > start && isSpace(w.src[end-1]) {
		end--
	}
	lines = bytes.Count(w.src[start:end], []byte{'\n'})
	last := row + lines
	if c := w.src[start]; id != nil && (c == '@' || c == '[' || c == '#') {
		row = int(id.StartPoint().Row)
	}
	w.b.add(name, kind, recv, w.line+row+1, w.line+last+1)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (w *walker) imp(n *sitter.Node, spec string) {
	w.b.imp(spec, w.line+int(n.StartPoint().Row)+1)
}

// text is the source of a node; empty for nil.
func (w *walker) text(n *sitter.Node) string {
	if n == nil {
		return ""
	}
	start, end := int(n.StartByte()), int(n.EndByte())
	if start > end || end > len(w.src) || end-start > 1<<14 {
		return ""
	}
	return string(bytes.TrimSpace(w.src[start:end]))
}

// field is the source of a node's field.
func (w *walker) field(n *sitter.Node, name string) string { return w.text(n.ChildByFieldName(name)) }

// childOf is the first of the node's first sixteen named children that has one of the types.
func childOf(n *sitter.Node, types ...string) *sitter.Node {
	for i := range min(int(n.NamedChildCount()), 16) {
		c := n.NamedChild(i)
		if c == nil {
			return nil
		}
		t := c.Type()
		for _, want := range types {
			if t == want {
				return c
			}
		}
	}
	return nil
}

// byChild names a declaration by its first child of one of the types.
func byChild(types ...string) func(*sitter.Node) *sitter.Node {
	return func(n *sitter.Node) *sitter.Node { return childOf(n, types...) }
}

// byField names a declaration by a field.
func byField(field string) func(*sitter.Node) *sitter.Node {
	return func(n *sitter.Node) *sitter.Node { return n.ChildByFieldName(field) }
}

// The common rules.
var (
	through = rule{inner: true}
	leaf    = func(kind Kind) rule { return rule{kind: kind} }
	within  = func(kind, inside Kind) rule { return rule{kind: kind, member: inside} }
	holder  = func(kind Kind) rule { return rule{kind: kind, inner: true, own: true} }
)

// types gives one rule to several node types.
func types(m map[string]rule, r rule, names ...string) {
	for _, n := range names {
		m[n] = r
	}
}
