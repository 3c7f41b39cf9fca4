package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/ctxt-dev/ctxt/report"
)

// The README's comment: a report of a public change as .ci/comment-image stored it, its Markdown, and
// a picture of that as GitHub shows it, in both of GitHub's colour schemes.
const (
	commentJSON = "docs/images/comment.json"
	commentText = "docs/images/comment.md"
)

// schemes are the pictures and what they are made for.
var schemes = []struct{ file, scheme string }{
	{"docs/images/comment-light.png", "light"},
	{"docs/images/comment-dark.png", "dark"},
}

// maxPicture is the most that one picture may have, in bytes.
const maxPicture = 200 << 10

// TestCommentImage checks that the comment that the README shows is what this code prints for the stored
// report, and that the pictures were made from that text. UPDATE=1 makes both anew and needs Chromium;
// .ci/comment-image also makes the report anew.
func TestCommentImage(t *testing.T) {
	root := moduleRoot(t)
	file := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	r, err := report.Parse([]byte(read(t, file(commentJSON))))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimRight(report.Markdown(r, report.MarkdownOptions{}), "\n") + "\n"
	page := commentPage(t, text)
	sum := sha256.Sum256([]byte(page))
	source := hex.EncodeToString(sum[:])
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file(commentText), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, s := range schemes {
			if data, err := os.ReadFile(file(s.file)); err == nil && pngText(data, "Source") == source {
				continue // Chromium's next version would draw other bytes
			}
			if err := os.WriteFile(file(s.file), withText(t, fewColours(t, picture(t, page, s.scheme)), "Source", source), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := read(t, file(commentText)); got != text {
		t.Errorf("%s is not what this code prints for %s; run UPDATE=1 go test ./cmd/ctxt -run CommentImage", commentText, commentJSON)
	}
	readme := read(t, file("README.md"))
	for _, s := range schemes {
		data, err := os.ReadFile(file(s.file))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(bytes.NewReader(data)); err != nil || len(data) > maxPicture {
			t.Errorf("%s: %d bytes, at most %d; %v", s.file, len(data), maxPicture, err)
		}
		if got := pngText(data, "Source"); got != source {
			t.Errorf("%s was made from another text (%.8s, not %.8s); run UPDATE=1 go test ./cmd/ctxt -run CommentImage", s.file, got, source)
		}
		if !strings.Contains(readme, s.file) {
			t.Errorf("README.md does not show %s", s.file)
		}
	}
	// What the README says in words about the picture is in the text.
	alt := regexp.MustCompile(`<img [^>]*alt="([^"]+)"`).FindStringSubmatch(readme)
	heading, _, _ := strings.Cut(strings.TrimPrefix(text, "### "), "\n")
	if alt == nil || alt[1] != strings.ReplaceAll(heading, "`", "") {
		t.Errorf("the picture's alternative text in README.md is %q, want the heading %q", alt, heading)
	}
	if !strings.Contains(readme, "--base d7776de~1 --head d7776de --title-from-head") || !strings.HasPrefix(r.Head, "d7776de") {
		t.Errorf("README.md lacks the command that prints the comment on %s", r.Head)
	}
}

// commentPage is the comment as GitHub shows it, as one page.
func commentPage(t *testing.T, text string) string {
	t.Helper()
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	var body bytes.Buffer
	if err := md.Convert([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(commentFrame, "BODY", body.String(), 1)
}

// commentFrame has GitHub's measures and colours.
const commentFrame = `<!doctype html>
<meta charset="utf-8">
<style>
:root { --ink: #1f2328; --soft: #59636e; --line: #d1d9e0; --paper: #fff; --head: #f6f8fa; --code: #818b981f; --link: #0969da }
@media (prefers-color-scheme: dark) { :root { --ink: #f0f6fc; --soft: #9198a1; --line: #3d444d; --paper: #0d1117; --head: #151b23; --code: #656c7633; --link: #4493f8 } }
* { box-sizing: border-box }
html { background: var(--paper) }
body { margin: 0; padding: 12px; width: 892px; color: var(--ink); font: 14px/1.5 "Segoe UI", "Noto Sans", "Liberation Sans", Arial, sans-serif, "Noto Color Emoji" }
.box { border: 1px solid var(--line); border-radius: 6px; overflow: hidden }
.by { padding: 8px 16px; background: var(--head); border-bottom: 1px solid var(--line); color: var(--soft) }
.by b { color: var(--ink); font-weight: 600 }
.by span { border: 1px solid var(--line); border-radius: 2em; padding: 0 7px; font-size: 12px; margin-left: 4px }
.text { padding: 16px }
.text > :last-child { margin-bottom: 0 }
h3 { font-size: 1.25em; line-height: 1.25; font-weight: 600; margin: 0 0 16px }
p, table, details { margin: 0 0 16px }
table { border-collapse: collapse; display: block; width: max-content; max-width: 100% }
th, td { border: 1px solid var(--line); padding: 6px 13px; text-align: left }
thead:not(:has(th:not(:empty))) { display: table-header-group }
code { font: 85%/1.5 ui-monospace, "SF Mono", "Liberation Mono", monospace; background: var(--code); border-radius: 6px; padding: .2em .4em; white-space: break-spaces }
h3 code { font-size: 85%; padding: 0 .2em }
sub { font-size: 75%; line-height: 0; vertical-align: -.25em }
a { color: var(--link) }
</style>
<div class="box"><div class="by"><b>github-actions</b> <span>bot</span> commented</div><div class="text">
BODY</div></div>
`

// picture draws a page in Chromium, at two dots a pixel.
func picture(t *testing.T, page, scheme string) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "comment.html")
	if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx := tab(t)
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		f := emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{&f}})
		return err
	}), chromedp.EmulateViewport(916, 200, chromedp.EmulateScale(2)), chromedp.Navigate("file://"+name), chromedp.WaitReady(".box"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// fewColours writes a picture with a palette of its 256 commonest colours, which is a third of the bytes.
func fewColours(t *testing.T, data []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	common := make([]color.RGBA, 0, len(count))
	for c := range count {
		common = append(common, c)
	}
	slices.SortFunc(common, func(a, b color.RGBA) int {
		if n := count[b] - count[a]; n != 0 {
			return n
		}
		return bytes.Compare([]byte{a.R, a.G, a.B}, []byte{b.R, b.G, b.B})
	})
	var palette color.Palette
	for _, c := range common[:min(len(common), 256)] {
		palette = append(palette, c)
	}
	out := image.NewPaletted(b, palette)
	near := map[color.RGBA]uint8{}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := at(x, y)
			i, known := near[c]
			if !known {
				i = uint8(palette.Index(c))
				near[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	var w bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&w, out); err != nil {
		t.Fatal(err)
	}
	return w.Bytes()
}

const pngHead = 8 + 4 + 4 + 13 + 4 // signature and the IHDR chunk

// withText puts a text chunk into a PNG file.
func withText(t *testing.T, data []byte, key, value string) []byte {
	t.Helper()
	body := []byte("tEXt" + key + "\x00" + value)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4))
	chunk = append(chunk, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	out := slices.Concat(data[:pngHead], chunk, data[pngHead:])
	if got := pngText(out, key); got != value {
		t.Fatalf("the text came back as %q", got)
	}
	return out
}

// pngText is the text of a PNG file's first text chunk of that key.
func pngText(data []byte, key string) string {
	for at := 8; at+12 <= len(data); {
		n := int(binary.BigEndian.Uint32(data[at:]))
		if n < 0 || at+12+n > len(data) {
			break
		}
		if name, value, ok := strings.Cut(string(data[at+8:at+8+n]), "\x00"); ok && string(data[at+4:at+8]) == "tEXt" && name == key {
			return value
		}
		at += 12 + n
	}
	return ""
}

// TestPictureText puts a text into a picture and reads it again.
func TestPictureText(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 40, 20))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 7)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	data := withText(t, fewColours(t, b.Bytes()), "Source", fmt.Sprint("of ", 1))
	if _, err := png.Decode(bytes.NewReader(data)); err != nil || pngText(data, "Source") != "of 1" || pngText(data, "Other") != "" {
		t.Errorf("%v, %q", err, pngText(data, "Source"))
	}
}

