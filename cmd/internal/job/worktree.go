package job

import (
	"context"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/history"
)

// WorkTree reads once what Activate selects from, for a caller that has many tasks: the checked-out
// commit with its uncommitted changes, and its past.
func (e *Engine) WorkTree(ctx context.Context, o ActivateOptions) (*index.Snapshot, *history.History, error) {
	s, h, _, err := e.workTree(ctx, o)
	return s, h, err
}
