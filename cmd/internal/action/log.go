package action

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/sethvargo/go-githubactions"

	"github.com/ctxt-dev/ctxt/report"
)

// logger writes lines that the runner takes as what they are. It is the only way by which anything
// reaches stdout and stderr in an Action's run.
type logger struct {
	mu       sync.Mutex
	out, err io.Writer
}

// inert makes text harmless in a log: one line, hidden characters marked, and neither of the two
// forms by which the runner finds a command, "::" at the start of a line and "##[" anywhere in it.
func inert(s string) string {
	s = report.Plain(s, 4000)
	s = strings.ReplaceAll(s, "::", ":\u200b:")
	return strings.ReplaceAll(s, "##[", "##\u200b[")
}

// info writes a line to stdout.
func (l *logger) info(format string, args ...any) { l.line(l.out, fmt.Sprintf(format, args...)) }

// fail writes the one line that says why the run ends, and marks the step.
func (l *logger) fail(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	l.line(l.err, s)
	l.command("error", nil, s)
}

func (l *logger) line(w io.Writer, s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(w, "ctxt: "+inert(s))
}

// notice and warning are annotations of the step.
func (l *logger) notice(format string, args ...any) {
	l.command("notice", nil, fmt.Sprintf(format, args...))
}

func (l *logger) warning(format string, args ...any) {
	l.command("warning", nil, fmt.Sprintf(format, args...))
}

// annotate writes an annotation of a line. A path that would not survive as it is goes into the text.
func (l *logger) annotate(a report.Annotation) {
	props := githubactions.CommandProperties{"title": inert("ctxt: " + a.Title)}
	msg := a.Message
	if inert(a.Path) == a.Path {
		props["file"] = a.Path
		props["line"], props["endLine"] = fmt.Sprint(a.Start), fmt.Sprint(a.End)
	} else {
		msg = a.Path + ": " + msg
	}
	l.command(a.Level, props, msg)
}

// command writes a workflow command; name is ours, everything else is made inert and escaped.
func (l *logger) command(name string, props githubactions.CommandProperties, msg string) {
	c := githubactions.Command{Name: name, Message: inert(msg), Properties: props}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.out, c.String())
}