// TestGuideInBrowser opens the guide in pictures in a wide and a narrow window: nothing is wider than it.
func TestGuideInBrowser(t *testing.T) {
	if browser() == "" && os.Getenv("CI") != "true" {
		t.Log("no Chromium here: TestGuide alone looks at the page")
		return
	}
	page := "file://" + filepath.Join(moduleRoot(t), "docs", "getting-started.html")
	for _, width := range []int64{1280, 375} {
		ctx := tab(t)
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate(page), chromedp.WaitReady("#next")); err != nil {
			t.Fatal(err)
		}
		const measure = `[document.documentElement.scrollWidth - document.documentElement.clientWidth,
			Array.from(document.querySelectorAll("svg")).filter(s => s.getClientRects().length && s.getBoundingClientRect().width < 200).length]`
		got, err := chromedp.Run(ctx, chromedp.Evaluate[[]int](measure))
		if err != nil || len(got) != 2 || got[0] > 0 || got[1] > 0 {
			t.Errorf("at %d: %v (too wide by, drawings that are too small to read), %v", width, got, err)
		}
	}
}

// browser finds Chromium.
func browser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}

// tab opens Chromium, which ends with the test.
func tab(t *testing.T) context.Context {
	t.Helper()
	bin := browser()
	if bin == "" {
		t.Fatal("no Chromium: apt-get install -y chromium fonts-liberation fonts-noto-color-emoji")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(bin), chromedp.NoSandbox,
		chromedp.UserDataDir(filepath.Join(t.TempDir(), "profile")), chromedp.Flag("disable-dev-shm-usage", true))
	ctx, stop := context.WithTimeout(context.Background(), 90*time.Second)
	t.Cleanup(stop)
	ctx, stopAlloc := chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(stopAlloc)
	ctx, stopTab := chromedp.NewContext(ctx)
	t.Cleanup(stopTab)
	return ctx
}
