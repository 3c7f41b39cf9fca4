//go:build cgo

package symbols

import (
	"context"
	"runtime"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// crash is a fault in C: the type of a node that no tree has.
func crash() { _ = (&sitter.Node{}).Type() }

// exhaust has trees take more memory than a child is given, and goes on when there is enough.
func exhaust() {
	most := make([]byte, workerMemory*7/10) // the rest is for the trees
	g := grammars["javascript"]
	g.prepare()
	src := []byte(strings.Repeat("f(a, b, c);\n", 50_000))
	for range 8 {
		p := sitter.NewParser()
		p.SetLanguage(g.lang)
		tree, err := p.ParseCtx(context.Background(), nil, src)
		if err != nil {
			break
		}
		defer tree.Close()
	}
	runtime.KeepAlive(most)
}
