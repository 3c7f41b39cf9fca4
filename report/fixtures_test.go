package report

import (
	"fmt"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/risk"
	"github.com/ctxt-dev/ctxt/index/git"
)

const (
	baseSHA = "1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6a7b8c9d0e"
	headSHA = "5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3a4b"
	tipTime = 1735689600
)

func f64(x float64) *float64 { return &x }

// skeleton is a report with nothing found.
func skeleton() *Report {
	return &Report{
		Version: SchemaVersion, Tool: "ctxt 1.0.0", Base: baseSHA, Head: headSHA, MergeBase: baseSHA,
		Title:     "Release the lock when a lease expires",
		Verdict:   Verdict{Level: "low", Reason: "+4 −2 in 1 file, smaller than 71% of this repository's changes"},
		Change:    ChangeSummary{Files: []ChangedFile{{Path: "docs/lease.md", Status: "modified", Added: 4, Deleted: 2, Hunks: []git.Hunk{{OldStart: 3, OldLines: 2, NewStart: 3, NewLines: 4}}}}, Added: 4, Deleted: 2, Commits: 1},
		Risk:      &risk.Assessment{Band: risk.Low, Score: 0.29, Assessed: true, Signals: []risk.Signal{}, Companions: []risk.Companion{}, Knowers: []risk.Knower{}},
		History:   HistorySummary{Commits: 3000, Tip: baseSHA, TipTime: tipTime, Limited: true},
		Reproduce: "ctxt pr --base 1d2e3f4 --head 5a6b7c8 --title-from-head",
	}
}

func sizeSignal(level risk.Level) risk.Signal {
	return risk.Signal{Name: "size", Title: "Size", Level: level, Why: "+120 −18 in 4 files, 2 folders: larger than 78% of this repository's changes",
		Numbers: []risk.Number{{Name: "added", Value: 120, Unit: "lines"}, {Name: "size", Value: 78, Unit: "percentile"}}, Command: "git diff --stat 1d2e3f4...5a6b7c8"}
}

