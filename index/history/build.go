package history

import (
	"container/heap"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/ctxt-dev/ctxt/index/cache"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/text"
)

// DefaultCommits is how many commits are read unless told otherwise.
const DefaultCommits = 3000

// Build reads the newest limit commits that tip can reach, merges left out; 0 means DefaultCommits.
func Build(ctx context.Context, repo *git.Repo, tip git.Hash, limit int) (*History, error) {
	if limit <= 0 {
		limit = DefaultCommits
	}
	info, err := repo.CommitInfo(ctx, tip)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	commits := make([]*git.Commit, 0, limit)
	extent, err := repo.History(ctx, []git.Hash{tip}, git.HistoryOptions{Limit: limit}, func(c *git.Commit) error {
		commits = append(commits, c)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	tk := text.NewTokenizer()
	return assemble(tip, info.Time, commits, extent, func(c *git.Commit) message { return readMessage(tk, c.Message) }), nil
}

// knownFiles is how many earlier readings a new one goes on from.
const knownFiles = 2

// Kept is Build with files of earlier readings: the same commit is not read again, and a new one's
// history goes on from the commits that are known. The result is Build's. kept says what prevented
// that the reading was kept, if anything.
func Kept(ctx context.Context, repo *git.Repo, tip git.Hash, limit int, files *cache.Files) (h *History, kept, err error) {
	if limit <= 0 {
		limit = DefaultCommits
	}
	name := fmt.Sprintf("%s-%d-%08x%.8s", tip, limit, reading(), repo.Boundary())
	if f, ok := open(files.Read(name)); ok && hashAt(f.tip, 0) == tip && int64(f.limit) == int64(limit) {
		if h, ok := f.history(); ok {
			return h, nil, nil
		}
	}
	var known func(git.Hash) (*git.Commit, bool)
	k := newKept()
	for _, old := range files.Newest() {
		if len(k.whole) > 0 && len(k.whole) >= knownFiles*limit || !strings.Contains(old, fmt.Sprintf("-%08x", reading())) {
			continue
		}
		k.add(files.Read(old))
	}
	if len(k.whole) > 0 {
		known = k.find
	}
	p, err := repo.Past(ctx, tip, limit, known)
	if err != nil {
		return nil, nil, fmt.Errorf("read history: %w", err)
	}
	tk := text.NewTokenizer()
	h = assemble(tip, p.Time, p.Commits, p.Extent, func(c *git.Commit) message {
		if m, ok := k.words[c.Hash]; ok {
			return m
		}
		return readMessage(tk, c.Message)
	})
	if p.Whole {
		kept = files.Write(name, encode(h, p, limit))
	}
	return h, kept, nil
}

// Log holds the commits of many tips, read once, so that each tip's History costs no further reading.
type Log struct {
	byHash  map[git.Hash]*git.Commit
	words   map[git.Hash]message
	shallow bool
	cut     bool        // there are more commits, which were not read
	last    *git.Commit // that was read
}

// ReadLog reads what the histories of the tips need, each of limit commits; 0 means DefaultCommits.
func ReadLog(ctx context.Context, repo *git.Repo, tips []git.Hash, limit int) (*Log, error) {
	if limit <= 0 {
		limit = DefaultCommits
	}
	// Some of the commits are merges, and the tips do not reach all the same ones. Where this is not
	// enough, because the tips lie far apart, more is read.
	for read := 2*limit + len(tips); ; read *= 4 {
		l, err := readLog(ctx, repo, tips, read)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		if !l.cut || !slices.ContainsFunc(tips, func(tip git.Hash) bool { _, _, err := l.walk(tip, limit); return err != nil }) {
			return l, nil
		}
	}
}

func readLog(ctx context.Context, repo *git.Repo, tips []git.Hash, read int) (*Log, error) {
	l := &Log{byHash: make(map[git.Hash]*git.Commit), words: make(map[git.Hash]message)}
	tk := text.NewTokenizer()
	extent, err := repo.History(ctx, tips, git.HistoryOptions{Merges: true, Limit: read}, func(c *git.Commit) error {
		l.byHash[c.Hash] = c
		l.words[c.Hash] = readMessage(tk, c.Message)
		l.last = c
		return nil
	})
	l.shallow, l.cut = extent.Shallow, extent.Limited
	return l, err
}

// At gives the History that Build would give for the tip. The limit must not be larger than that of
// ReadLog.
func (l *Log) At(tip git.Hash, limit int) (*History, error) {
	if limit <= 0 {
		limit = DefaultCommits
	}
	commits, limited, err := l.walk(tip, limit)
	if err != nil {
		return nil, err
	}
	extent := git.Extent{Commits: len(commits), Shallow: l.shallow, Limited: limited}
	return assemble(tip, l.byHash[tip].Time, commits, extent, func(c *git.Commit) message { return l.words[c.Hash] }), nil
}

// walk goes from the tip in git's order, and says whether the limit ended it. A commit that was not read
// waited from its child on while git read others, which were not older. So as long as the walk is among
// newer ones than the last of these, that commit's turn has not come.
func (l *Log) walk(tip git.Hash, limit int) (commits []*git.Commit, limited bool, err error) {
	beyond := fmt.Errorf("commit %s is not in the log that was read, or the log ends too early for it", tip)
	first, ok := l.byHash[tip]
	if !ok {
		return nil, false, beyond
	}
	q := &queue{}
	seen := map[git.Hash]bool{tip: true}
	q.add(first)
	missing := false
	for q.Len() > 0 {
		c := heap.Pop(q).(queued).commit
		if l.cut && (missing && c.Time <= l.last.Time || c == l.last) {
			return nil, false, beyond
		}
		for _, p := range c.Parents {
			pc, ok := l.byHash[p]
			if missing = missing || l.cut && !ok; ok && !seen[p] {
				seen[p] = true
				q.add(pc)
			}
		}
		if len(c.Parents) > 1 {
			continue
		}
		if len(commits) == limit {
			return commits, true, nil
		}
		commits = append(commits, c)
	}
	if missing {
		return nil, false, beyond
	}
	return commits, false, nil
}

// queue is git's default order: newest committer time first, insertion order on ties.
type queue struct {
	items []queued
	next  int
}

type queued struct {
	commit *git.Commit
	seq    int
}

func (q *queue) Len() int { return len(q.items) }
func (q *queue) Less(i, j int) bool {
	if a, b := q.items[i].commit.Time, q.items[j].commit.Time; a != b {
		return a > b
	}
	return q.items[i].seq < q.items[j].seq
}
func (q *queue) Swap(i, j int) { q.items[i], q.items[j] = q.items[j], q.items[i] }
func (q *queue) Push(x any)    { q.items = append(q.items, x.(queued)) }
func (q *queue) Pop() any {
	last := q.items[len(q.items)-1]
	q.items = q.items[:len(q.items)-1]
	return last
}

func (q *queue) add(c *git.Commit) {
	heap.Push(q, queued{c, q.next})
	q.next++
}

// maxMessage is how many bytes of a message count; what follows is logs and lists.
const maxMessage = 2000

// message is what is kept of a commit's message.
type message struct {
	subject, body string
	terms         []uint32
	inTitle       int
	fix           bool
}

func readMessage(tk *text.Tokenizer, s string) message {
	subject, body, _ := strings.Cut(s, "\n")
	m := message{subject: subject, body: strings.TrimSpace(body)}
	m.terms = tk.Append(nil, m.subject[:min(len(m.subject), maxMessage)])
	m.inTitle = len(m.terms)
	m.fix = IsFix(subject)
	m.terms = tk.Append(m.terms, m.body[:min(len(m.body), maxMessage)])
	return m
}

// assemble makes the History of commits that are newest first.
func assemble(tip git.Hash, now int64, commits []*git.Commit, extent git.Extent, read func(*git.Commit) message) *History {
	h := &History{Tip: tip, Now: now, Commits: make([]Commit, len(commits)), Extent: extent}
	names := canonicalNames(commits)
	ids := make(map[string]int32)
	for _, per := range names {
		for _, p := range per {
			ids[p] = 0
		}
	}
	h.Paths = make([]string, 0, len(ids))
	for p := range ids {
		h.Paths = append(h.Paths, p)
	}
	sort.Strings(h.Paths)
	for i, p := range h.Paths {
		ids[p] = int32(i)
	}
	authors := h.numberAuthors(commits)
	for i, c := range commits {
		m := read(c)
		out := Commit{Hash: c.Hash, Time: c.Time, Author: authors[c.Email], Subject: m.subject, Body: m.body, Changes: c.Changes, Fix: m.fix, Terms: m.terms, InTitle: m.inTitle}
		out.Files = make([]int32, len(names[i]))
		for k, p := range names[i] {
			out.Files[k] = ids[p]
		}
		slices.Sort(out.Files)
		out.Files = slices.Compact(out.Files)
		h.Commits[i] = out
	}
	h.invert()
	return h
}

// invert fills in byFile.
func (h *History) invert() {
	count := make([]int32, len(h.Paths))
	total := 0
	for i := range h.Commits {
		for _, id := range h.Commits[i].Files {
			count[id]++
		}
		total += len(h.Commits[i].Files)
	}
	all := make([]int32, total)
	h.byFile = make([][]int32, len(h.Paths))
	for id, n := range count {
		h.byFile[id], all = all[:0:n], all[n:]
	}
	for i := range h.Commits {
		for _, id := range h.Commits[i].Files {
			h.byFile[id] = append(h.byFile[id], int32(i))
		}
	}
}

// numberAuthors fills h.Authors and maps e-mail addresses to ids. An address's newest name counts.
func (h *History) numberAuthors(commits []*git.Commit) map[string]int32 {
	name := make(map[string]string)
	for _, c := range commits {
		if _, ok := name[c.Email]; !ok {
			name[c.Email] = c.Author
		}
	}
	emails := make([]string, 0, len(name))
	for e := range name {
		emails = append(emails, e)
	}
	sort.Strings(emails)
	ids := make(map[string]int32, len(emails))
	for i, e := range emails {
		ids[e] = int32(i)
		h.Authors = append(h.Authors, name[e])
	}
	return ids
}

// canonicalNames gives each commit's paths under their newest names. A rename is a deleted and an
// added path of one commit with the same blob or, failing that, with a base name that is unique on
// both sides.
func canonicalNames(commits []*git.Commit) [][]string {
	out := make([][]string, len(commits))
	alias := make(map[string]string) // old path → newest path, for commits older than the current one
	for i, c := range commits {
		paths := make([]string, len(c.Changes))
		for k, ch := range c.Changes {
			paths[k] = ch.Path
			if to, ok := alias[ch.Path]; ok {
				paths[k] = to
			}
		}
		out[i] = paths
		for from, to := range renames(c.Changes) {
			if newest, ok := alias[to]; ok {
				to = newest
			}
			if from != to {
				alias[from] = to
			}
		}
	}
	return out
}

// renames pairs the deleted and added paths of one commit, old → new.
func renames(changes []git.Change) map[string]string {
	var added, deleted []git.Change
	for _, c := range changes {
		switch c.Status {
		case git.Added:
			added = append(added, c)
		case git.Deleted:
			deleted = append(deleted, c)
		}
	}
	if len(added) == 0 || len(deleted) == 0 {
		return nil
	}
	pairs := make(map[string]string)
	match := func(key func(git.Change, git.Hash) string) {
		byKey := make(map[string]int)
		count := make(map[string]int)
		for i, a := range added {
			k := key(a, a.New)
			byKey[k] = i
			count[k]++
		}
		from := make(map[string]int)
		for _, d := range deleted {
			from[key(d, d.Old)]++
		}
		for _, d := range deleted {
			k := key(d, d.Old)
			if _, done := pairs[d.Path]; !done && count[k] == 1 && from[k] == 1 {
				pairs[d.Path] = added[byKey[k]].Path
			}
		}
	}
	match(func(_ git.Change, h git.Hash) string { return string(h[:]) })
	match(func(c git.Change, _ git.Hash) string { return path.Base(c.Path) })
	return pairs
}

var fixWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(fix(es|ed|ing)?|bug(fix)?s?|hotfix|regressions?|crash(es)?|panics?|deadlocks?|leaks?|repairs?|revert(s|ed)?)\b`)
})

// IsFix reports whether a message's subject says that the change repairs something.
func IsFix(subject string) bool { return fixWords().MatchString(subject) }
