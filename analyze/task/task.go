// Package task turns the text of a pull request or an issue into what ranking looks for.
//
//  1. Clean the text: comments, template lines, trailers, links and markup go.
//  2. Read the title's conventional prefix: type and scope.
//  3. Weigh the terms: the title's in full, the body's less.
//  4. Collect what the text names outright: paths, identifiers, stack frames.
//  5. Decide the kind of text and the type of task.
package task

import (
	"math"
	"sort"
	"strings"

	"github.com/ctxt-dev/ctxt/index/text"
)

// The caps on untrusted text, in bytes.
const (
	maxTitle = 1000
	maxBody  = 64 << 10
	maxTerms = 400
)

// Kind says what sort of text the task is.
type Kind string

// The kinds. A change text describes what was done, an issue text what is wrong or wanted.
const (
	Auto   Kind = "auto"
	Change Kind = "change"
	Issue  Kind = "issue"
)

// Term is a distinct term of the task.
type Term struct {
	Text     string
	Hash     uint32
	Weight   float64 // 1 for a term of the title, less for one of the body alone
	InTitle  bool
	Compound bool
}

// Pair is two terms, by index into Terms, that stand side by side in the text.
type Pair struct {
	A, B   int
	Weight float64
}

// Mention is a path or an identifier that the text names.
type Mention struct {
	Text   string
	Weight float64 // 1 in the title or in code marks, less in prose
	Line   int     // of a stack frame; 0 when there is none
}

// Area is a part of the project as a title names it: the path of what is meant has all of its terms.
type Area struct {
	Text  string   // lower case
	Terms []uint32 // of package text, without compounds
}

// Task is what ranking looks for.
type Task struct {
	Title, Body string // cleaned
	Kind        Kind
	Type        Type
	Scope       string // of a conventional title: fix(scope): …
	Areas       []Area // parts of the project that the title names before its text
	Terms       []Term
	Pairs       []Pair
	Paths       []Mention // with a slash or a file extension, lower case
	Idents      []Mention // lower case, underscores dropped: comparable with text.CompoundHash
	Cited       []Citation
	Commits     []string // abbreviated names of commits that the text cites, lower case
	Words       []string // the title's words and parts, lower case, for matching file stems
}

