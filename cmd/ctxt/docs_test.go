package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

// block is one fenced code block of a page.
type block struct {
	page string
	line int // of the opening fence, 1-based
	lang string
	text string
	// notRun is the reason of a comment "<!-- not run: reason -->" on the line before the fence.
	notRun string
}

func (b block) at() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

var notRunComment = regexp.MustCompile(`^<!-- not run: (.+) -->$`)

// TestDocumentLinks checks that each link of a Markdown page to a file of the project names one that
// exists, and an anchor that its target has. Links elsewhere must be https.
func TestDocumentLinks(t *testing.T) {
	root := moduleRoot(t)
	link := regexp.MustCompile(`!?\[[^\]]*\]\(([^)\s]+)\)|<[a-z][^>]*\s(?:href|src|srcset)="([^" ]+)"`)
	raw := regexp.MustCompile(`https://raw\.githubusercontent\.com/ctxt-dev/ctxt/main/([^\s"']+)`)
	for _, page := range pages(t) {
		prose, blocks := split(t, root, page)
		for _, b := range blocks {
			for _, m := range raw.FindAllStringSubmatch(b.text, -1) {
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
					t.Errorf("%s: fetches %s, which is not there", b.at(), m[1])
				}
			}
		}
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			m[1] += m[2]
			u, err := url.Parse(m[1])
			switch {
			case err != nil:
				t.Errorf("%s: link %q: %v", page, m[1], err)
				continue
			case u.Scheme != "":
				if u.Scheme != "https" && u.Scheme != "mailto" {
					t.Errorf("%s: link %q is not https", page, m[1])
				}
				continue
			}
			target := page
			if u.Path != "" {
				target = path.Join(path.Dir(page), u.Path)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil || strings.HasPrefix(target, "..") {
				t.Errorf("%s: link %q leads nowhere", page, m[1])
				continue
			}
			if u.Fragment != "" && path.Ext(target) == ".md" && !slices.Contains(anchors(t, root, target), u.Fragment) {
				t.Errorf("%s: link %q: %s has no heading of that name", page, m[1], target)
			}
		}
	}
}

// TestDocumentCommands runs each shell block of the pages in a small repository of two branches,
// main and sorted, with the second checked out. A block behind "<!-- not run: reason -->" is only
// read: its ctxt commands and flags must exist.
func TestDocumentCommands(t *testing.T) {
	root := moduleRoot(t)
	for _, page := range pages(t) {
		_, blocks := split(t, root, page)
		for _, b := range blocks {
			if !slices.Contains([]string{"sh", "bash", "shell", "console"}, b.lang) {
				continue
			}
			t.Run(b.at(), func(t *testing.T) {
				script := commands(b)
				checkFlags(t, b, script)
				if script = here(t, b, script); b.notRun == "" && strings.TrimSpace(script) != "" {
					runBlock(t, b, script)
				}
			})
		}
	}
}

// flagsOfOthers are flags of other programs that the pages name.
var flagsOfOthers = []string{"--filter", "--numstat", "--raw", "--no-renames", "--no-merges"}

// TestDocumentFlags checks that each flag that the pages name in running text is one of ctxt's.
func TestDocumentFlags(t *testing.T) {
	root := moduleRoot(t)
	ours := map[string]bool{}
	reference := read(t, filepath.Join(root, "docs", "commands.md"))
	for _, m := range regexp.MustCompile("(?m)^\\| `(?:-[a-zA-Z]`, `)?(--[a-z0-9-]+)").FindAllStringSubmatch(reference, -1) {
		ours[m[1]] = true
	}
	if len(ours) < 50 {
		t.Fatalf("docs/commands.md names only %d flags", len(ours))
	}
	code, flag := regexp.MustCompile("`[^`]+`"), regexp.MustCompile(`(?:^|[\s/])(--[a-z][a-z0-9-]*[a-z0-9])(-…)?`)
	named := 0
	for _, page := range pages(t) {
		prose, _ := split(t, root, page)
		for _, span := range code.FindAllString(prose, -1) {
			for _, m := range flag.FindAllStringSubmatch(strings.Trim(span, "`"), -1) {
				named++
				if m[2] == "" && !ours[m[1]] && !slices.Contains(flagsOfOthers, m[1]) && m[1] != "--help" && !strings.Contains(span, "git ") {
					t.Errorf("%s: %s names %s, which no command has", page, span, m[1])
				}
			}
		}
	}
	if named == 0 {
		t.Error("no flag was found")
	}
}

// pages lists the project's Markdown pages.
func pages(t *testing.T) []string {
	t.Helper()
	var names []string
	walk(t, moduleRoot(t), func(name string) {
		if path.Ext(name) == ".md" && !slices.Contains(strings.Split(name, "/"), "testdata") {
			names = append(names, name)
		}
	})
	if len(names) == 0 {
		t.Fatal("no pages")
	}
	return names
}

// split separates a page's prose from its fenced blocks.
func split(t *testing.T, root, page string) (prose string, blocks []block) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	var open *block
	fence, before := "", ""
	for i, line := range strings.Split(string(data), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case open == nil && strings.HasPrefix(trimmed, "```"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
			open = &block{page: page, line: i + 1, lang: strings.TrimSpace(strings.TrimLeft(trimmed, "`"))}
			if m := notRunComment.FindStringSubmatch(before); m != nil {
				open.notRun = m[1]
			}
		case open != nil && trimmed == fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		default:
			text.WriteString(line + "\n")
		}
		before = trimmed
	}
	if open != nil {
		t.Errorf("%s: the fence is never closed", open.at())
	}
	return text.String(), blocks
}

