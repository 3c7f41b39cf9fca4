package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ctxt-dev/ctxt/index/store"
)

// sameFolder reports an error when the root's path is no longer the folder that was opened.
func (d *daemon) sameFolder() error {
	now, err := os.Stat(d.o.Root)
	if err == nil {
		var then os.FileInfo
		if then, err = d.tree.root.Stat("."); err == nil && os.SameFile(now, then) {
			return nil
		}
	}
	d.dirty = false // there is no place for the index any more
	return fmt.Errorf("%s was moved or removed; start the watch again", d.o.Root)
}

// watchConfig watches the folder of the configuration file, which the dot rule leaves out.
func (d *daemon) watchConfig() {
	if info, err := d.tree.root.Lstat(store.Dir); err == nil && info.IsDir() {
		d.tree.add(store.Dir)
	}
}

// openNotifier starts watching, or polling when that was asked for or the system refuses.
func (d *daemon) openNotifier(poll bool) error {
	if !poll {
		n, err := d.o.notify(d.o.Root, d.events)
		if err == nil {
			d.tree.watch = n
			return nil
		}
		d.o.Log(describe(err) + "; comparing the whole folder every " + d.o.PollEach.String() + " instead")
	}
	n, err := newPoller(d.o.ticks)(d.o.Root, d.events)
	if err != nil {
		return fmt.Errorf("watch %s: %w", d.o.Root, err)
	}
	d.tree.watch, d.polling = n, true
	return nil
}

// checkNotifier falls back to polling when a folder could not be watched.
func (d *daemon) checkNotifier() {
	err := d.tree.fault
	if d.tree.fault = nil; err == nil || d.polling {
		return
	}
	d.o.Log(describe(err) + "; comparing the whole folder every " + d.o.PollEach.String() + " instead")
	d.tree.watch.Close()
	d.tree.watch, _ = newPoller(d.o.ticks)(d.o.Root, d.events) // a poller cannot fail
	d.polling = true
}

// stamp is the state of a file that the rules come from.
type stamp struct {
	size int64
	time time.Time
}

// configStamps looks at the files that the rules come from.
func (d *daemon) configStamps() (s [2]stamp) {
	for i, name := range []string{".gitignore", store.ConfigFile} {
		if info, err := d.tree.root.Lstat(filepath.FromSlash(name)); err == nil {
			s[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return s
}

// reload makes the rules anew when a file that they come from has changed, and reports whether it
// did. Rules that cannot be read, as in a half-written configuration, leave the old ones in force.
func (d *daemon) reload() bool {
	now := d.configStamps()
	if now == d.config {
		return false
	}
	d.config = now
	rules, warnings, err := d.o.Rules()
	if err != nil {
		d.o.Log("the old ignore rules stay in force: " + err.Error())
		return false
	}
	for _, w := range warnings {
		d.o.Log("warning: " + w)
	}
	d.o.Log("the ignore rules have changed; comparing the whole folder")
	d.tree.rules = rules
	return true
}
