package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/index"
)

// Scored explains the file at a place of the ranking, 0 for the best.
func (r *Ranking) Scored(place int) Scored {
	return r.explain(r.Order[place], place+1)
}

// Explain explains any file of the snapshot; Rank is 0 for a file that nothing speaks for.
func (r *Ranking) Explain(file int) Scored {
	rank := 0
	if k, ok := r.place[file]; ok {
		rank = k + 1
	}
	return r.explain(file, rank)
}

func (r *Ranking) explain(i, rank int) Scored {
	s := Scored{File: i, Path: r.in.Snapshot.Files[i].Path, Rank: rank, Score: r.Scores[i], Parts: make([]Part, NumSignals)}
	for k := range s.Parts {
		sig := Signal(k)
		raw := r.raw(i, sig)
		s.Parts[k] = Part{Signal: sig.String(), Raw: raw, Weight: r.weights[k], Contribution: r.weights[k] * raw}
		if raw > 0 {
			s.Parts[k].Evidence = r.evidence(i, sig, raw)
		}
	}
	return s
}

// evidence lists what makes up a signal's raw value, strongest first; the shares add up to it.
func (r *Ranking) evidence(i int, s Signal, raw float64) []Evidence {
	if s == Recent && r.in.Touched[r.in.Snapshot.Files[i].Path] {
		return []Evidence{{Kind: "session", Text: "touched in this session", Share: raw}}
	}
	var out []Evidence
	// Features that come from the same thing are told once.
	add := func(kind, text string, v float64) {
		for k := range out {
			if out[k].Kind == kind && out[k].Text == text {
				out[k].Share += v
				return
			}
		}
		out = append(out, Evidence{Kind: kind, Text: text, Share: v})
	}
	scale := r.role(i) / r.mix.total[s]
	for f, m := range r.mix.features {
		if v := m.weight * r.tab.Cols[f][i] * scale; m.signal == s && v > 0 {
			kind, text := r.describe(i, Feature(f))
			add(kind, text, v)
		}
	}
	for k, m := range r.mix.relations {
		if v := m.weight * r.relation[i].value[k] * scale; m.signal == s && v > 0 {
			kind, text := r.describeRelation(i, relation(k))
			add(kind, text, v)
		}
	}
	slices.SortStableFunc(out, func(a, b Evidence) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

const (
	shownTerms = 4
	shownNames = 2
	halfYear   = 180 * day
)

// describe says in words what a feature found in a file.
func (r *Ranking) describe(i int, f Feature) (kind, text string) {
	file := &r.in.Snapshot.Files[i]
	hits := &r.tab.lex.hits[i]
	switch f {
	case FContent, FLearned:
		return r.holds("content", hits, false)
	case FTitle, FLearnedTitle:
		return r.holds("title words", hits, true)
	case FPath, FLearnedPath:
		return inPath(r.topTerms(hits.path, false))
	case FPhrase:
		return "phrase", "words of the text stand side by side"
	case FChunk:
		if k := r.tab.lex.chunkSym[i]; k >= 0 && k < len(file.Doc.Symbols) {
			s := file.Doc.Symbols[k]
			return "definition", fmt.Sprintf("%s %s (line %d) matches best", s.Kind, s.Name, s.Start)
		}
		return "definition", "its head matches best"
	case FMessages, FNear, FRecentMessages:
		return "messages", fmt.Sprintf("changed by %d of the %d most similar past changes", r.similarCount(i), len(r.tab.mem.past))
	case FMessage, FLike:
		c := r.in.History.Commits[r.tab.mem.past[r.tab.mem.from[i]].commit]
		return "message", fmt.Sprintf("changed by %s: %s", c.Hash.Short(), c.Subject)
	case FDeclares:
		return "declares", "declares " + r.declared(file)
	case FMention:
		return "mention", "the text names it"
	case FStem:
		return "stem", "the title says " + index.Stem(file.Path)
	case FScope:
		return "scope", "in the title's scope " + inArea(file, r.in.Task.Areas).Text
	case FFolder:
		return "folder words", "its folder is named in the title"
	case FFolderMessages:
		return "folder messages", "similar past changes touched its folder"
	case FCited:
		return "cited", "changed by " + r.citedChange(i)
	case FInDegree:
		return "importers", "imported by " + count(len(r.in.Snapshot.Importers[i]), "file")
	case FChurn:
		n := 0
		for _, c := range r.in.History.CommitsOf(file.Path) {
			if float64(r.in.History.Now-r.in.History.Commits[c].Time) <= halfYear {
				n++
			}
		}
		return "commits", count(n, "change") + " in 180 days"
	case FAge:
		if cs := r.in.History.CommitsOf(file.Path); len(cs) > 0 {
			c := r.in.History.Commits[cs[0]]
			days := int(float64(r.in.History.Now-c.Time) / day)
			if days == 0 {
				return "commit", fmt.Sprintf("last changed by %s, the same day", c.Hash.Short())
			}
			return "commit", fmt.Sprintf("last changed by %s, %s before", c.Hash.Short(), count(days, "day"))
		}
	}
	return "other", ""
}

func (r *Ranking) describeRelation(i int, k relation) (kind, text string) {
	with := r.in.Snapshot.Files[r.relation[i].with[k]].Path
	switch k {
	case rPair:
		return "pair", "same stem as " + with
	case rPath:
		return "test", "its path resembles " + with
	case rUses:
		return "test", "joined by an import with " + with
	case rImport:
		return "import", "joined by an import with " + with
	case rTestRef, rUser:
		return "reference", "uses " + r.shared(i, int(r.relation[i].with[k])) + " of " + with
	case rNamer:
		return "reference", "declares " + r.shared(int(r.relation[i].with[k]), i) + ", used by " + with
	}
	return "co-change", "changed together with " + with
}

// shared lists the rarest names that one file uses and the other declares.
func (r *Ranking) shared(user, namer int) string {
	return strings.Join(r.refs.between(r.in.Snapshot, user, namer, shownNames), ", ")
}

// citedChange is the newest change of a file that the text cites.
func (r *Ranking) citedChange(i int) string {
	for _, k := range r.in.History.CommitsOf(r.in.Snapshot.Files[i].Path) {
		if _, ok := slices.BinarySearch(r.tab.cited, k); ok {
			c := &r.in.History.Commits[k]
			return fmt.Sprintf("%s, which the text cites: %s", c.Hash.Short(), c.Subject)
		}
	}
	return "a change that the text cites"
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// topTerms lists the terms that weigh most among hits, with their counts; empty when there are none.
func (r *Ranking) topTerms(hits []hit, titleOnly bool) string {
	count := make([]int, len(r.in.Task.Terms))
	for _, h := range hits {
		count[h.q]++
	}
	var qs []int
	for q, n := range count {
		if n > 0 && (!titleOnly || r.in.Task.Terms[q].InTitle) {
			qs = append(qs, q)
		}
	}
	gain := func(q int) float64 {
		v := float64(count[q])
		return (r.tab.lex.idf[q] + r.tab.lex.lift.content[q]) * r.in.Task.Terms[q].Weight * v / (v + k1)
	}
	slices.SortStableFunc(qs, func(a, b int) int { return cmp.Compare(gain(b), gain(a)) })
	var out []string
	for _, q := range qs[:min(len(qs), shownTerms)] {
		s := r.in.Task.Terms[q].Text
		if count[q] > 1 {
			s += fmt.Sprintf(" ×%d", count[q])
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// holds says which terms a file holds; those that count for its content may be in its path alone.
func (r *Ranking) holds(kind string, hits *fileHits, titleOnly bool) (string, string) {
	if terms := r.topTerms(hits.content, titleOnly); terms != "" {
		return kind, "holds " + terms
	}
	return inPath(r.topTerms(hits.path, titleOnly))
}

func inPath(terms string) (kind, text string) { return "path", "its path has " + terms }

func (r *Ranking) similarCount(i int) int {
	n := 0
	for _, p := range r.tab.mem.past {
		for _, id := range r.in.History.Commits[p.commit].Files {
			if int(r.tab.ids[id]) == i {
				n++
			}
		}
	}
	return n
}

// declared names the first identifiers of the text that the file declares.
func (r *Ranking) declared(f *index.File) string {
	var out []string
	for _, s := range f.Doc.Symbols {
		flat := strings.ReplaceAll(strings.ToLower(s.Name), "_", "")
		if k, ok := slices.BinarySearchFunc(r.in.Task.Idents, flat, func(m task.Mention, t string) int { return strings.Compare(m.Text, t) }); ok && k >= 0 && !slices.Contains(out, s.Name) {
			out = append(out, s.Name)
		}
		if len(out) == 3 {
			break
		}
	}
	return strings.Join(out, ", ") + ", named in the text"
}

// Stretch is the text from one declaration to the next, and how well it matches the task.
type Stretch struct {
	Start, End int // lines, 1-based, inclusive
	Symbol     int // index into Doc.Symbols; -1 before the first declaration
	Score      float64
	Terms      []int // distinct terms of the task that it holds, ascending
}

// Stretches cuts a file at its declarations.
func (r *Ranking) Stretches(file int) []Stretch {
	f := &r.in.Snapshot.Files[file]
	n := f.Doc.NumLines()
	if n == 0 {
		return nil
	}
	out := []Stretch{{Start: 1, End: n, Symbol: -1}}
	for k, s := range f.Doc.Symbols {
		last := &out[len(out)-1]
		if s.Start <= last.Start || s.Start > n {
			if s.Start == last.Start && last.Symbol < 0 {
				last.Symbol = k
			}
			continue
		}
		last.End = s.Start - 1
		out = append(out, Stretch{Start: s.Start, End: n, Symbol: k})
	}
	for i := range out {
		r.weigh(f, r.tab.lex.hits[file].content, &out[i])
	}
	return out
}

// weigh scores lines Start to End of a file as a document of their own.
func (r *Ranking) weigh(f *index.File, hits []hit, s *Stretch) {
	from, to := f.Doc.Lines[s.Start-1], f.Doc.Lines[s.End]
	lo, _ := slices.BinarySearchFunc(hits, from, func(h hit, at uint32) int { return cmp.Compare(h.tok, at) })
	if lo == len(hits) || hits[lo].tok >= to {
		return // most windows hold nothing
	}
	count := make(map[int]float64)
	for ; lo < len(hits) && hits[lo].tok < to; lo++ {
		count[int(hits[lo].q)]++
	}
	for q := range count {
		s.Terms = append(s.Terms, q)
	}
	slices.Sort(s.Terms)
	norm := 1 - bChunk + bChunk*math.Max(float64(to-from), 20)/120
	for _, q := range s.Terms {
		v := count[q] / norm
		s.Score += r.tab.lex.idf[q] * r.in.Task.Terms[q].Weight * v * (k1 + 1) / (v + k1)
	}
}

// Window scores any lines of a file as Stretches does.
func (r *Ranking) Window(file, start, end int) Stretch {
	s := Stretch{Start: start, End: end, Symbol: -1}
	r.weigh(&r.in.Snapshot.Files[file], r.tab.lex.hits[file].content, &s)
	return s
}

// Weight is how much a term of the task counts: its weight times its inverse document frequency.
func (r *Ranking) Weight(term int) float64 { return r.tab.lex.idf[term] * r.in.Task.Terms[term].Weight }

// Weights are the normalised weights of the signals.
func (r *Ranking) Weights() Weights { return r.weights }
