package risk

import (
	"math"
	"path"
	"sort"
	"strings"

	"github.com/ctxt-dev/ctxt/index"
)

// The columns of a candidate companion. Shares are log odds of lower bounds (wilson), unless said otherwise.
const (
	colOne       = iota
	colShare     // best over the changed files: how often the candidate changes with it
	colRecent    // the same with a half-life of a year (no lower bound, smoothed)
	colTwo       // among past changes that hold two or more of the changed files
	colNear      // among past changes weighted by likeness in files
	colAlike     // among past changes weighted by likeness in files, folders, title words and author
	colFolder    // best over the folders touched
	colAdded     // best over the folders that files are added to
	colWord      // best over the words of the title
	colAuthor    // for the author
	colBase      // in all past changes (share, no bound)
	colStreak    // in the last five changes of the best partner (smoothed share)
	colJoint     // ln(1+joint changes with the best partner)
	colStem      // same stem as a changed file
	colNeighbour // share of the changed files that are in its folder
	colSiblings  // ln(1+changed files of its folder and extension)
	colNamed     // its name stands in the title or the body
	colTest      // it is a test
	colDocument
	colConfig
	colOnlyTests // only tests changed
	colOnlyDocs
	columns
)

// hopeless is the log odds under which all of a candidate's main columns must lie for it to be passed over.
const hopeless = -2.5

// candidate is a file that did not change and perhaps should have.
type candidate struct {
	file    int32
	x       [columns]float64
	score   float64 // log odds
	partner int32   // the changed file that predicts it best, or -1
	joint   int32
	of      int32
	last    int32  // newest joint change with the partner or, without one, of the item
	item    itemID // the item that predicts it best, or -1
}

// question is a change, or one of its files left out, asked for its companions.
type question struct {
	seq    int32 // only changes before it are known
	files  []fileChange
	words  []uint32
	text   string // title and body, lower case
	author string
	time   int64
}

type share struct {
	joint, five, last int32
	slow              float64
}

// gathered is the evidence for one candidate while it is collected.
type gathered struct {
	best, recent         float64
	joint, of, last      int32
	five, fiveOf         float64
	partner              int32
	item                 itemID
	itemBest             float64
	itemJoint, itemOf    int32
	itemLast             int32
	kinds                [itemKinds]float64
	near, alike, twoJoin float64
}

// searcher holds the scratch space of questions; one a goroutine.
type searcher struct {
	c       *coChanges
	share   []share
	touched []int32
	slot    []int32 // file → index into found plus one
	found   []gathered
	ids     []int32
	like    []float64 // change → likeness by files
	alike   []float64 // change → likeness by files and items
	inter   []int32   // change → files in common
	changes []int32   // those with a likeness
	in      []bool
}

func newSearcher(c *coChanges) *searcher {
	p, n := len(c.h.Paths), len(c.h.Commits)
	return &searcher{c: c, share: make([]share, p), slot: make([]int32, p), in: make([]bool, p),
		like: make([]float64, n), alike: make([]float64, n), inter: make([]int32, n)}
}

// candidates gives every file worth a look, ascending by id, with its columns filled.
func (s *searcher) candidates(q *question) []candidate {
	for _, f := range q.files {
		if f.id >= 0 {
			s.in[f.id] = true
		}
	}
	total := float64(s.small(q.seq) + 1)
	s.byFiles(q, total)
	s.byItems(q, total)
	sums := s.likeness(q)
	out := s.rows(q, sums, total)
	s.reset(q)
	return out
}

func (s *searcher) small(seq int32) int32 {
	if int(seq) < len(s.c.small) {
		return s.c.small[seq]
	}
	if n := len(s.c.small); n > 0 {
		return s.c.small[n-1] + 1
	}
	return 0
}

func (s *searcher) reset(q *question) {
	for _, f := range q.files {
		if f.id >= 0 {
			s.in[f.id] = false
		}
	}
	for _, id := range s.ids {
		s.slot[id] = 0
	}
	for _, k := range s.changes {
		s.like[k], s.alike[k], s.inter[k] = 0, 0, 0
	}
	s.ids, s.found, s.changes = s.ids[:0], s.found[:0], s.changes[:0]
}

