package job

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/score"
	"github.com/ctxt-dev/ctxt/cmd/internal/config"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

const dayOf = 86400 // seconds

func activate(t testing.TB, o ActivateOptions) *Selected {
	t.Helper()
	s, err := Activate(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// signal is a file's raw value of a signal.
func signal(t testing.TB, s *Selected, path string, which score.Signal) float64 {
	t.Helper()
	x, err := s.Explain(path)
	if err != nil {
		t.Fatal(err)
	}
	return x.Parts[which].Raw
}

func paths(b *pick.Bundle) (out []string) {
	for _, f := range b.Files {
		out = append(out, f.Path)
	}
	return out
}

// crowd writes files that a task about uploads finds, so that a small bundle is full of them.
func crowd(r *gittest.Repo, n int) {
	for i := range n {
		r.Write(fmt.Sprintf("crowd/c%02d.go", i), fmt.Sprintf("package crowd\n\n// C%d retries an upload after a timeout.\nfunc C%d() {}\n", i, i))
	}
}

// TestPhraseAboveWords ranks a file where two words of the task stand side by side above one where
// they stand apart.
func TestPhraseAboveWords(t *testing.T) {
	r := gittest.New(t)
	r.Write("x/apart.go", "package x\n\n// a policy and with it one retry of several\n")
	r.Write("x/near.go", "package x\n\n// a retry policy and with it one of several\n")
	r.Write("x/other.go", "package x\n\n// nothing of that kind is to be found in here\n")
	r.Commit("first")
	s := activate(t, ActivateOptions{Dir: r.Dir, Task: "retry policy"})
	near, apart, other := signal(t, s, "x/near.go", score.Keyword), signal(t, s, "x/apart.go", score.Keyword), signal(t, s, "x/other.go", score.Keyword)
	if !(near > apart && apart > other) {
		t.Errorf("keyword: side by side %.3f, apart %.3f, neither %.3f", near, apart, other)
	}
}

// TestCentralityOfImported gives files that many others import a higher centrality, and so those that
// an import joins to the best files.
func TestCentralityOfImported(t *testing.T) {
	r := gittest.New(t)
	r.Write("go.mod", "module example.com/r\n")
	r.Write("hub/hub.go", "package hub\n\nfunc Hub() {}\n")
	r.Write("leaf/leaf.go", "package leaf\n\nfunc Leaf() {}\n")
	for _, p := range []string{"a", "b", "c", "d"} {
		r.Write(p+"/"+p+".go", "package "+p+"\n\nimport \"example.com/r/hub\"\n\nvar _ = hub.Hub\n")
	}
	r.Write("upload/upload.go", "package upload\n\nimport \"example.com/r/part\"\n\n// Upload sends parts.\nfunc Upload() { part.Send() }\n")
	r.Write("part/p.go", "package part\n\nfunc Send() {}\n")
	r.Commit("first")
	s := activate(t, ActivateOptions{Dir: r.Dir, Task: "upload"})
	hub, leaf, part := signal(t, s, "hub/hub.go", score.Centrality), signal(t, s, "leaf/leaf.go", score.Centrality), signal(t, s, "part/p.go", score.Centrality)
	if hub <= leaf || part <= leaf {
		t.Errorf("centrality: imported by four %.3f, imported by the best file %.3f, by none %.3f", hub, part, leaf)
	}
}

// TestChurnDecays counts recent changes for more than old ones, and many for more than few.
func TestChurnDecays(t *testing.T) {
	r := gittest.New(t)
	step := func(path string, times int) {
		for i := range times {
			r.Write(path, fmt.Sprintf("package p\n\nvar n = %d\n", i))
			r.Commit("change")
		}
	}
	step("old.go", 6)
	r.Advance(400 * dayOf)
	step("once.go", 1)
	step("often.go", 6)
	s := activate(t, ActivateOptions{Dir: r.Dir, Task: "anything at all"})
	often, once, old := signal(t, s, "often.go", score.Churn), signal(t, s, "once.go", score.Churn), signal(t, s, "old.go", score.Churn)
	if !(often > once && once > old) {
		t.Errorf("churn: six recent changes %.3f, one %.3f, six a year ago %.3f", often, once, old)
	}
	c := config.Default()
	c.Selector.Churn.HalfLifeDays = 3650
	long := activate(t, ActivateOptions{Dir: r.Dir, Task: "anything at all", Config: c})
	if got := signal(t, long, "old.go", score.Churn); got <= old {
		t.Errorf("with a half-life of ten years old changes count %.3f, not more than %.3f", got, old)
	}
}

// TestRecentTouch ranks what the last commits touched above what was touched long ago, and what a
// session or the branch touched above both.
func TestRecentTouch(t *testing.T) {
	r := gittest.New(t)
	r.Write("old.go", "package p\n\nvar old = 1\n")
	r.Write("mine.go", "package p\n\nvar mine = 1\n")
	r.Commit("first")
	r.Advance(200 * dayOf)
	r.Write("new.go", "package p\n\nvar fresh = 1\n")
	r.Commit("second")
	o := ActivateOptions{Dir: r.Dir, Task: "anything at all"}
	s := activate(t, o)
	if fresh, old := signal(t, s, "new.go", score.Recent), signal(t, s, "old.go", score.Recent); fresh <= old {
		t.Errorf("recent touch: last commit %.3f, an old one %.3f", fresh, old)
	}
	o.Touched = map[string]bool{"mine.go": true}
	if got := signal(t, activate(t, o), "mine.go", score.Recent); got != 1 {
		t.Errorf("touched in the session: %.3f", got)
	}
	r.Git("checkout", "-q", "-b", "topic")
	r.Write("old.go", "package p\n\nvar old = 2\n")
	r.Commit("on the branch")
	o.Touched, o.BranchAware = nil, true
	if got := signal(t, activate(t, o), "old.go", score.Recent); got != 1 {
		t.Errorf("changed on the branch: %.3f", got)
	}
}

// TestTestsNearby lifts a test of the file that the task is about, by name and by import, far above a test of another.
func TestTestsNearby(t *testing.T) {
	r := gittest.New(t)
	r.Write("go.mod", "module example.com/r\n")
	r.Write("upload/retry.go", "package upload\n\n// Retry retries an upload.\nfunc Retry() {}\n")
	r.Write("upload/retry_test.go", "package upload\n\nvar a = 1\n")
	r.Write("check/main_test.go", "package check\n\nimport \"example.com/r/upload\"\n\nvar _ = upload.Retry\n")
	r.Write("zoo/quagga.go", "package zoo\n\nvar q = 1\n")
	r.Write("zoo/quagga_test.go", "package zoo\n\nvar b = 1\n")
	r.Commit("first")
	s := activate(t, ActivateOptions{Dir: r.Dir, Task: "retry an upload"})
	named, imports, other := signal(t, s, "upload/retry_test.go", score.TestProximity), signal(t, s, "check/main_test.go", score.TestProximity), signal(t, s, "zoo/quagga_test.go", score.TestProximity)
	if !(min(named, imports) > 4*other) {
		t.Errorf("test proximity: same name %.3f, by import %.3f, of another file %.3f", named, imports, other)
	}
	if got := signal(t, s, "upload/retry.go", score.TestProximity); got < 0 || got > 1 {
		t.Errorf("test proximity of the source: %.3f", got)
	}
}

// shadowed is a repository where upload.go changed joint times together with far/mate.go, in commits
// of some more files.
func shadowed(t *testing.T, joint, more int) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	crowd(r, 12)
	r.Write("far/mate.txt", "0\n")
	r.Write("upload.go", "package p\n\n// Upload retries an upload after a timeout.\nfunc Upload() {}\n")
	r.Commit("first")
	for i := range joint {
		r.Write("far/mate.txt", fmt.Sprintf("%d\n", i+1))
		r.Write("upload.go", fmt.Sprintf("package p\n\n// Upload retries an upload after a timeout of %d.\nfunc Upload() {}\n", i))
		for k := range more {
			r.Write(fmt.Sprintf("bulk/%d.txt", k), fmt.Sprint(i))
		}
		r.Commit("both")
	}
	return r
}

// TestShadowFiles adds what usually changes with a selected file, under every bound of the configuration.
func TestShadowFiles(t *testing.T) {
	run := func(r *gittest.Repo, set func(*config.Config)) *pick.ShadowInfo {
		c := config.Default()
		if set != nil {
			set(c)
		}
		s := activate(t, ActivateOptions{Dir: r.Dir, Task: "upload: retry an upload after a timeout", Config: c, Pick: pick.Options{Budget: pick.Budget{Files: 6}}})
		if n := len(s.Bundle.Files); n > 6 {
			t.Errorf("%d files, more than the budget", n)
		}
		for _, f := range s.Bundle.Files {
			if f.Path == "far/mate.txt" {
				if f.Shadow == nil {
					t.Fatalf("the file is there by its rank, %d", f.Rank)
				}
				if !strings.Contains(f.Reason, "changed with upload.go in") {
					t.Errorf("reason: %s", f.Reason)
				}
				return f.Shadow
			}
		}
		return nil
	}
	three := shadowed(t, 3, 0)
	s := run(three, nil)
	if s == nil || s.Partner != "upload.go" || s.Joint < 3 || s.Confidence <= 0.5 || len(s.Last) != 40 {
		t.Fatalf("three joint commits: %+v", s)
	}
	sometimes := shadowed(t, 3, 0)
	sometimes.Write("upload.go", "package p\n\n// Upload retries an upload after a timeout, alone.\nfunc Upload() {}\n")
	sometimes.Commit("alone")
	if got := run(sometimes, nil); got == nil || got.Affinity >= 0.999 {
		t.Fatalf("a commit without the mate: %+v", got)
	}
	off := func(c *config.Config) { c.Selector.Shadow.Enabled = false }
	strict := func(c *config.Config) { c.Selector.Shadow.MinAffinity = 0.999 }
	ten := func(c *config.Config) { c.Selector.Shadow.MinCoCommitCount = 10 }
	for name, got := range map[string]*pick.ShadowInfo{
		"one joint commit":        run(shadowed(t, 1, 0), nil),
		"commits of sixty files":  run(shadowed(t, 4, 60), nil),
		"switched off":            run(three, off),
		"an affinity of 0.999":    run(sometimes, strict),
		"ten joint commits asked": run(three, ten),
	} {
		if got != nil {
			t.Errorf("%s: there is a shadow file: %+v", name, got)
		}
	}
	if small, large := run(shadowed(t, 4, 0), nil), run(shadowed(t, 4, 30), nil); small == nil || large != nil && large.Affinity > small.Affinity {
		t.Errorf("large commits are not penalised: %+v %+v", small, large)
	}
	old := shadowed(t, 4, 0)
	old.Advance(300 * dayOf)
	for i := range 3 {
		old.Write("upload.go", fmt.Sprintf("package p\n\n// Upload retries an upload after a timeout, %d.\nfunc Upload() {}\n", i))
		old.Commit("alone")
	}
	if got := run(old, nil); got != nil {
		t.Errorf("joint commits of last year, and none since: %+v", got)
	}
}

// TestAtMostThreeShadows bounds the number of added files.
func TestAtMostThreeShadows(t *testing.T) {
	r := gittest.New(t)
	crowd(r, 20)
	for i := range 5 {
		for k := range 8 {
			r.Write(fmt.Sprintf("far/m%d.txt", k), fmt.Sprint(i))
		}
		r.Write("upload.go", fmt.Sprintf("package p\n\n// Upload retries an upload after a timeout of %d.\nfunc Upload() {}\n", i))
		r.Commit("all")
	}
	for _, adds := range []int{3, 1} {
		c := config.Default()
		c.Selector.Shadow.MaxShadowAdds = adds
		s := activate(t, ActivateOptions{Dir: r.Dir, Task: "upload: retry an upload after a timeout", Config: c, Pick: pick.Options{Budget: pick.Budget{Files: 10}}})
		n := 0
		for _, f := range s.Bundle.Files {
			if f.Shadow != nil {
				n++
			}
		}
		if n != adds {
			t.Errorf("%d shadow files, want %d", n, adds)
		}
	}
}

// TestBudgetHolds never exceeds a budget, by the count of the real tokenizer, and keeps the rank order.
func TestBudgetHolds(t *testing.T) {
	r := gittest.New(t)
	crowd(r, 30)
	long := "package long\n"
	for i := range 120 {
		long += fmt.Sprintf("\n// F%d retries upload number %d after a timeout.\nfunc F%d(n int) int {\n\treturn n + %d\n}\n", i, i, i, i)
	}
	r.Write("long/retry.go", long)
	r.Commit("first")
	repo, err := git.Open(r.Dir, git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEngine(t.Context(), repo, EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, past, err := e.WorkTree(context.Background(), ActivateOptions{Dir: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		budget := pick.Budget{Tokens: rapid.IntRange(1, 6000).Draw(rt, "tokens"), Files: rapid.IntRange(1, 40).Draw(rt, "files")}
		pack := rapid.SampledFrom([]string{pick.PackTiered, pick.PackFull}).Draw(rt, "pack")
		s, err := e.Select(context.Background(), snapshot, past, Query{Title: "retry an upload after a timeout", Pick: pick.Options{Budget: budget, Pack: pack}})
		if err != nil {
			rt.Fatal(err)
		}
		n, err := pick.CountTokens(pick.Markdown(s.Bundle))
		if err != nil {
			rt.Fatal(err)
		}
		if len(s.Bundle.Files) > 0 && n > budget.Tokens || len(s.Bundle.Files) > budget.Files || s.Bundle.Used.Files != len(s.Bundle.Files) {
			rt.Fatalf("%d tokens of %d, %d files of %d", n, budget.Tokens, len(s.Bundle.Files), budget.Files)
		}
		if !slices.IsSortedFunc(s.Bundle.Files, func(a, b pick.File) int { return a.Rank - b.Rank }) {
			rt.Fatalf("not in rank order: %v", paths(s.Bundle))
		}
	})
}

// TestExcerpts includes files under 200 lines in full and larger ones by their best spans.
func TestExcerpts(t *testing.T) {
	r := gittest.New(t)
	short := "package short\n\n// Retry retries an upload.\nfunc Retry() {}\n"
	long := "package long\n"
	for i := range 100 {
		long += fmt.Sprintf("\nfunc F%d(n int) int {\n\treturn n + %d\n}\n", i, i)
	}
	r.Write("short/retry.go", short)
	r.Write("long/retry.go", long+"\n// retryUpload retries an upload after a timeout.\nfunc retryUpload() {}\n"+strings.ReplaceAll(long, "F", "G"))
	r.Commit("first")
	s := activate(t, ActivateOptions{Dir: r.Dir, Task: "retry an upload after a timeout", Pick: pick.Options{Pack: pick.PackFull}})
	seen := map[string]pick.File{}
	for _, f := range s.Bundle.Files {
		seen[f.Path] = f
	}
	if f := seen["short/retry.go"]; f.Tier != pick.Full || len(f.Regions) != 1 || strings.TrimRight(f.Regions[0].Text, "\n") != strings.TrimRight(short, "\n") {
		t.Errorf("the short file: %+v", f)
	}
	f, text, lines := seen["long/retry.go"], "", 0
	for _, g := range f.Regions {
		text += g.Text
		lines += g.End - g.Start + 1
	}
	if f.Tier == pick.Full || !strings.Contains(text, "func retryUpload()") || lines > strings.Count(long, "\n") {
		t.Errorf("the long file: %s, %d lines, %v", f.Tier, lines, strings.Contains(text, "retryUpload"))
	}
}

// TestRefineKeepsItsWord holds on to what was dropped, whatever is learned, and gives the same bytes
// for the same steps.
func TestRefineKeepsItsWord(t *testing.T) {
	r := gittest.New(t)
	crowd(r, 8)
	r.Commit("first")
	docs := newTestDocs()
	b := activate(t, ActivateOptions{Dir: r.Dir, Docs: docs, Task: "retry an upload"}).Bundle
	dropped := map[string]bool{}
	for step, drop := range []int{3, -1, 0, 3, 7, -1} {
		o := RefineOptions{ActivateOptions: ActivateOptions{Dir: r.Dir, Docs: docs}, Bundle: b, Learned: fmt.Sprintf("crowd of c%02d", step), Keywords: []string{fmt.Sprintf("C%d", step)}}
		if drop >= 0 {
			o.Drop = []string{fmt.Sprintf("crowd/c%02d.go", drop)}
			dropped[o.Drop[0]] = true
		}
		one, err := Refine(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		two, err := Refine(context.Background(), o)
		if err != nil || pick.Markdown(one.Bundle) != pick.Markdown(two.Bundle) {
			t.Fatalf("the same step gives another bundle (%v)", err)
		}
		for _, p := range paths(one.Bundle) {
			if dropped[p] {
				t.Errorf("step %d: %s was dropped and is there", step, p)
			}
		}
		d := one.Difference
		if len(one.Bundle.Files) != len(d.Added)+len(d.Moved)+d.Unchanged || len(b.Files) != len(d.Removed)+len(d.Moved)+d.Unchanged {
			t.Errorf("step %d: the difference does not add up: %+v", step, d)
		}
		b = one.Bundle
	}
	if len(b.Files) != 8-len(dropped) || strings.Contains(b.Task, "\n\n\n") {
		t.Errorf("%d files are left of 8, %d dropped; the task is %q", len(b.Files), len(dropped), b.Task)
	}
}

// FuzzLoadBundle reads any file as a bundle: an error of one line, never a panic.
func FuzzLoadBundle(f *testing.F) {
	f.Add([]byte(`{"version":1,"task":"x","task_kind":"change","pack":"tiered","budget":{"tokens":5,"files":25},"asked":{"session":"s1"}}`))
	f.Add([]byte(`{"version":1,"files":[{"path":"../x","regions":[{}]}]}`))
	f.Add([]byte(`[1`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), ActiveBundle)
		writeFile(t, file, data)
		if b, err := LoadBundle(file); err != nil && strings.Contains(err.Error(), "\n") || err == nil && b.Budget.Tokens < 1 {
			t.Errorf("%v %v", b, err)
		}
	})
}

// TestLacks measures a file that was not selected against those that were for their own score.
func TestLacks(t *testing.T) {
	s := &Selected{Bundle: &pick.Bundle{Files: []pick.File{{Score: 0.5}, {Score: 0.2}, {Score: 0.4}, {Score: 0.01, Shadow: &pick.ShadowInfo{}}}}}
	for score, want := range map[float64]float64{0.15: 0.05, 0: 0.2, 0.3: 0} {
		if got := s.Lacks(score); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v lacks %v, want %v", score, got, want)
		}
	}
	if got := (&Selected{Bundle: &pick.Bundle{}}).Lacks(0.1); got != 0 {
		t.Errorf("nothing selected: %v", got)
	}
}
