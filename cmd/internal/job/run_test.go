package job

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/report"
)

// upload is a small project with a past: several files, two authors, a merge, a rename.
func upload(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	r.Write("go.mod", "module example.com/upload\n\ngo 1.26\n")
	r.Write("upload/upload.go", "// Package upload sends files.\npackage upload\n\nimport \"example.com/upload/retry\"\n\n// Send uploads a file.\nfunc Send(name string) error { return retry.Retry(3, func() error { return nil }) }\n")
	r.Write("retry/retry.go", retrySource(0))
	r.Write("retry/retry_test.go", "package retry\n\nimport \"testing\"\n\nfunc TestRetry(t *testing.T) { _ = Retry(1, func() error { return nil }) }\n")
	r.Write("docs/guide.md", "# Uploads\n\nUploads are retried.\n")
	r.Write("web/client.ts", "export function upload(name: string): void {}\n")
	r.Commit("first version")
	for i := 1; i <= 5; i++ {
		r.Write("retry/retry.go", retrySource(i))
		r.Write("retry/retry_test.go", fmt.Sprintf("package retry\n\nimport \"testing\"\n\nfunc TestRetry(t *testing.T) { _ = Retry(%d, func() error { return nil }) }\n", i))
		r.CommitAs("B. Author <b@example.com>", fmt.Sprintf("fix(retry): attempt %d", i))
	}
	r.Git("switch", "-q", "-c", "side", "HEAD~2")
	r.Write("docs/guide.md", "# Uploads\n\nUploads are retried three times.\n")
	r.Commit("docs: say how often")
	r.Git("switch", "-q", "main")
	r.Git("merge", "-q", "--no-ff", "-m", "Merge branch 'side'", "side")
	r.Git("mv", "web/client.ts", "web/upload.ts")
	r.Commit("web: rename the client")
	return r
}

func retrySource(i int) string {
	return fmt.Sprintf("// Package retry repeats what failed.\npackage retry\n\n// Retry calls fn up to n times; state %d.\nfunc Retry(n int, fn func() error) (err error) {\n\tfor range n {\n\t\tif err = fn(); err == nil {\n\t\t\treturn nil\n\t\t}\n\t}\n\treturn err\n}\n", i)
}

// change makes a topic branch with one commit and returns to no branch in particular.
func change(r *gittest.Repo, message string, files map[string]string) {
	r.Git("switch", "-q", "-c", "topic")
	paths := make([]string, 0, len(files))
	for p := range files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		if files[p] == "" {
			r.Remove(p)
		} else {
			r.Write(p, files[p])
		}
	}
	r.Commit(message)
}

