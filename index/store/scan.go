package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxt-dev/ctxt/index/ignore"
	"github.com/ctxt-dev/ctxt/index/symbols"
)

// maxSource is the size from which a file's content is not read, in bytes; package symbols has the
// same limit and names it.
const maxSource = 1 << 20

// ScanOptions choose what Scan lists and how it reads symbols.
type ScanOptions struct {
	Rules    *ignore.Rules
	Mode     symbols.Mode
	MaxFiles int                   // more files are an error; 0: no limit
	Jobs     int                   // goroutines that extract; 0: one a processor
	Time     time.Time             // the index's timestamp
	Progress func(done, total int) // called from one goroutine at a time; may be nil
}

// Scan makes the index of a folder: it walks it under the rules and extracts the symbols of every
// source file. Skipped names what it left out although no rule ignores it. More files than MaxFiles
// are a *TooManyError.
func Scan(ctx context.Context, root string, o ScanOptions) (x *Index, skipped []ignore.Skip, err error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, nil, fmt.Errorf("open folder %s: %w", root, unwrapPath(err))
	}
	defer dir.Close()
	x = New(root, o.Time)
	tally := newTally()
	var files []*Node
	skipped, err = o.Rules.Walk(ctx, dir, func(e ignore.Entry) error {
		n := &Node{FullPath: e.Path, Type: TypeFile, Size: e.Size, ModTime: e.ModTime}
		if e.Dir {
			n.Type, n.ModTime = TypeDirectory, 0
		} else {
			tally.add(e.Path)
		}
		if o.MaxFiles > 0 && tally.files > o.MaxFiles {
			x, files = nil, nil // only the count is still of use
			return nil
		}
		x.Put(n)
		if !e.Dir {
			files = append(files, n)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if x == nil {
		return nil, nil, tally.tooMany(o.MaxFiles)
	}
	return x, skipped, extractAll(ctx, dir, files, o)
}

// extractAll fills in the symbols of the source files among files.
func extractAll(ctx context.Context, dir *os.Root, files []*Node, o ScanOptions) error {
	files = slices.DeleteFunc(files, func(n *Node) bool { return !Extractable(n.FullPath) })
	jobs := cmp.Or(o.Jobs, symbols.Jobs(runtime.GOMAXPROCS(0)))
	queue := make(chan *Node)
	done := make(chan struct{}, jobs)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for n := range queue {
				// A file that went away or cannot be read keeps its name and has no symbols.
				if err := Extract(dir, n, o.Mode); err != nil {
					n.Fault = "cannot be read"
				}
				done <- struct{}{}
			}
		})
	}
	go func() {
		defer close(queue)
		for _, n := range files {
			select {
			case queue <- n:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() { workers.Wait(); close(done) }()
	count := 0
	for range done {
		if count++; o.Progress != nil {
			o.Progress(count, len(files))
		}
	}
	for _, n := range files {
		// A grammar's time limit is wall time, and may have passed while others had the processor: one
		// more try, alone, before the symbols depend on how busy the machine was.
		if strings.Contains(n.Fault, "time limit") && ctx.Err() == nil {
			if err := Extract(dir, n, o.Mode); err != nil {
				n.Fault = "cannot be read"
			}
		}
	}
	return ctx.Err()
}

// Extractable reports whether a file's name says that it has symbols to extract.
func Extractable(path string) bool {
	lang := symbols.Language(path)
	return lang != "" && symbols.IsCode(lang)
}

// Extract reads one source file and fills in its node's symbols, imports and fault. Links are not
// followed out of the folder.
func Extract(dir *os.Root, n *Node, mode symbols.Mode) error {
	f, err := dir.Open(n.FullPath)
	if err != nil {
		return fmt.Errorf("read %s: %w", n.FullPath, unwrapPath(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("read %s: not a regular file", n.FullPath)
	}
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), maxSource)) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(f, maxSource+1)); err != nil {
		return fmt.Errorf("read %s: %w", n.FullPath, unwrapPath(err))
	}
	ExtractSource(n, b.Bytes(), mode)
	return nil
}

// ExtractSource fills in a node's symbols, imports and fault from its file's content.
func ExtractSource(n *Node, src []byte, mode symbols.Mode) {
	n.Symbols, n.Imports, n.Fault = nil, nil, ""
	if !Extractable(n.FullPath) {
		return
	}
	res := symbols.Extract(symbols.Language(n.FullPath), src, mode)
	n.Fault = res.Fault
	seen := make(map[string]bool, len(res.Symbols))
	for _, s := range res.Symbols {
		if s.Kind == symbols.Property {
			continue // fields repeat the words of many files; the index holds what a file declares
		}
		if name := strings.ToValidUTF8(s.Name, "\ufffd"); !seen[name] {
			seen[name] = true
			n.Symbols = append(n.Symbols, name)
		}
	}
	for _, i := range res.Imports {
		n.Imports = append(n.Imports, strings.ToValidUTF8(i.Spec, "\ufffd"))
	}
}

func unwrapPath(err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err
	}
	return err
}

// FolderCount is a folder and the number of files below it.
type FolderCount struct {
	Path  string
	Files int
}

// TooManyError says that a project has more files than common.max_files.
type TooManyError struct {
	Files   int
	Limit   int
	Folders []FolderCount // the ten largest, largest first
	Ignore  string        // a pattern that would bring the number down, empty when no folder does
}

func (e *TooManyError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d files after ignores, more than common.max_files = %d", e.Files, e.Limit)
	if len(e.Folders) > 0 {
		b.WriteString("; largest folders:")
		for i, f := range e.Folders {
			fmt.Fprintf(&b, "%s %s/ %d", []string{"", ","}[min(i, 1)], f.Path, f.Files)
		}
	}
	if e.Ignore != "" {
		fmt.Fprintf(&b, "; leave a folder out with: ctxt init . --ignore %q (or ignore = [%q] under [common] in %s)", e.Ignore, e.Ignore, ConfigFile)
	}
	fmt.Fprintf(&b, "; or raise the limit: max_files under [common] in %s, 0 for none", ConfigFile)
	return b.String()
}

// tally counts files by folder.
type tally struct {
	files int
	under map[string]int
}

func newTally() *tally { return &tally{under: map[string]int{}} }

func (t *tally) add(file string) {
	t.files++
	for d := path.Dir(file); d != "."; d = path.Dir(d) {
		t.under[d]++
	}
}

// tooMany lists the largest folders. A folder that consists of one subfolder, all but a tenth, gives
// its place to it.
func (t *tally) tooMany(limit int) *TooManyError {
	e := &TooManyError{Files: t.files, Limit: limit}
	var all []FolderCount
	for _, d := range sortedKeys(t.under) {
		all = append(all, FolderCount{d, t.under[d]})
	}
	slices.SortStableFunc(all, func(a, b FolderCount) int { return cmp.Compare(b.Files, a.Files) })
	hollow := map[string]bool{}
	for _, f := range all {
		if parent := path.Dir(f.Path); f.Files*10 >= t.under[parent]*9 {
			hollow[parent] = true
		}
	}
	for _, f := range all {
		if !hollow[f.Path] && len(e.Folders) < 10 {
			e.Folders = append(e.Folders, f)
		}
	}
	// The smallest folder that suffices, else the largest.
	for i := len(e.Folders) - 1; i >= 0; i-- {
		if e.Ignore = "/" + e.Folders[i].Path; t.files-e.Folders[i].Files <= limit {
			break
		}
	}
	return e
}
