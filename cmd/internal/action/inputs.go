package action

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"
)

// inputs are the Action's inputs, checked; action.yml gives the same defaults.
type inputs struct {
	token, mode, baseRef, task       string
	config, cases, baseline          string
	comment, summary, annotations    bool
	commentKey, sarifFile, reportDir string
	budgetTokens, budgetFiles        int
	includeDrafts                    bool
	historyCommits                   int
	cacheDir, workingDirectory       string
}

// reader collects the first error, so that reading is one list.
type reader struct {
	a   *githubactions.Action
	err error
}

func (r *reader) text(name, def string) string {
	s := r.a.GetInput(name)
	if s == "" {
		return def
	}
	if i := strings.IndexFunc(s, func(c rune) bool { return c < 0x20 && c != '\n' && c != '\r' && c != '\t' }); i >= 0 {
		r.bad(name, "holds a control character at byte %d", i)
	}
	return s
}

func (r *reader) line(name, def string) string {
	s := r.text(name, def)
	if strings.ContainsAny(s, "\r\n") {
		r.bad(name, "must be one line")
	}
	return s
}

func (r *reader) flag(name string, def bool) bool {
	s := r.line(name, strconv.FormatBool(def))
	switch strings.ToLower(s) {
	case "true":
		return true
	case "false":
		return false
	}
	r.bad(name, "is %q: want true or false", s)
	return def
}

func (r *reader) number(name string, def, most int) int {
	s := r.line(name, strconv.Itoa(def))
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > most {
		r.bad(name, "is %q: want a whole number from 0 to %d", s, most)
	}
	return n
}

func (r *reader) bad(name, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("input %s "+format, append([]any{name}, args...)...)
	}
}

func readInputs(a *githubactions.Action) (inputs, error) {
	r := &reader{a: a}
	in := inputs{
		token:            r.line("token", ""),
		mode:             r.line("mode", "warn"),
		baseRef:          r.line("base-ref", ""),
		task:             r.text("task", ""),
		config:           r.line("config", ""),
		cases:            r.line("cases", ""),
		baseline:         r.line("baseline", ""),
		comment:          r.flag("comment", true),
		commentKey:       r.line("comment-key", "ctxt"),
		summary:          r.flag("summary", true),
		annotations:      r.flag("annotations", true),
		sarifFile:        r.line("sarif-file", ""),
		reportDir:        r.line("report-dir", ""),
		budgetTokens:     r.number("budget-tokens", 0, 1<<20),
		budgetFiles:      r.number("budget-files", 0, 10000),
		includeDrafts:    r.flag("include-drafts", true),
		historyCommits:   r.number("history-commits", 3000, 1<<24),
		cacheDir:         r.line("cache-dir", ""),
		workingDirectory: r.line("working-directory", "."),
	}
	switch in.mode {
	case "observe", "warn", "block":
	default:
		r.bad("mode", "is %q: want observe, warn or block", in.mode)
	}
	if strings.HasPrefix(in.baseRef, "-") {
		r.bad("base-ref", "is %q: a revision does not start with a dash", in.baseRef)
	}
	if len(in.commentKey) > 100 {
		r.bad("comment-key", "is longer than 100 bytes")
	}
	if !filepath.IsLocal(in.workingDirectory) {
		r.bad("working-directory", "is %q: want a folder inside the workspace", in.workingDirectory)
	}
	return in, r.err
}
