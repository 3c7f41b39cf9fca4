package pick

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxt-dev/ctxt/analyze/score"
)

// packer holds the state of one Build.
type packer struct {
	in     Input
	o      Options
	b      *Bundle
	files  []packed
	tokens counter
	order  []ordered // all units, best first; made by the first choose
}

// ordered is the place of a unit: files[file].units[unit].
type ordered struct {
	file, unit int
	worth      float64
}

// packed is a file that is in the bundle, or may be.
type packed struct {
	id     int
	scored score.Scored
	shadow *ShadowInfo
	text   *text // nil when it cannot be shown
	value  float64
	head   int // estimated tokens of its heading
	units  []unit
}

const (
	lengthPower = 0.85 // gain is divided by tokens to this power: long units may win, if they hold more
	unitPrior   = 0.05 // of a file's value lies in any unit, whether it matches or not
	rankPower   = 2    // how steeply a file's value falls with its score
	shortFile   = 30   // lines: such a file is one unit
)

// load takes the best candidates and the shadow files, and reads their texts.
func (p *packer) load(ctx context.Context, order []int) error {
	n := min(len(order), p.o.Budget.Files)
	lead := order[:min(n, 10)]
	adds := shadows(p.in.Snapshot, p.in.History, lead, p.o.Shadow)
	known := make(map[int]bool, n)
	for _, i := range order[:n] {
		known[i] = true
	}
	adds = slices.DeleteFunc(adds, func(c candidate) bool {
		return known[c.file] || !inScope(p.in.Snapshot.Files[c.file].Path, p.o.Scope) || slices.Contains(p.o.Drop, p.in.Snapshot.Files[c.file].Path)
	})
	n = max(min(n, p.o.Budget.Files-len(adds)), 0)
	ids := slices.Clone(order[:n])
	for _, c := range adds[:min(len(adds), p.o.Budget.Files-n)] {
		ids = append(ids, c.file)
	}
	texts, err := p.in.Snapshot.Text(ctx, ids)
	if err != nil {
		return err
	}
	top := 0.0
	if len(order) > 0 {
		top = p.in.Ranking.Scores[order[0]]
	}
	for k, id := range ids {
		f := packed{id: id, scored: p.in.Ranking.Explain(id)}
		if k >= n {
			info := adds[k-n].info
			f.shadow = &info
		}
		if top > 0 {
			f.value = math.Pow(f.scored.Score/top, rankPower)
		}
		f.head = estimate("## "+f.scored.Path) + estimate(p.reason(&f)) + 8
		p.files = append(p.files, f)
	}
	p.each(func(k int) {
		doc := p.in.Snapshot.Files[ids[k]].Doc
		if texts[k] != nil && !doc.Binary && doc.NumLines() > 0 {
			if t := newText(texts[k]); t.count() == doc.NumLines() {
				p.files[k].text = t
			}
		}
	})
	return ctx.Err()
}

