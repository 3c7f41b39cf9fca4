package main

import (
	"html"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadmeWorkflow checks that the workflow that the README shows is the one in docs/workflows.
func TestReadmeWorkflow(t *testing.T) {
	root := moduleRoot(t)
	_, blocks := split(t, root, "README.md")
	want := read(t, filepath.Join(root, "docs", "workflows", "pull-request.yml"))
	for _, b := range blocks {
		if b.lang == "yaml" && b.text == want {
			return
		}
	}
	t.Errorf("README.md shows no yaml block that is docs/workflows/pull-request.yml:\n%s", strings.TrimSpace(want))
}

// TestReadmeFigures checks that the README's figures of ranking are those of docs/quality.md and docs/measuring.md.
func TestReadmeFigures(t *testing.T) {
	root := moduleRoot(t)
	readme := read(t, filepath.Join(root, "README.md"))
	for _, row := range []struct{ page, name, as string }{
		{"quality.md", "mean", "**ctxt**"},
		{"measuring.md", "bm25", "BM25 over content and path"},
		{"measuring.md", "words", "how many of the title's words the content holds"},
		{"measuring.md", "paths", "how many of the title's words the path holds"},
	} {
		var f []string
		for line := range strings.Lines(read(t, filepath.Join(root, "docs", row.page))) {
			if all := strings.Fields(line); len(all) == 14 && all[0] == row.name {
				f = all
				break
			}
		}
		if f == nil {
			t.Errorf("docs/%s has no line %q of 14 fields", row.page, row.name)
			continue
		}
		// hit@1, hit@5, hit@10, recall@10, recall@25, bundle_recall
		want := "| " + strings.Join([]string{row.as, f[2], f[3], f[4], f[6], f[7], f[9]}, " | ") + " |"
		if !strings.Contains(readme, "\n"+want+"\n") {
			t.Errorf("README.md has no row %q, which docs/%s gives", want, row.page)
		}
	}
}

// TestGuide checks that the guide in pictures loads nothing, that its links lead somewhere, and that
// its commands exist.
func TestGuide(t *testing.T) {
	root := moduleRoot(t)
	const page = "docs/getting-started.html"
	text := read(t, filepath.Join(root, filepath.FromSlash(page)))
	if m := regexp.MustCompile(`(?i)<(script|link|img|iframe|object|embed)\b|@import|url\(|\bsrc=`).FindString(text); m != "" {
		t.Errorf("%s loads something: %s", page, m)
	}
	links := regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(text, -1)
	if len(links) == 0 {
		t.Fatal("no links")
	}
	for _, m := range links {
		fragment, here := strings.CutPrefix(m[1], "#")
		switch {
		case here && !strings.Contains(text, `id="`+fragment+`"`):
			t.Errorf("%s: no place %s", page, m[1])
		case !here && !strings.HasPrefix(m[1], "https://"):
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path.Join("docs", m[1])))); err != nil {
				t.Errorf("%s: link %s leads nowhere", page, m[1])
			}
		}
	}
	// The shortened comment says what the whole one does.
	comment := strings.ReplaceAll(read(t, filepath.Join(root, filepath.FromSlash(commentText))), "`", "")
	_, box, _ := strings.Cut(text, `<div class="comment">`)
	box, _, _ = strings.Cut(box, "<details>")
	rows := regexp.MustCompile(`<(?:h3|td)>(.*?)</(?:h3|td)>`).FindAllStringSubmatch(box, -1)
	if len(rows) < 4 {
		t.Errorf("%s: the comment has %d rows", page, len(rows))
	}
	for _, m := range rows {
		if row := regexp.MustCompile(`<[^>]+>`).ReplaceAllString(m[1], ""); !strings.Contains(comment, row) {
			t.Errorf("%s: %q is not in %s", page, row, commentText)
		}
	}
	ran := 0
	for _, m := range regexp.MustCompile(`(?s)<pre>(.*?)</pre>`).FindAllStringSubmatch(text, -1) {
		script := html.UnescapeString(regexp.MustCompile(`<[^>]+>`).ReplaceAllString(m[1], ""))
		checkFlags(t, block{page: page}, script)
		if lines := strings.Split(strings.TrimSpace(script), "\n"); !slices.ContainsFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "ctxt ") }) {
			runBlock(t, block{page: page, lang: "sh", text: script}, script)
			ran += len(lines)
		}
	}
	if ran < 7 {
		t.Errorf("%s: %d commands were run", page, ran)
	}
}

// TestTroubleshootingMessages checks that the messages that the page on troubleshooting goes by are in the source.
func TestTroubleshootingMessages(t *testing.T) {
	var source strings.Builder
	for _, f := range goFiles(t) {
		if !f.test {
			source.WriteString(read(t, filepath.Join(moduleRoot(t), filepath.FromSlash(f.name))))
		}
	}
	prose, _ := split(t, moduleRoot(t), "docs/troubleshooting.md")
	quotes := 0
	for _, m := range regexp.MustCompile(`\*\*([^*]+)\*\*`).FindAllStringSubmatch(prose, -1) {
		for _, q := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(m[1], -1) {
			for part := range strings.SplitSeq(q[1], "…") {
				quotes++
				if part = strings.TrimSpace(part); !strings.Contains(source.String(), part) {
					t.Errorf("no message has %q", part)
				}
			}
		}
	}
	if quotes < 10 {
		t.Errorf("only %d quotes", quotes)
	}
}