// Parse reads a task. The kind Auto (or "") is decided from the text.
func Parse(title, body string, kind Kind) *Task {
	title, body = strings.ToValidUTF8(clip(title, maxTitle), " "), strings.ToValidUTF8(clip(body, maxBody), " ")
	t := &Task{}
	t.Title, t.Scope, t.Type = titleParts(title)
	t.Areas = areasOf(title)
	t.Cited, t.Commits = Citations(title+"\n"+body), commitNames(title+"\n"+body)
	t.Body = cleanBody(body)
	t.Kind = kind
	if kind == Auto || kind == "" {
		t.Kind = detectKind(title, body)
	}
	t.weigh()
	t.mention()
	if t.Type.Name == "" {
		t.Type = detectType(t.Title, t.Body)
	}
	return t
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// weights of a term that stands in the body alone: bodyWeight × (1 + ln count), at most bodyMax.
const (
	bodyWeight = 0.3
	bodyMax    = 0.7
)

// weigh fills Terms, Pairs and Words.
func (t *Task) weigh() {
	tk := text.NewTokenizer()
	at := make(map[uint32]int)
	count := make(map[uint32]int)
	add := func(term text.Term, title bool) {
		count[term.Hash]++
		i, ok := at[term.Hash]
		if !ok {
			if len(t.Terms) >= maxTerms || stop(term) {
				return
			}
			i = len(t.Terms)
			at[term.Hash] = i
			t.Terms = append(t.Terms, Term{Text: term.Text, Hash: term.Hash, InTitle: title, Compound: term.Compound()})
		}
		switch {
		case title:
			t.Terms[i].Weight = 1
		case !t.Terms[i].InTitle:
			t.Terms[i].Weight = min(bodyMax, bodyWeight*(1+math.Log(float64(count[term.Hash]))))
		}
	}
	titleTerms, bodyTerms := tk.Terms(t.Title), tk.Terms(t.Body)
	if t.Scope != "" {
		titleTerms = append(titleTerms, tk.Terms(" "+t.Scope)...)
	}
	for _, term := range titleTerms {
		add(term, true)
	}
	for _, term := range bodyTerms {
		add(term, false)
	}
	t.pairs(titleTerms, at, 1)
	t.pairs(bodyTerms, at, bodyWeight)
	t.compounds(titleTerms, at, true)
	t.compounds(bodyTerms, at, false)
	t.numbered(tk, at)
	seen := make(map[string]bool)
	for _, term := range titleTerms {
		if !seen[term.Text] && !stop(term) && len(term.Text) > 2 {
			seen[term.Text] = true
			t.Words = append(t.Words, term.Text)
		}
	}
	for _, term := range t.Terms {
		if term.InTitle && term.Compound && !seen[term.Text] {
			seen[term.Text] = true
			t.Words = append(t.Words, term.Text)
		}
	}
	sort.Strings(t.Words)
}

// pairs adds neighbouring parts (compounds do not count) as phrases.
func (t *Task) pairs(terms []text.Term, at map[uint32]int, weight float64) {
	type key struct{ a, b int }
	have := make(map[key]bool, len(t.Pairs))
	for _, p := range t.Pairs {
		have[key{p.A, p.B}] = true
	}
	last := -1
	for _, term := range terms {
		if term.Compound() {
			continue
		}
		i, ok := at[term.Hash]
		if !ok {
			last = -1
			continue
		}
		if last >= 0 && last != i && !have[key{last, i}] && len(t.Pairs) < maxTerms {
			have[key{last, i}] = true
			t.Pairs = append(t.Pairs, Pair{A: last, B: i, Weight: weight})
		}
		last = i
	}
}

// compounds adds, for neighbouring words, the identifier that they would make together: a text that
// says "queue manager" looks for QueueManager and queue_manager.go, too.
func (t *Task) compounds(terms []text.Term, at map[uint32]int, title bool) {
	var parts []text.Term
	for _, term := range terms {
		if !term.Compound() {
			parts = append(parts, term)
		}
	}
	for i := 0; i+1 < len(parts); i++ {
		a, b := parts[i], parts[i+1]
		if stop(a) || stop(b) || b.Word > a.Word+1 {
			continue
		}
		joined := a.Text + b.Text
		h := text.CompoundHash(joined)
		weight := compoundWeight
		if !title {
			weight *= bodyWeight
		}
		if _, ok := at[h]; ok || len(t.Terms) >= maxTerms || len(joined) < 6 {
			continue
		}
		at[h] = len(t.Terms)
		t.Terms = append(t.Terms, Term{Text: joined, Hash: h, Weight: weight, InTitle: title, Compound: true})
	}
}

// numbers are names with a number that code writes together: HTTP/2, TLS 1.3, UTF-8.
var numbers = lazily(`\b([A-Za-z]{2,12})[/ .-](\d{1,2})\b`)

// numbered adds names with their numbers as one word: a text that says HTTP/2 looks for http2.
func (t *Task) numbered(tk *text.Tokenizer, at map[uint32]int) {
	for _, in := range [...]struct {
		text   string
		weight float64
		title  bool
	}{{t.Title, 1, true}, {t.Body, bodyWeight, false}} {
		for _, m := range numbers.FindAllStringSubmatch(in.text, maxMentions) {
			terms := tk.Terms(m[1] + m[2])
			if len(terms) != 1 {
				continue
			}
			i, ok := at[terms[0].Hash]
			switch {
			case ok && in.title: // the description may have written it together
				t.Terms[i].Weight, t.Terms[i].InTitle = in.weight, true
			case !ok && len(t.Terms) < maxTerms:
				at[terms[0].Hash] = len(t.Terms)
				t.Terms = append(t.Terms, Term{Text: terms[0].Text, Hash: terms[0].Hash, Weight: in.weight, InTitle: in.title})
			}
		}
	}
}

// compoundWeight is the weight of an identifier that the text does not spell but suggests.
const compoundWeight = 0.7

// stopWords are English words, and words of pull request prose, that say nothing about code.
var stopWords = func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(`a an and are as at be been being but by can could did do does doing done for from
		had has have having he her here his how i if in into is it its itself just me my no nor not now of off on once only or
		other our out over own please she should so some such than that the their them then there these they this those
		through to too under until up us very was we were what when where which while who why will with would you your
		also about after again all any because before between both during each few further more most same let may might
		must need needs via use uses used using like make makes made so that's it's don't doesn't isn't won't can't
		pr pull request issue commit commits patch change changes changed currently instead e g i.e etc see thanks`) {
		m[w] = true
	}
	return m
}()

func stop(t text.Term) bool { return !t.Compound() && (stopWords[t.Text] || len(t.Text) < 2) }
