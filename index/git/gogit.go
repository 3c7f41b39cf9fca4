package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// goGit reads objects and references with go-git's storage layer. Nothing above that layer is used:
// opening a repository through go-git fails on worktreeConfig and partial clones, its tree walk ends
// at an odd name, and its log and tree comparison are slow.
type goGit struct {
	repo   *Repo
	mu     sync.Mutex // the storage is not safe for concurrent use
	stores []*filesystem.Storage
}

// objectCacheSize bounds the delta bases that are kept, in bytes.
const objectCacheSize = 96 << 20

// maxAlternates bounds how many object directories a repository borrows from.
const maxAlternates = 64

func openGoGit(r *Repo) (*goGit, error) {
	if s := r.config.refStorage; s != "" && s != "files" {
		return nil, fmt.Errorf("%s: references stored as %s: %w without a git program; install git", r.common, s, ErrUnsupported)
	}
	g := &goGit{repo: r}
	lru := cache.NewObjectLRU(objectCacheSize)
	opts := filesystem.Options{KeepDescriptors: true, LargeObjectThreshold: 1 << 20}
	var main billy.Filesystem = osfs.New(r.common)
	if r.common != r.gitDir {
		main = dotgit.NewRepositoryFilesystem(osfs.New(r.gitDir), osfs.New(r.common))
	}
	g.stores = append(g.stores, filesystem.NewStorageWithOptions(noAlternates{main}, lru, opts))
	dirs, err := alternates(filepath.Join(r.common, "objects"))
	if err != nil {
		return nil, err
	}
	for _, d := range dirs {
		fs := noAlternates{osfs.New(filepath.Dir(d))}
		g.stores = append(g.stores, filesystem.NewStorageWithOptions(fs, lru, opts))
	}
	return g, nil
}

// noAlternates hides the file that lists other object directories: go-git would open each of them
// anew for every object. They are stores of their own here.
type noAlternates struct{ billy.Filesystem }

func (f noAlternates) hidden(name string) bool {
	return strings.HasSuffix(filepath.ToSlash(name), "objects/info/alternates")
}

func (f noAlternates) Open(name string) (billy.File, error) {
	if f.hidden(name) {
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	}
	return f.Filesystem.Open(name)
}

// alternates lists the object directories that dir borrows from, directly or not.
func alternates(dir string) ([]string, error) {
	var out []string
	seen := map[string]bool{dir: true}
	queue := []string{dir}
	for len(queue) > 0 {
		d := queue[0]
		queue = queue[1:]
		file := filepath.Join(d, "info", "alternates")
		b, err := readSmall(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read alternates: %w", err)
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimRight(line, "\r\n")
			if line == "" || line[0] == '#' {
				continue
			}
			p := resolvePath(d, line)
			if seen[p] {
				continue
			}
			seen[p] = true
			if filepath.Base(p) != "objects" {
				return nil, fmt.Errorf("%s: object directory %s is not named objects: %w without a git program; install git", file, p, ErrUnsupported)
			}
			if len(out) == maxAlternates {
				return nil, fmt.Errorf("%s: more than %d object directories", file, maxAlternates)
			}
			out, queue = append(out, p), append(queue, p)
		}
	}
	return out, nil
}

var goKinds = map[plumbing.ObjectType]kind{
	plumbing.CommitObject: kindCommit, plumbing.TreeObject: kindTree, plumbing.BlobObject: kindBlob, plumbing.TagObject: kindTag,
}

// get reads an object of at most max bytes; its size is read first.
func (g *goGit) get(h Hash, max int64) (k kind, data []byte, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer func() {
		if p := recover(); p != nil { // go-git on a damaged pack
			k, data, err = 0, nil, fmt.Errorf("object %s: %w: %v", h, ErrUnreadable, p)
		}
	}()
	for _, s := range g.stores {
		k, data, err = readObject(s, h, max)
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			return k, data, err
		}
	}
	return 0, nil, g.repo.absent(h)
}

// readObject looks one storage up. EncodedObject holds back the content of large objects (see
// LargeObjectThreshold), so the size is known before they are read; EncodedObjectSize would leave a
// file open for each loose object.
func readObject(s *filesystem.Storage, h Hash, max int64) (kind, []byte, error) {
	o, err := s.EncodedObject(plumbing.AnyObject, plumbing.Hash(h))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return 0, nil, err
	}
	if err != nil {
		return 0, nil, fmt.Errorf("object %s: %w: %v", h, ErrUnreadable, err)
	}
	size := o.Size()
	if size > max {
		return goKinds[o.Type()], nil, fmt.Errorf("object %s of %d bytes: %w", h, size, ErrTooLarge)
	}
	rd, err := o.Reader()
	if err != nil {
		return 0, nil, fmt.Errorf("object %s: %w: %v", h, ErrUnreadable, err)
	}
	data := make([]byte, size)
	_, err = io.ReadFull(rd, data)
	if cerr := rd.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return 0, nil, fmt.Errorf("object %s: %w: %v", h, ErrUnreadable, err)
	}
	return goKinds[o.Type()], data, nil
}

// goSession is the session of go-git.
type goSession struct {
	g   *goGit
	ctx context.Context
}

func (s *goSession) close() {}

func (s *goSession) read(hashes []Hash, max int64, fn func(int, kind, []byte, error) error) error {
	for i, h := range hashes {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		k, data, err := s.g.get(h, max)
		if err := fn(i, k, data, err); err != nil {
			return err
		}
	}
	return nil
}
