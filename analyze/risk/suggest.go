package risk

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
	"github.com/ctxt-dev/ctxt/index/text"
)

// Companions answers which files usually change along. It is made once for a history and may then be
// asked by many goroutines.
type Companions struct {
	c *coChanges
	m companionModel
}

// NewCompanions learns from a history what usually changes together.
func NewCompanions(ctx context.Context, h *history.History) (*Companions, error) {
	c := newCoChanges(h)
	m, err := learnCompanions(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("learn what changes together: %w", err)
	}
	return &Companions{c: c, m: m}, nil
}

// Learned reports whether the past sufficed to learn from; else a fixed rule is used: four joint
// changes, and a lower bound of the share of 0.6.
func (k *Companions) Learned() bool { return k.m.rows != nil }

// Missing gives at most three files that usually change with the files of a change and did not, best
// first. present says whether a path still exists; nil: every path does. A change of more than 15 files
// has none.
func (k *Companions) Missing(files []git.FileDiff, title, body, author string, present func(string) bool) []Companion {
	if len(files) == 0 || len(files) > maxChangeFiles {
		return nil
	}
	h := k.c.h
	q := question{seq: int32(len(h.Commits)), words: titleWords(title), author: author, time: h.Now, text: strings.ToLower(title + "\n" + body)}
	for _, f := range files {
		p := f.Path
		id, ok := h.PathID(p)
		if !ok && f.OldPath != "" {
			if id, ok = h.PathID(f.OldPath); ok {
				p = f.OldPath
			}
		}
		if !ok {
			id = -1
		}
		q.files = append(q.files, fileChange{id: id, path: p, add: f.Status == git.Added})
	}
	a := answer{left: -1, size: len(q.files), cands: newSearcher(k.c).candidates(&q)}
	for i := 0; i < len(a.cands); {
		if present == nil || present(h.Paths[a.cands[i].file]) {
			i++
			continue
		}
		a.cands = append(a.cands[:i], a.cands[i+1:]...)
	}
	if k.m.rank(&a); len(a.cands) == 0 || a.score < k.m.bar {
		return nil
	}
	var out []Companion
	for _, c := range named(&a) {
		if c.joint >= 2 {
			out = append(out, k.companion(&c, title))
		}
	}
	return out
}

func (k *Companions) companion(c *candidate, title string) Companion {
	h := k.c.h
	last := &h.Commits[len(h.Commits)-1-int(c.last)]
	out := Companion{Path: h.Paths[c.file], Joint: int(c.joint), Of: int(c.of), Confidence: round(float64(c.joint) / float64(c.of)),
		LastCommit: last.Hash.String(), LastTime: last.Time}
	switch {
	case c.partner >= 0:
		out.Partner = h.Paths[c.partner]
	case c.item >= 0 && k.c.kind[c.item] == itemWord:
		out.Because = "changes whose title has a word of this one"
		for _, t := range text.NewTokenizer().Terms(title) {
			if k.c.words[t.Hash] == c.item && wordAt(title, t.Pos) != "" {
				out.Because = fmt.Sprintf("changes with %q in the title", wordAt(title, t.Pos))
				break
			}
		}
	case c.item >= 0:
		out.Because = "changes that " + k.c.name[c.item]
	}
	return out
}

func (a *assessor) companions(ctx context.Context) error {
	k := a.o.Companions
	if k == nil || k.c.h != a.in.History {
		var err error
		if k, err = NewCompanions(ctx, a.in.History); err != nil {
			return err
		}
	}
	if n := len(a.in.History.Commits); n >= fewestHistory && !k.Learned() {
		a.note("companions by a fixed rule: the history is too short to learn from (%s)", count(n, "commit"))
	}
	if a.locks {
		return nil
	}
	c := a.in.Change
	a.out.Companions = append(a.out.Companions, k.Missing(c.Files, a.in.Title, a.in.Body, c.Author, a.present)...)
	if len(a.out.Companions) == 0 {
		return nil
	}
	b := a.out.Companions[0]
	g := Signal{Name: "companions", Title: "Missing companion", Level: Medium, Numbers: []Number{
		{"joint", float64(b.Joint), "commits"}, {"of", float64(b.Of), "commits"}, {"confidence", b.Confidence, "share"}, {"named", float64(len(a.out.Companions)), "files"}}}
	for _, m := range a.out.Companions {
		g.Files = append(g.Files, m.Path)
	}
	past := fmt.Sprintf("in %d of the last %d changes of `%s` (%.0f%%)", b.Joint, b.Of, b.Partner, 100*b.Confidence)
	g.Command = fmt.Sprintf("git log --oneline --no-merges --full-diff --name-only -n 20 %s %s", c.Base.Short(), pathArgs(b.Partner))
	if b.Partner == "" {
		past = fmt.Sprintf("in %d of the last %d %s (%.0f%%)", b.Joint, b.Of, b.Because, 100*b.Confidence)
		g.Command = fmt.Sprintf("git log --oneline --no-merges -n 20 %s %s", c.Base.Short(), pathArgs(b.Path))
	}
	g.Why = fmt.Sprintf("`%s` is untouched; it changed %s, last in %s, %s before", b.Path, past, short(b.LastCommit), days(a.in.History.Now-b.LastTime))
	if len(a.out.Companions) > 1 {
		g.Why += fmt.Sprintf("; also `%s`", strings.Join(g.Files[1:], "`, `"))
	}
	if a.onlyTests() && index.RoleOf(b.Path) == index.Source {
		g.Level = Low
		g.Why += "; only tests changed, which may be all that was meant"
	}
	a.add(g)
	return nil
}

func (a *assessor) onlyTests() bool {
	for _, p := range a.paths {
		if index.RoleOf(p) != index.Test {
			return false
		}
	}
	return true
}

// wordAt is the run of letters, digits, underscores and hyphens of s at a byte offset.
func wordAt(s string, at int) string {
	if at < 0 || at >= len(s) {
		return ""
	}
	w, _, _ := strings.Cut(s[at:], " ")
	if end := strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' }); end >= 0 {
		w = w[:end]
	}
	return w
}

func short(commit string) string { return commit[:min(7, len(commit))] }

func days(seconds int64) string { return count(int(max(0, seconds)/day), "day") }

// CompanionModel is what was learned of a history, apart from the history itself.
type CompanionModel struct {
	Rows, Whole []float64
	Bar         float64
	Asked       int
}

// Model gives what was learned, to be kept for the same history.
func (k *Companions) Model() CompanionModel {
	return CompanionModel{Rows: k.m.rows, Whole: k.m.whole, Bar: k.m.bar, Asked: k.m.asked}
}

// CompanionsOf is NewCompanions with what was learned of the same history before; false means that it
// cannot be that.
func CompanionsOf(h *history.History, m CompanionModel) (*Companions, bool) {
	whole := len(wholeColumns(&answer{cands: make([]candidate, 1)}))
	if learned := len(m.Rows) == columns && len(m.Whole) == whole; !learned && len(m.Rows)+len(m.Whole) > 0 {
		return nil, false
	}
	return &Companions{c: newCoChanges(h), m: companionModel{rows: m.Rows, whole: m.Whole, bar: m.Bar, asked: m.Asked}}, true
}
