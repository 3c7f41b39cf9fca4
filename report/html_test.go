package report

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/ctxt-dev/ctxt/analyze/score"
)

// scored gives the context's files parts, as a run does.
func scored(r *Report) *Report {
	for i := range r.Context.Files {
		f := &r.Context.Files[i]
		f.Tokens = 100 + 37*i%400
		for k := range score.NumSignals {
			w := f.Score * []float64{0.5, 0.1, 0.1, 0.05, 0.05, 0.2}[k]
			f.Parts = append(f.Parts, score.Part{Signal: score.Signal(k).String(), Raw: 0.5, Weight: 2 * w, Contribution: w})
		}
	}
	return r
}

// TestHTMLStructure holds without a browser that the page is one file without network, and that no
// input is markup in it.
func TestHTMLStructure(t *testing.T) {
	allowed := regexp.MustCompile(`(?i)<(/?)([a-z0-9!-]+)`)
	known := strings.Fields("!doctype html head meta title style body header p span h1 br code svg rect main h2 div table thead tr th tbody td polyline path g text button label input footer script")
	for _, name := range sortedCases() {
		r := cases()[name]
		h := HTML(r)
		if h != HTML(cases()[name]) {
			t.Errorf("%s: a second page differs", name)
		}
		page := strings.ReplaceAll(strings.ReplaceAll(h, pageScript, ""), pageStyle, "")
		for _, m := range allowed.FindAllStringSubmatch(page, -1) {
			if !slices.Contains(known, strings.ToLower(m[2])) {
				t.Errorf("%s: element %s", name, m[0])
			}
		}
		for _, bad := range []string{"<img", "<a ", "<link", "<iframe", "onerror=alert(1)>", "javascript:", "src=\"", "href="} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: %q in the page", name, bad)
			}
		}
		if strings.Count(page, "<script>") != 1 || !strings.Contains(page, "default-src 'none'") || !strings.Contains(page, "script-src 'sha256-"+hash(pageScript)+"'") {
			t.Errorf("%s: script or content policy", name)
		}
		for _, r := range page {
			if hidden(r) && r != '\n' {
				t.Fatalf("%s: hidden character %U", name, r)
			}
		}
	}
	h := HTML(companionReport())
	for _, want := range []string{`id="graph"`, `class="node changed"`, `class="node companion"`, `class="edge changes_with"`, `id="filter"`, `<polyline class="spark"`, "store/lock_test.go", "prefers-color-scheme: dark"} {
		if !strings.Contains(h, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	if h := HTML(&Report{}); !strings.Contains(h, "Not assessed") {
		t.Error("an empty report")
	}
}

// browser finds Chromium.
func browser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}

// TestHTMLInBrowser opens the page in Chromium: no error, no request, a graph, sorting, filtering, a
// phone's width. Without Chromium TestHTMLStructure is all there is; CI must have one.
func TestHTMLInBrowser(t *testing.T) {
	bin := browser()
	if bin == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no Chromium: apt-get install -y chromium")
		}
		t.Log("no Chromium here: the page's structure is checked by TestHTMLStructure alone")
		return
	}
	for _, name := range []string{"high", "hostile", "empty"} {
		t.Run(name, func(t *testing.T) {
			r := cases()[name]
			if r.Context != nil {
				r = scored(r)
			}
			inBrowser(t, bin, name, HTML(r))
		})
	}
}

