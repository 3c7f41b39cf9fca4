// Command speed measures ctxt against other programs, run in turn on the same repository, and prints
// the table of docs/performance.md.
//
//	go run ./bench/speed -ctxt ./ctxt -repo CLONE            one repository, which is changed
//	go run ./bench/speed -ctxt ./ctxt -mono DIR -files 1000,10000,100000
//
// It needs git, ctags (Universal Ctags) and rg (ripgrep).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("speed", flag.ContinueOnError)
	var b bench
	f.StringVar(&b.ctxt, "ctxt", "", "program to measure")
	f.StringVar(&b.dir, "repo", "", "clone to measure; files in it are changed and a commit is made")
	f.StringVar(&b.word, "word", "state", "common word that is looked for")
	f.StringVar(&b.task, "task", "fix the retry of a state lock when a session is interrupted", "task of activate")
	f.IntVar(&b.runs, "runs", 5, "runs of each work")
	mono := f.String("mono", "", "folder for generated repositories; they are made once and measured")
	sizes := f.String("files", "1000,10000,100000", "with -mono: numbers of files; there are half as many commits")
	skip := f.String("skip", "", "rows to leave out, separated by commas")
	if err := f.Parse(args); err != nil {
		return err
	}
	var err error
	if b.ctxt == "" || (b.dir == "") == (*mono == "") {
		return errors.New("want -ctxt and one of -repo and -mono")
	}
	if b.ctxt, err = filepath.Abs(b.ctxt); err != nil {
		return err
	}
	b.skip = map[string]bool{}
	for _, s := range strings.Split(*skip, ",") {
		b.skip[s] = true
	}
	if *mono != "" {
		return growth(ctx, b, *mono, *sizes)
	}
	return b.one(ctx)
}

// one measures the rows of one repository.
func (b *bench) one(ctx context.Context) error {
	tmp, err := os.MkdirTemp("", "ctxt-speed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	b.cache = filepath.Join(tmp, "cache")
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	fmt.Println("| work | reference | ctxt | reference | ratio | to reach |\n|---|---|---|---|---|---|")
	_, err = b.table(ctx)
	return err
}

// manyFiles is the size from which on one run must do.
const manyFiles = 20_000

// growth measures cold and warm runs on generated repositories of several sizes.
func growth(ctx context.Context, b bench, dir, sizes string) error {
	var last struct {
		files      int
		cold, warm cost
	}
	fmt.Println("| files | commits | cold activate | memory | warm activate | memory | exponents: cold time, cold memory, warm time |\n|---|---|---|---|---|---|---|")
	for _, s := range strings.Split(sizes, ",") {
		files, err := strconv.Atoi(s)
		if err != nil || files < 100 {
			return fmt.Errorf("-files: got %q, want numbers of at least 100", s)
		}
		m := monorepo{Seed: 1, Files: files, Commits: files / 2}
		b.dir = filepath.Join(dir, fmt.Sprintf("mono-%d", files))
		if err := m.make(ctx, b.dir); err != nil {
			return err
		}
		b.cache = filepath.Join(dir, fmt.Sprintf("cache-%d", files))
		activate := b.own("activate", "--task", b.task, "--stdout", "--format", "json", "--cache-dir", b.cache)
		runs := b.runs
		if files > manyFiles {
			runs = 1
		}
		var colds, warms []cost
		for range runs {
			c, err := before(b.dropCache, activate)(ctx)
			if err != nil {
				return err
			}
			w, err := before(b.touch, activate)(ctx)
			if err != nil {
				return err
			}
			colds, warms = append(colds, c), append(warms, w)
		}
		cold, warm := medians(colds), medians(warms)
		exps := "–"
		if last.files > 0 {
			exps = fmt.Sprintf("%.2f, %.2f, %.2f", exponent(last.files, files, last.cold.cpu, cold.cpu), exponent(last.files, files, last.cold.peak, cold.peak), exponent(last.files, files, last.warm.cpu, warm.cpu))
		}
		fmt.Printf("| %d | %d | %s s (cpu %s) | %d MiB | %s s (cpu %s) | %d MiB | %s |\n", files, m.Commits, seconds(cold.wall), seconds(cold.cpu), cold.peak>>20, seconds(warm.wall), seconds(warm.cpu), warm.peak>>20, exps)
		last.files, last.cold, last.warm = files, cold, warm
	}
	return nil
}

// exponent is k in y ~ x^k between two points.
func exponent[T ~int64](x1, x2 int, y1, y2 T) float64 {
	return math.Log(float64(y2)/float64(max(y1, 1))) / math.Log(float64(x2)/float64(x1))
}
