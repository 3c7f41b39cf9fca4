package risk

import (
	"fmt"
	"path"
	"sort"

	"github.com/ctxt-dev/ctxt/index"
)

// fewestImporters is how many files must import what changed for the reach to be mentioned.
const fewestImporters = 5

// reach counts the files that import what changed, directly and through others (import centrality:
// Zimmermann & Nagappan 2008). Tests that import it are counted apart: they are what catches a mistake.
func (a *assessor) reach() {
	s := a.in.Head
	if s == nil {
		return
	}
	changed := map[int32]bool{}
	var start []int32
	for _, p := range a.paths {
		if id, ok := s.Find(p); ok && s.Files[id].Role == index.Source {
			changed[int32(id)] = true
			start = append(start, int32(id))
		}
	}
	direct := map[int32]int{} // importer → changed files that it imports
	for _, id := range start {
		for _, by := range importers(s, id) {
			if !changed[by] {
				direct[by]++
			}
		}
	}
	all := transitive(s, start)
	near, far, tests := 0, 0, 0
	for id := range direct {
		near += int(b2f(s.Files[id].Role != index.Test))
	}
	for id := range all {
		if s.Files[id].Role == index.Test {
			tests++
		} else if !changed[id] {
			far++
		}
	}
	if near < fewestImporters {
		return
	}
	sources := 0
	for i := range s.Files {
		sources += int(b2f(s.Files[i].Role == index.Source))
	}
	share := float64(far) / float64(max(1, sources))
	g := Signal{Name: "reach", Title: "Reach", Level: Low, Command: "git grep -n -w " + quote(stemWord(a.widest(s, start))) + " " + a.in.Change.Head.Short(),
		Numbers: []Number{{"direct importers", float64(near), "files"}, {"transitive importers", float64(far), "files"},
			{"share of source files", round(100 * share), "percent"}, {"tests that reach it", float64(tests), "files"}}}
	if near >= 10 && share >= 0.2 {
		g.Level = Medium
	}
	g.Files = mostImporting(s, direct, 5)
	g.Why = fmt.Sprintf("%d files import what changed, %d counting those that do through others (%.0f%% of the source files); among them `%s`", near, far, 100*share, g.Files[0])
	a.add(g)
}

func importers(s *index.Snapshot, id int32) []int32 {
	if int(id) >= len(s.Importers) {
		return nil
	}
	return s.Importers[id]
}

// transitive gives every file from which an import path leads to one of start.
func transitive(s *index.Snapshot, start []int32) map[int32]bool {
	seen := map[int32]bool{}
	for queue := append([]int32(nil), start...); len(queue) > 0; queue = queue[1:] {
		for _, by := range importers(s, queue[0]) {
			if !seen[by] {
				seen[by] = true
				queue = append(queue, by)
			}
		}
	}
	return seen
}

// widest is the changed file with most direct importers; the first of equals.
func (a *assessor) widest(s *index.Snapshot, start []int32) string {
	best, most := "", -1
	for _, id := range start {
		if n := len(importers(s, id)); n > most {
			best, most = s.Files[id].Path, n
		}
	}
	return best
}

// stemWord is what to look for to find the importers of a file: its stem, or its folder's name where
// the stem is customary.
func stemWord(p string) string {
	w := index.Stem(p)
	if customary[w] {
		w = path.Base(path.Dir(p))
	}
	if hasControl(w) || w == "" || w == "." {
		return "import"
	}
	return w
}

// customary are stems that say nothing about a file.
var customary = map[string]bool{"mod": true, "index": true, "__init__": true, "main": true, "lib": true, "utils": true, "util": true,
	"types": true, "common": true, "helpers": true, "doc": true, "errors": true, "config": true, "constants": true}

func mostImporting(s *index.Snapshot, direct map[int32]int, n int) []string {
	ids := make([]int32, 0, len(direct))
	for id := range direct {
		if s.Files[id].Role != index.Test {
			ids = append(ids, id)
		}
	}
	sort.Slice(ids, func(i, j int) bool {
		if direct[ids[i]] != direct[ids[j]] {
			return direct[ids[i]] > direct[ids[j]]
		}
		if x, y := len(importers(s, ids[i])), len(importers(s, ids[j])); x != y {
			return x > y
		}
		return ids[i] < ids[j]
	})
	out := make([]string, 0, n)
	for _, id := range ids[:min(n, len(ids))] {
		out = append(out, s.Files[id].Path)
	}
	return out
}
