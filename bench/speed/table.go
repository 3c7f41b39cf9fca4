package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxt-dev/ctxt/index/git"
)

// bench measures one repository, which must be a clone of its own: files in it are changed, and a
// commit is made.
type bench struct {
	ctxt, dir, cache string
	word, task       string
	runs             int
	skip             map[string]bool // rows to leave out
}

// row is one line of the table: what is measured over its reference, in the same run.
type row struct {
	Work      string
	Reference string
	Limit     float64 // of the ratio of the wall times
	Own, Ref  cost    // medians
}

func (r row) ratio() float64 { return float64(r.Own.wall) / float64(max(r.Ref.wall, 1)) }

type measured func(context.Context) (cost, error)

// pair runs two works in turn, own after reference, and keeps the medians.
func (b *bench) pair(ctx context.Context, work, reference string, limit float64, own, ref measured, rows *[]row) error {
	var owns, refs []cost
	for range b.runs {
		for _, x := range []struct {
			run measured
			to  *[]cost
		}{{ref, &refs}, {own, &owns}} {
			c, err := x.run(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", work, err)
			}
			*x.to = append(*x.to, c)
		}
	}
	r := row{work, reference, limit, medians(owns), medians(refs)}
	*rows = append(*rows, r)
	fmt.Println(r)
	return nil
}

func (r row) String() string {
	return fmt.Sprintf("| %s | %s | %s s (cpu %s) | %s s (cpu %s) | %.2f | at most %.2g |", r.Work, r.Reference,
		seconds(r.Own.wall), seconds(r.Own.cpu), seconds(r.Ref.wall), seconds(r.Ref.cpu), r.ratio(), r.Limit)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// tool runs a program in the repository.
func (b *bench) tool(name string, args ...string) measured {
	return func(ctx context.Context) (cost, error) { return program(ctx, b.dir, name, args...) }
}

// own runs the measured program.
func (b *bench) own(args ...string) measured { return b.tool(b.ctxt, args...) }

// after runs works one after another and adds up what they took.
func after(all ...measured) measured {
	return func(ctx context.Context) (cost, error) {
		var sum cost
		for _, m := range all {
			c, err := m(ctx)
			if err != nil {
				return sum, err
			}
			sum.wall, sum.cpu, sum.peak = sum.wall+c.wall, sum.cpu+c.cpu, max(sum.peak, c.peak)
		}
		return sum, nil
	}
}

// before does something that is not measured.
func before(prepare func() error, m measured) measured {
	return func(ctx context.Context) (cost, error) {
		if err := prepare(); err != nil {
			return cost{}, err
		}
		return m(ctx)
	}
}

const commits = 3000

// table measures every row.
func (b *bench) table(ctx context.Context) ([]row, error) {
	var rows []row
	ctags := b.tool("ctags", "-R", "-f", os.DevNull, "--exclude=.ctxt", ".")
	log := b.tool("git", "log", fmt.Sprint(-commits), "--raw", "--no-renames", "--no-merges")
	activate := b.own("activate", "--task", b.task, "--stdout", "--format", "json", "--cache-dir", b.cache)
	cold := before(b.dropCache, activate)
	warm := before(b.touch, activate)
	count := b.tool("rg", "-c", b.word)
	list := b.tool("rg", "-l", b.word)
	initialise := b.own("init", ".", "--offline", "--no-config-prompt", "-q")
	search := b.own("search-hints", b.word, "--json")
	steps := []struct {
		work, reference string
		limit           float64
		own, ref        measured
	}{
		{"read 3,000 commits, git", "git log", 1.5, b.history("git"), log},
		{"read 3,000 commits, go-git", "git log", 15, b.history("go-git"), log},
		{"init", "ctags -R", 3, initialise, ctags},
		{"search-hints from disk", "rg -l", 1.5, search, list},
		{"cold activate", "ctags -R and git log", 4, cold, after(ctags, log)},
		{"warm activate", "rg -c", 4, warm, count},
		{"warm activate", "cold activate", 0.2, after(warm), cold},
	}
	// In a new clone git compares contents, because its index is as young as the files, until a first look
	// at the work tree has written it anew. Nobody works in such a clone for long; ctxt never writes it.
	if _, err := program(ctx, b.dir, "git", "status", "--porcelain"); err != nil {
		return nil, err
	}
	if _, err := initialise(ctx); err != nil {
		return nil, err
	}
	if _, err := activate(ctx); err != nil {
		return nil, err
	}
	for _, s := range steps {
		if b.skip[s.work] {
			continue
		}
		if err := b.pair(ctx, s.work, s.reference, s.limit, s.own, s.ref, &rows); err != nil {
			return rows, err
		}
	}
	if err := b.watched(ctx, search, list, &rows); err != nil {
		return rows, err
	}
	if err := b.pullRequest(ctx, warm, &rows); err != nil {
		return rows, err
	}
	if err := b.replay(ctx, rows, &rows); err != nil {
		return rows, err
	}
	return rows, b.interrupted(ctx)
}

func (b *bench) dropCache() error { return os.RemoveAll(b.cache) }

// touch changes one file, so that a warm run has something to parse.
func (b *bench) touch() error {
	files, err := b.tracked(1)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(b.dir, files[0]), os.O_APPEND|os.O_WRONLY, 0) // #nosec G304 -- a file of the measured clone
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "// changed at %d\n", time.Now().UnixNano())
	return err
}

