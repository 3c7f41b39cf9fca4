package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxt-dev/ctxt/bench"
)

// print writes a result as JSON or as text.
func (app *App) print(res any, asJSON bool, text func() string) error {
	var out []byte
	var err error
	switch r := res.(type) {
	case *bench.EvalResult:
		out, err = encodeIf(asJSON, r)
	case *bench.ReplayResult:
		out, err = encodeIf(asJSON, r)
	case *bench.BenchResult:
		out, err = encodeIf(asJSON, r)
	case *bench.ReplayTable:
		out, err = encodeIf(asJSON, r)
	default:
		err = fmt.Errorf("cannot print %T", res)
	}
	if err != nil {
		return err
	}
	if !asJSON {
		out = []byte(noCommands(text()))
	}
	_, err = app.Out.Write(out)
	return err
}

// noCommands keeps text that comes from a repository from being a command to a CI system that reads
// the log: "::" at the beginning of a line, or "##[" anywhere.
func noCommands(s string) string {
	s = strings.ReplaceAll(s, "##[", "## [")
	var b strings.Builder
	for line := range strings.Lines(s) {
		if rest := strings.TrimLeft(line, " \t"); strings.HasPrefix(rest, "::") {
			line = line[:len(line)-len(rest)] + ": :" + rest[2:]
		}
		b.WriteString(line)
	}
	return b.String()
}

func encodeIf[T any](yes bool, v *T) ([]byte, error) {
	if !yes {
		return nil, nil
	}
	return bench.Encode(v)
}

// metricHeads are short column heads for metric names.
var metricHeads = map[string]string{
	"hit_at_1": "hit@1", "hit_at_3": "hit@3", "hit_at_5": "hit@5", "hit_at_10": "hit@10", "mrr": "mrr",
	"recall_at_10": "rec@10", "recall_at_25": "rec@25", "all_at_10": "all@10", "bundle_recall": "b.rec",
	"bundle_all": "b.all", "hunk_recall": "hunks", "bundle_tokens_mean": "tokens", "bundle_files_mean": "files",
}

// metricTable writes a head line and one line for each row.
type metricTable struct {
	b     *strings.Builder
	width int
	head  bool
}

func (t *metricTable) row(name string, cases int, s bench.Scores) {
	if !t.head {
		t.head = true
		fmt.Fprintf(t.b, "%-*s %5s", t.width, "", "cases")
		for _, m := range s {
			fmt.Fprintf(t.b, " %6s", metricHeads[m.Name])
		}
		t.b.WriteByte('\n')
	}
	fmt.Fprintf(t.b, "%-*s %5d", t.width, visible(name), cases)
	for _, m := range s {
		prec := 3
		if m.Name == "bundle_tokens_mean" || m.Name == "bundle_files_mean" {
			prec = 0
		}
		fmt.Fprintf(t.b, " %6s", strconv.FormatFloat(m.Value, 'f', prec, 64))
	}
	t.b.WriteByte('\n')
}

func evalText(r *bench.EvalResult, misses int) string {
	var b strings.Builder
	t := metricTable{b: &b, width: len("all")}
	for _, c := range r.Categories {
		t.width = max(t.width, len(visible(c.Name)))
	}
	for _, c := range r.Categories {
		t.row(c.Name, c.Cases, c.Metrics)
	}
	t.row("all", r.Cases, r.Metrics)
	shown, more := 0, 0
	for _, c := range r.Results {
		for _, m := range c.Renamed {
			fmt.Fprintf(&b, "renamed: %q expects %s, which is now %s: change the case\n", visible(c.Query), visible(m.From), visible(m.To))
		}
		for _, p := range c.Absent {
			fmt.Fprintf(&b, "absent: %q expects %s, which does not exist\n", visible(c.Query), visible(p))
		}
		if c.Error == "" && c.First != nil && *c.First == 1 {
			continue
		}
		if shown++; shown > misses {
			more++
			continue
		}
		missText(&b, c.Category+": "+c.Query, c.Expected(), c.Returned, c.First, c.Error)
	}
	moreText(&b, more)
	gateText(&b, r.Gate)
	return b.String()
}

func replayText(r *bench.ReplayResult, misses int) string {
	var b strings.Builder
	if m := r.Source.Mining; m != nil {
		fmt.Fprintf(&b, "%d cases from %d changes before %s\n", m.Usable, m.Read, m.Tip)
		for _, rule := range m.Rules {
			if rule.LeftOut > 0 {
				fmt.Fprintf(&b, "  %5d left out: %s\n", rule.LeftOut, rule.Rule)
			}
		}
	}
	t := metricTable{b: &b, width: len("all")}
	t.row("all", r.Cases, r.Metrics.Scores())
	if r.Skipped > 0 {
		fmt.Fprintf(&b, "%d skipped\n", r.Skipped)
	}
	if r.Hunked < r.Cases {
		fmt.Fprintf(&b, "%d of %d cases have hunks to compare\n", r.Hunked, r.Cases)
	}
	shown, more := 0, 0
	for _, c := range r.Results {
		if c.Skipped == "" && c.Error == "" && c.First != nil && *c.First == 1 {
			continue
		}
		if shown++; shown > misses {
			more++
			continue
		}
		if c.Skipped != "" {
			missText(&b, c.SHA+" "+c.Title, nil, nil, nil, c.Skipped)
			continue
		}
		missText(&b, c.SHA+" "+c.Title, c.Gold, c.Ranked, c.First, c.Error)
	}
	moreText(&b, more)
	gateText(&b, r.Gate)
	return b.String()
}

// missText shows one case that was not answered at the first rank.
func missText(b *strings.Builder, name string, want, got []string, first *int, fault string) {
	at := "not found"
	if first != nil {
		at = fmt.Sprintf("rank %d", *first)
	}
	if fault != "" {
		at = fault
	}
	fmt.Fprintf(b, "%s: %s\n", visible(name), visible(at))
	list := func(label string, paths []string, n int) {
		if len(paths) == 0 {
			return
		}
		more := ""
		if len(paths) > n {
			more = fmt.Sprintf(" … and %d more", len(paths)-n)
		}
		fmt.Fprintf(b, "  %s %s%s\n", label, visible(strings.Join(paths[:min(n, len(paths))], ", ")), more)
	}
	list("want", want, 5)
	list("got ", got, 5)
}

func moreText(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "… and %d more that are not answered at the first rank; --misses shows them\n", n)
	}
}
