package ignore

import (
	"context"
	"os"
	"strings"
)

// WalkFolder is Walk for one folder of the project: root is the project, dir a clean relative path of
// a folder in it, not "." and not a link. The folder itself is not reported and not matched.
func (r *Rules) WalkFolder(ctx context.Context, root *os.Root, dir string, fn func(Entry) error) ([]Skip, error) {
	w := walker{rules: r, fn: fn, ctx: ctx}
	sub, err := root.OpenRoot(dir)
	if err != nil {
		return []Skip{{dir, "folder cannot be read"}}, nil
	}
	defer sub.Close()
	err = w.folder(sub, dir+"/", 1+strings.Count(dir, "/"))
	return w.skipped, err
}
