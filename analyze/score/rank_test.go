package score_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxt-dev/ctxt/analyze/score"
	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/history"
)

// project is a small repository with sources, tests, twins and a past.
func project(t *testing.T) (*index.Snapshot, *history.History) {
	t.Helper()
	r := gittest.New(t)
	r.Write("go.mod", "module example.com/p\n\ngo 1.26\n")
	r.Write("main.go", "package main\n\nimport (\n\t\"example.com/p/retry\"\n\t\"example.com/p/upload\"\n)\n\nfunc main() { retry.Do(upload.Send) }\n")
	r.Write("retry/backoff.go", "package retry\n\n// Backoff waits longer after each attempt.\nfunc Backoff(attempt int) {}\n")
	r.Write("retry/retry.go", "// Package retry repeats uploads that time out.\npackage retry\n\n// Do calls fn until it succeeds.\nfunc Do(fn func() error) { Backoff(1); _ = fn() }\n")
	r.Write("retry/retry_test.go", "package retry\n\nimport \"testing\"\n\nfunc TestDo(t *testing.T) { Do(func() error { return nil }) }\n")
	r.Write("upload/upload.go", "// Package upload sends files.\npackage upload\n\n// Send uploads a file; it may time out.\nfunc Send() error { return nil }\n")
	for _, twin := range []string{"data/left/same.txt", "data/right/same.txt", "data/middle/same.txt"} {
		r.Write(twin, "the upload of a twin\n")
	}
	r.Write("docs/retry.md", "# Retry\n\nUploads are retried with backoff.\n")
	r.Commit("first version of the upload")
	for i := range 6 {
		r.Write("retry/retry.go", fmt.Sprintf("// Package retry repeats uploads that time out.\npackage retry\n\n// Do calls fn until it succeeds, state %d.\nfunc Do(fn func() error) { Backoff(%d); _ = fn() }\n", i, i))
		r.Write("retry/retry_test.go", fmt.Sprintf("package retry\n\nimport \"testing\"\n\nfunc TestDo(t *testing.T) { Do(func() error { return nil }) } // %d\n", i))
		r.Commit(fmt.Sprintf("fix(retry): attempt %d of the upload", i))
	}
	return snapshot(t, r)
}