// anchors are the fragments by which a page's headings are named.
func anchors(t *testing.T, root, page string) []string {
	t.Helper()
	prose, _ := split(t, root, page)
	var names []string
	seen := map[string]int{}
	for _, line := range strings.Split(prose, "\n") {
		title := strings.TrimLeft(line, "#")
		if level := len(line) - len(title); level == 0 || level > 6 || !strings.HasPrefix(title, " ") {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))
		if n := seen[name]; n > 0 {
			names = append(names, fmt.Sprintf("%s-%d", name, n))
		} else {
			names = append(names, name)
		}
		seen[name]++
	}
	return names
}

// goRun are the ways to run ctxt that need no installed binary; they are checked as ctxt itself.
var goRun = strings.NewReplacer("go run "+modulePath+"/cmd/ctxt@latest ", "ctxt ", "go run ./cmd/ctxt ", "ctxt ")

// commands returns a block's commands: in a console block the lines behind "$ ", else every line.
func commands(b block) string {
	if b.lang != "console" {
		return goRun.Replace(b.text)
	}
	var script strings.Builder
	continued := false
	for _, line := range strings.Split(b.text, "\n") {
		rest, prompt := strings.CutPrefix(line, "$ ")
		if prompt || continued {
			script.WriteString(rest + "\n")
			continued = strings.HasSuffix(rest, "\\")
		}
	}
	return goRun.Replace(script.String())
}

// here leaves out the lines that are not for the sample repository: those that fetch or install ctxt, or
// run the project's tests. They must be exactly what CI runs.
func here(t *testing.T, b block, script string) string {
	t.Helper()
	var keep strings.Builder
	for line := range strings.Lines(script) {
		bare, _, _ := strings.Cut(line, " #")
		bare = strings.TrimPrefix(strings.TrimSpace(bare), "cd ctxt && ")
		switch {
		case strings.HasPrefix(bare, "go install "):
			if bare != "go install "+modulePath+"/cmd/ctxt@latest" && bare != "go install ./cmd/ctxt" {
				t.Errorf("%s: %q installs something else", b.at(), bare)
			}
		case strings.HasPrefix(bare, "git clone "):
			if bare != "git clone https://"+modulePath {
				t.Errorf("%s: %q clones something else", b.at(), bare)
			}
		case strings.HasPrefix(bare, "go test "), strings.HasPrefix(bare, "bash .ci/"):
		default:
			keep.WriteString(line)
		}
	}
	return keep.String()
}

var ctxtCommand = regexp.MustCompile(`(?m)(?:^|[|;&(]\s*)ctxt((?:[ \t]+[a-z][a-z-]*)+)([^|;&)\n]*)`)

// checkFlags checks that each ctxt command of a script exists and has the flags that it is given.
func checkFlags(t *testing.T, b block, script string) {
	t.Helper()
	script = strings.ReplaceAll(script, "\\\n", " ")
	flag := regexp.MustCompile(`(?:^|\s)(--[a-z][a-z0-9-]*)`)
	for _, m := range ctxtCommand.FindAllStringSubmatch(script, -1) {
		words := strings.Fields(m[1])
		help := ""
		for n := len(words); n > 0 && help == ""; n-- {
			out, err := exec.Command("ctxt", append(slices.Clone(words[:n]), "--help")...).CombinedOutput()
			if err == nil && strings.Contains(string(out), "ctxt "+strings.Join(words[:n], " ")) {
				help = string(out)
			}
		}
		if help == "" {
			t.Errorf("%s: no command ctxt %s", b.at(), strings.Join(words, " "))
			continue
		}
		for _, f := range flag.FindAllStringSubmatch(m[2], -1) {
			if !regexp.MustCompile(regexp.QuoteMeta(f[1]) + `\b`).MatchString(help) {
				t.Errorf("%s: ctxt %s has no flag %s", b.at(), strings.Join(words, " "), f[1])
			}
		}
	}
}

// runBlock runs a script in a fresh sample repository; each of its commands must succeed.
func runBlock(t *testing.T, b block, script string) {
	t.Helper()
	repo := sampleRepository(t)
	home := t.TempDir()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = repo.Dir
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s\n%s", b.at(), err, script, out)
	}
}

// sampleRepository is a small repository with a history, and a branch that changes one file of a pair
// that usually changes together.
func sampleRepository(t *testing.T) *gittest.Repo {
	t.Helper()
	repo := gittest.New(t)
	repo.Write("go.mod", "module example.com/r\n")
	repo.Write("main.go", "package main\n\nimport \"example.com/r/store\"\n\nfunc main() { store.Entries() }\n")
	for i := range 6 {
		repo.Write("store/store.go", fmt.Sprintf("package store\n\n// Entries lists what the store holds.\nfunc Entries() []string { return make([]string, %d) }\n", i))
		repo.Write("store/store_test.go", fmt.Sprintf("package store\n\nconst want = %d\n", i))
		repo.Commit(fmt.Sprintf("store: hold %d entries", i))
	}
	repo.Git("checkout", "-q", "-b", "sorted")
	repo.Write("store/store.go", "package store\n\nimport \"sort\"\n\n// Entries lists what the store holds, sorted.\nfunc Entries() []string { e := []string{}; sort.Strings(e); return e }\n")
	repo.Commit("store: keep entries sorted\n\nEntries of the store come back in order.")
	return repo
}