// tracked names n tracked files that are program text, spread over the tree.
func (b *bench) tracked(n int) ([]string, error) {
	cmd := exec.Command("git", "-C", b.dir, "ls-files", "*.go", "*.c", "*.ts", "*.py", "*.java", "*.php", "*.rs", "*.kt", "*.js") // #nosec G204 -- fixed
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	all := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(all) < n {
		return nil, fmt.Errorf("%s has %d files of program text, want %d", b.dir, len(all), n)
	}
	var some []string
	for i := range n {
		some = append(some, all[(2*i+1)*len(all)/(2*n)])
	}
	return some, nil
}

// history reads commits in this process.
func (b *bench) history(backend string) measured {
	return func(ctx context.Context) (cost, error) {
		repo, err := git.Open(b.dir, git.Options{Backend: backend})
		if err != nil {
			return cost{}, err
		}
		tip, err := repo.Resolve(ctx, "HEAD")
		if err != nil {
			return cost{}, err
		}
		start := time.Now()
		_, err = repo.History(ctx, []git.Hash{tip}, git.HistoryOptions{Limit: commits}, func(*git.Commit) error { return nil })
		return cost{wall: time.Since(start)}, err
	}
}

// watched measures search-hints while a watch runs.
func (b *bench) watched(ctx context.Context, search, list measured, rows *[]row) error {
	if b.skip["watch"] {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	daemon := exec.CommandContext(ctx, b.ctxt, "watch", ".", "--offline") // #nosec G204 -- the measured program
	daemon.Dir, daemon.WaitDelay = b.dir, 10*time.Second
	daemon.Cancel = func() error { return daemon.Process.Signal(os.Interrupt) }
	if err := daemon.Start(); err != nil {
		return err
	}
	defer func() { cancel(); _ = daemon.Wait() }() // ended by its context
	only := b.own("search-hints", b.word, "--json", "--memory-only")
	for try := 0; ; try++ {
		if _, err := only(ctx); err == nil {
			break
		} else if try == 600 {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return b.pair(ctx, "search-hints from the watch", "rg -l", 0.5, search, list, rows)
}

// pullRequest measures pr on a change of 30 files.
func (b *bench) pullRequest(ctx context.Context, warm measured, rows *[]row) error {
	if b.skip["pr"] {
		return nil
	}
	files, err := b.tracked(30)
	if err != nil {
		return err
	}
	for i, name := range files {
		path := filepath.Join(b.dir, name)
		text, err := os.ReadFile(path) // #nosec G304 -- a file of the measured clone
		if err != nil {
			return err
		}
		text = append(text, fmt.Sprintf("// note %d of this change\n", i)...)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	person := []string{"-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}
	if _, err := program(ctx, b.dir, "git", append(person, "commit", "-qam", "feat: thirty notes")...); err != nil {
		return err
	}
	pr := b.own("pr", "--base", "HEAD~1", "--head", "HEAD", "--title", b.task, "--cache-dir", b.cache, "--json")
	if _, err := pr(ctx); err != nil { // what it parses anew is cached from now on
		return err
	}
	return b.pair(ctx, "pr on 30 files, warm", "warm activate", 2, pr, warm, rows)
}

// replay measures 40 cases of the repository's own past against 40 cold runs.
func (b *bench) replay(ctx context.Context, done []row, rows *[]row) error {
	var cold cost
	for _, r := range done {
		if r.Work == "cold activate" {
			cold = r.Own
		}
	}
	if b.skip["replay"] || cold.wall == 0 {
		return nil
	}
	file := filepath.Join(filepath.Dir(b.cache), "replay.jsonl")
	if err := b.cases(ctx, file, 40); err != nil {
		return err
	}
	c, err := program(ctx, b.dir, b.ctxt, "bench", "replay", file+":"+b.dir, "-q")
	if err != nil {
		return err
	}
	r := row{"replay of 40 cases", "40 cold activates", 0.1, c, cost{wall: 40 * cold.wall, cpu: 40 * cold.cpu}}
	*rows = append(*rows, r)
	fmt.Println(r)
	return nil
}

// cases writes the newest changes of a few files as a replay file.
func (b *bench) cases(ctx context.Context, file string, n int) error {
	repo, err := git.Open(b.dir, git.Options{})
	if err != nil {
		return err
	}
	tip, err := repo.Resolve(ctx, "HEAD~1")
	if err != nil {
		return err
	}
	var out strings.Builder
	_, err = repo.History(ctx, []git.Hash{tip}, git.HistoryOptions{Limit: commits}, func(c *git.Commit) error {
		var gold []string
		for _, ch := range c.Changes {
			if ch.Status == git.Modified && ch.NewMode == git.ModeFile {
				gold = append(gold, ch.Path)
			}
		}
		if n == 0 || len(gold) == 0 || len(gold) > 10 || len(c.Parents) != 1 {
			return nil
		}
		n--
		title, body, _ := strings.Cut(c.Message, "\n")
		line, err := json.Marshal(map[string]any{"repo": "bench/bench", "sha": c.Hash, "base": c.Parents[0], "number": n, "title": title, "body": strings.TrimSpace(body), "gold": gold, "added": []string{}})
		fmt.Fprintf(&out, "%s\n", line)
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(out.String()), 0o600)
}
