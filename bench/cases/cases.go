// Package cases reads what is measured: case files written by people, replay files, and cases mined
// from a repository's own history.
//
// A case file, version 2, is a JSON object:
//
//	{
//	  "version": 2,
//	  "categories": {
//	    "path-intent": {
//	      "description": "the query says what a place is for",
//	      "cases": [
//	        {"query": "auth middleware", "expect_any": ["internal/auth/middleware.go"]}
//	      ]
//	    }
//	  }
//	}
//
// Category names are free; path-intent, symbol-lookup, concept-synonym, exact-file, narrow-scope
// and vague-intent are the usual ones. A query is answered when one of expect_any is returned.
// Paths are exact: case-sensitive, relative to the project's root, with forward slashes. Members
// with other names are ignored. docs/schema/cases.json is the schema.
package cases

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"unicode"
)

// Caps on a case file; it may come from anywhere.
const (
	MaxFile   = 8 << 20 // bytes
	MaxCases  = 10_000
	MaxQuery  = 4_096 // bytes
	MaxExpect = 1_000 // paths of one case
)

// File is a case file. Categories and cases keep the order of the file.
type File struct {
	Categories []Category
}

// Category is a named group of cases.
type Category struct {
	Name        string
	Description string
	Cases       []Case
}

// Case is one query and the paths that answer it.
type Case struct {
	Query     string   `json:"query"`
	ExpectAny []string `json:"expect_any"`
}

// Item is a case with its category.
type Item struct {
	Category string `json:"category"`
	Case
}

// Items lists all cases in the order of the file.
func (f *File) Items() []Item {
	var out []Item
	for _, c := range f.Categories {
		for _, k := range c.Cases {
			out = append(out, Item{c.Name, k})
		}
	}
	return out
}

// Open reads a case file.
func Open(file string) (*File, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read case file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read case file: %w", err)
	}
	return Parse(file, data)
}

// Parse reads the content of a case file; name is used in errors only. What is wrong is a
// *LineError that names the file, the line and the field.
func Parse(name string, data []byte) (*File, error) {
	if len(data) > MaxFile {
		return nil, &LineError{File: name, Line: 1, Msg: fmt.Sprintf("case file is larger than %d bytes", MaxFile)}
	}
	root, err := parseJSON(data)
	if err == nil {
		var f *File
		if f, err = fileFrom(&root); err == nil {
			return f, nil
		}
	}
	var at *place
	if errors.As(err, &at) {
		return nil, &LineError{File: name, Line: lineOf(data, at.offset), Msg: at.msg}
	}
	return nil, fmt.Errorf("read case file %s: %w", name, err)
}

const wantForm = `want {"version": 2, "categories": {NAME: {"cases": [{"query": …, "expect_any": […]}]}}}`

func fileFrom(root *node) (*File, error) {
	if root.kind != '{' {
		return nil, &place{root.offset, fmt.Sprintf("the document is %s, not an object: %s", root.kindName(), wantForm)}
	}
	version, ok := root.member("version")
	switch {
	case !ok:
		return nil, &place{root.offset, `field "version": missing; this program reads version 2: ` + wantForm}
	case version.kind != 'n' || version.text != "2":
		return nil, &place{version.offset, fmt.Sprintf("field %q: got %s, this program reads version 2: %s", "version", describe(version), wantForm)}
	}
	cats, err := root.field("categories", "categories", '{')
	if err != nil {
		return nil, err
	}
	f, total := &File{}, 0
	for i, name := range cats.names {
		c, err := categoryFrom(name, &cats.kids[i])
		if err != nil {
			return nil, err
		}
		if total += len(c.Cases); total > MaxCases {
			return nil, &place{cats.kids[i].offset, fmt.Sprintf("more than %d cases", MaxCases)}
		}
		f.Categories = append(f.Categories, c)
	}
	if total == 0 {
		return nil, &place{cats.offset, `field "categories": holds no case`}
	}
	return f, nil
}

