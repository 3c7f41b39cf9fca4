package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"
)

// The caps on what is read from disk, in bytes.
const (
	MaxIndexBytes  = 256 << 20
	MaxCacheBytes  = 128 << 20
	MaxConfigBytes = 1 << 20
)

const maxDepth = 1000 // folders; a path that git can hold has at most 4096 bytes

// IsNotExist reports whether an error means that a file is not there.
func IsNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// ReadFile reads a regular file of at most max bytes. A symbolic link, a device or a pipe is refused:
// a repository can hold a link to any file of the machine.
func ReadFile(path string, max int64) ([]byte, error) {
	if err := refuseLink(filepath.Dir(path)); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file (%s); remove it or give another path", path, kind(info.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
	}
	defer f.Close()
	var b bytes.Buffer
	if s, err := f.Stat(); err == nil && s.Size() <= max {
		b.Grow(int(s.Size()) + bytes.MinRead)
	}
	n, err := b.ReadFrom(io.LimitReader(f, max+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if n > max {
		return nil, fmt.Errorf("read %s: larger than the limit of %d bytes; remove it or give another path", path, max)
	}
	return b.Bytes(), nil
}

// WriteFile replaces a file in one step: a temporary file in the same folder, synced, renamed, and
// the folder synced. It makes the folder. After a failure the old file is untouched and no temporary
// file is left.
func WriteFile(path string, data []byte, perm os.FileMode) error {
	return replace(path, data, perm, true)
}

// WriteCacheFile is WriteFile without the syncs, for files that are checked by a sum when they are read:
// after a power cut one may be damaged, which costs time, while a sync waits for everything that other
// programs have written.
func WriteCacheFile(path string, data []byte, perm os.FileMode) error {
	return replace(path, data, perm, false)
}

func replace(path string, data []byte, perm os.FileMode, durable bool) error {
	dir := filepath.Dir(path)
	if err := refuseLink(dir); err != nil {
		return err
	}
	if err := try("make folder", func() error { return os.MkdirAll(dir, 0o755) }); err != nil {
		return fmt.Errorf("make folder %s: %w%s", dir, cause(err), mend(err))
	}
	var t *os.File
	err := try("create", func() (err error) {
		t, err = os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
		return err
	})
	if err == nil {
		if err = fill(t, data, perm, durable); err == nil {
			// On Windows os.Rename replaces too.
			err = try("rename", func() error { return os.Rename(t.Name(), path) })
		}
		if err != nil {
			os.Remove(t.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("write %s: %w%s", path, cause(err), mend(err))
	}
	if !durable {
		return nil
	}
	return syncDir(dir)
}

// fill writes, syncs if it is to be durable, and closes a new file.
func fill(f *os.File, data []byte, perm os.FileMode, durable bool) error {
	err := try("write", func() error { _, err := f.Write(data); return err })
	if err == nil {
		err = try("chmod", func() error { return f.Chmod(perm) })
	}
	if err == nil && durable {
		err = try("sync", f.Sync)
	}
	return cmp.Or(err, try("close", f.Close))
}

// fault, in tests, fails a step of a write in the system's place, or ends the process there.
var fault func(step string) error

func try(step string, f func() error) error {
	if fault != nil {
		if err := fault(step); err != nil {
			return err
		}
	}
	return f()
}

// cause leaves out of a file error what its reader is told anyway: the operation and the path.
func cause(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}

// mend says what to do about a write that failed, or nothing.
func mend(err error) string {
	switch {
	case noSpace(err):
		return "; free some space and run it again"
	case readOnly(err), errors.Is(err, fs.ErrPermission):
		return "; make the folder writable, or give another place"
	}
	return ""
}

// syncDir makes a rename durable. Systems that cannot sync a folder are left as they are.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	defer d.Close()
	if err := try("sync folder", d.Sync); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) && !os.IsPermission(err) {
		var pe *fs.PathError
		if errors.As(err, &pe) && unsyncable(pe.Err) {
			return nil
		}
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}

// refuseLink refuses a .ctxt folder that is a symbolic link: a repository could point it anywhere.
func refuseLink(dir string) error {
	if filepath.Base(dir) == "cache" {
		if err := refuseLink(filepath.Dir(dir)); err != nil {
			return err
		}
	} else if filepath.Base(dir) != Dir {
		return nil
	}
	info, err := os.Lstat(dir)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link, which is not followed; remove it: rm %q", dir, dir)
	}
	return nil
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "a special file"
}

// decode reads one JSON document whose version must be Version. A fault is named with its line and
// column and with what to do next.
func decode(path string, data []byte, into any, next string) error {
	// What this package writes begins so; anything else is looked at twice.
	if !bytes.HasPrefix(data, []byte(`{"version":`+strconv.Itoa(Version)+`,`)) {
		if err := checkVersion(path, data, next); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %s; %s", path, JSONFault(data, err), next)
	}
	if !utf8.Valid(data) { // which the JSON reader would replace in silence: another path, another name
		return fmt.Errorf("%s: not all of it is UTF-8; %s", path, next)
	}
	return nil
}

func checkVersion(path string, data []byte, next string) error {
	var head struct {
		Version *json.RawMessage `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("%s: %s; %s", path, JSONFault(data, err), next)
	}
	if head.Version == nil {
		return fmt.Errorf("%s has no version; only version %d is read; %s", path, Version, next)
	}
	if v := string(*head.Version); v != strconv.Itoa(Version) {
		return fmt.Errorf("%s has version %.20s; only version %d is read; %s", path, v, Version, next)
	}
	return nil
}

// JSONFault says where a JSON document is broken.
func JSONFault(data []byte, err error) string {
	at := int64(len(data))
	var syn *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return "the file is empty"
	case errors.As(err, &syn):
		at = syn.Offset
	case errors.As(err, &typ):
		at = typ.Offset
		err = fmt.Errorf("%s where a %s is expected (%s)", typ.Value, typ.Type.Kind(), typ.Field)
	}
	at = min(max(at, 0), int64(len(data)))
	line := 1 + bytes.Count(data[:at], []byte{'\n'})
	col := at - int64(bytes.LastIndexByte(data[:at], '\n')+1)
	return fmt.Sprintf("line %d, column %d: %v", line, max(col, 1), err)
}
