package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxt-dev/ctxt/index/store"
)

// cleanResult is what clean --json prints, version 1.
type cleanResult struct {
	Version int    `json:"version"`
	Root    string `json:"root"`
	Folder  string `json:"folder"`  // .ctxt, absolute
	Removed bool   `json:"removed"` // false with --dry-run and when there was nothing
	DryRun  bool   `json:"dry_run"`
	Files   int    `json:"files"` // in the folder
	Bytes   int64  `json:"bytes"`
}

func newClean(app *App) *cobra.Command {
	var dryRun, asJSON bool
	cmd := &cobra.Command{
		Use:   "clean [folder]",
		Short: "Remove the .ctxt folder",
		Long: `Remove the .ctxt folder of a project, with everything in it: index, caches, configuration, cases and
baseline. Nothing else is touched, and no link is followed. It is refused while another ctxt process writes.`,
		Example: "  ctxt clean --dry-run\n  ctxt clean",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			given := "."
			if len(args) == 1 {
				given = args[0]
			}
			root, err := rootFolder(given)
			if err != nil {
				return err
			}
			res, err := runClean(root, dryRun)
			if err != nil {
				return err
			}
			if asJSON {
				return app.printJSON(res)
			}
			return printClean(app, res)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be removed, and remove nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (docs/schema/clean.json)")
	return cmd
}

func runClean(root string, dryRun bool) (res *cleanResult, err error) {
	dir := filepath.Join(root, store.Dir)
	res = &cleanResult{Version: 1, Root: root, Folder: dir, DryRun: dryRun}
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return res, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", dir, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder, so ctxt did not make it; look at it and remove it yourself: rm %q", dir, dir)
	}
	state, err := store.Inspect(root)
	if err != nil {
		return nil, err
	}
	if state.Held {
		return nil, &store.LockedError{Path: filepath.Join(root, store.LockDir), PID: state.PID}
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", root, errors.Unwrap(err))
	}
	defer r.Close()
	if err := res.count(r); err != nil {
		return nil, err
	}
	if dryRun {
		return res, nil
	}
	lock, err := store.Lock(root)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := r.RemoveAll(store.Dir); err != nil {
		return nil, fmt.Errorf("remove %s: %w", dir, errors.Unwrap(err))
	}
	res.Removed = true
	return res, nil
}

// count adds up what the folder holds. Links are not followed.
func (res *cleanResult) count(r *os.Root) error {
	err := fs.WalkDir(r.FS(), store.Dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		res.Files++
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			res.Bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", res.Folder, err)
	}
	return nil
}

func printClean(app *App, res *cleanResult) error {
	text := fmt.Sprintf("%s (%s, %s)", visible(res.Folder), plural(res.Files, "file"), size(res.Bytes))
	switch {
	case res.Removed:
		text = "removed " + text
	case res.DryRun && exists(res.Folder):
		text = "would remove " + text
	default:
		text = "nothing to remove: there is no " + visible(res.Folder)
	}
	_, err := fmt.Fprintln(app.Out, text)
	return err
}