func inBrowser(t *testing.T, bin, name, page string) {
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(bin), chromedp.NoSandbox, chromedp.UserDataDir(filepath.Join(dir, "profile")),
		chromedp.Flag("disable-dev-shm-usage", true))
	ctx, stop := context.WithTimeout(context.Background(), 90*time.Second)
	defer stop()
	ctx, stopAlloc := chromedp.NewExecAllocator(ctx, opts...)
	defer stopAlloc()
	var mu sync.Mutex
	var faults []string
	listen := func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			faults = append(faults, "exception: "+e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			faults = append(faults, "console: "+string(e.Type))
		case *log.EventEntryAdded:
			faults = append(faults, "log: "+e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if e.Request.URL != "file://"+file {
				faults = append(faults, "request: "+e.Request.URL)
			}
		}
	}
	ctx, stopTab := chromedp.NewContext(ctx, chromedp.WithListener(listen))
	defer stopTab()
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, log.Enable, cdp.Empty{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		return err
	}), chromedp.EmulateViewport(1200, 900), chromedp.Navigate("file://"+file), chromedp.WaitReady("footer"))
	if err != nil {
		t.Fatal(err)
	}
	state, err := chromedp.Run(ctx, chromedp.Evaluate[string](pageState))
	if err != nil {
		t.Fatal(err)
	}
	shot(t, ctx, name+"-wide")
	err = chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		dark := emulation.MediaFeature{Name: "prefers-color-scheme", Value: "dark"}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{&dark}})
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	shot(t, ctx, name+"-dark")
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(375, 800, chromedp.EmulateScale(2), chromedp.EmulateMobile)); err != nil {
		t.Fatal(err)
	}
	over, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`))
	if err != nil {
		t.Fatal(err)
	}
	shot(t, ctx, name+"-phone")
	if over > 0 {
		t.Errorf("the page scrolls sideways by %d on a phone", over)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(faults) > 0 {
		t.Errorf("faults: %q", faults)
	}
	checkState(t, name, state)
}

// pageState uses the page and says what it saw.
const pageState = `(function () {
  var out = {graph: document.querySelectorAll("#graph .node").length, edges: document.querySelectorAll("#graph .edge").length, scripts: document.scripts.length, images: document.images.length, links: document.links.length};
  var table = document.getElementById("context");
  if (!table) return JSON.stringify(out);
  var paths = function () { return Array.from(table.tBodies[0].rows).filter(function (r) { return !r.hidden; }).map(function (r) { return r.cells[1].dataset.v; }); };
  out.first = paths();
  var heads = table.tHead.rows[0].cells;
  heads[1].querySelector("button").click(); out.byPath = paths();
  heads[1].querySelector("button").click(); out.byPathDown = paths();
  heads[3].querySelector("button").click(); out.tokens = Array.from(table.tBodies[0].rows).map(function (r) { return +r.cells[3].dataset.v; });
  heads[0].querySelector("button").click(); out.back = paths();
  var f = document.getElementById("filter"); f.value = "LOCK_test"; f.dispatchEvent(new Event("input")); out.filtered = paths(); out.shown = document.getElementById("shown").textContent;
  f.value = ""; f.dispatchEvent(new Event("input")); out.unfiltered = paths().length;
  return JSON.stringify(out);
})()`

func checkState(t *testing.T, name, data string) {
	t.Helper()
	var s struct {
		Graph, Edges, Scripts, Images, Links, Unfiltered int
		First, ByPath, ByPathDown, Back, Filtered        []string
		Tokens                                           []int
		Shown                                            string
	}
	if err := json.Unmarshal([]byte(data), &s); err != nil {
		t.Fatal(err)
	}
	if s.Scripts != 1 || s.Images != 0 || s.Links != 0 {
		t.Errorf("%d scripts, %d images, %d links", s.Scripts, s.Images, s.Links)
	}
	if name != "high" {
		return
	}
	if s.Graph != 5 || s.Edges != 4 {
		t.Errorf("a graph of %d nodes and %d edges", s.Graph, s.Edges)
	}
	down := slices.Clone(s.ByPath)
	slices.Reverse(down)
	if len(s.First) != 14 || !slices.IsSorted(s.ByPath) || slices.Equal(s.First, s.ByPath) || !slices.Equal(down, s.ByPathDown) || !slices.IsSorted(s.Tokens) || !slices.Equal(s.Back, s.First) {
		t.Errorf("sorting: %s", data)
	}
	if !slices.Equal(s.Filtered, []string{"store/lock_test.go"}) || s.Shown != "1 of 14" || s.Unfiltered != 14 {
		t.Errorf("filtering: %v, %s, %d", s.Filtered, s.Shown, s.Unfiltered)
	}
}

// shot keeps a screenshot when SHOTS names a folder.
func shot(t *testing.T, ctx context.Context, name string) {
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("report-%s.png", name)), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDrawing holds that a large graph is cut and counted, and that bad indices do no harm.
func TestDrawing(t *testing.T) {
	g := &Graph{}
	for i := range 100 {
		g.Nodes = append(g.Nodes, Node{fmt.Sprintf("p%03d", i), []string{"changed", "importer", "companion", "context"}[i%4]})
		g.Edges = append(g.Edges, Edge{From: i, To: (i * 7) % 100, Kind: "imports"})
	}
	g.Edges = append(g.Edges, Edge{From: -1, To: 5}, Edge{From: 1, To: 1000})
	d := draw(g)
	if len(d.Nodes)+d.More != 100 || d.More == 0 || d.Width > 1100 || d.Height > 1000 {
		t.Errorf("%d nodes, %d more, %d by %d", len(d.Nodes), d.More, d.Width, d.Height)
	}
	seen := map[[2]int]bool{}
	for _, n := range d.Nodes {
		if seen[[2]int{n.X, n.Y}] {
			t.Errorf("%s lies on another node", n.Path)
		}
		seen[[2]int{n.X, n.Y}] = true
	}
}

// TestTiesWithinAColumnAreInThePicture: a tie between two changed files bows out at the right.
func TestTiesWithinAColumnAreInThePicture(t *testing.T) {
	g := &Graph{Nodes: []Node{{"a.go", "changed"}, {"b.go", "changed"}}, Edges: []Edge{{From: 0, To: 1, Kind: "imports"}}}
	d := draw(g)
	if right := d.Nodes[0].X + d.Nodes[0].W; d.Width < right+bow {
		t.Errorf("the picture is %d wide, the tie reaches to %d", d.Width, right+bow)
	}
}

func TestShortPath(t *testing.T) {
	for in, want := range map[string]string{
		"a/b.go": "a/b.go",
		"packages/runtime-core/src/components/KeepAlive.ts":    "…/src/components/KeepAlive.ts",
		"packages/runtime-core/src/componentPublicInstance.ts": "…/componentPublicInstance.ts",
		"x/" + strings.Repeat("n", 40) + ".go":                 middle(strings.Repeat("n", 40)+".go", 31),
		strings.Repeat("é", 31):                                strings.Repeat("é", 31),
	} {
		if got := shortPath(in, 31); got != want || len([]rune(got)) > 31 {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
