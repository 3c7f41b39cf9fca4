package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/cmd/internal/job"
	"github.com/ctxt-dev/ctxt/report"
)

// TestActionCommand holds the command's exit code and that its one line is written once.
func TestActionCommand(t *testing.T) {
	var out, errb bytes.Buffer
	app := &App{Streams: Streams{Out: &out, Err: &errb}, Getenv: func(string) (string, bool) { return "", false }}
	c := newAction(func(context.Context, job.PROptions) (*report.Report, error) {
		t.Error("no event, and a report was made")
		return nil, nil
	}, nil)(app)
	c.SetArgs(nil)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.ExecuteContext(context.Background())
	var code *ExitCode
	if !errors.As(err, &code) || code.Code != ExitError || code.Msg != "" {
		t.Errorf("error %#v", err)
	}
	if got := errb.String(); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "ctxt: GITHUB_EVENT_PATH is not set") {
		t.Errorf("stderr %q", got)
	}
}
