package pick

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/score"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/history"
)

// The defaults of the budget.
const (
	DefaultTokens   = 8000
	DefaultFiles    = 25
	DefaultFullFile = 200 // lines
)

// The ways to pack.
const (
	PackTiered = "tiered" // regions of many files
	PackFull   = "full"   // whole files under FullFileMaxLines, larger ones by their best spans
)

// Sufficient is the level of an intent that needs no warning.
const Sufficient = "sufficient"

// Options choose what a bundle holds. Zero values mean the defaults.
type Options struct {
	Budget           Budget
	Pack             string
	FullFileMaxLines int
	Shadow           ShadowOptions
	Scope            []string // folders or files; empty: everywhere
	NearMisses       int      // files that just missed, listed without content
	LayerOrder       bool     // files that others import come first
	BlastRadius      bool     // the importers of the five best files are candidates too
	Explain          bool     // every file carries its parts
	Drop             []string // paths to leave out
}

func (o Options) withDefaults() Options {
	o.Budget.Tokens = cmp.Or(o.Budget.Tokens, DefaultTokens)
	o.Budget.Files = cmp.Or(o.Budget.Files, DefaultFiles)
	o.Pack = cmp.Or(o.Pack, PackTiered)
	o.FullFileMaxLines = cmp.Or(o.FullFileMaxLines, DefaultFullFile)
	return o
}

// Input is what a bundle is made from.
type Input struct {
	Snapshot *index.Snapshot
	History  *history.History
	Ranking  *score.Ranking
	Task     string // as given
	TaskKind string
	TaskType string
	Intent   Intent
}

// Build selects files and regions, and counts what it used. The finished Markdown never exceeds the
// token budget by the count of the real tokenizer.
func Build(ctx context.Context, in Input, o Options) (*Bundle, error) {
	o = o.withDefaults()
	if o.Budget.Tokens < 1 || o.Budget.Files < 1 {
		return nil, fmt.Errorf("budget of %d tokens and %d files: both must be at least 1", o.Budget.Tokens, o.Budget.Files)
	}
	order := candidates(in, o)
	b := &Bundle{Version: 1, Task: in.Task, TaskKind: in.TaskKind, TaskType: in.TaskType, Pack: o.Pack, Intent: in.Intent, Budget: o.Budget, Files: []File{}}
	if !in.Snapshot.Commit.IsZero() {
		b.Commit = in.Snapshot.Commit.String()
	}
	p := &packer{in: in, o: o, b: b, tokens: counter{}}
	if err := p.load(ctx, order); err != nil {
		return nil, err
	}
	pack := p.tiered
	if o.Pack == PackFull {
		pack = p.full
	}
	if err := pack(); err != nil {
		return nil, err
	}
	if o.LayerOrder {
		p.layers()
	}
	p.nearMisses(order)
	return b, p.account()
}

// candidates is the ranking within the scope, with the importers of its head where asked for.
func candidates(in Input, o Options) []int {
	drop := make(map[string]bool, len(o.Drop))
	for _, d := range o.Drop {
		drop[d] = true
	}
	keep := func(i int) bool {
		f := &in.Snapshot.Files[i]
		return !drop[f.Path] && inScope(f.Path, o.Scope)
	}
	var order []int
	for _, i := range in.Ranking.Order {
		if keep(i) {
			order = append(order, i)
		}
	}
	if !o.BlastRadius {
		return order
	}
	have := make(map[int]bool, len(order))
	near := order[:min(len(order), o.Budget.Files*2/3)]
	for _, i := range near {
		have[i] = true
	}
	var reach []int
	for _, i := range order[:min(len(order), 5)] {
		for _, id := range in.Snapshot.Importers[i] {
			if !have[int(id)] && keep(int(id)) {
				have[int(id)] = true
				reach = append(reach, int(id))
			}
		}
	}
	slices.SortStableFunc(reach, func(a, b int) int {
		return cmp.Or(cmp.Compare(in.Ranking.Scores[b], in.Ranking.Scores[a]), cmp.Compare(a, b))
	})
	out := append(slices.Clone(near), reach...)
	for _, i := range order[len(near):] {
		if !have[i] {
			out = append(out, i)
		}
	}
	return out
}

func inScope(path string, scope []string) bool {
	if len(scope) == 0 {
		return true
	}
	for _, s := range scope {
		s = strings.Trim(strings.TrimPrefix(s, "./"), "/")
		if s == "" || s == "." || path == s || strings.HasPrefix(path, s+"/") {
			return true
		}
	}
	return false
}

// nearMisses lists the files that just missed.
func (p *packer) nearMisses(order []int) {
	have := make(map[string]bool, len(p.b.Files))
	for _, f := range p.b.Files {
		have[f.Path] = true
	}
	for _, i := range order {
		if len(p.b.NearMiss) >= p.o.NearMisses {
			return
		}
		if have[p.in.Snapshot.Files[i].Path] {
			continue
		}
		s := p.in.Ranking.Explain(i)
		p.b.NearMiss = append(p.b.NearMiss, File{Path: s.Path, Rank: s.Rank, Score: s.Score, Tier: PathOnly, Reason: Reason(s), Lines: p.in.Snapshot.Files[i].Doc.NumLines(), Parts: s.Parts})
	}
}

// layers orders the files so that a file comes after those that it imports, as far as there are no
// cycles; ties keep the rank.
func (p *packer) layers() {
	at := make(map[int]int, len(p.b.Files))
	for k, f := range p.b.Files {
		if id, ok := p.in.Snapshot.Find(f.Path); ok {
			at[id] = k
		}
	}
	depth := make([]int, len(p.b.Files))
	for range p.b.Files { // at most as many rounds as files, so that cycles end
		changed := false
		for id, k := range at {
			for _, to := range p.in.Snapshot.Imports[id] {
				if j, ok := at[int(to)]; ok && depth[k] < depth[j]+1 && depth[j]+1 < len(p.b.Files) {
					depth[k], changed = depth[j]+1, true
				}
			}
		}
		if !changed {
			break
		}
	}
	type placed struct {
		f File
		d int
	}
	all := make([]placed, len(p.b.Files))
	for k, f := range p.b.Files {
		all[k] = placed{f, depth[k]}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.d, b.d) })
	for k := range all {
		p.b.Files[k] = all[k].f
	}
}

// Why is a file's reason in full where its parts are known: in the bundle, the reasons of lower ranks
// are cut short, since they cost tokens.
func (f *File) Why() string {
	if f.Shadow != nil || len(f.Parts) == 0 {
		return f.Reason
	}
	return Reason(score.Scored{Parts: f.Parts})
}

// family is what an evidence is about: of two of a family, the stronger says enough.
func family(kind string) string {
	switch kind {
	case "title words":
		return "content"
	case "messages", "folder messages", "cited":
		return "message"
	case "folder words", "scope":
		return "path"
	}
	return kind
}

// Reason is the shortest account of why a file is there: its two strongest pieces of evidence.
func Reason(s score.Scored) string {
	type said struct {
		text, about string
		value       float64
	}
	var all []said
	for _, part := range s.Parts {
		for _, e := range part.Evidence {
			all = append(all, said{e.Text, family(e.Kind), e.Share * part.Weight})
		}
	}
	slices.SortStableFunc(all, func(a, b said) int { return cmp.Compare(b.value, a.value) })
	var out []string
	told := map[string]bool{}
	for _, a := range all {
		if a.text != "" && !told[a.about] {
			out = append(out, a.text)
			told[a.about] = true
		}
		if len(out) == 2 {
			break
		}
	}
	return strings.Join(out, "; ")
}