// scan counts what changed along in a list of changes.
func (s *searcher) scan(list []int32) {
	for _, b := range s.touched {
		s.share[b] = share{}
	}
	s.touched = s.touched[:0]
	for k := len(list) - 1; k >= 0; k-- {
		seq := list[k]
		for _, b := range s.c.files[seq] {
			a := &s.share[b]
			if a.joint == 0 {
				s.touched = append(s.touched, b)
				a.last = seq
			}
			a.joint++
			if len(list)-k <= 5 {
				a.five++
			}
			a.slow += s.c.slow[seq]
		}
	}
}

func (s *searcher) get(f int32) *gathered {
	if s.slot[f] == 0 {
		s.found = append(s.found, gathered{partner: -1, item: -1})
		s.ids = append(s.ids, f)
		s.slot[f] = int32(len(s.found))
	}
	return &s.found[s.slot[f]-1]
}

func (s *searcher) note(seq int32, files, items float64, common int32) {
	if s.alike[seq] == 0 {
		s.changes = append(s.changes, seq)
	}
	s.like[seq] += files
	s.alike[seq] += files + items
	s.inter[seq] += common
}

// byFiles collects what each changed file predicts.
func (s *searcher) byFiles(q *question, total float64) {
	now := math.Exp2(float64(q.time-s.c.h.Now) / (365 * day))
	for _, f := range q.files {
		if f.id < 0 {
			continue
		}
		all := before(s.c.byFile[f.id], q.seq)
		list := newest(all, filePast)
		if len(list) == 0 {
			continue
		}
		rarity := math.Log(total/float64(len(all))) + 1e-3
		slow := 0.5 * now
		for _, seq := range list {
			slow += s.c.slow[seq]
		}
		for _, seq := range newest(list, nearPast) {
			s.note(seq, rarity, 0, 1)
		}
		s.scan(list)
		for _, b := range s.touched {
			a := &s.share[b]
			if s.in[b] || a.joint < 2 {
				continue
			}
			g := s.get(b)
			if w := wilson(float64(a.joint), float64(len(list))); w > g.best {
				g.best, g.partner, g.joint, g.of, g.last = w, f.id, a.joint, int32(len(list)), a.last
				g.five, g.fiveOf = float64(a.five), min(5, float64(len(list)))
			}
			g.recent = max(g.recent, a.slow/slow)
		}
	}
}

// byItems collects what the folders, title words and author predict.
func (s *searcher) byItems(q *question, total float64) {
	for _, it := range s.c.itemsOf(q.files, q.words, q.author, false) {
		all := before(s.c.byItem[it], q.seq)
		list := newest(all, itemPast)
		if len(list) < 3 {
			continue
		}
		if len(all) < rareItem {
			rarity := 0.5 * (math.Log(total/float64(len(all))) + 1e-3)
			for _, seq := range newest(list, nearPast) {
				s.note(seq, 0, rarity, 0)
			}
		}
		s.scan(list)
		for _, b := range s.touched {
			a := &s.share[b]
			if s.in[b] || a.joint < 3 || 5*int(a.joint) < len(list) {
				continue
			}
			g := s.get(b)
			kind := s.c.kind[it]
			w := wilson(float64(a.joint), float64(len(list)))
			g.kinds[kind] = max(g.kinds[kind], w)
			if kind != itemAuthor && w > g.itemBest {
				g.itemBest, g.item, g.itemJoint, g.itemOf, g.itemLast = w, it, a.joint, int32(len(list)), a.last
			}
		}
	}
}

type likeSums struct{ near, alike, two float64 }

