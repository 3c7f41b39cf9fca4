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
	traceback  = lazily(`(?m)Traceback \(most recent call last\)|^\s+at [\w$.<>]+\(|^\s*File "[^"\n]+", line \d+|^goroutine \d+|^\s*panic: |^\s*thread '[^'\n]+' panicked`)
	issueWords = lazily(`(?i)(steps to reproduce|expected (behavior|behaviour|result|output)|actual (behavior|behaviour|result)|how to reproduce|minimal (example|reproduc)|what happened|describe the bug|i('m| am) (trying|getting|using|seeing)|^description\b.*\n|when i |i would (like|expect)|is there (a|any) way|environment:|versions?:\s*\n)`)
	askWords   = lazily(`(?i)(\?\s*$|\bdoes(n't| not) work\b|\bshould (not )?\b|\bfails? (when|with|if|on|to)\b|\bunexpected(ly)?\b)`)
	doneWords  = lazily(`(?im)^\s*[-*]?\s*(add(ed|s)?|fix(ed|es)?|remov(e|es|ed)|updat(e|es|ed)|us(e|es|ed)|mov(e|es|ed)|renam(e|es|ed)|refactor(ed|s)?|implement(ed|s)?|chang(e|es|ed)|mak(e|es)|support|allow|introduc(e|es|ed)|simplif(y|ies|ied)|replac(e|es|ed)|improv(e|es|ed)|ensur(e|es)|avoid|drop|bump|handle|prevent|correct|feat|perf|chore|docs?|test)\b`)
)

// detectKind weighs the marks of a described problem against those of a described change.
func detectKind(title, body string) Kind {
	issue, change := 0.0, 0.5
	if conventional.MatchString(title) && conventionalTypes[strings.ToLower(conventional.FindStringSubmatch(title)[1])] != "" {
		change += 2
	}
	if doneWords.MatchString(title) {
		change++
	}
	change += 0.5 * float64(min(len(doneWords.FindAllString(clip(body, 8000), 6)), 4))
	if closes.MatchString(body) {
		change += 2
	}
	if traceback.MatchString(body) {
		issue += 2
	}
	issue += 1.5 * float64(min(len(issueWords.FindAllString(clip(body, 16000), 4)), 3))
	if askWords.MatchString(title) {
		issue++
	}
	if len(body) > 600 && strings.Contains(body, "```") {
		issue += 0.5
	}
	if issue > change {
		return Issue
	}
	return Change
}
