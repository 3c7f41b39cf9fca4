//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
	"github.com/ctxt-dev/ctxt/index/store"
)

// killsEach times five commands make 200 points.
const killsEach = 40

// crashProject is a small repository with a configured model on loopback, cases and an index.
type crashProject struct {
	t    *testing.T
	repo *gittest.Repo
	env  []string
}

func newCrashProject(t *testing.T) *crashProject {
	t.Helper()
	p := &crashProject{t: t, repo: sampleRepository(t)}
	for i := range 20 {
		p.repo.Write(fmt.Sprintf("part%d/unit%d.go", i%4, i), fmt.Sprintf("package part%d\n\n// Unit%d is one.\nfunc Unit%d() {}\n", i%4, i, i))
	}
	model := wordModel(t)
	p.repo.Write(".gitignore", ".ctxt/\n.ctxt-writer/\n")
	p.repo.Commit("more units")
	p.repo.Write(store.ConfigFile, fmt.Sprintf("[common]\nbatch_size = 2\nverbose = false\n[llm]\nendpoint = %q\nmodel = \"m\"\nparallel_requests = 2\n", model+"/v1/chat/completions"))
	p.repo.Write(".ctxt/cases.json", `{"version": 2, "categories": {"exact": {"cases": [{"query": "entries of the store", "expect_any": ["store/store.go"]}]}}}`)
	home := t.TempDir()
	p.env = append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	return p
}

// wordModel answers every name with synonyms.
func wordModel(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Messages []struct{ Content string } }
		var entries []struct{ Name string }
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &in) != nil || len(in.Messages) != 2 || json.Unmarshal([]byte(in.Messages[1].Content), &entries) != nil {
			return // the caller was killed
		}
		answer := map[string][]string{}
		for _, e := range entries {
			answer[e.Name] = []string{"alpha", "beta", "gamma", "delta", "epsilon"}
		}
		content, _ := json.Marshal(answer)
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{
			"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": string(content)}}}})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func (p *crashProject) command(args ...string) *exec.Cmd {
	cmd := exec.Command("ctxt", args...)
	cmd.Dir, cmd.Env = p.repo.Dir, p.env
	return cmd
}

// must runs a command that has to work.
func (p *crashProject) must(args ...string) string {
	p.t.Helper()
	var errs bytes.Buffer
	cmd := p.command(args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("ctxt %v: %v\n%s%s", args, err, out, errs.String())
	}
	return string(out)
}

