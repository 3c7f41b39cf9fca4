package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// The writer lock is the folder .ctxt-writer in the project's root. It holds
//
//	owner       the owner's process id in decimal and a newline; empty when nobody holds the lock
//	lock        the file whose flock is the lock; its content is never used
//	.gitignore  "*", so that the folder never shows up as a change
//
// The operating system frees an flock when its holder ends, however it ends, so a dead owner's lock
// needs no guess: the next writer gets it and learns from owner whose it was. The lock file is never
// removed; a second process could otherwise lock a file that no longer has a name. A folder without
// these files (an older release's empty one) is taken over.

// Writer is a held lock.
type Writer struct {
	// Stale is the process id of an owner that ended without releasing the lock; 0 when there was none.
	Stale int

	lock  *flock.Flock
	owner string // path of the owner file
}

// LockedError says that another process is writing.
type LockedError struct {
	Path string // of the lock folder
	PID  int    // 0 when the owner has not written it yet
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("another ctxt process is writing this project's index (%s); wait for it to end", e.Path)
	}
	return fmt.Sprintf("ctxt process %d is writing this project's index (%s); wait for it or stop it: kill %d", e.PID, e.Path, e.PID)
}

// Lock takes the writer lock of a project without waiting. When another process holds it the error
// is a *LockedError.
func Lock(root string) (*Writer, error) {
	dir := filepath.Join(root, LockDir)
	if err := makeLockDir(dir); err != nil {
		return nil, err
	}
	for _, name := range []string{"lock", "owner"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a regular file (%s); remove it: rm %q",
				filepath.Join(dir, name), kind(info.Mode()), filepath.Join(dir, name))
		}
	}
	w := &Writer{lock: flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o644)), owner: filepath.Join(dir, "owner")}
	// Inspect holds a shared lock for a moment, so one refusal is not yet an owner.
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	ok, err := w.lock.TryLockContext(ctx, 10*time.Millisecond)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("lock %s: %w%s", dir, cause(err), mend(err))
	}
	if !ok {
		w.lock.Close()
		return nil, &LockedError{Path: dir, PID: readOwner(w.owner)}
	}
	if pid := readOwner(w.owner); pid != 0 {
		w.Stale = pid
		removeTemporary(root)
	}
	if err := os.WriteFile(w.owner, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644); err != nil {
		w.lock.Unlock()
		return nil, fmt.Errorf("lock %s: %w%s", dir, cause(err), mend(err))
	}
	return w, nil
}

// removeTemporary removes the temporary files that a writer which ended half way has left.
func removeTemporary(root string) {
	for _, name := range []string{IndexFile, CacheFile, Dir + "/cache/stat.json"} {
		dir, base := filepath.Split(filepath.Join(root, filepath.FromSlash(name)))
		if refuseLink(filepath.Clean(dir)) != nil {
			continue
		}
		left, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "."+base+".*.tmp"))
		for _, f := range left {
			_ = os.Remove(f) // they are of no use, and do no harm
		}
	}
}

// escapeGlob quotes what filepath.Glob would read as a pattern.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path // has no escapes there
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Unlock releases the lock. The files stay.
func (w *Writer) Unlock() error {
	err := os.WriteFile(w.owner, nil, 0o644)
	if e := w.lock.Unlock(); e != nil && err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("release %s: %w", filepath.Dir(w.owner), err)
	}
	return nil
}

// LockState describes the writer lock without taking it for longer than a look.
type LockState struct {
	Held bool // a living process holds it
	PID  int  // of the holder, or of an owner that ended without releasing it; 0 when there is none
}

// Inspect reports the state of a project's writer lock. It creates nothing.
func Inspect(root string) (LockState, error) {
	dir := filepath.Join(root, LockDir)
	lock := filepath.Join(dir, "lock")
	info, err := os.Lstat(lock)
	if errors.Is(err, fs.ErrNotExist) {
		return LockState{}, nil
	}
	if err != nil {
		return LockState{}, fmt.Errorf("look at %s: %w", lock, errors.Unwrap(err))
	}
	if !info.Mode().IsRegular() {
		return LockState{}, fmt.Errorf("%s is not a regular file (%s)", lock, kind(info.Mode()))
	}
	f := flock.New(lock)
	defer f.Close()
	free, err := f.TryRLock()
	if err != nil {
		return LockState{}, fmt.Errorf("look at %s: %w", lock, err)
	}
	return LockState{Held: !free, PID: readOwner(filepath.Join(dir, "owner"))}, nil
}

func makeLockDir(dir string) error {
	err := os.Mkdir(dir, 0o755)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make lock folder %s: %w%s", dir, cause(err), mend(err))
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("make lock folder %s: %w", dir, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder (%s); remove it: rm %q", dir, kind(info.Mode()), dir)
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		// Only a convenience: without it git shows the folder as untracked.
		_ = os.WriteFile(ignore, []byte("*\n"), 0o644)
	}
	return nil
}

// readOwner returns the process id in an owner file, 0 when there is none.
func readOwner(path string) int {
	data, err := ReadFile(path, 64)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid <= 0 {
		return 0
	}
	return pid
}
