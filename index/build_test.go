package index_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// project is a work tree with one file of each kind that the index tells apart.
func project(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	for path, text := range map[string]string{
		"go.mod":                "module example.com/p\n\ngo 1.26\n",
		"main.go":               "package main\n\nimport \"example.com/p/retry\"\n\nfunc main() { retry.Do() }\n",
		"retry/retry.go":        "// Package retry repeats.\npackage retry\n\n// Do does it.\nfunc Do() {}\n",
		"retry/retry_test.go":   "package retry\n\nimport \"testing\"\n\nfunc TestDo(t *testing.T) { Do() }\n",
		"retry/copy.go":         "// Package retry repeats.\npackage retry\n\n// Do does it.\nfunc Do() {}\n", // the same blob
		"web/app.ts":            "import {upload} from './upload'\nexport class App {}\nupload()\n",
		"web/upload.ts":         "export function upload(): void {}\n",
		"README.md":             "# Project\n\nRetries uploads.\n",
		"logo.png":              "\x89PNG\r\n\x1a\n\x00\x00",
		"data.bin":              "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
		"big.json":              "[" + strings.Repeat("1,\n", index.MaxData/3) + "1]",
		"vendor/x/x.go":         "package x\n",
		"empty.py":              "",
		"strange/ünï cödé.go":   "package strange\n\nfunc Ü() {}\n",
		".github/workflows/c.y": "on: push\n",
	} {
		r.Write(path, text)
	}
	if err := os.Symlink("main.go", filepath.Join(r.Dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	r.Commit("all of it")
	return r
}

func open(t *testing.T, dir, backend string) (*git.Repo, git.Hash) {
	t.Helper()
	repo, err := git.Open(dir, git.Options{Backend: backend})
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.Resolve(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return repo, head
}

func build(t *testing.T, from index.Origin, o index.Options) *index.Snapshot {
	t.Helper()
	s, err := index.Build(context.Background(), from, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func find(t *testing.T, s *index.Snapshot, path string) *index.File {
	t.Helper()
	i, ok := s.Find(path)
	if !ok {
		t.Fatalf("%s is not in the snapshot", path)
	}
	return &s.Files[i]
}

// same compares what two snapshots say.
func same(t *testing.T, name string, a, b *index.Snapshot) {
	t.Helper()
	for what, pair := range map[string][2]any{"files": {a.Files, b.Files}, "imports": {a.Imports, b.Imports}, "importers": {a.Importers, b.Importers}, "skipped": {a.Skipped, b.Skipped}} {
		if d := cmp.Diff(pair[0], pair[1]); d != "" {
			t.Errorf("%s: other %s (-want +got)\n%s", name, what, d)
		}
	}
}

func TestBuild(t *testing.T) {
	r := project(t)
	repo, head := open(t, r.Dir, "git")
	s := build(t, index.Tree(repo, head), index.Options{})
	if s.Commit != head || !slices.IsSortedFunc(s.Files, func(a, b index.File) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("commit %s, %d files", s.Commit, len(s.Files))
	}
	if _, ok := s.Find("link.go"); ok {
		t.Error("a link is in the snapshot")
	}
	for path, want := range map[string]struct {
		role    index.Role
		lang    string
		symbols []string
		binary  bool
		reason  string
		lines   int
	}{
		"main.go":             {role: index.Source, lang: "go", symbols: []string{"main"}, lines: 5},
		"retry/retry_test.go": {role: index.Test, lang: "go", symbols: []string{"TestDo"}, lines: 5},
		"web/app.ts":          {role: index.Source, lang: "typescript", symbols: []string{"App"}, lines: 3},
		"README.md":           {role: index.Document, lines: 3},
		"logo.png":            {role: index.Other, binary: true, reason: "binary"},
		"data.bin":            {role: index.Other, binary: true, reason: "a Git LFS pointer"},
		"big.json":            {role: index.Config, reason: "larger than the size cap"},
		"vendor/x/x.go":       {role: index.Generated, lang: "go", lines: 1},
		"empty.py":            {role: index.Source, lang: "python"},
		"strange/ünï cödé.go": {role: index.Source, lang: "go", symbols: []string{"Ü"}, lines: 3},
	} {
		f := find(t, s, path)
		var names []string
		for _, y := range f.Doc.Symbols {
			names = append(names, y.Name)
		}
		if f.Role != want.role || want.lang != "" && f.Lang != want.lang || !slices.Equal(names, want.symbols) || f.Doc.Binary != want.binary || f.Doc.Reason != want.reason || f.Doc.NumLines() != want.lines {
			t.Errorf("%s: role %s, language %s, symbols %q, binary %v, reason %q, %d lines; want %+v", path, f.Role, f.Lang, names, f.Doc.Binary, f.Doc.Reason, f.Doc.NumLines(), want)
		}
		if d := f.Doc; len(d.Lines) > 0 && int(d.Lines[len(d.Lines)-1]) != len(d.Tokens) || len(d.Decls) != len(d.Symbols) {
			t.Errorf("%s: the arrays do not fit: %d tokens, lines %v", path, len(d.Tokens), d.Lines)
		}
	}
	if find(t, s, "retry/retry.go").Doc != find(t, s, "retry/copy.go").Doc {
		t.Error("one blob was parsed twice")
	}
	imports := func(from, to string) bool {
		i, _ := s.Find(from)
		k, _ := s.Find(to)
		return slices.Contains(s.Imports[i], int32(k)) && slices.Contains(s.Importers[k], int32(i))
	}
	if !imports("main.go", "retry/retry.go") || !imports("web/app.ts", "web/upload.ts") || imports("web/upload.ts", "web/app.ts") {
		t.Errorf("imports %v", s.Imports)
	}

	memory := index.NewMemory()
	for name, o := range map[string]index.Options{"one job": {Jobs: 1}, "many jobs": {Jobs: 16}, "cold cache": {Cache: memory}} {
		same(t, name, s, build(t, index.Tree(repo, head), o))
	}
	same(t, "warm cache", s, build(t, index.Tree(repo, head), index.Options{Cache: memory}))
	lib, _ := open(t, r.Dir, "go-git")
	same(t, "go-git", s, build(t, index.Tree(lib, head), index.Options{}))
	few := build(t, index.Tree(repo, head), index.Options{Skip: func(p string) bool { return strings.HasPrefix(p, "web/") }, Mode: symbols.Regex})
	if _, ok := few.Find("web/app.ts"); ok || find(t, few, "main.go").Doc.By != symbols.Regex {
		t.Error("Skip or Mode had no effect")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := index.Build(ctx, index.Tree(repo, head), index.Options{}); err == nil {
		t.Error("a cancelled build gave a snapshot")
	}
	if _, err := index.Build(context.Background(), index.Tree(repo, git.Hash{1}), index.Options{}); err == nil {
		t.Error("a commit that is not there gave a snapshot")
	}
}

// TestFolder holds that a folder gives what the commit of the same files gives, links left out.
func TestFolder(t *testing.T) {
	r := project(t)
	repo, head := open(t, r.Dir, "git")
	tree := build(t, index.Tree(repo, head), index.Options{})
	rules := ignore.New(ignore.Options{Gitignore: []byte("README.md\n"), Ignore: []string{"vendor"}})
	s := build(t, index.Folder(r.Dir, rules), index.Options{})
	if !s.Commit.IsZero() {
		t.Errorf("commit %s", s.Commit)
	}
	for _, gone := range []string{"README.md", "vendor/x/x.go", "link.go", ".git/HEAD"} {
		if _, ok := s.Find(gone); ok {
			t.Errorf("%s is in the snapshot", gone)
		}
	}
	for i := range s.Files {
		f := &s.Files[i]
		if f.Path == "big.json" {
			continue // over the cap: its Doc says so in both
		}
		if d := cmp.Diff(find(t, tree, f.Path), f); d != "" {
			t.Errorf("%s (-tree +folder)\n%s", f.Path, d)
		}
	}
	text, err := s.Text(context.Background(), []int{0, len(s.Files) - 1})
	if err != nil || len(text) != 2 || text[0] == nil {
		t.Errorf("text %q, %v", text, err)
	}
	if _, err := index.Build(context.Background(), index.Folder(filepath.Join(r.Dir, "none"), rules), index.Options{}); err == nil {
		t.Error("a folder that is not there gave a snapshot")
	}
}

// TestOverlay holds that uncommitted changes take the place of what the commit has.
func TestOverlay(t *testing.T) {
	r := project(t)
	repo, head := open(t, r.Dir, "git")
	tree := index.Tree(repo, head)
	changes := func(r *git.Repo) func() ([]git.WorktreeChange, error) {
		return func() ([]git.WorktreeChange, error) { return r.Worktree(context.Background()) }
	}
	same(t, "a clean work tree", build(t, tree, index.Options{}), build(t, index.Overlay(tree, r.Dir, changes(repo)), index.Options{}))

	r.Write("retry/retry.go", "package retry\n\n// Again does it again.\nfunc Again() {}\n")
	r.Write("new/new.go", "package new\n\nfunc New() {}\n")
	r.Remove("web/upload.ts")
	r.Remove("main.go")
	if err := os.Symlink("README.md", filepath.Join(r.Dir, "main.go")); err != nil {
		t.Fatal(err)
	}
	s := build(t, index.Overlay(tree, r.Dir, changes(repo)), index.Options{})
	if s.Commit != head {
		t.Errorf("commit %s, want the one below", s.Commit)
	}
	for _, gone := range []string{"web/upload.ts", "main.go"} {
		if _, ok := s.Find(gone); ok {
			t.Errorf("%s is in the snapshot", gone)
		}
	}
	for path, want := range map[string]string{"retry/retry.go": "Again", "new/new.go": "New", "retry/copy.go": "Do"} {
		f := find(t, s, path)
		if len(f.Doc.Symbols) != 1 || f.Doc.Symbols[0].Name != want {
			t.Errorf("%s declares %+v, want %s", path, f.Doc.Symbols, want)
		}
		i, _ := s.Find(path)
		text, err := s.Text(context.Background(), []int{i})
		if err != nil || !strings.Contains(string(text[0]), "func "+want) {
			t.Errorf("%s: text %q, %v", path, text, err)
		}
		if f.Blob != git.HashBlob(text[0]) {
			t.Errorf("%s: its blob is not its content's", path)
		}
	}
	lib, _ := open(t, r.Dir, "go-git")
	same(t, "go-git", s, build(t, index.Overlay(index.Tree(lib, head), r.Dir, changes(lib)), index.Options{}))
	r.Git("add", "-A")
	same(t, "staged", s, build(t, index.Overlay(tree, r.Dir, changes(repo)), index.Options{}))
}

// TestOnDisk holds that a file of the tree is read from disk where its content is the tree's, and from
// the repository elsewhere.
func TestOnDisk(t *testing.T) {
	r := gittest.New(t)
	for i := range 300 {
		r.Write(fmt.Sprintf("d/f%03d.go", i), fmt.Sprintf("package d\n\nfunc F%d() {}\n", i))
	}
	r.Commit("files")
	repo, head := open(t, r.Dir, "git")
	tree := index.Tree(repo, head)
	want := build(t, tree, index.Options{})
	for i := range 120 { // most of the first files differ
		switch i % 3 {
		case 0:
			r.Write(fmt.Sprintf("d/f%03d.go", i), "package other\n")
		case 1:
			r.Remove(fmt.Sprintf("d/f%03d.go", i))
		}
	}
	same(t, "some differ", want, build(t, index.OnDisk(tree, r.Dir), index.Options{}))
	same(t, "no folder", want, build(t, index.OnDisk(tree, filepath.Join(r.Dir, "none")), index.Options{}))
	for i := range 300 {
		r.Write(fmt.Sprintf("d/f%03d.go", i), "package other\n")
	}
	same(t, "all differ", want, build(t, index.OnDisk(tree, r.Dir), index.Options{}))
	r.Git("checkout", "-q", "--", ".")
	packs, _ := filepath.Glob(filepath.Join(r.Dir, ".git/objects/??/*"))
	blob := strings.TrimSpace(r.Git("rev-parse", "HEAD:d/f007.go"))
	for _, p := range packs {
		if strings.HasSuffix(filepath.ToSlash(p), blob[:2]+"/"+blob[2:]) {
			if err := os.Remove(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	same(t, "only on disk", want, build(t, index.OnDisk(tree, r.Dir), index.Options{}))
}