func runPR(t *testing.T, o PROptions) *report.Report {
	t.Helper()
	r, err := RunPR(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func encode(t *testing.T, r *report.Report) []byte {
	t.Helper()
	data, err := report.JSON(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSameBytes(t *testing.T) {
	r := upload(t)
	r.Write(".ctxt/ctx_config.toml", "[gates.intent]\nmode = \"warn\"\nmin_score = 0.1\n")
	r.Write(".ctxt/cases.json", casesFor("retry/retry.go"))
	r.Commit("configure")
	change(r, "fix(retry): wait between the attempts", map[string]string{"retry/retry.go": retrySource(99), "web/new.ts": "import {upload} from './upload'\nexport const again = upload\n"})
	o := PROptions{Dir: r.Dir, Base: "main", Head: "topic", Title: "Wait between the attempts", Body: "`Retry` is too fast.", Version: "1.0.0"}
	want := encode(t, runPR(t, o))
	if !bytes.Contains(want, []byte(`"retry/retry.go"`)) || !bytes.Contains(want, []byte(`"eval"`)) {
		t.Fatalf("an odd report: %s", want)
	}
	same := func(name string, o PROptions) {
		t.Helper()
		if got := encode(t, runPR(t, o)); !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes, from %q", name, firstDifference(want, got))
		}
	}
	same("again", o)
	for _, n := range []int{1, 16} {
		old := runtime.GOMAXPROCS(n)
		same(fmt.Sprintf("%d threads", n), o)
		runtime.GOMAXPROCS(old)
	}
	cached := o
	cached.CacheDir = t.TempDir()
	same("cold cache", cached)
	same("warm cache", cached)
	elsewhere := t.TempDir()
	for name, args := range map[string][]string{"full clone": {"--no-local"}, "shared clone": {"--shared"}, "bare clone": {"--bare"}} {
		at := filepath.Join(elsewhere, name, "a longer path")
		r.Git(append(append([]string{"clone", "-q"}, args...), ".", at)...)
		c := o
		c.Dir, c.Base, c.Head = at, r.Git("rev-parse", "main"), r.Git("rev-parse", "topic")
		same(name, c)
	}
	t.Run("without a git program", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		same("go-git", o)
		c := o
		c.Dir, c.Base = filepath.Join(elsewhere, "shared clone", "a longer path"), "origin/main"
		c.Head = "origin/topic"
		same("go-git, shared clone", c)
	})
}

// firstDifference is some text from where b differs from a.
func firstDifference(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return string(b[max(i-60, 0):min(i+120, len(b))])
}

func TestText(t *testing.T) {
	r := upload(t)
	change(r, "fix(retry): wait\n\nAttempts come too fast.", map[string]string{"retry/retry.go": retrySource(9)})
	o := PROptions{Dir: r.Dir, Base: "main", Head: "topic"}
	for name, c := range map[string]struct {
		set       func(*PROptions)
		title     string
		reproduce string
	}{
		"given":             {func(o *PROptions) { o.Title = "Slow down" }, "Slow down", "--title TITLE --body-file FILE"},
		"of the head":       {func(o *PROptions) { o.FromHead = true }, "fix(retry): wait", "--title-from-head"},
		"none given":        {func(o *PROptions) { o.Title = " \n" }, "fix(retry): wait", "--title-from-head"},
		"body alone":        {func(o *PROptions) { o.Body = "Slow down" }, "", "--title TITLE --body-file FILE"},
		"options that last": {func(o *PROptions) { o.FromHead, o.ConfigFile, o.HistoryCommits = true, "x.toml", 7 }, "fix(retry): wait", " --config x.toml --history-commits 7 --title-from-head"},
		"a hostile name":    {func(o *PROptions) { o.FromHead, o.ConfigFile = true, "$(x)" }, "fix(retry): wait", "[0-9a-f] --title-from-head"},
	} {
		p := o
		c.set(&p)
		got := runPR(t, p)
		if got.Title != c.title || !strings.Contains(got.Reproduce, strings.TrimPrefix(c.reproduce, "[0-9a-f]")) || strings.Contains(got.Reproduce, "$") {
			t.Errorf("%s: title %q, reproduce %q", name, got.Title, got.Reproduce)
		}
	}
	r.Commit("")
	if _, err := RunPR(context.Background(), o); err == nil || !strings.Contains(err.Error(), "so is the message of") {
		t.Errorf("an empty message: %v", err)
	}
}

// A pull request is a change, also when its description tells of the problem at length.
func TestKindOfAPullRequest(t *testing.T) {
	r := upload(t)
	change(r, "Retry crashes", map[string]string{"retry/retry.go": retrySource(9)})
	body := "Steps to reproduce:\n\n```\n>>> retry()\nValueError: none\n```\n\nExpected behavior: I get no error."
	if got := task.Parse("Retry crashes", body, task.Auto).Kind; got != task.Issue {
		t.Fatalf("the text alone is %s, want %s", got, task.Issue)
	}
	got := runPR(t, PROptions{Dir: r.Dir, Base: "main", Head: "topic", Title: "Retry crashes", Body: body})
	if got.Context.TaskKind != string(task.Change) {
		t.Errorf("kind %s, want %s", got.Context.TaskKind, task.Change)
	}
}

func TestTitleOfAMessage(t *testing.T) {
	const merged = "Merge pull request #7 from someone/secure\n\nSecure storage by default\n\nKeys go to the keyring."
	for _, c := range []struct {
		message     string
		merge       bool
		title, body string
	}{
		{"fix: wait\n\nLonger.\n", false, "fix: wait", "Longer."},
		{merged, true, "Secure storage by default", "Keys go to the keyring."},
		{merged, false, "Merge pull request #7 from someone/secure", "Secure storage by default\n\nKeys go to the keyring."},
		{"Merge pull request #7 from someone/secure", true, "Merge pull request #7 from someone/secure", ""},
		{"Merge branch 'main'\n\nConflicts: a.go", true, "Merge branch 'main'", "Conflicts: a.go"},
		{"", false, "", ""},
	} {
		if title, body := titleOf(c.message, c.merge); title != c.title || body != c.body {
			t.Errorf("%q, merge %v: title %q, body %q; want %q, %q", c.message, c.merge, title, body, c.title, c.body)
		}
	}
}

// TestCacheIsNotTheTexts: another title and description of the same change find all that the first run
// kept, and add nothing.
func TestCacheIsNotTheTexts(t *testing.T) {
	r := upload(t)
	change(r, "fix(retry): wait", map[string]string{"retry/retry.go": retrySource(9)})
	dir := t.TempDir()
	kept := func(title string) map[string]string {
		runPR(t, PROptions{Dir: r.Dir, Base: "main", Head: "topic", Title: title, CacheDir: dir})
		files := map[string]string{}
		err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				var data []byte
				data, err = os.ReadFile(p)
				files[p] = string(data)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	first := kept("Wait between the attempts")
	if len(first) == 0 {
		t.Fatal("nothing was kept")
	}
	if second := kept("Uploads of the web client are renamed"); !maps.Equal(first, second) {
		t.Errorf("%d files after another text, %d before, or other bytes", len(second), len(first))
	}
}

func TestCommitsOfTheChange(t *testing.T) {
	r := upload(t)
	r.Git("switch", "-q", "-c", "develop")
	for i := range 24 {
		r.Write("web/other.ts", fmt.Sprintf("export const n = %d\n", i))
		r.CommitAs("C. Colleague <c@example.com>", fmt.Sprintf("web: step %d", i))
	}
	r.Git("switch", "-q", "-c", "topic")
	r.Write("retry/retry.go", retrySource(9))
	r.Commit("fix(retry): wait")
	check := func(name string, wrong bool) {
		t.Helper()
		got := runPR(t, PROptions{Dir: r.Dir, Base: "main", Head: "topic", Title: "Wait between attempts", Login: "octocat"})
		if got.Change.Commits != 25 || got.Change.Automated != "" || got.History.TipTime == 0 {
			t.Errorf("%s: %+v %+v", name, got.Change.Commits, got.History)
		}
		if said := strings.Contains(fmt.Sprint(got.Risk.Notes), "the base looks wrong: 25 commits, 24 by others and 24 already on another branch"); said != wrong {
			t.Errorf("%s: wrong base said %v, want %v: %q", name, said, wrong, got.Risk.Notes)
		}
	}
	check("branched off develop", true)
	// An older state of the same branch is no other branch.
	r.Git("update-ref", "refs/remotes/origin/topic", "topic~1")
	r.Git("branch", "-D", "develop")
	check("pushed before", false)
}

func TestProgramsAndLocks(t *testing.T) {
	r := upload(t)
	r.Git("switch", "-q", "-c", "topic")
	r.Write("go.sum", "example.com/x v1.0.0 h1:x\n")
	r.CommitAs("dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>", "bump x")
	got := runPR(t, PROptions{Dir: r.Dir, Base: "main", Head: "topic"})
	if got.Change.Automated != "dependabot[bot]" || !got.Change.LockOnly {
		t.Errorf("%+v", got.Change)
	}
	r.Git("commit", "-q", "--amend", "--no-edit", "--author", "A. Person <a@example.com>")
	got = runPR(t, PROptions{Dir: r.Dir, Base: "main", Head: "topic", Login: "renovate[bot]"})
	if got.Change.Automated != "renovate[bot]" {
		t.Errorf("by login: %+v", got.Change)
	}
}

func TestShallow(t *testing.T) {
	r := upload(t)
	change(r, "fix(retry): wait", map[string]string{"retry/retry.go": retrySource(9)})
	at := t.TempDir()
	r.Git("clone", "-q", "--depth", "2", "--no-single-branch", "file://"+r.Dir, at)
	got := runPR(t, PROptions{Dir: at, Base: "origin/main", Head: "origin/topic", Title: "Wait between attempts"})
	if !got.History.Shallow || got.History.Commits > 2 {
		t.Errorf("history %+v", got.History)
	}
	text := report.Markdown(got, report.MarkdownOptions{})
	if n := strings.Count(strings.ToLower(text), "history limited to"); n != 1 {
		t.Errorf("the limit is said %d times:\n%s", n, text)
	}
}

// TestWorkflows holds that a workflow is part of the control plane when it runs this program.
func TestWorkflows(t *testing.T) {
	r := upload(t)
	r.Write(".github/workflows/ci.yml", "jobs: {test: {steps: [{run: go test ./...}]}}\n")
	r.Write(".github/workflows/review.yml", "jobs: {review: {steps: [{uses: ctxt-dev/ctxt@v1}]}}\n")
	r.Commit("workflows")
	change(r, "ci: newer", map[string]string{".github/workflows/ci.yml": "jobs: {test: {steps: [{run: go test -race ./...}]}}\n", ".github/workflows/review.yml": "jobs: {}\n"})
	got := runPR(t, PROptions{Dir: r.Dir, Base: "main", Head: "topic"})
	var files []string
	for _, s := range got.Risk.Signals {
		if s.Name == "control-plane" {
			files = s.Files
		}
	}
	if !slices.Equal(files, []string{".github/workflows/review.yml"}) {
		t.Errorf("control plane %q, want the workflow that ran ctxt", files)
	}
}

func TestNotARun(t *testing.T) {
	r := upload(t)
	for name, c := range map[string]struct {
		o    PROptions
		want string
	}{
		"no repository": {PROptions{Dir: t.TempDir(), Base: "main", Head: "main"}, "not a git repository"},
		"no folder":     {PROptions{Dir: filepath.Join(r.Dir, "none"), Base: "main", Head: "main"}, "open repository"},
		"unknown base":  {PROptions{Dir: r.Dir, Base: "nowhere", Head: "main"}, "base: unknown revision"},
		"unknown head":  {PROptions{Dir: r.Dir, Base: "main", Head: strings.Repeat("1", 40)}, "head: unknown revision"},
	} {
		got, err := RunPR(context.Background(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v; want %q in one line", name, got, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := RunPR(ctx, PROptions{Dir: r.Dir, Base: "main~1", Head: "main"}); err == nil {
		t.Error("a cancelled run gave a report")
	}
	if entries, err := os.ReadDir(r.Dir); err != nil || len(entries) != 6 {
		t.Errorf("the checkout holds %v, %v", entries, err)
	}
}