// companionReport is the change of the form document: a lock without its test.
func companionReport() *Report {
	r := skeleton()
	r.Verdict = Verdict{Level: "high", Reason: "`store/lock.go` usually changes with `store/lock_test.go`, which is untouched"}
	r.Change = ChangeSummary{Added: 120, Deleted: 18, Commits: 3, Files: []ChangedFile{
		{Path: "cmd/apply.go", Status: "modified", Added: 8, Deleted: 3, Hunks: []git.Hunk{{OldStart: 40, OldLines: 3, NewStart: 40, NewLines: 8}}},
		{Path: "docs/style.css", Status: "modified", Added: 2, Deleted: 0, Hunks: []git.Hunk{{OldStart: 9, OldLines: 0, NewStart: 10, NewLines: 2}}},
		{Path: "store/lease.go", Status: "modified", Added: 30, Deleted: 5, Hunks: []git.Hunk{{OldStart: 12, OldLines: 5, NewStart: 12, NewLines: 30}}},
		{Path: "store/lock.go", Status: "modified", Added: 80, Deleted: 10, Hunks: []git.Hunk{{OldStart: 88, OldLines: 10, NewStart: 88, NewLines: 80}}},
	}}
	r.Risk = &risk.Assessment{
		Band: risk.High, Score: 0.93, Assessed: true, Headline: r.Verdict.Reason,
		Worth: "in this repository the high band was later fixed 2.7 times as often as the average (41 of 300 changes)",
		Signals: []risk.Signal{
			{Name: "hotspots", Title: "Hotspot", Level: risk.High, Why: "store/lock.go: 41 changes in 180 days, 9 of them fixes; top 3% of this repository",
				Numbers: []risk.Number{{Name: "changes", Value: 41, Unit: "commits"}, {Name: "fixes", Value: 9, Unit: "commits"}}, Files: []string{"store/lock.go"}, Command: "git log --oneline --since=180.days 1d2e3f4 -- store/lock.go"},
			{Name: "reach", Title: "Reach", Level: risk.Medium, Why: "14 files import what changed, most: cmd/apply.go, cmd/plan.go",
				Numbers: []risk.Number{{Name: "importers", Value: 14, Unit: "files"}}, Files: []string{"cmd/apply.go", "cmd/plan.go"}, Command: "ctxt explain store/lock.go"},
			sizeSignal(risk.Medium),
			{Name: "scope", Title: "Scope", Level: risk.Low, Why: "docs/style.css is not reached by the title or the description",
				Numbers: []risk.Number{{Name: "unreached", Value: 1, Unit: "files"}}, Files: []string{"docs/style.css"}, Command: "ctxt pr --base 1d2e3f4 --head 5a6b7c8 --json"},
			{Name: "tests", Title: "Tests", Level: risk.Info, Why: "3 source files changed and 0 tests", Numbers: []risk.Number{{Name: "source", Value: 3, Unit: "files"}, {Name: "tests", Value: 0, Unit: "files"}}, Command: "git diff --name-only 1d2e3f4...5a6b7c8"},
		},
		Companions: []risk.Companion{
			{Path: "store/lock_test.go", Partner: "store/lock.go", Joint: 23, Of: 27, Confidence: 23.0 / 27, LastCommit: "4f2c1aa9e8d7c6b5a493827160f5e4d3c2b1a090", LastTime: tipTime - 12*86400},
			{Path: "docs/locking.md", Partner: "store/lease.go", Joint: 9, Of: 12, Confidence: 0.75, LastCommit: "a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9", LastTime: tipTime - 40*86400},
		},
		Knowers: []risk.Knower{{Name: "A. Author", Share: 0.61}, {Name: "B. Author", Share: 0.22}},
	}
	r.Context = contextOf(14)
	r.Gates = []Gate{
		{Name: "search", Mode: "block", State: GatePass, Metric: "Hit@5", Value: f64(0.92), BaseValue: f64(0.92), Bar: f64(0.9), Detail: "12 cases", Command: "ctxt eval --engine search", Past: []float64{0.86, 0.9, 0.92}},
		{Name: "selection", Mode: "warn", State: GatePass, Metric: "recall@10", Value: f64(0.81), BaseValue: f64(0.82), Tolerance: f64(0.02), Detail: "12 cases", Command: "ctxt eval --engine activate"},
	}
	r.Graph = &Graph{
		Nodes: []Node{{"cmd/apply.go", "changed"}, {"cmd/plan.go", "importer"}, {"store/lease.go", "changed"}, {"store/lock.go", "changed"}, {"store/lock_test.go", "companion"}},
		Edges: []Edge{{From: 0, To: 3, Kind: "imports"}, {From: 1, To: 3, Kind: "imports"}, {From: 2, To: 3, Kind: "imports"}, {From: 3, To: 4, Kind: "changes_with", Note: "23 of 27"}},
	}
	return r
}

func contextOf(n int) *pick.Bundle {
	b := &pick.Bundle{Version: 1, Commit: headSHA, Task: "Release the lock when a lease expires", TaskKind: "change", TaskType: "bug fix", Pack: "tiered",
		Intent: pick.Intent{Score: 0.82, Level: "sufficient"}, Budget: pick.Budget{Tokens: 8000, Files: 25}, Used: pick.Budget{Tokens: 7412, Files: n}}
	names := []string{"store/lock.go", "store/lease.go", "store/lock_test.go", "cmd/apply.go", "cmd/plan.go"}
	why := []string{"declares `Unlock`, named in the title; 6 similar past changes", "calls `Unlock`; changed with store/lock.go 11 times", "", "imports `store`", "imports `store`; 4 matching lines"}
	for i := range n {
		f := pick.File{Path: fmt.Sprintf("store/part%02d.go", i+1), Rank: i + 1, Score: 0.9 / float64(i+1), Reason: fmt.Sprintf("%d matching lines", 20-i), Tier: pick.Signatures, Lines: 120, Tokens: 300}
		if i < len(names) {
			f.Path, f.Reason, f.Tier = names[i], why[i], pick.Spans
		}
		if f.Path == "store/lock_test.go" {
			f.Shadow = &pick.ShadowInfo{Partner: "store/lock.go", Joint: 23, Confidence: 23.0 / 27, Affinity: 0.7, Last: "4f2c1aa9e8d7c6b5a493827160f5e4d3c2b1a090", LastTime: tipTime - 12*86400}
		}
		b.Files = append(b.Files, f)
	}
	return b
}

