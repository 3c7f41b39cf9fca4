package score

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/history"
)

const (
	similarCommits = 60
	bMessage       = 0.5
	bodyTF         = 0.6 // an occurrence in a message's body, against 1 in its subject
	maxCommitFiles = 100 // larger commits say nothing about any one file
)

// similar is a past commit and how much its message resembles the task.
type similar struct {
	commit int // index into History.Commits
	sim    float64
}

// similarPast returns the past commits whose messages resemble the task most, best first: BM25 of
// the task's terms over the messages.
func similarPast(h *history.History, t *task.Task, limit int) []similar {
	l := newLookup(t.Terms)
	df := make([]int, len(t.Terms))
	last := make([]int, len(t.Terms))
	tfs := make([][]hit, len(h.Commits))
	total := 0.0
	for c := range h.Commits {
		tfs[c] = l.hits(h.Commits[c].Terms)
		total += float64(len(h.Commits[c].Terms))
		for _, x := range tfs[c] {
			if last[x.q] != c+1 {
				last[x.q] = c + 1
				df[x.q]++
			}
		}
	}
	n := float64(len(h.Commits))
	avg := max(total/max(n, 1), 1)
	tf := make([]float64, len(t.Terms))
	var out []similar
	for c := range h.Commits {
		if k := len(h.Commits[c].Files); len(tfs[c]) == 0 || k == 0 || k > maxCommitFiles {
			continue
		}
		clear(tf)
		for _, x := range tfs[c] {
			if int(x.tok) < h.Commits[c].InTitle {
				tf[x.q]++
			} else {
				tf[x.q] += bodyTF
			}
		}
		norm := 1 - bMessage + bMessage*float64(len(h.Commits[c].Terms))/avg
		sum := 0.0
		for q, v := range tf {
			if v > 0 {
				v /= norm
				idf := math.Log(1 + (n-float64(df[q])+0.5)/(float64(df[q])+0.5))
				sum += t.Terms[q].Weight * idf * v * (k1 + 1) / (v + k1)
			}
		}
		out = append(out, similar{c, sum})
	}
	slices.SortStableFunc(out, func(a, b similar) int { return cmp.Compare(b.sim, a.sim) })
	return out[:min(len(out), limit)]
}

// fileIDs maps history path ids to snapshot file ids, -1 for paths that are gone.
func fileIDs(s *index.Snapshot, h *history.History) []int32 {
	ids := make([]int32, len(h.Paths))
	for i, p := range h.Paths {
		ids[i] = -1
		if id, ok := s.Find(p); ok {
			ids[i] = int32(id)
		}
	}
	return ids
}

// memory holds what the messages of past commits say.
type memory struct {
	past []similar
	sum  []float64 // over the similar commits: similarity / √(files of the commit)
	best []float64 // the most similar commit's
	from []int32   // index into past of that commit, or -1

	near   []float64 // sum over the nearest commits alone
	recent []float64 // sum with each commit's share falling by half in recentHalfLife
	like   []float64 // how similar the commit of from is, as a share of the most similar one
	folder []float64 // sum over the commits that changed anything in the file's folder
}

const (
	nearest        = 20
	recentHalfLife = 90 * day
)

func newMemory(in Input, ids []int32) *memory {
	n := len(in.Snapshot.Files)
	m := &memory{sum: make([]float64, n), best: make([]float64, n), from: make([]int32, n),
		near: make([]float64, n), recent: make([]float64, n), like: make([]float64, n), folder: make([]float64, n)}
	for i := range m.from {
		m.from[i] = -1
	}
	m.past = similarPast(in.History, in.Task, similarCommits)
	folder, folders := foldersOf(in.Snapshot)
	inFolder, seen := make([]float64, folders), make([]int, folders)
	for k, p := range m.past {
		files := in.History.Commits[p.commit].Files
		share := p.sim / math.Sqrt(float64(len(files)))
		old := max(float64(in.History.Now-in.History.Commits[p.commit].Time), 0)
		fresh := share * math.Exp2(-old/recentHalfLife)
		for _, id := range files {
			f := ids[id]
			if f < 0 {
				continue
			}
			if d := folder[f]; seen[d] != k+1 {
				seen[d] = k + 1
				inFolder[d] += share
			}
			m.sum[f] += share
			m.recent[f] += fresh
			if k < nearest {
				m.near[f] += share
			}
			if v := share; v > m.best[f] {
				m.best[f], m.from[f] = v, int32(k)
			}
		}
	}
	for f, k := range m.from {
		m.folder[f] = inFolder[folder[f]]
		if k >= 0 && m.past[0].sim > 0 {
			m.like[f] = m.past[k].sim / m.past[0].sim
		}
	}
	return m
}

// maxCitingBody is how many bytes of a message's body are searched for what a text cites, too.
const maxCitingBody = 4000

// isCited reports whether the text cites a past commit, by its name or by an issue that its message cites, too.
func isCited(t *task.Task, c *history.Commit) bool {
	if len(t.Commits) > 0 {
		name := c.Hash.String()
		if slices.ContainsFunc(t.Commits, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			return true
		}
	}
	for _, part := range [...]string{c.Subject, c.Body[:min(len(c.Body), maxCitingBody)]} {
		if !slices.ContainsFunc(t.Cited, func(want task.Citation) bool { return strings.Contains(part, want.Number) }) {
			continue
		}
		for _, there := range task.Citations(part) {
			if slices.ContainsFunc(t.Cited, there.Meets) {
				return true
			}
		}
	}
	return false
}

// citedChanges lists the past commits that the text cites, newest first, and scores their files: Σ 1/√files.
// Large commits are left out.
func citedChanges(in Input, ids []int32) (files []float64, commits []int32) {
	files = make([]float64, len(in.Snapshot.Files))
	if len(in.Task.Commits)+len(in.Task.Cited) == 0 {
		return files, nil
	}
	for i := range in.History.Commits {
		c := &in.History.Commits[i]
		if len(c.Files) > maxTaught || !isCited(in.Task, c) {
			continue
		}
		commits = append(commits, int32(i))
		for _, id := range c.Files {
			if f := ids[id]; f >= 0 {
				files[f] += 1 / math.Sqrt(float64(len(c.Files)))
			}
		}
	}
	return files, commits
}

// activity holds each file's churn and age.
type activity struct {
	churn []float64 // log(1 + Σ over commits of 2^(−age/60 days)/√files)
	age   []float64 // 2^(−age of the last change/30 days)
}

const (
	day           = 86400.0
	churnHalfLife = 60 * day
	ageHalfLife   = 30 * day
)

func newActivity(in Input, ids []int32) *activity {
	n := len(in.Snapshot.Files)
	a := &activity{churn: make([]float64, n), age: make([]float64, n)}
	half := churnHalfLife
	if in.ChurnHalfLifeDays > 0 {
		half = in.ChurnHalfLifeDays * day
	}
	for c := range in.History.Commits {
		commit := &in.History.Commits[c]
		if len(commit.Files) == 0 || len(commit.Files) > 10*maxCommitFiles {
			continue
		}
		old := max(float64(in.History.Now-commit.Time), 0)
		w := math.Exp2(-old/half) / math.Sqrt(float64(len(commit.Files)))
		recent := math.Exp2(-old / ageHalfLife)
		for _, id := range commit.Files {
			if f := ids[id]; f >= 0 {
				a.churn[f] += w
				a.age[f] = max(a.age[f], recent)
			}
		}
	}
	for i, v := range a.churn {
		a.churn[i] = math.Log1p(v)
	}
	return a
}