// likeness weighs the past changes that resemble the question and adds up where candidates are in them.
func (s *searcher) likeness(q *question) (sum likeSums) {
	sort.Slice(s.changes, func(i, j int) bool { return s.changes[i] < s.changes[j] })
	for _, seq := range s.changes {
		age := math.Exp(-float64(q.seq-seq) / 1500)
		size := float64(len(s.c.files[seq]))
		near := s.like[seq] * s.like[seq] / (size + 1) * age
		sq := s.alike[seq] * s.alike[seq]
		alike := sq * sq / (size + 2) * age
		two := b2f(s.inter[seq] >= 2)
		sum.near, sum.alike, sum.two = sum.near+near, sum.alike+alike, sum.two+two
		for _, b := range s.c.files[seq] {
			if s.slot[b] == 0 {
				continue
			}
			g := &s.found[s.slot[b]-1]
			g.near, g.alike, g.twoJoin = g.near+near, g.alike+alike, g.twoJoin+two
		}
	}
	return sum
}

// setting is what the columns need to know of the question as a whole.
type setting struct {
	onlyTests, onlyDocs bool
}

func (s *searcher) setting(q *question) setting {
	t := setting{onlyTests: true, onlyDocs: true}
	for _, f := range q.files {
		r := index.RoleOf(f.path)
		t.onlyTests = t.onlyTests && r == index.Test
		t.onlyDocs = t.onlyDocs && r == index.Document
	}
	return t
}

func (s *searcher) rows(q *question, sum likeSums, total float64) []candidate {
	ids := append([]int32(nil), s.ids...)
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	set := s.setting(q)
	var out []candidate
	for _, f := range ids {
		g := &s.found[s.slot[f]-1]
		if s.c.deletedBefore(f, q.seq) {
			continue
		}
		k := candidate{file: f, partner: g.partner, joint: g.joint, of: g.of, last: g.last, item: g.item}
		x := &k.x
		x[colShare] = logOdds(g.best)
		x[colNear] = logOdds(g.near / (sum.near + 0.3))
		x[colAlike] = logOdds(g.alike / (sum.alike + 1))
		x[colWord] = logOdds(g.kinds[itemWord])
		if x[colShare] < hopeless && x[colNear] < hopeless && x[colAlike] < hopeless && x[colWord] < hopeless {
			continue
		}
		x[colOne] = 1
		x[colRecent] = logOdds(g.recent)
		x[colTwo] = logOdds(wilson(g.twoJoin, sum.two))
		x[colFolder] = logOdds(g.kinds[itemFolder])
		x[colAdded] = logOdds(g.kinds[itemAdded])
		x[colAuthor] = logOdds(g.kinds[itemAuthor])
		x[colBase] = logOdds(float64(len(before(s.c.touched[f], q.seq))) / total)
		if g.fiveOf > 0 {
			x[colStreak] = (g.five + 0.5) / (g.fiveOf + 1)
		}
		x[colJoint] = math.Log1p(float64(g.joint))
		s.byName(q, f, set, x)
		if g.itemBest > g.best {
			k.joint, k.of, k.last, k.partner = g.itemJoint, g.itemOf, g.itemLast, -1
		}
		out = append(out, k)
	}
	return out
}

// byName fills the columns that paths and the text decide.
func (s *searcher) byName(q *question, f int32, set setting, x *[columns]float64) {
	folder, stem, p := s.c.folder[f], s.c.stem[f], s.c.h.Paths[f]
	near, siblings := 0, 0
	for _, o := range q.files {
		if o.id >= 0 && s.c.stem[o.id] == stem || o.id < 0 && index.Stem(o.path) == stem {
			x[colStem] = 1
		}
		if path.Dir(o.path) == folder {
			near++
			if path.Ext(o.path) == path.Ext(p) {
				siblings++
			}
		}
	}
	x[colNeighbour] = float64(near) / float64(max(1, len(q.files)))
	x[colSiblings] = math.Log1p(float64(siblings))
	x[colNamed] = b2f(strings.Contains(q.text, strings.ToLower(path.Base(p))) || len(stem) > 3 && strings.Contains(q.text, stem))
	x[colTest] = b2f(s.c.role[f] == index.Test)
	x[colDocument] = b2f(s.c.role[f] == index.Document)
	x[colConfig] = b2f(s.c.role[f] == index.Config || s.c.role[f] == index.Generated)
	x[colOnlyTests] = b2f(set.onlyTests)
	x[colOnlyDocs] = b2f(set.onlyDocs)
}
