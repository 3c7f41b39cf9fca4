package task

import (
	"fmt"
	"math"
	"strings"
)

// Intent is the result of the intent sufficiency check.
type Intent struct {
	Score   float64  // in [0,1]
	Level   string   // sufficient, weak or insufficient
	Reasons []string // what is wanting; empty when it is sufficient
}

// The levels.
const (
	Sufficient   = "sufficient"
	Weak         = "weak"
	Insufficient = "insufficient"
)

// Vocabulary says what the repository knows of the task's words.
type Vocabulary struct {
	Files int                // in the repository
	Found func(term int) int // files that hold the term, by index into Task.Terms
	Named int                // files whose path, or a declaration, the text names outright
}

const (
	// sufficientAt and weakAt are the default levels; sufficientAt can be configured.
	sufficientAt = 0.25
	weakAt       = 0.12
	// enough is how much specific vocabulary makes a text clear: about two words that few files have.
	enough = 1.1
	// contradicted caps the score of a text that contradicts itself.
	contradicted = 0.1
)

// Check scores how well the text says what it is about: the specific words that the repository
// knows, each by its inverse document frequency, and what the text names outright, saturating.
// threshold replaces the score from which a text is sufficient; 0 keeps the default.
func (t *Task) Check(v Vocabulary, threshold float64) Intent {
	if threshold <= 0 {
		threshold = sufficientAt
	}
	info, known, specific := 0.0, 0, 0
	for q, term := range t.Terms {
		df := v.Found(q)
		if df == 0 || generic[term.Text] || term.Compound && !term.InTitle {
			continue
		}
		known++
		idf := math.Log(float64(v.Files+1)/float64(df)) / math.Log(float64(v.Files+2))
		if idf > 0.3 {
			specific++
		}
		info += term.Weight * idf * idf
	}
	info += 0.6 * float64(min(v.Named, 3))
	in := Intent{Score: 1 - math.Exp(-info/enough)}
	words := len(strings.Fields(t.Title)) + len(strings.Fields(t.Body))
	switch {
	case words == 0:
		in.Score, in.Reasons = 0, append(in.Reasons, "there is no text")
	case words < 3 && v.Named == 0:
		in.Score = min(in.Score, weakAt+0.1)
		in.Reasons = append(in.Reasons, [...]string{"one word does", "two words do"}[words-1]+" not say what is meant")
	}
	if words > 0 && known == 0 {
		in.Reasons = append(in.Reasons, "no word of the text is in the repository's vocabulary")
	} else if specific == 0 && v.Named == 0 && words > 0 {
		in.Reasons = append(in.Reasons, "no word of the text points to particular files")
	}
	if a, b, ok := t.contradiction(); ok {
		in.Score = min(in.Score, contradicted)
		in.Reasons = append(in.Reasons, fmt.Sprintf("contradiction: “%s” against “%s”", a, b))
	}
	switch {
	case in.Score >= threshold:
		in.Level, in.Reasons = Sufficient, nil
	case in.Score >= min(weakAt, threshold):
		in.Level = Weak
	default:
		in.Level = Insufficient
	}
	if in.Level != Sufficient && len(in.Reasons) == 0 {
		in.Reasons = append(in.Reasons, "few words of the text point to particular files")
	}
	return in
}

// generic words describe any change of any repository.
var generic = func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(`fix fixes fixed bug bugs issue issues update updates updated improve improves
		improvement improvements change changes add adds added remove removes removed cleanup clean refactor refactoring code
		stuff things thing some various minor small misc work working works better new old various general support feature
		features performance problem problems error errors handle handling wip tmp temp test tests testing docs readme
		file files function functions class method make making`) {
		m[w] = true
	}
	return m
}()

var (
	clauseEnd = lazily(`[.;,!?\n]+|\b(?:and|but|while|yet|however|then)\b`)
	clauseAct = lazily(`(?i)^\s*(?:please\s+|also\s+|we\s+(?:must|should|will|need to)\s+|it\s+(?:must|should)\s+)?((?:do not|don't|never|must not|should not|without)\s+)?([a-z]+)\s+(.{2,80})$`)
	article   = lazily(`(?i)^(?:the|a|an|all|any|every|each|its|this|that|our)\s+`)
)

// opposites are verbs that undo each other.
var opposites = map[string]string{
	"add": "remove", "remove": "add", "enable": "disable", "disable": "enable", "keep": "remove", "delete": "keep",
	"increase": "decrease", "decrease": "increase", "allow": "forbid", "forbid": "allow", "show": "hide", "hide": "show",
	"start": "stop", "stop": "start", "introduce": "drop", "drop": "introduce", "reduce": "increase", "raise": "lower", "lower": "raise",
	"encrypt": "decrypt", "accept": "reject", "reject": "accept", "include": "exclude", "exclude": "include", "lock": "unlock", "unlock": "lock",
}

// contradiction finds two clauses that ask for opposite things of the same object: a verb and its
// opposite, or a verb and its own negation.
func (t *Task) contradiction() (a, b string, ok bool) {
	type clause struct {
		text, verb, object string
		not                bool
	}
	var seen []clause
	for _, part := range clauseEnd.Split(clip(t.Title+"\n"+t.Body, 6000), 200) {
		m := clauseAct.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		c := clause{text: strings.TrimSpace(part), verb: verbStem(strings.ToLower(m[2])), not: m[1] != ""}
		c.object = object(m[3])
		if c.object == "" {
			continue
		}
		for _, s := range seen {
			same := s.verb == c.verb && s.not != c.not
			opposite := opposites[s.verb] == c.verb && s.not == c.not
			if (same || opposite) && s.object == c.object {
				return s.text, c.text, true
			}
		}
		seen = append(seen, c)
	}
	return "", "", false
}

// verbStem takes the usual endings off a verb.
func verbStem(v string) string {
	for _, end := range [...]string{"ing", "es", "ed", "s", "d"} {
		if base := strings.TrimSuffix(v, end); base != v {
			if _, ok := opposites[base]; ok {
				return base
			}
			if _, ok := opposites[base+"e"]; ok {
				return base + "e"
			}
		}
	}
	return v
}

// object is what a clause is about: its first words without an article, lower case.
func object(s string) string {
	s = strings.ToLower(article.ReplaceAllString(strings.TrimSpace(s), ""))
	words := strings.Fields(s)
	if len(words) > 3 {
		words = words[:3]
	}
	return strings.Trim(strings.Join(words, " "), " .`'\"")
}
