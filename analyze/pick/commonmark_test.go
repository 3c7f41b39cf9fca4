package pick_test

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gmtext "github.com/yuin/goldmark/text"

	"github.com/ctxt-dev/ctxt/analyze/pick"
)

// FuzzBundleMarkup reads a bundle by a CommonMark parser: whatever paths, reasons, the task and the
// contents hold, there is one heading a file, each content lies in one fence, and nothing outside the
// fences is markup that makes a link, an image, HTML, a list, a quotation or a rule.
func FuzzBundleMarkup(f *testing.F) {
	for _, s := range []string{"a.go", "[x](https://e.example)", "![x](https://e.example/i.png)", "<https://e.example>", "<img src=x>", "<!-- x", "```\n# x", "~~~", "    code", "# h", "- x\n- y",
		"> q", "1. x", "===", "---", "\\`", "`a``b```", "a\tb\r\nc", "https://e.example www.e.example a@e.example", "| a | b |\n|---|---|", "[^1]: x", "[a]: https://e.example", "\u2028# x", "\x00"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, path, content string) {
		b := &pick.Bundle{Task: path, Files: []pick.File{
			{Path: path, Reason: content, Regions: []pick.Region{{Start: 1, End: 2, Text: content}, {Start: 9, End: 9, Text: path}}},
			{Path: "b", Reason: path, Regions: []pick.Region{{Start: 3, End: 4, Text: path}}}, {Path: "z"}}}
		src := []byte(pick.Markdown(b))
		doc := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser().Parse(gmtext.NewReader(src))
		headings, fences := 0, 0
		err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.Heading:
				headings++
			case *ast.FencedCodeBlock:
				fences++
			case *ast.Link, *ast.AutoLink, *ast.Image, *ast.RawHTML, *ast.HTMLBlock, *ast.CodeBlock, *ast.List, *ast.Blockquote, *ast.ThematicBreak:
				t.Errorf("%s outside of the fences", n.Kind())
			}
			return ast.WalkContinue, nil
		})
		if err != nil || headings != 4 || fences != 2 || t.Failed() {
			t.Fatalf("%d headings, %d fences, %v in\n%s", headings, fences, err, strings.ReplaceAll(string(src), "\r", "\\r"))
		}
	})
}
