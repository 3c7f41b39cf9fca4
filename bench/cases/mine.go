package cases

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ctxt-dev/ctxt/bench"
	"github.com/ctxt-dev/ctxt/index/git"
)

// The limits of mining.
const (
	MaxMined   = 10_000 // cases
	maxSources = 10     // source files of a case that existed before
	maxTouched = 20     // files of a case in all
	maxTitle   = 1_000  // bytes
	maxBody    = 4_000  // bytes
)

// rule is one reason to leave a change out. Rules are asked in the order of this list.
type rule int

const (
	fits rule = iota
	noParent
	byBot
	plainMerge
	choreTitle
	shortTitle
	manyFiles
	noSource
	manySources
)

// rules say, in the order in which they are asked, what each leaves out.
var rules = []struct {
	rule rule
	text string
}{
	{noParent, "no parent to measure at: a root commit, or the end of a shallow history"},
	{byBot, "the author is a bot"},
	{plainMerge, "a merge that has no title of its own"},
	{choreTitle, "the title says chore, docs, style, CI, release, revert, typo or dependency update"},
	{shortTitle, "the title has fewer than three words"},
	{manyFiles, fmt.Sprintf("more than %d files changed", maxTouched)},
	{noSource, "no source file outside tests that existed before was changed"},
	{manySources, fmt.Sprintf("more than %d source files that existed before were changed", maxSources)},
}

// Mine takes the newest n fitting changes on the first-parent line of tip as cases, newest first.
// A case's gold is the source files, tests among them, that the change modified or removed; renames
// are a removal and an addition. Fewer than n fitting changes are no error, none is.
func Mine(ctx context.Context, repo *git.Repo, tip git.Hash, n int) ([]Replay, *bench.Mining, error) {
	if n < 1 || n > MaxMined {
		return nil, nil, fmt.Errorf("cases to mine: %d is not in 1 to %d", n, MaxMined)
	}
	m := &bench.Mining{Tip: tip.String()}
	left := map[rule]int{}
	var out []Replay
	enough := errors.New("enough cases")
	_, err := repo.History(ctx, []git.Hash{tip}, git.HistoryOptions{FirstParent: true, Merges: true}, func(c *git.Commit) error {
		m.Read++
		r, why := caseOf(c)
		if left[why]++; why != fits {
			return nil
		}
		if out = append(out, r); len(out) == n {
			return enough
		}
		return nil
	})
	if err != nil && !errors.Is(err, enough) {
		return nil, nil, fmt.Errorf("mine cases from history: %w", err)
	}
	m.Usable, m.Shallow = len(out), repo.Shallow()
	for _, r := range rules {
		m.Rules = append(m.Rules, bench.RuleCount{Rule: r.text, LeftOut: left[r.rule]})
	}
	if len(out) == 0 {
		return nil, m, noneFits(m, tip, left)
	}
	return out, m, nil
}

// noneFits says what most changes were left out for.
func noneFits(m *bench.Mining, tip git.Hash, left map[rule]int) error {
	most, why := 0, ""
	for _, r := range rules {
		if n := left[r.rule]; n > most {
			most, why = n, r.text
		}
	}
	hint := ""
	if m.Shallow {
		hint = "; the clone is shallow: git fetch --unshallow brings the rest"
	}
	return fmt.Errorf("none of the %d changes up to %s can be a case; of %d: %s%s", m.Read, tip.Short(), most, why, hint)
}

// caseOf is a commit as a case, or the first rule that leaves it out.
func caseOf(c *git.Commit) (Replay, rule) {
	if len(c.Parents) == 0 {
		return Replay{}, noParent
	}
	if isBot(c.Author) || isBot(c.Email) {
		return Replay{}, byBot
	}
	title, body, ok := taskOf(c.Message, len(c.Parents) > 1)
	switch {
	case !ok:
		return Replay{}, plainMerge
	case chore().MatchString(title):
		return Replay{}, choreTitle
	case len(word().FindAllString(title, 3)) < 3:
		return Replay{}, shortTitle
	case len(c.Changes) > maxTouched:
		return Replay{}, manyFiles
	}
	gold, code := goldOf(c.Changes)
	switch {
	case code == 0:
		return Replay{}, noSource
	case len(gold) > maxSources:
		return Replay{}, manySources
	}
	return Replay{SHA: c.Hash.String(), Base: c.Parents[0].String(), Title: title, Body: body, Gold: gold}, fits
}

