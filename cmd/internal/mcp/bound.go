package mcp

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/search"
	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/report"
)

// maxAnswer caps one answer, in bytes of JSON: about 25,000 tokens, which is what clients take.
const maxAnswer = 96 << 10

// bounded cuts an answer that is too long. What was cut stands in its warnings or notes.
func bounded(v any) (any, error) {
	switch x := v.(type) {
	case *pick.Bundle:
		v = cutBundle(x, maxAnswer)
	case *job.Difference:
		d := *x
		if d.Bundle != nil {
			rest := d
			rest.Bundle = nil
			d.Bundle = cutBundle(d.Bundle, max(maxAnswer-size(rest), 4<<10))
		}
		v = &d
	case *search.Response:
		v = cutSearch(x)
	case *report.Report:
		v = cutReport(x)
	case *job.CompanionsResult:
		v = cutCompanions(x)
	}
	if n := size(v); n > maxAnswer {
		return nil, fmt.Errorf("the answer would have %d bytes, more than %d; ask for less", n, maxAnswer)
	}
	return v, nil
}

// size is the length of a value's JSON; one that cannot be written is reported by the SDK.
func size(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(data)
}

// cutBundle leaves out text from the last file backwards, then files, until the bundle fits.
func cutBundle(b *pick.Bundle, limit int) *pick.Bundle {
	if size(b) <= limit {
		return b
	}
	out := *b
	out.Files, out.NearMiss, out.Warnings = slices.Clone(b.Files), nil, slices.Clone(b.Warnings)
	const told = 200 // bytes for the warning
	left, texts := size(&out)-limit+told, 0
	for i := len(out.Files) - 1; i >= 0 && left > 0; i-- {
		f := &out.Files[i]
		before := size(f)
		if len(f.Regions) > 0 {
			texts++
		}
		f.Regions, f.Parts, f.Tier = nil, nil, pick.PathOnly
		left -= before - size(f)
	}
	kept := len(out.Files)
	for kept > 0 && left > 0 {
		kept--
		left -= size(&out.Files[kept]) + 1
	}
	out.Files = out.Files[:kept]
	if len(out.Task) > limit/2 {
		out.Task = out.Task[:limit/4] + "…"
	}
	out.Warnings = append(out.Warnings, fmt.Sprintf("cut to fit an answer: the text of %d files, %d files and %d near misses; ask for a smaller budget_tokens",
		texts, len(b.Files)-kept, len(b.NearMiss)))
	return &out
}

func cutSearch(r *search.Response) *search.Response {
	if size(r) <= maxAnswer {
		return r
	}
	out := *r
	out.Results, out.Dirs = slices.Clone(r.Results), slices.Clone(r.Dirs)
	cut := 0
	for size(&out) > maxAnswer-200 && len(out.Results)+len(out.Dirs) > 0 {
		out.Results, out.Dirs = out.Results[:len(out.Results)/2], out.Dirs[:len(out.Dirs)/2]
		cut = len(r.Results) + len(r.Dirs) - len(out.Results) - len(out.Dirs)
	}
	out.Warnings = append(slices.Clone(r.Warnings), fmt.Sprintf("cut to fit an answer: %d results; ask for a smaller limit", cut))
	out.Omitted += cut
	return &out
}

// The most that a report names here.
const (
	maxReportFiles = 100
	maxReportSkips = 10
)

// cutReport leaves out the bundle, which activate gives, and the line ranges of the change.
func cutReport(r *report.Report) *report.Report {
	out := *r
	out.Context = nil
	out.Change.Files = slices.Clone(r.Change.Files)
	if n := len(out.Change.Files); n > maxReportFiles {
		out.Change.Files = out.Change.Files[:maxReportFiles]
		out.Notes = append(slices.Clone(out.Notes), fmt.Sprintf("cut to fit an answer: %d changed files; ctxt pr --json names all", n-maxReportFiles))
	}
	for i := range out.Change.Files {
		out.Change.Files[i].Hunks = nil
	}
	out.IndexSkips = out.IndexSkips[:min(len(out.IndexSkips), maxReportSkips)]
	return &out
}

func cutCompanions(r *job.CompanionsResult) *job.CompanionsResult {
	if len(r.Changed) <= maxReportFiles {
		return r
	}
	out := *r
	out.Notes = append(slices.Clone(r.Notes), fmt.Sprintf("cut to fit an answer: %d changed files", len(r.Changed)-maxReportFiles))
	out.Changed = r.Changed[:maxReportFiles]
	return &out
}