// cases are the golden reports.
func cases() map[string]*Report {
	m := map[string]*Report{"high": companionReport()}

	medium := companionReport()
	medium.Verdict = Verdict{Level: "medium", Reason: "+120 −18 in 4 files, larger than 78% of this repository's changes"}
	medium.Risk.Band, medium.Risk.Score, medium.Risk.Companions = risk.Medium, 0.78, []risk.Companion{}
	medium.Risk.Signals = medium.Risk.Signals[1:]
	medium.Risk.Companions = []risk.Companion{{Path: "docs/index.md", Because: "changes that add a file to docs/", Joint: 11, Of: 14, Confidence: 11.0 / 14, LastCommit: baseSHA, LastTime: tipTime - 86400}}
	medium.Risk.Signals[1].Level = risk.Info // size as the assessment grades it
	medium.Context, medium.Graph = contextOf(4), nil
	m["medium"] = medium

	low := skeleton()
	low.Context = contextOf(5)
	low.Risk.Signals = []risk.Signal{{Name: "size", Title: "Size", Level: risk.Low, Why: "+4 −2 in 1 file: smaller than 71% of this repository's changes", Numbers: []risk.Number{{Name: "added", Value: 4, Unit: "lines"}}, Command: "git diff --stat 1d2e3f4...5a6b7c8"}}
	m["low"] = low

	shallow := companionReport()
	shallow.Verdict = Verdict{Level: "unassessed", Reason: "history limited to 50 commits"}
	shallow.History = HistorySummary{Commits: 50, Tip: baseSHA, TipTime: tipTime, Shallow: true}
	shallow.Risk.Assessed, shallow.Risk.Companions, shallow.Risk.Knowers, shallow.Risk.Worth = false, []risk.Companion{}, []risk.Knower{}, ""
	shallow.Risk.Signals = shallow.Risk.Signals[1:2]
	shallow.Gates, shallow.Graph = nil, nil
	m["shallow"] = shallow

	blocked := companionReport()
	blocked.Verdict = Verdict{Level: "blocked", Reason: "search Hit@5 is 0.84, the bar is 0.90"}
	blocked.Gates[0].State, blocked.Gates[0].Value = GateFail, f64(0.84)
	blocked.Gates = append(blocked.Gates, Gate{Name: "bench", Mode: "warn", State: GateError, Detail: ".ctxt/cases.json of the base: line 3: no cases"})
	blocked.Problems = []Problem{{Section: "graph", Message: "store/lock.go: 900 importers, more than the cap of 500"}}
	m["blocked"] = blocked

	bot := skeleton()
	bot.Title = "Bump golang.org/x/net from 0.59.0 to 0.60.0"
	bot.Verdict.Reason = "lock files alone: 2 files, +4 −4"
	bot.Change = ChangeSummary{Automated: "dependency bot", LockOnly: true, Added: 4, Deleted: 4, Commits: 1, Files: []ChangedFile{
		{Path: "go.mod", Status: "modified", Added: 1, Deleted: 1}, {Path: "go.sum", Status: "modified", Added: 3, Deleted: 3}}}
	bot.Risk = nil
	m["bot"] = bot

	wrong := skeleton()
	wrong.Verdict = Verdict{Level: "unassessed", Reason: "the base looks wrong: 412 of 418 commits are already on `origin/release-2`"}
	wrong.Change = ChangeSummary{Added: 90211, Deleted: 41002, Commits: 418, Files: []ChangedFile{{Path: "go.mod", Status: "modified", Added: 1, Deleted: 1}}}
	wrong.Risk = nil
	wrong.Notes = []string{"merge base 1d2e3f4 is 1,240 days before the base's tip; nothing further was analysed"}
	m["wrong-base"] = wrong

	empty := &Report{Version: SchemaVersion, Tool: "ctxt 1.0.0", Base: baseSHA, Head: headSHA, MergeBase: baseSHA,
		Verdict: Verdict{Level: "unassessed", Reason: "no file differs between 1d2e3f4 and 5a6b7c8"}, Change: ChangeSummary{Files: []ChangedFile{}}}
	m["empty"] = empty
	m["hostile"] = hostile(companionReport(), smuggled)
	return m
}

