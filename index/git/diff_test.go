package git

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "line number %d\n", i)
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	r := gittest.New(t)
	r.Write("edited.go", numbered(0, 10))
	r.Write("gone.go", "x\ny\n")
	r.Write("old/moved.go", numbered(100, 120))
	r.Write("old/alike.go", numbered(200, 240))
	r.Write("old/unlike.go", numbered(300, 340))
	r.Write("binary", "a\x00b")
	r.Write("mode.sh", "#!/bin/sh\n")
	r.Write("empty1", "")
	r.Commit("first")
	r.Write("edited.go", numbered(0, 3)+"new\n"+numbered(4, 10)+"more\n")
	r.Remove("gone.go")
	r.Remove("old/moved.go")
	r.Remove("old/alike.go")
	r.Remove("old/unlike.go")
	r.Remove("empty1")
	r.Write("empty2", "")
	r.Write("new/moved.go", numbered(100, 120))
	r.Write("new/alike.go", numbered(200, 235)+"tail\n")
	r.Write("new/other.go", numbered(300, 310)+numbered(900, 950))
	r.Write("added.go", "a\nb\nc\n")
	r.Write("binary", "a\x00c")
	r.Git("update-index", "--chmod=+x", "mode.sh")
	r.Git("config", "core.fileMode", "false")
	r.Commit("second")
	want := []FileDiff{
		{Path: "added.go", Status: Added, Mode: ModeFile, Added: 3, Hunks: []Hunk{{0, 0, 1, 3}}},
		{Path: "binary", Status: Modified, Mode: ModeFile, Binary: true},
		{Path: "edited.go", Status: Modified, Mode: ModeFile, Added: 2, Deleted: 1, Hunks: []Hunk{{4, 1, 4, 1}, {10, 0, 11, 1}}},
		{Path: "empty1", Status: Deleted, Mode: ModeFile},
		{Path: "empty2", Status: Added, Mode: ModeFile},
		{Path: "gone.go", Status: Deleted, Mode: ModeFile, Deleted: 2, Hunks: []Hunk{{1, 2, 0, 0}}},
		{Path: "mode.sh", Status: Modified, Mode: ModeExec},
		{Path: "new/alike.go", OldPath: "old/alike.go", Status: Renamed, Mode: ModeFile, Added: 1, Deleted: 5, Hunks: []Hunk{{36, 5, 36, 1}}},
		{Path: "new/moved.go", OldPath: "old/moved.go", Status: Renamed, Mode: ModeFile},
		{Path: "new/other.go", Status: Added, Mode: ModeFile, Added: 60, Hunks: []Hunk{{0, 0, 1, 60}}},
		{Path: "old/unlike.go", Status: Deleted, Mode: ModeFile, Deleted: 40, Hunks: []Hunk{{1, 40, 0, 0}}},
	}
	for _, b := range backends {
		repo := open(t, r.Dir, b)
		got, err := repo.Diff(context.Background(), resolve(t, repo, "HEAD~1"), resolve(t, repo, "HEAD"))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(FileDiff{}, "Old", "New"), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", b, d)
		}
	}
}

// The counts of changed lines are those of git with the shortest script.
func TestLineCountsAreGits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	r := gittest.New(t)
	text := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%d\n", rnd.IntN(12))
		}
		return b.String()
	}
	for i := range 40 {
		r.Write(fmt.Sprintf("f%02d", i), text(rnd.IntN(80)))
	}
	r.Write("bin", "\x00")
	r.Commit("first")
	for i := range 40 {
		r.Write(fmt.Sprintf("f%02d", i), text(rnd.IntN(80))+"no end")
	}
	r.Write("bin", "\x00\x00")
	r.Commit("second")
	var want strings.Builder
	for _, line := range strings.Split(r.Git("diff", "--numstat", "--minimal", "--no-renames", "HEAD~1", "HEAD"), "\n") {
		fmt.Fprintln(&want, line)
	}
	for _, b := range backends {
		repo := open(t, r.Dir, b)
		all, _ := history(t, repo, HistoryOptions{Limit: 1}, resolve(t, repo, "HEAD"))
		counts, err := repo.LineCounts(context.Background(), all[0].Changes, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for i, c := range counts {
			if c.Binary {
				fmt.Fprintf(&got, "-\t-\t%s\n", all[0].Changes[i].Path)
			} else {
				fmt.Fprintf(&got, "%d\t%d\t%s\n", c.Added, c.Deleted, all[0].Changes[i].Path)
			}
		}
		if d := cmp.Diff(want.String(), got.String()); d != "" {
			t.Errorf("%s:\n%s", b, d)
		}
	}
}

func TestLineCountsReadSharedBlobsOnce(t *testing.T) {
	r := gittest.New(t)
	for i := range 12 {
		r.Write("f", numbered(0, 10+i))
		r.Write(fmt.Sprintf("copy%d", i), numbered(0, 10))
		r.Commit("c")
	}
	repo := open(t, r.Dir, "git")
	all, _ := history(t, repo, HistoryOptions{}, resolve(t, repo, "HEAD"))
	var changes []Change
	for _, c := range all {
		changes = append(changes, c.Changes...)
	}
	changes = append(changes, Change{Path: "sub", Status: Added, New: changes[0].New, NewMode: ModeSubmodule},
		Change{Path: "absent", Status: Added, New: Hash{1}, NewMode: ModeFile})
	counts, err := repo.LineCounts(context.Background(), changes, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range counts {
		ch := changes[i]
		want := LineCount{Added: 10}
		switch {
		case ch.Path == "sub" || ch.Path == "absent":
			want = LineCount{Binary: true}
		case ch.Path == "f" && ch.Status == Modified:
			want = LineCount{Added: 1}
		}
		if c != want {
			t.Errorf("%s %c: %+v, want %+v", ch.Path, ch.Status, c, want)
		}
	}
	small, err := repo.LineCounts(context.Background(), changes[:1], 3)
	if err != nil || !small[0].Binary {
		t.Errorf("over the size limit: %+v, %v", small, err)
	}
}

func TestDiffOfManyFiles(t *testing.T) {
	dir := t.TempDir()
	var s strings.Builder
	for c := range 2 {
		fmt.Fprintf(&s, "commit refs/heads/main\nmark :%d\ncommitter A <a@x> %d +0000\ndata 1\nx\n", c+1, 1_600_000_000+c)
		if c > 0 {
			fmt.Fprintf(&s, "from :1\n")
		}
		for i := range 4_000 {
			text := fmt.Sprintf("a\nversion %d of %d\nb\n", c, i)
			fmt.Fprintf(&s, "M 100644 inline d%d/f%d\ndata %d\n%s\n", i%100, i, len(text), text)
		}
		fmt.Fprintln(&s)
	}
	run(t, dir, nil, "init", "-q", "--bare", ".")
	run(t, dir, bytesOf(s.String()), "fast-import", "--quiet", "--date-format=raw")
	r := open(t, dir, "git")
	got, err := r.Diff(context.Background(), resolve(t, r, "main~1"), resolve(t, r, "main"))
	if err != nil || len(got) != 4_000 {
		t.Fatalf("%d files, %v", len(got), err)
	}
	for _, d := range got {
		if d.Status != Modified || d.Added != 1 || d.Deleted != 1 || len(d.Hunks) != 1 || d.Hunks[0] != (Hunk{2, 1, 2, 1}) {
			t.Fatalf("%+v", d)
		}
	}
}