// each calls fn with the index of each file, on all cores; a call owns its file.
func (p *packer) each(fn func(k int)) {
	var next atomic.Int64
	work := func() {
		for k := int(next.Add(1)) - 1; k < len(p.files); k = int(next.Add(1)) - 1 {
			fn(k)
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(p.files)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

func (p *packer) reason(f *packed) string {
	if f.shadow != nil {
		return shadowReason(f.shadow)
	}
	if f.scored.Rank > leadFiles {
		return clipRunes(Reason(f.scored), lateReason)
	}
	return clipRunes(Reason(f.scored), leadReason)
}

func clipRunes(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// tiered packs regions: every file its best unit first, then whatever promises most for its tokens.
// The cost is estimated, the result counted, and the estimate's limit moved until it fits.
func (p *packer) tiered() error {
	p.each(func(k int) {
		f := &p.files[k]
		if f.text == nil {
			return
		}
		if n := f.text.count(); n <= shortFile {
			w := p.in.Ranking.Window(f.id, 1, n)
			f.units = []unit{{file: k, start: 1, end: n, gain: w.Score, terms: w.Terms, tokens: f.text.cost(1, n)}}
			return
		}
		f.units = units(p.in.Ranking, &p.in.Snapshot.Files[f.id], f.id, k, f.text)
	})
	limit := float64(p.o.Budget.Tokens)
	var best []File
	bestCount := -1
	for range 6 {
		p.b.Files = p.assemble(p.choose(int(limit)))
		count, err := p.tokens.count(Markdown(p.b))
		if err != nil {
			return err
		}
		if count <= p.o.Budget.Tokens && count > bestCount {
			best, bestCount = p.b.Files, count
		}
		ratio := float64(p.o.Budget.Tokens) / float64(max(count, 1))
		if count <= p.o.Budget.Tokens && ratio < 1.02 {
			break
		}
		limit *= ratio * 0.99
	}
	p.b.Files = best
	if best == nil {
		p.b.Files = []File{}
		return p.shrink(p.assemble(nil))
	}
	return nil
}

// shrink keeps as many headings as fit, for budgets too small for anything else.
func (p *packer) shrink(files []File) error {
	for n := len(files); n > 0; n-- {
		p.b.Files = files[:n]
		count, err := p.tokens.count(Markdown(p.b))
		if err != nil || count <= p.o.Budget.Tokens {
			return err
		}
	}
	p.b.Files = []File{}
	p.b.Warnings = append(p.b.Warnings, "the token budget is too small for any file; raise --budget-tokens")
	return nil
}

// choose picks units within an estimated budget.
func (p *packer) choose(budget int) []unit {
	left := budget - estimate(firstLine(p.b.Task)) - 30
	var chosen []unit
	entered := make([]int, len(p.files)) // first line of the unit that the file entered with; 0: it did not
	for k := range p.files {
		f := &p.files[k]
		left -= f.head
		if u, ok := p.first(f); ok && u.tokens <= left {
			left -= u.tokens + 6
			chosen = append(chosen, u)
			entered[k] = u.start
		}
	}
	for _, o := range p.ordered() {
		u := &p.files[o.file].units[o.unit]
		if entered[o.file] == 0 || u.start == entered[o.file] {
			continue
		}
		if u.tokens+6 <= left {
			left -= u.tokens + 6
			chosen = append(chosen, *u)
		}
	}
	return chosen
}

// ordered returns the units of all files by what they promise for their tokens, ties in file order.
func (p *packer) ordered() []ordered {
	if p.order != nil {
		return p.order
	}
	peak := 0.0
	for k := range p.files {
		for _, u := range p.files[k].units {
			peak = max(peak, u.gain)
		}
	}
	total := 0
	for k := range p.files {
		total += len(p.files[k].units)
	}
	p.order = make([]ordered, 0, total)
	length := map[int]float64{} // to the power, by tokens
	for k := range p.files {
		f := &p.files[k]
		for i, u := range f.units {
			by, ok := length[u.tokens]
			if !ok {
				by = math.Pow(float64(u.tokens+6), lengthPower)
				length[u.tokens] = by
			}
			p.order = append(p.order, ordered{k, i, f.value * (unitPrior + u.gain/max(peak, 1e-9)) / by})
		}
	}
	slices.SortFunc(p.order, func(a, b ordered) int {
		if a.worth != b.worth {
			return cmp.Compare(b.worth, a.worth)
		}
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.unit, b.unit))
	})
	return p.order
}

// The heads of the list get more room for their first unit and their reason than its tail, so that
// every file enters with something and most of the budget is left for what promises most.
const (
	leadFiles  = 5  // by rank
	nearFiles  = 12 // by rank
	leadReason = 90 // characters
	lateReason = 45
)

// firstShare bounds what the first unit of a file may cost, in estimated tokens.
func firstShare(rank int) int {
	switch {
	case rank <= leadFiles:
		return 80
	case rank <= nearFiles:
		return 40
	}
	return 25
}

// first is the unit that a file enters with: the one that matches best for its length, cut short
// where it is long.
func (p *packer) first(f *packed) (unit, bool) {
	if len(f.units) == 0 {
		return unit{}, false
	}
	best := f.units[0]
	for _, u := range f.units[1:] {
		if u.gain > best.gain {
			best = u
		}
	}
	for best.tokens > firstShare(f.scored.Rank) && best.end > best.start {
		best.end -= max((best.end-best.start)/8, 1)
		best.tokens = f.text.cost(best.start, best.end)
	}
	return best, true
}

// assemble turns the chosen units into the bundle's files, in rank order, regions merged.
func (p *packer) assemble(chosen []unit) []File {
	byFile := make([][]unit, len(p.files))
	for _, u := range chosen {
		byFile[u.file] = append(byFile[u.file], u)
	}
	out := make([]File, len(p.files))
	for k := range p.files {
		f := &p.files[k]
		out[k] = p.file(f)
		us := byFile[k]
		if len(us) == 0 {
			continue
		}
		slices.SortFunc(us, func(a, b unit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
		out[k].Tier = Spans
		for _, u := range us {
			rs := out[k].Regions
			if n := len(rs); n > 0 && u.start <= rs[n-1].End+2 {
				if u.end > rs[n-1].End {
					rs[n-1].End = u.end
					rs[n-1].Text = f.text.join(rs[n-1].Start, u.end)
				}
				continue
			}
			out[k].Regions = append(rs, Region{Start: u.start, End: u.end, Name: u.name, Text: f.text.join(u.start, u.end)})
		}
		if rs := out[k].Regions; len(rs) == 1 && rs[0].Start == 1 && rs[0].End >= f.text.count() {
			out[k].Tier = Full
		}
	}
	return out
}

// file is a bundle's file without content.
func (p *packer) file(f *packed) File {
	out := File{Path: f.scored.Path, Rank: f.scored.Rank, Score: f.scored.Score, Reason: p.reason(f), Tier: PathOnly, Lines: p.in.Snapshot.Files[f.id].Doc.NumLines(), Shadow: f.shadow}
	if p.o.Explain {
		out.Parts = f.scored.Parts
	}
	return out
}

// full packs whole files in rank order, larger ones by their best spans, and stops at the first that
// would exceed the budget. Shadow files come last.
func (p *packer) full() error {
	for k := range p.files {
		f := &p.files[k]
		if f.text == nil {
			continue
		}
		n := f.text.count()
		out := p.file(f)
		if n < p.o.FullFileMaxLines {
			out.Tier, out.Regions = Full, []Region{{Start: 1, End: n, Text: f.text.join(1, n)}}
		} else {
			f.units = units(p.in.Ranking, &p.in.Snapshot.Files[f.id], f.id, k, f.text)
			out.Tier, out.Regions = Spans, p.spans(f)
		}
		files := p.b.Files
		p.b.Files = append(files, out)
		count, err := p.tokens.count(Markdown(p.b))
		if err != nil {
			return err
		}
		if count > p.o.Budget.Tokens {
			p.b.Files = files
			if len(files) == 0 {
				p.b.Warnings = append(p.b.Warnings, "the best file does not fit the token budget whole; raise --budget-tokens or use the tiered packing")
			}
			break
		}
	}
	return nil
}

// spans are the best units of a large file, up to FullFileMaxLines lines.
func (p *packer) spans(f *packed) []Region {
	us := slices.Clone(f.units)
	slices.SortStableFunc(us, func(a, b unit) int { return cmp.Compare(b.gain, a.gain) })
	lines := 0
	var take []unit
	for _, u := range us {
		if n := u.end - u.start + 1; lines+n <= p.o.FullFileMaxLines {
			lines += n
			take = append(take, u)
		}
	}
	for k := range take {
		take[k].file = 0
	}
	one := &packer{in: p.in, o: p.o, files: []packed{*f}}
	return one.assemble(take)[0].Regions
}

// account fills in the token counts.
func (p *packer) account() error {
	total, err := p.tokens.count(Markdown(p.b))
	if err != nil {
		return err
	}
	for k := range p.b.Files {
		part := Bundle{Files: p.b.Files[k : k+1]}
		if p.b.Files[k].Tokens, err = p.tokens.count(Markdown(&part)); err != nil {
			return err
		}
	}
	empty, err := p.tokens.count(Markdown(&Bundle{}))
	if err != nil {
		return err
	}
	for k := range p.b.Files {
		p.b.Files[k].Tokens -= empty
	}
	p.b.Used = Budget{Tokens: total, Files: len(p.b.Files)}
	return nil
}

// shadowReason says why a shadow file is there.
func shadowReason(s *ShadowInfo) string {
	return "changed with " + s.Partner + " in " + plural(s.Joint, "commit") + " (" + percent(s.Confidence) + "), last " + s.Last[:7] + " on " + time.Unix(s.LastTime, 0).UTC().Format(time.DateOnly)
}