// smuggled is text that tries to be markup, a mention, a reference, a command or invisible.
var smuggled = strings.Join([]string{
	"@org/team", "#1", "GH-1", "owner/repo#12", "https://github.com/o/r/issues/1", "www.example.com", "a@example.com",
	"0123456789abcdef0123456789abcdef01234567", "<img src=x onerror=alert(1)>", "--> <!-- ctxt", "</details>", "</td>", "![i](http://e.example/i.png)", "[l](http://e.example)",
	"```", "``` mermaid", "`", "|", "\\|", "\n\n# heading\n", "\r::error::x", "##[error]y", ":tada:", ":octocat:", "$x$", "\u202egnp.exe\u202c", "\u200bzero\u2060", "\x1b[31m", "\xff\xfe", "&lt;b&gt;", "&#64;org", "**bold**", "~~x~~", "__i__", "[^1]", "&copy;", "%%{init: {}}%%", "\"]; click n0 \"https://e.example\"",
}, " ")

// hostile puts s into every text of r.
func hostile(r *Report, s string) *Report {
	r.Title, r.Verdict.Reason, r.Tool, r.Reproduce = s, "why: "+s, s, "ctxt pr --title "+s
	r.History.Tip = s
	for i := range r.Change.Files {
		r.Change.Files[i].Path = fmt.Sprintf("%d/%s", i, s)
		r.Change.Files[i].OldPath, r.Change.Files[i].Status = s, s
	}
	for i := range r.Risk.Signals {
		x := &r.Risk.Signals[i]
		x.Title, x.Why, x.Command, x.Files = s, s, s, []string{s}
		for k := range x.Numbers {
			x.Numbers[k].Name, x.Numbers[k].Unit = s, s
		}
	}
	for i := range r.Risk.Companions {
		c := &r.Risk.Companions[i]
		c.Path, c.Partner, c.LastCommit, c.Because = s, fmt.Sprintf("0/%s", s), s, s
		if i == 1 {
			c.Partner = ""
		}
	}
	for i := range r.Risk.Knowers {
		r.Risk.Knowers[i].Name = s
	}
	r.Risk.Notes, r.Notes, r.Risk.Worth, r.Risk.Headline = []string{s}, []string{s}, s, s
	for i := range r.Gates {
		g := &r.Gates[i]
		g.Name, g.Metric, g.Detail, g.Command = s, s, s, s
	}
	for i := range r.Graph.Nodes {
		r.Graph.Nodes[i].Path = s
	}
	for i := range r.Context.Files {
		f := &r.Context.Files[i]
		f.Path, f.Reason = s, s
		if f.Shadow != nil {
			f.Reason, f.Shadow.Partner = "", s
		}
	}
	r.Problems = []Problem{{Section: s, Message: s}}
	r.IndexSkips = []git.Skip{{Path: s, Reason: s}}
	return r
}
