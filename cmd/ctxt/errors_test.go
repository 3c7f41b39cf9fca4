package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/store"
)

// errorPath is how a user meets an exported error: a command that ends with it, what its one line says
// about the place, and the next step that the line names.
type errorPath struct {
	prepare     func(t *testing.T, repo *gittest.Repo) string // returns the folder to run in; nil: the repository
	args        []string
	place, next string
	inside      string // instead of all that: why no command ends with it
}

var errorPaths = map[string]errorPath{
	"index/git.ErrNotRepository": {func(t *testing.T, _ *gittest.Repo) string { return t.TempDir() }, []string{"pr", "--base", "a", "--head", "b", "--title", "x"}, "is not a git repository", "git init", ""},
	"index/git.ErrUnsupported": {func(t *testing.T, repo *gittest.Repo) string {
		dir := t.TempDir()
		repo.Git("init", "-q", "--object-format=sha256", dir)
		return dir
	}, []string{"pr", "--base", "a", "--head", "b", "--title", "x"}, "object format sha256", "SHA-1 repositories only", ""},
	"index/git.ErrUnknown": {nil, []string{"pr", "--base", "nowhere", "--head", "HEAD", "--title", "x"}, `"nowhere"`, "git branch -a", ""},
	"index/git.ErrAbsent": {func(t *testing.T, repo *gittest.Repo) string {
		dir := filepath.Join(t.TempDir(), "partial")
		repo.Git("config", "uploadpack.allowFilter", "true")
		repo.Git("clone", "-q", "--bare", "--filter=tree:0", "file://"+repo.Dir, dir)
		return dir
	}, []string{"pr", "--base", "HEAD~1", "--head", "HEAD", "--title", "x"}, "object ", "clone without --filter", ""},
	"index/git.ErrTooLarge":     {inside: "a file over the cap is listed and not read: index TestBuild"},
	"index/git.ErrUnreadable":   {inside: "a damaged blob is skipped with its reason, other damage ends in one line: index/git TestDamagedObjectsAreIsolated, cmd/ctxt TestDamagedRepository, script damaged_pack"},
	"index/git.ErrNotFound":     {inside: "an absent configuration or case file is no fault: cmd/internal/job TestGatesOfTheBase"},
	"index/watch.ErrNotRunning": {nil, []string{"search-hints", "x", "--memory-only"}, "ctx_runtime.json", "ctxt watch .", ""},
	"index/store.LockedError": {func(t *testing.T, repo *gittest.Repo) string {
		w, err := store.Lock(repo.Dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Unlock() }) // the folder goes, too
		return repo.Dir
	}, []string{"init", ".", "--offline", "-q"}, fmt.Sprintf("ctxt process %d is writing this project's index (", os.Getpid()), fmt.Sprintf("stop it: kill %d", os.Getpid()), ""},
	"index/store.TooManyError": {func(_ *testing.T, repo *gittest.Repo) string {
		repo.Write(".ctxt/ctx_config.toml", "[common]\nmax_files = 1\n")
		return repo.Dir
	}, []string{"init", ".", "--offline", "-q"}, "more than common.max_files = 1", "max_files", ""},
	"analyze/search.ErrNoRipgrep":   {inside: "needs a machine without it: cmd/internal/cli TestNoRipgrep"},
	"index/synonyms.ErrOffline":     {inside: "an offline run makes no client: index/synonyms TestOffline"},
	"report/github.ErrReadOnly":     {inside: "ends in the job's summary: cmd/internal/action TestForkIsReadOnly"},
	"report/github.ErrUnauthorized": {inside: "ends in the job's summary: cmd/internal/action TestTheReportSurvivesFaults"},
	"report/github.ErrLimited":      {inside: "ends in the job's summary: report/github TestRetries"},
	"bench/cases.LineError": {func(_ *testing.T, repo *gittest.Repo) string {
		repo.Write("cases.json", "{\"version\": 2,\n\"categories\": {\"a\": {\"cases\": [{\"query\": 3}]}}}")
		return repo.Dir
	}, []string{"eval", "--cases", "cases.json"}, "cases.json:2: ", "want", ""},
	"cmd/internal/cli.ExitCode": {inside: "a gate's verdict: script eval_gate"},
}

// testOf is a test as docs/parity.md names it.
var testOf = regexp.MustCompile(`script \w+|[a-z]+(?:/[a-z]+)* Test\w+`)

// TestEveryExportedError walks the exported errors of the module: each is met by a command, which ends
// with exit code 2 and one line that names the place and the next step, or a test that is named looks at it.
func TestEveryExportedError(t *testing.T) {
	found := exportedErrors(t)
	for name := range errorPaths {
		if !found[name] {
			t.Errorf("%s is in the table and not in the module", name)
		}
	}
	for name := range found {
		p, ok := errorPaths[name]
		if !ok {
			t.Errorf("%s is not in the table of error paths", name)
			continue
		}
		if p.inside != "" {
			proofs := testOf.FindAllString(p.inside, -1)
			if len(proofs) == 0 {
				t.Errorf("%s: %q names no test", name, p.inside)
			}
			for _, proof := range proofs {
				if !provable(t, moduleRoot(t), proof) {
					t.Errorf("%s: there is no %s", name, proof)
				}
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			repo := sampleRepository(t)
			dir := repo.Dir
			if p.prepare != nil {
				dir = p.prepare(t, repo)
			}
			cmd := exec.Command("ctxt", p.args...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run() // its exit code is looked at
			line := errs.String()
			if cmd.ProcessState.ExitCode() != 2 || strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "ctxt: ") {
				t.Errorf("exit code %d\n%s%s", cmd.ProcessState.ExitCode(), line, out.String())
			}
			if !strings.Contains(line, p.place) || !strings.Contains(line, p.next) {
				t.Errorf("no %q or no %q in\n%s", p.place, p.next, line)
			}
		})
	}
}

// exportedErrors are the exported variables whose names begin with Err, and the exported types with a
// method Error, as "package.Name".
func exportedErrors(t *testing.T) map[string]bool {
	found := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, s := range d.Specs {
					v, ok := s.(*ast.ValueSpec)
					if !ok || d.Tok != token.VAR {
						continue
					}
					for _, n := range v.Names {
						if n.IsExported() && strings.HasPrefix(n.Name, "Err") {
							found[f.pkg+"."+n.Name] = true
						}
					}
				}
			case *ast.FuncDecl:
				if d.Name.Name != "Error" || d.Recv == nil {
					continue
				}
				typ := d.Recv.List[0].Type
				if star, ok := typ.(*ast.StarExpr); ok {
					typ = star.X
				}
				if n, ok := typ.(*ast.Ident); ok && n.IsExported() {
					found[f.pkg+"."+n.Name] = true
				}
			}
		}
	}
	return found
}