// snapshot reads a repository's HEAD and its past.
func snapshot(t *testing.T, r *gittest.Repo) (*index.Snapshot, *history.History) {
	t.Helper()
	repo, err := git.Open(r.Dir, git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.Resolve(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	s, err := index.Build(context.Background(), index.Tree(repo, head), index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Build(context.Background(), repo, head, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s, h
}

func rank(t testing.TB, in score.Input, w score.Weights) *score.Ranking {
	t.Helper()
	r, err := score.Rank(context.Background(), in, w)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const slack = 1e-9

// fatal is what testing and rapid share.
type fatal interface {
	Fatalf(format string, args ...any)
}

// holds checks what is true of every ranking.
func holds(t fatal, s *index.Snapshot, r *score.Ranking) {
	sum := 0.0
	for _, w := range r.Weights() {
		if !(w >= 0) {
			t.Fatalf("weights %v", r.Weights())
		}
		sum += w
	}
	if math.Abs(sum-1) > slack {
		t.Fatalf("the weights add up to %v", sum)
	}
	for k, i := range r.Order {
		if x := r.Scored(k); x.Rank != k+1 || x.File != i || x.Path != s.Files[i].Path {
			t.Fatalf("place %d holds %+v", k, x)
		}
		if k == 0 {
			continue
		}
		a, b := r.Order[k-1], i
		if r.Scores[a] < r.Scores[b] || r.Scores[a] == r.Scores[b] && s.Files[a].Path > s.Files[b].Path {
			t.Fatalf("%s (%v) stands before %s (%v)", s.Files[a].Path, r.Scores[a], s.Files[b].Path, r.Scores[b])
		}
	}
	ranked := 0
	for i := range s.Files {
		x := r.Explain(i)
		if !(x.Score >= 0 && x.Score <= 1+slack) || (x.Rank > 0) != (x.Score > 0) {
			t.Fatalf("%s: score %v, rank %d", x.Path, x.Score, x.Rank)
		}
		if x.Rank > 0 {
			ranked++
		}
		total := 0.0
		for k, p := range x.Parts {
			total += p.Contribution
			if p.Signal != score.Signal(k).String() || math.Abs(p.Contribution-p.Raw*p.Weight) > slack || !(p.Raw >= 0 && p.Raw <= 1+slack) {
				t.Fatalf("%s: part %+v", x.Path, p)
			}
			shares := 0.0
			for n, e := range p.Evidence {
				shares += e.Share
				if e.Kind == "" || e.Kind == "other" || e.Text == "" || strings.HasSuffix(e.Text, " ") || e.Share <= 0 || n > 0 && e.Share > p.Evidence[n-1].Share {
					t.Fatalf("%s: %s: evidence %+v", x.Path, p.Signal, p.Evidence)
				}
			}
			if math.Abs(shares-p.Raw) > 1e-6 {
				t.Fatalf("%s: %s: the evidence adds up to %v, the signal is %v: %+v", x.Path, p.Signal, shares, p.Raw, p.Evidence)
			}
		}
		if len(x.Parts) != score.NumSignals || math.Abs(total-x.Score) > slack {
			t.Fatalf("%s: %d parts add up to %v, the score is %v", x.Path, len(x.Parts), total, x.Score)
		}
	}
	if ranked != len(r.Order) {
		t.Fatalf("%d files have a rank, %d are in the order", ranked, len(r.Order))
	}
}

var tasks = []struct{ title, body string }{
	{"fix(retry): wait between the attempts", "`Do` calls too fast, see retry/retry.go.\n\nFixes #12"},
	{"Uploads time out", "Steps to reproduce: upload a large file.\n\nExpected behavior: it is retried.\n\n```\ngoroutine 1:\n  retry.go:5\n```"},
	{"twin", ""},
	{"docs: explain backoff", ""},
	{"nothing here is known: zzyzx", ""},
	{"the of and", ""},
}

func TestPartsAddUp(t *testing.T) {
	s, h := project(t)
	for _, c := range tasks {
		for _, kind := range []task.Kind{task.Auto, task.Change, task.Issue} {
			for name, past := range map[string]*history.History{"a past": h, "no past": {}} {
				for _, touched := range []map[string]bool{nil, {"docs/retry.md": true}} {
					in := score.Input{Snapshot: s, History: past, Task: task.Parse(c.title, c.body, kind), Touched: touched}
					r := rank(t, in, score.Weights{})
					t.Run(fmt.Sprintf("%s, %s, %s, touched %d", c.title, kind, name, len(touched)), func(t *testing.T) { holds(t, s, r) })
				}
			}
		}
	}
}

func TestFindsWhatIsMeant(t *testing.T) {
	s, h := project(t)
	r := rank(t, score.Input{Snapshot: s, History: h, Task: task.Parse(tasks[0].title, tasks[0].body, task.Auto)}, score.Weights{})
	if got := r.Scored(0).Path; got != "retry/retry.go" {
		t.Errorf("%s is first, want retry/retry.go", got)
	}
	if r.Top() != r.Scores[r.Order[0]] || r.Named() == 0 {
		t.Errorf("top %v, named %d", r.Top(), r.Named())
	}
	r = rank(t, score.Input{Snapshot: s, History: &history.History{}, Task: task.Parse("twin", "", task.Change)}, score.Weights{})
	var twins []string
	for k := range min(3, len(r.Order)) {
		twins = append(twins, r.Scored(k).Path)
	}
	if got := strings.Join(twins, " "); got != "data/left/same.txt data/middle/same.txt data/right/same.txt" {
		t.Errorf("equal files stand as %s, want them by path", got)
	}
}

// An empty file holds nothing, whatever its path says.
func TestReasonsOfAnEmptyFile(t *testing.T) {
	r := gittest.New(t)
	r.Write("body_updates/__init__.py", "")
	r.Write("body_updates/update.py", "def update(body):\n    return body\n")
	r.Commit("first version")
	s, h := snapshot(t, r)
	ranking := rank(t, score.Input{Snapshot: s, History: h, Task: task.Parse("update the body", "", task.Auto)}, score.Weights{})
	i, _ := s.Find("body_updates/__init__.py")
	evidence := ranking.Explain(i).Parts[score.Keyword].Evidence
	if len(evidence) == 0 {
		t.Fatal("no evidence")
	}
	for _, e := range evidence {
		if e.Kind == "content" || e.Kind == "title words" || strings.HasPrefix(e.Text, "holds") {
			t.Errorf("an empty file: %+v", e)
		}
	}
}

func TestTouched(t *testing.T) {
	s, h := project(t)
	in := score.Input{Snapshot: s, History: h, Task: task.Parse("fix the upload", "", task.Auto)}
	i, _ := s.Find("docs/retry.md")
	before := rank(t, in, score.Weights{}).Score(i)
	in.Touched = map[string]bool{"docs/retry.md": true, "not/there.go": true}
	r := rank(t, in, score.Weights{})
	p := r.Explain(i).Parts[score.Recent]
	if p.Raw != 1 || len(p.Evidence) != 1 || r.Score(i) <= before {
		t.Errorf("%+v; score %v, before %v", p, r.Score(i), before)
	}
}

func TestGivenWeights(t *testing.T) {
	s, h := project(t)
	in := score.Input{Snapshot: s, History: h, Task: task.Parse("fix the upload", "", task.Auto)}
	for k := range score.NumSignals {
		var w score.Weights
		w[k] = 3
		r := rank(t, in, w)
		if r.Weights()[k] != 1 {
			t.Errorf("%s alone weighs %v", score.Signal(k), r.Weights())
		}
		holds(t, s, r)
	}
	var w score.Weights
	w[score.Churn] = 1
	if got := rank(t, in, w).Scored(0).Path; !strings.HasPrefix(got, "retry/retry") {
		t.Errorf("by churn alone %s is first", got)
	}
}

func TestSameOnAnyNumberOfThreads(t *testing.T) {
	s, h := project(t)
	in := score.Input{Snapshot: s, History: h, Task: task.Parse(tasks[1].title, tasks[1].body, task.Auto)}
	want := rank(t, in, score.Weights{})
	for _, n := range []int{1, 16} {
		old := runtime.GOMAXPROCS(n)
		got := rank(t, in, score.Weights{})
		runtime.GOMAXPROCS(old)
		if !reflect.DeepEqual(want.Scores, got.Scores) || !reflect.DeepEqual(want.Order, got.Order) {
			t.Errorf("%d threads: another ranking", n)
		}
	}
}

// TestAnyText holds the same of any text and any weights.
func TestAnyText(t *testing.T) {
	s, h := project(t)
	words := rapid.SampledFrom([]string{"retry", "upload", "Do", "`Send`", "retry/retry.go", "docs", "fix", "the", "twin", "time out", "\n", "```", "#12", "é", "\x00", "backoff()", "zzyzx", "README.md:12", "a.b.c::d"})
	rapid.Check(t, func(t *rapid.T) {
		title := strings.Join(rapid.SliceOfN(words, 0, 8).Draw(t, "title"), " ")
		body := strings.Join(rapid.SliceOfN(words, 0, 40).Draw(t, "body"), " ")
		var w score.Weights
		for k := range w {
			w[k] = rapid.Float64Range(0, 10).Draw(t, "weight")
		}
		r, err := score.Rank(context.Background(), score.Input{Snapshot: s, History: h, Task: task.Parse(title, body, task.Auto)}, w)
		if err != nil {
			t.Fatalf("%v", err)
		}
		holds(t, s, r)
	})
}

// TestStretches holds that the stretches of a file cover its lines once, in order.
func TestStretches(t *testing.T) {
	s, h := project(t)
	r := rank(t, score.Input{Snapshot: s, History: h, Task: task.Parse(tasks[0].title, tasks[0].body, task.Auto)}, score.Weights{})
	for i := range s.Files {
		at := 1
		for _, x := range r.Stretches(i) {
			if x.Start != at || x.End < x.Start || x.Score < 0 {
				t.Fatalf("%s: stretch %+v, want it to begin at line %d", s.Files[i].Path, x, at)
			}
			at = x.End + 1
		}
		if n := s.Files[i].Doc.NumLines(); at != n+1 {
			t.Errorf("%s: the stretches end at line %d of %d", s.Files[i].Path, at-1, n)
		}
	}
}

// TestLift holds that a word counts by where the changes were whose messages say it: fix, said of
// changes everywhere, says next to nothing; alpha, said of changes to files that hold it, points to them.
func TestLift(t *testing.T) {
	r := gittest.New(t)
	names := []string{"alpha", "beta", "gamma", "delta"}
	write := func(name string, state int) {
		r.Write(name+"/"+name+".go", fmt.Sprintf("package %s\n\n// fix notes for %s.\nvar State = %d\n", name, name, state))
	}
	for _, n := range names {
		write(n, 0)
	}
	r.Commit("first version")
	for i := range 12 {
		write(names[i%4], i+1)
		r.Commit("fix " + names[i%4])
	}
	s, h := snapshot(t, r)
	tab, err := score.Features(context.Background(), score.Input{Snapshot: s, History: h, Task: task.Parse("fix alpha", "", task.Change)})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := s.Find("alpha/alpha.go")
	b, _ := s.Find("beta/beta.go")
	if x, y := tab.Cols[score.FLearned][a], tab.Cols[score.FLearned][b]; x != 1 || y > 0.2 {
		t.Errorf("alpha, said of changes to alpha: %v for its file, %v for beta's", x, y)
	}
	if x, y := tab.Cols[score.FLearnedPath][a], tab.Cols[score.FLearnedPath][b]; x != 1 || y != 0 {
		t.Errorf("alpha in paths: %v for its file, %v for beta's", x, y)
	}
}

// TestReferences joins files by the names that they share: a caller in a folder of its own, and a test
// that has nothing else in common with what it tests. A name that many files declare joins none.
func TestReferences(t *testing.T) {
	r := gittest.New(t)
	r.Write("store/lock.go", "package store\n\n// Lock guards the store.\nfunc acquireLock() { backOff() }\n\nfunc setUp() {}\n")
	r.Write("store/wait.go", "package store\n\nfunc backOff() {}\n\nfunc setUp2() {}\n")
	r.Write("store/apply.go", "package store\n\nfunc apply() { acquireLock(); setUp() }\n")
	r.Write("store/deep_test.go", "package store\n\nfunc TestDeep() { acquireLock() }\n")
	for _, n := range []string{"a", "b", "c", "d"} {
		r.Write("other/"+n+".go", "package other\n\nfunc setUp() {}\n")
	}
	for i := range 20 {
		r.Write(fmt.Sprintf("far/f%d.go", i), "package far\n")
	}
	r.Commit("first version")
	s, h := snapshot(t, r)
	ranking := rank(t, score.Input{Snapshot: s, History: h, Task: task.Parse("guard the lock", "", task.Change)}, score.Weights{})
	holds(t, s, ranking)
	for path, want := range map[string]string{
		"store/apply.go":     "uses acquireLock of store/lock.go",
		"store/deep_test.go": "uses acquireLock of store/lock.go",
		"store/wait.go":      "declares backOff, used by store/lock.go",
		"other/a.go":         "",
	} {
		i, _ := s.Find(path)
		got := ""
		for _, p := range ranking.Explain(i).Parts {
			for _, e := range p.Evidence {
				if e.Kind == "reference" {
					got += e.Text
				}
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestCited finds the files of a past change that the text cites, by its number or by its name.
func TestCited(t *testing.T) {
	r := gittest.New(t)
	r.Write("a.go", "package p\n")
	r.Write("b.go", "package p\n")
	first := r.Commit("begin (#40)")
	r.Write("a.go", "package p\n\nvar a int\n")
	r.Commit("count things (#41)\n\nSee octo/x#77.")
	r.Write("b.go", "package p\n\nvar b int\n")
	second := r.Commit("count others (#411)")
	s, h := snapshot(t, r)
	for body, want := range map[string]string{
		"Follow-up of #41.": "a.go",
		"Follow-up of https://example.com/some/where/pull/411":    "b.go",
		"This reverts commit " + second + ".":                     "b.go",
		"broken since " + first[:9]:                               "a.go b.go",
		"like octo/x#77":                                          "a.go",
		"like octo/y#77, &#41; colour #41ab and 1234567, deadbee": "",
	} {
		tab, err := score.Features(context.Background(), score.Input{Snapshot: s, History: h, Task: task.Parse("repair it", body, task.Change)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range s.Files {
			if tab.Cols[score.FCited][i] > 0 {
				got = append(got, s.Files[i].Path)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", body, got, want)
		}
	}
	ranking := rank(t, score.Input{Snapshot: s, History: h, Task: task.Parse("repair it", "Follow-up of #41.", task.Change)}, score.Weights{})
	i, _ := s.Find("a.go")
	if e := ranking.Explain(i).Parts[score.Keyword].Evidence; len(e) == 0 || e[0].Kind != "cited" || !strings.HasSuffix(e[0].Text, ", which the text cites: count things (#41)") {
		t.Errorf("evidence %+v", e)
	}
}

// TestAreas holds what a title names before its text to the paths that have all of it.
func TestAreas(t *testing.T) {
	s, h := project(t)
	for title, want := range map[string]string{
		"fix(retry): wait":   "retry/backoff.go retry/retry.go retry/retry_test.go docs/retry.md",
		"upload: wait":       "upload/upload.go",
		"[Docs] wait":        "docs/retry.md",
		"upload, main: x":    "main.go upload/upload.go",
		"retry test: wait":   "retry/retry_test.go",
		"main[Fast]: wait":   "main.go",
		"[fix] Upload : x":   "upload/upload.go",
		"fix(docs, main):":   "",
		"fix(docs, main): x": "docs/retry.md main.go",
		"retry upload: x":    "",
		"fix: wait":          "",
		"retry the upload":   "",
	} {
		tab, err := score.Features(context.Background(), score.Input{Snapshot: s, History: h, Task: task.Parse(title, "", task.Change)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Files {
			named := slices.Contains(strings.Fields(want), s.Files[i].Path)
			if got := tab.Cols[score.FScope][i] > 0; got != named && len(strings.Fields(want))*3 <= len(s.Files) {
				t.Errorf("%q: %s in the area: %t", title, s.Files[i].Path, got)
			}
		}
	}
}

// TestPlainFile finds a file whose name has neither a dot nor a slash by its name.
func TestPlainFile(t *testing.T) {
	r := gittest.New(t)
	r.Write("Dockerfile", "FROM scratch\n")
	r.Write("docker.go", "package p\n\n// Docker runs the file in docker.\nfunc Docker() {}\n")
	r.Write("build/profile.go", "package build\n")
	r.Commit("first")
	s, h := snapshot(t, r)
	tab, err := score.Features(context.Background(), score.Input{Snapshot: s, History: h, Task: task.Parse("slim the Dockerfile, not the file profile", "", task.Change)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Files {
		if got, want := tab.Cols[score.FMention][i] > 0, s.Files[i].Path == "Dockerfile"; got != want {
			t.Errorf("%s named: %t", s.Files[i].Path, got)
		}
	}
	if r := rank(t, score.Input{Snapshot: s, History: h, Task: task.Parse("slim the Dockerfile", "", task.Change)}, score.Weights{}); r.Scored(0).Path != "Dockerfile" {
		t.Errorf("%s is before the file that the title names, though it is no code", r.Scored(0).Path)
	}
}
