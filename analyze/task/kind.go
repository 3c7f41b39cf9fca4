package task

import (
	"strings"
)

// Type is what the task is for, with the words that say so.
type Type struct {
	Name     string `json:"name"` // bug fix, feature, refactor, test, docs, config, performance, security, or general
	Evidence string `json:"evidence"`
}

var conventionalTypes = map[string]string{
	"fix": "bug fix", "bugfix": "bug fix", "hotfix": "bug fix", "bug": "bug fix", "revert": "bug fix",
	"feat": "feature", "feature": "feature", "add": "feature", "enhancement": "feature",
	"refactor": "refactor", "ref": "refactor", "cleanup": "refactor", "style": "refactor",
	"test": "test", "tests": "test", "docs": "docs", "doc": "docs",
	"chore": "config", "build": "config", "ci": "config", "deps": "config",
	"perf": "performance", "types": "refactor", "security": "security", "sec": "security",
}

var typeWords = []struct {
	name  string
	words expr
}{
	{"security", lazily(`(?i)\b(security|vulnerabilit(y|ies)|cve-\d+|xss|csrf|injection|sanitiz(e|ing)|privilege)\b`)},
	{"performance", lazily(`(?i)\b(perf|performance|faster|slow(er|ness)?|speed(s|up)?|optimi[sz](e|es|ed|ation)|latency|allocations?|throughput)\b`)},
	{"bug fix", lazily(`(?i)\b(fix(es|ed)?|bugs?|crash(es)?|panics?|regression|broken|incorrect(ly)?|wrong(ly)?|fails?|errors?|exception|traceback|leak|race|deadlock)\b`)},
	{"docs", lazily(`(?i)\b(docs?|documentation|readme|typos?|docstrings?|changelog)\b`)},
	{"test", lazily(`(?i)\b(tests?|coverage|flaky|fixtures?|benchmarks?)\b`)},
	{"refactor", lazily(`(?i)\b(refactor(s|ed|ing)?|clean ?up|simplif(y|ies)|renam(e|es|ed)|move[sd]?|extract|deduplicate|remove[sd]?|tidy)\b`)},
	{"config", lazily(`(?i)\b(ci|build|bump|upgrade|dependenc(y|ies)|workflow|lint(er)?|release|config(uration)?)\b`)},
	{"feature", lazily(`(?i)\b(add(s|ed|ing)?|support(s|ed)?|implement(s|ed)?|introduce[sd]?|allow(s|ed)?|new|enable[sd]?|feature)\b`)},
}

// detectType reads the title first and the body only when the title says nothing.
func detectType(title, body string) Type {
	for _, s := range []struct{ in, where string }{{title, "title"}, {clip(body, 2000), "description"}} {
		for _, t := range typeWords {
			if w := t.words.FindString(s.in); w != "" {
				return Type{t.name, w + " in the " + s.where}
			}
		}
	}
	return Type{"general", "no word names a type"}
}

var (
	prefix     = lazily(`^\s*[A-Za-z][\w./*-]*(?:\s*[,&/]\s*[\w./*-]+){0,3}:\s`) // a part of the project: "tsdb, promql: …"
	doneWords  = lazily(`(?im)^\s*[-*]?\s*(add(ed|s)?|fix(ed|es)?|remov(e|es|ed)|updat(e|es|ed)|us(e|es|ed)|mov(e|es|ed)|renam(e|es|ed)|refactor(ed|s)?|implement(ed|s)?|chang(e|es|ed)|mak(e|es)|support|allow|introduc(e|es|ed)|simplif(y|ies|ied)|replac(e|es|ed)|improv(e|es|ed)|ensur(e|es)|avoid|drop|bump|handle|prevent|correct|feat|perf|chore|docs?|test)\b`)
	traceback  = lazily(`(?m)Traceback \(most recent call last\)|^\s+at [\w$.<>]+\(|^\s*File "[^"\n]+", line \d+|^goroutine \d+|^\s*panic: |^\s*thread '[^'\n]+' panicked`)
	issueWords = lazily(`(?i)(steps to reproduce|expected (behaviou?r|result|output|outcome)|actual (behaviou?r|result|outcome)|(how|code) (to|for) reproduc|minimal (example|reproduc)|what happened|describe the (bug|feature|solution)|bug (report|summary)|feature request|problem statement|i('m| am) (trying|getting|using|seeing)|^description\b.*\n|when i |i would (like|expect)|is there (a|any) way|environment:|versions?:\s)`)
	askWords   = lazily(`(?i)(\?\s*$|\bdoes(n't| not) work\b|\bshould (not )?\b|\bfails? (when|with|if|on|to)\b|\bunexpected(ly)?\b)`)
	firstWords = lazily(`\bI('m|'ve|'d)?\b`)
	tellWords  = lazily(`(?i)\b(currently|instead of|for example|seems?|would be (nice|useful|great|better|good|helpful)|no longer|expected|should be|it is possible|not possible|there is no|there's no|unfortunately|problem is|consider the following|following (code|example)|this (happens|is because|works)|is wrong|incorrectly)\b`)
	errorLine  = lazily(`(?m)^\s*>{3} |^\s*In \[\d+\]|^[>\s]*\w*(Error|Exception|Warning)\b:|^E  +\w`)
	faultWords = lazily(`(?i)\b(incorrect(ly)?|wrong(ly)?|bugs?|fail(s|ed|ing|ure)?|errors?|crash(es)?|broken|breaks?|not work(ing)?|inconsisten\w+|unexpected(ly)?|raises?|cannot|can't|does(n't| not)|is(n't| not)|are not|regression|could|no longer|unable|missing|confusing|results? in|causes?|returns?|produces?|when)\b`)
)

// maxKindBody is how much of a body, in bytes, the marks of a kind are looked for in.
const maxKindBody = 16_000

// detectKind weighs the marks of a described problem against those of a described change. The
// weights are a logistic regression, rounded, on 1,600 changes and 300 issues of 28 repositories;
// docs/quality.md has its errors on repositories left out.
func detectKind(title, body string) Kind {
	body = clip(body, maxKindBody)
	count := func(re expr, most int) float64 { return float64(len(re.FindAllString(body, most))) }
	is := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	prefixed := false
	if m := conventional.FindStringSubmatch(title); m != nil {
		prefixed = conventionalTypes[strings.ToLower(m[1])] != ""
	}
	told := make(map[string]bool)
	for _, w := range tellWords.FindAllString(body, -1) {
		told[strings.ToLower(w)] = true
	}
	named := !prefixed && prefix.MatchString(title)
	change := 3.5 + is(prefixed) + 2*is(named) + is(doneWords.MatchString(title)) + count(doneWords, 4) + is(closes.MatchString(body))
	issue := 4.5*count(issueWords, 3) + 1.5*is(askWords.MatchString(title)) + is(faultWords.MatchString(title)) +
		0.5*is(traceback.MatchString(body)) + 1.5*count(errorLine, 3) + 3*is(strings.Contains(body, "```")) +
		count(firstWords, 3) + 1.5*float64(min(len(told), 4))
	if issue > change {
		return Issue
	}
	return Change
}