// as runs ctxt under another name and returns its exit code and outputs.
func (p *crashProject) as(name string, env []string, args ...string) (code int, stdout, stderr string) {
	p.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.repo.Dir, append(p.env, env...), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0 || cmd.ProcessState.ExitCode() == 99 {
		p.t.Fatalf("%s %v: %v\n%s", name, args, err, errs.String())
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func (p *crashProject) read(name string) []byte {
	data, _ := os.ReadFile(filepath.Join(p.repo.Dir, filepath.FromSlash(name)))
	return data
}

// synonyms are the paths that the cache holds.
func (p *crashProject) synonyms() map[string]bool {
	p.t.Helper()
	c, err := store.LoadCache(filepath.Join(p.repo.Dir, filepath.FromSlash(store.CacheFile)))
	if err != nil {
		p.t.Fatalf("the cache does not load: %v", err)
	}
	all := map[string]bool{}
	for path := range c.Entries {
		all[path] = true
	}
	return all
}

// kill starts a command and kills it after a part of the time that a whole run takes: half of the
// points lie anywhere, half near the end, where the files are written.
func (p *crashProject) kill(rng *rand.Rand, whole time.Duration, args ...string) {
	p.t.Helper()
	cmd := p.command(args...)
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	from := rng.IntN(2) * 70
	time.Sleep(whole * time.Duration(from+rng.IntN(110-from)) / 100)
	cmd.Process.Kill()
	cmd.Wait()
}

// timed runs a command and returns how long it took.
func (p *crashProject) timed(args ...string) time.Duration {
	p.t.Helper()
	began := time.Now()
	p.must(args...)
	return time.Since(began)
}

// TestKilledAtRandomPoints kills init, sync, activate, the update of a baseline and the flush of watch
// at 200 random points: whatever was on disk before and is not replaced stays, what is there is whole,
// and the next command works.
func TestKilledAtRandomPoints(t *testing.T) {
	for _, c := range []struct {
		name  string
		run   []string
		ready func(p *crashProject) // before each point
		check func(p *crashProject) // after each point
	}{
		{"init", []string{"init", "."}, nil, func(p *crashProject) {
			if len(p.read(store.IndexFile)) > 0 {
				p.index()
			}
			p.must("init", ".", "--offline", "-q")
			p.index()
		}},
		{"sync", []string{"sync", ".", "--force"}, nil, func(p *crashProject) {
			p.index()
			p.must("search-hints", "entries store")
		}},
		{"activate", []string{"activate", "--task", "keep the entries of the store sorted"}, func(p *crashProject) {
			os.RemoveAll(filepath.Join(p.repo.Dir, ".ctxt", "cache")) // or there is nothing to write there
		}, func(p *crashProject) {
			if data := p.read(".ctxt/active-bundle.json"); len(data) > 0 && !json.Valid(data) {
				p.t.Errorf("the bundle is broken: %s", data)
			}
			p.must("activate", "--task", "keep the entries of the store sorted", "-q")
		}},
		{"baseline", []string{"eval", "--cases", ".ctxt/cases.json", "--update-baseline"}, nil, func(p *crashProject) {
			p.must("eval", "--cases", ".ctxt/cases.json", "--baseline", ".ctxt/baseline.json")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newCrashProject(t)
			p.must("init", ".")
			p.must("eval", "--cases", ".ctxt/cases.json", "--update-baseline")
			whole := p.timed(c.run...)
			rng := rand.New(rand.NewPCG(1, uint64(len(c.name))))
			for range killsEach {
				if c.ready != nil {
					c.ready(p)
				}
				before := p.synonyms()
				p.kill(rng, whole, c.run...)
				after := p.synonyms()
				for path := range before {
					if !after[path] {
						t.Fatalf("the answer for %s is lost", path)
					}
				}
				if c.check(p); t.Failed() {
					return
				}
			}
			p.clean()
		})
	}
	t.Run("watch", func(t *testing.T) {
		t.Parallel()
		p := newCrashProject(t)
		p.must("init", ".", "-q")
		rng := rand.New(rand.NewPCG(1, 99))
		for i := range killsEach {
			p.flushAndKill(i, time.Duration(rng.IntN(30_000))*time.Microsecond)
			p.index()
			if out := p.must("search-hints", "entries store"); !strings.Contains(out, "store/store.go") {
				t.Fatalf("the search after the kill:\n%s", out)
			}
		}
		p.must("init", ".", "-q")
		if x := p.index(); x.Find(fmt.Sprintf("new/file%d.go", killsEach-1)) == nil {
			t.Error("init after the kills lacks the last file")
		}
		p.clean()
	})
}

// index loads the index file, which must be whole.
func (p *crashProject) index() *store.Index {
	p.t.Helper()
	x, err := store.Load(filepath.Join(p.repo.Dir, filepath.FromSlash(store.IndexFile)))
	if err != nil {
		p.t.Fatalf("the index does not load: %v", err)
	}
	if x.Find("store/store.go") == nil {
		p.t.Fatal("the index lacks a file that was there all the time")
	}
	return x
}

// clean checks that a writer after the kills leaves no temporary file.
func (p *crashProject) clean() {
	p.t.Helper()
	p.must("init", ".", "--offline", "-q")
	left, err := filepath.Glob(filepath.Join(p.repo.Dir, ".ctxt", ".ctx_*.tmp"))
	if err != nil || len(left) > 0 {
		p.t.Errorf("left after the kills: %v %v", left, err)
	}
}

// flushAndKill starts watch, makes a file, asks it to end, which writes the index, and kills it a
// moment later.
func (p *crashProject) flushAndKill(i int, after time.Duration) {
	p.t.Helper()
	cmd := p.command("watch", ".", "--debounce", "5ms")
	errs := &lockedBuffer{}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	for began := time.Now(); !strings.Contains(errs.String(), "searches are answered on"); time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			cmd.Process.Kill()
			p.t.Fatalf("watch does not start:\n%s", errs.String())
		}
	}
	p.repo.Write(fmt.Sprintf("new/file%d.go", i), "package new\n")
	cmd.Process.Signal(syscall.SIGTERM)
	time.Sleep(after)
	cmd.Process.Kill()
	cmd.Wait()
}