// lazily is an expression that is compiled when it is first needed.
func lazily(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}

var (
	bot   = lazily(`(?i)\[bot\]|^(dependabot|renovate|mergify|greenkeeper|pyup|snyk|autofix-ci|github-actions|pre-commit-ci)\b|[-_ ]bot(@|$)`)
	chore = lazily(`(?i)^\[?(chore|build|ci|docs?|documentation|style|release[sd]?|releasing|bump(s|ed|ing)?|reverts?|merge[sd]?|prepare|cut|changelog|version|typos?|lint|skip|skip[- ]ci|fix (a )?(typos?|lint(er|ing)?)|upd?ates? (the )?(dep(s|endenc(y|ies))?|dev|modules?|third|lock ?files?|changelog|version)|deps)\b|^v?\d+\.\d+`)
	word  = lazily(`\p{L}{2,}`)
	// number is the trailing reference to a pull request that squash merges add.
	number  = lazily(`\s*\([#!]\d+\)\s*$`)
	trailer = lazily(`(?i)^((signed-off-by|co-authored-by|reviewed-by|acked-by|cc|reported-by|tested-by|helped-by|suggested-by|change-id|pr-url|backport)\s*:|see merge request )`)
)

func isBot(who string) bool { return bot().MatchString(who) }

// taskOf splits a message into the change's title and body. A merge has them in its body, below
// the subject that the forge wrote; ok is false for a merge that has none there.
func taskOf(message string, merge bool) (title, body string, ok bool) {
	subject, rest, _ := strings.Cut(strings.TrimSpace(message), "\n")
	if merge {
		if !strings.HasPrefix(subject, "Merge pull request #") && !strings.HasPrefix(subject, "Merge branch '") {
			return "", "", false
		}
		subject, rest, _ = strings.Cut(strings.TrimSpace(rest), "\n")
		if subject = strings.TrimSpace(subject); subject == "" || trailer().MatchString(subject) {
			return "", "", false
		}
	}
	var kept []string
	for line := range strings.Lines(rest) {
		if line = strings.TrimRight(line, " \t\r\n"); !trailer().MatchString(strings.TrimSpace(line)) {
			kept = append(kept, line)
		}
	}
	title = number().ReplaceAllString(strings.TrimSpace(subject), "")
	return clip(title, maxTitle), clip(strings.TrimSpace(strings.Join(kept, "\n")), maxBody), true
}

// clip cuts s to at most n bytes of valid UTF-8.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// goldOf lists the source files that existed before, sorted, and counts those that are not tests.
func goldOf(changes []git.Change) (gold []string, code int) {
	for _, c := range changes {
		path := strings.ToValidUTF8(c.Path, "\uFFFD")
		if c.Status == git.Added || c.OldMode == git.ModeSymlink || c.OldMode == git.ModeSubmodule || !isSource(path) {
			continue
		}
		gold = append(gold, path)
		if !test().MatchString(path) {
			code++
		}
	}
	slices.Sort(gold)
	return gold, code
}

// sourceExt are the extensions of program text, as far as mining is concerned.
var sourceExt = setOf(`go py pyi js jsx mjs cjs ts tsx mts cts vue svelte astro rs rb php java kt kts scala
		groovy swift m mm c h cc cpp cxx hh hpp cs fs lua tcl sh bash zig dart ex exs erl hs ml clj r jl pl pm`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

func isSource(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && sourceExt[strings.ToLower(name[dot+1:])]
}

// test matches the paths of tests and what belongs to them.
var test = lazily(`(^|/)(tests?|__tests__|specs?|testdata|fixtures|e2e)/|(^|/)test_[^/]*\.py$|_test\.[^/.]+$|\.(test|spec)\.[^/]+$|Tests?\.(java|kt|php|cs|scala|swift)$`)
