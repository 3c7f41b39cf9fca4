package job

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/store"
)

// errTooMany ends the walk of guardFolder.
var errTooMany = errors.New("too many files")

// guardFolder refuses a folder that is no repository and has more than limit files: an agent that starts
// the server in a home folder must not have it read whole. 0 means no limit. A repository has none.
func guardFolder(ctx context.Context, dir string, rules *ignore.Rules, limit int) error {
	if limit == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, errors.Unwrap(err))
	}
	defer root.Close()
	n := 0
	_, err = rules.Walk(ctx, root, func(e ignore.Entry) error {
		if e.Dir {
			return nil
		}
		if n++; n > limit {
			return errTooMany
		}
		return nil
	})
	if errors.Is(err, errTooMany) {
		return fmt.Errorf("%s is no git repository and has more than %d files; give the folder of a project with --root, or raise max_files under [common] in %s, 0 for none",
			dir, limit, store.ConfigFile)
	}
	return err
}