func categoryFrom(name string, n *node) (Category, error) {
	c := Category{Name: name}
	at := "categories." + name
	if msg := badLine(name, 100); msg != "" {
		return c, &place{n.offset, fmt.Sprintf("field %q: category name %s", "categories", msg)}
	}
	if n.kind != '{' {
		return c, &place{n.offset, fmt.Sprintf("field %q: want an object, got %s", at, n.kindName())}
	}
	if d, ok := n.member("description"); ok {
		if d.kind != 's' {
			return c, &place{d.offset, fmt.Sprintf("field %q: want a string, got %s", at+".description", d.kindName())}
		}
		c.Description = d.text
	}
	list, err := n.field("cases", at+".cases", '[')
	if err != nil {
		return c, err
	}
	if len(list.kids) == 0 {
		return c, &place{list.offset, fmt.Sprintf("field %q: holds no case", at+".cases")}
	}
	for i := range list.kids {
		k, err := caseFrom(fmt.Sprintf("%s.cases[%d]", at, i), &list.kids[i])
		if err != nil {
			return c, err
		}
		c.Cases = append(c.Cases, k)
	}
	return c, nil
}

func caseFrom(at string, n *node) (Case, error) {
	var c Case
	if n.kind != '{' {
		return c, &place{n.offset, fmt.Sprintf("field %q: want an object, got %s", at, n.kindName())}
	}
	q, err := n.field("query", at+".query", 's')
	if err != nil {
		return c, err
	}
	if msg := badLine(q.text, MaxQuery); msg != "" {
		return c, &place{q.offset, fmt.Sprintf("field %q: %s", at+".query", msg)}
	}
	c.Query = q.text
	list, err := n.field("expect_any", at+".expect_any", '[')
	if err != nil {
		return c, err
	}
	if len(list.kids) == 0 || len(list.kids) > MaxExpect {
		return c, &place{list.offset, fmt.Sprintf("field %q: want 1 to %d paths, got %d", at+".expect_any", MaxExpect, len(list.kids))}
	}
	seen := map[string]bool{}
	for i := range list.kids {
		p := &list.kids[i]
		where := fmt.Sprintf("%s.expect_any[%d]", at, i)
		switch {
		case p.kind != 's':
			return c, &place{p.offset, fmt.Sprintf("field %q: want a string, got %s", where, p.kindName())}
		case p.text == "." || !fs.ValidPath(p.text) || strings.ContainsAny(p.text, "\\\x00"):
			return c, &place{p.offset, fmt.Sprintf("field %q: %q is not a clean path relative to the project's root, with forward slashes", where, p.text)}
		case seen[p.text]:
			return c, &place{p.offset, fmt.Sprintf("field %q: %q appears twice", where, p.text)}
		}
		seen[p.text] = true
		c.ExpectAny = append(c.ExpectAny, p.text)
	}
	return c, nil
}

// field returns a required member of a required kind; at is its full name.
func (n *node) field(name, at string, kind byte) (*node, error) {
	m, ok := n.member(name)
	if !ok {
		return nil, &place{n.offset, fmt.Sprintf("field %q: missing", at)}
	}
	if m.kind != kind {
		return nil, &place{m.offset, fmt.Sprintf("field %q: want %s, got %s", at, (&node{kind: kind}).kindName(), m.kindName())}
	}
	return m, nil
}

// badLine says what keeps s from being a non-empty line of text of at most limit bytes.
func badLine(s string, limit int) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty"
	case len(s) > limit:
		return fmt.Sprintf("is longer than %d bytes", limit)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "holds a control character"
	}
	return ""
}

// describe shows a scalar and names the kind of anything else.
func describe(n *node) string {
	if n.kind == 'n' {
		return n.text
	}
	return n.kindName()
}

// typeName is a JSON word for a Go kind, for error messages.
func typeName(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Bool:
		return "true or false"
	default:
		return "a number"
	}
}
