package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"strings"
)

// monorepo describes a generated repository: services of packages of files in four languages that
// import each other, and commits of a few files that belong together. The same values give the same
// bytes.
type monorepo struct {
	Seed    uint64
	Files   int
	Commits int // the first adds the files
}

const (
	perPackage = 16 // files
	perService = 40 // packages
	firstTime  = 1577836800
)

var words = strings.Fields(`account alert archive audit backup balance batch billing broker bucket budget cache calendar
	channel charge check client cluster command config connect contract counter cursor customer daemon delivery deploy
	device digest discount document driver encoder endpoint engine entity event extract feature feed filter folder gateway
	graph group handler header history image intake index ingest invoice journal label ledger limit listener location lock
	logger mailbox manager market matcher member merge message meter mirror model monitor network node notify object
	offer order packet parser partner payment planner policy pool portal price printer profile project provider proxy
	queue quota reader receipt record region registry release render replica report request resolver restore retry
	review route runner sample scheduler schema search secret segment sender server session shard shipment signal
	snapshot socket stage state storage stream subscriber summary supply sync table target task tenant ticket token topic
	tracker transfer trigger update upload user validator vault vendor version view wallet watcher worker writer zone`)

var languages = []string{".go", ".ts", ".py", ".java"}

// file is one file of the repository, by its number.
type file struct {
	id, service, pkg int
}

func (m monorepo) file(id int) file {
	pkg := id / perPackage
	return file{id, pkg / perService, pkg}
}

func word(n int) string { return words[n%len(words)] }

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (f file) lang() string { return languages[f.pkg%len(languages)] }

func (f file) dir() string {
	return fmt.Sprintf("services/%s%d/%s_%s%d", word(f.service*7), f.service, word(f.pkg*3), word(f.pkg*11+5), f.pkg%perService)
}

func (f file) name() string { return word(f.id*13+f.pkg) + "_" + word(f.id*29+3) }

func (f file) path() string {
	end := f.lang()
	if f.id%5 == 4 && end == ".go" {
		end = "_test.go"
	}
	return path.Join(f.dir(), fmt.Sprintf("%s%d%s", f.name(), f.id%perPackage, end))
}

// content is the file's text after so many changes.
func (m monorepo) content(f file, version int) string {
	rnd := rand.New(rand.NewPCG(m.Seed, uint64(f.id))) //nolint:gosec // test data
	var b strings.Builder
	other := m.file((f.id/perPackage*perPackage + perPackage*len(languages)*(1+rnd.IntN(3))) % m.Files)
	switch f.lang() {
	case ".go":
		fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"context\"\n\n\t%q\n)\n\n", word(f.pkg*3), "example.com/mono/"+other.dir())
	case ".ts":
		fmt.Fprintf(&b, "import { %s } from '../%s/%s';\n\n", title(other.name()), path.Base(other.dir()), strings.TrimSuffix(path.Base(other.path()), ".ts"))
	case ".py":
		fmt.Fprintf(&b, "from %s import %s\n\n", strings.ReplaceAll(other.dir(), "/", "."), other.name())
	case ".java":
		fmt.Fprintf(&b, "package %s;\n\nimport %s.*;\n\nclass %s {\n", strings.ReplaceAll(f.dir(), "/", "."), strings.ReplaceAll(other.dir(), "/", "."), title(word(f.id)))
	}
	for n := range 3 + rnd.IntN(5) {
		changed := 0
		if n == version%3 {
			changed = version
		}
		m.function(&b, rnd, f, n, changed)
	}
	if f.lang() == ".java" {
		b.WriteString("}\n")
	}
	return b.String()
}

func (m monorepo) function(b *strings.Builder, rnd *rand.Rand, f file, n, changed int) {
	verb, noun, kind := word(rnd.IntN(len(words))), word(rnd.IntN(len(words))), word(rnd.IntN(len(words)))
	name := verb + title(noun)
	switch f.lang() {
	case ".go":
		fmt.Fprintf(b, "// %s does the %s of a %s, attempt %d.\nfunc %s%d(ctx context.Context, %s *%s) error {\n", title(name), verb, kind, changed, title(name), n, noun, title(kind))
	case ".ts":
		fmt.Fprintf(b, "// The %s of a %s, attempt %d.\nexport function %s%d(%s: %s): void {\n", verb, kind, changed, name, n, noun, title(kind))
	case ".py":
		fmt.Fprintf(b, "def %s_%s%d(%s, %s):\n    # the %s of a %s, attempt %d\n", verb, noun, n, noun, kind, verb, kind, changed)
	case ".java":
		fmt.Fprintf(b, "  // The %s of a %s, attempt %d.\n  void %s%d(%s %s) {\n", verb, kind, changed, name, n, title(kind), noun)
	}
	end := ""
	if f.lang() == ".java" {
		end = ";"
	}
	for range 3 + rnd.IntN(7) {
		fmt.Fprintf(b, "    %s.%s(%s, %d)%s\n", word(rnd.IntN(len(words))), word(rnd.IntN(len(words)))+title(word(rnd.IntN(len(words)))), noun, rnd.IntN(1000), end)
	}
	if f.lang() == ".py" {
		b.WriteString("    return " + kind + "\n\n")
		return
	}
	b.WriteString("}\n\n")
}

// write writes the repository as a stream for git fast-import, with the branch main.
func (m monorepo) write(out io.Writer) error {
	w := bufio.NewWriterSize(out, 1<<20)
	rnd := rand.New(rand.NewPCG(m.Seed, 1)) //nolint:gosec // test data
	versions := make([]int, m.Files)
	commit := func(n int, message string) {
		who := fmt.Sprintf("%s %s <%s@example.com>", title(word(n%37)), title(word(n%23+50)), word(n%37))
		at := firstTime + int64(n)*1800
		fmt.Fprintf(w, "commit refs/heads/main\nauthor %s %d +0000\ncommitter %s %d +0000\ndata %d\n%s\n", who, at, who, at, len(message), message)
	}
	put := func(f file) {
		text := m.content(f, versions[f.id])
		fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", f.path(), len(text), text)
	}
	commit(0, "feat: begin")
	fmt.Fprintf(w, "M 100644 inline go.mod\ndata 24\nmodule example.com/mono\n\n")
	for id := range m.Files {
		put(m.file(id))
	}
	for n := 1; n < m.Commits; n++ {
		f := m.file(rnd.IntN(m.Files))
		kind := []string{"fix", "feat", "refactor"}[rnd.IntN(3)]
		commit(n, fmt.Sprintf("%s(%s): %s the %s of %s\n\nThe %s was late.\n", kind, word(f.service*7), word(rnd.IntN(len(words))), word(rnd.IntN(len(words))), f.name(), word(f.pkg*3)))
		base := f.id / perPackage * perPackage
		for range 1 + rnd.IntN(4) { // files of one package change together
			id := min(base+rnd.IntN(perPackage), m.Files-1)
			versions[id]++
			put(m.file(id))
		}
	}
	fmt.Fprint(w, "done\n")
	return w.Flush()
}
