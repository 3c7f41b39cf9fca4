package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/imports"
	"github.com/ctxt-dev/ctxt/index/symbols"
	"github.com/ctxt-dev/ctxt/index/text"
)

// The size caps, in bytes. Larger files are listed but not parsed.
const (
	MaxCode = 1 << 20   // program text
	MaxData = 256 << 10 // everything else
)

// Key names a Doc: the same content in the same language parses to the same Doc.
type Key struct {
	Blob git.Hash
	Lang string
}

// Cache remembers parsed blobs. It must be safe for concurrent use, and may forget.
type Cache interface {
	Get(Key) (*Doc, bool)
	Put(Key, *Doc)
}

// Options choose how a snapshot is built.
type Options struct {
	Mode  symbols.Mode           // extractor; empty: auto
	Cache Cache                  // nil: nothing is remembered
	Jobs  int                    // parsing goroutines; 0: all cores
	Skip  func(path string) bool // paths to leave out; nil: none
	Names *Names                 // what paths say, kept for further snapshots; nil: it is not
}

// Names remembers what paths say, for a caller that makes many snapshots of much the same paths. It is
// safe for concurrent use.
type Names struct {
	mu sync.RWMutex
	of map[string]named
}

// named is the part of a File that follows from its path.
type named struct {
	lang  string
	role  Role
	terms []uint32
}

func (n *Names) name(tk *text.Tokenizer, path string) named {
	if n != nil {
		n.mu.RLock()
		known, ok := n.of[path]
		n.mu.RUnlock()
		if ok {
			return known
		}
	}
	it := named{symbols.Language(path), RoleOf(path), tk.Append(nil, strings.ReplaceAll(path, "-", "_"))}
	if n != nil {
		n.mu.Lock()
		if n.of == nil {
			n.of = map[string]named{}
		}
		n.of[path] = it
		n.mu.Unlock()
	}
	return it
}

// foreseer is an Origin that knows most of its list before all of it.
type foreseer interface {
	foresee(ctx context.Context) ([]Listed, error)
}

// Build makes the snapshot of a source. The result depends on the source and the mode alone.
func Build(ctx context.Context, src Origin, o Options) (*Snapshot, error) {
	var early []File
	if f, ok := src.(foreseer); ok {
		listed, err := f.foresee(ctx)
		if err != nil {
			return nil, err
		}
		if early, err = describe(ctx, listed, nil, o); err != nil {
			return nil, err
		}
	}
	listed, skipped, err := src.List(ctx)
	if err != nil {
		return nil, err
	}
	if o.Skip != nil {
		listed = slices.DeleteFunc(listed, func(f Listed) bool { return o.Skip(f.Path) })
	}
	s := &Snapshot{Commit: src.Commit(), Skipped: skipped, byPath: make(map[string]int32, len(listed)), source: src}
	if s.Files, err = describe(ctx, listed, early, o); err != nil {
		return nil, err
	}
	for i, l := range listed {
		s.byPath[l.Path] = int32(i)
	}
	if err := s.parse(ctx, o); err != nil {
		return nil, err
	}
	return s, s.resolve(ctx)
}

// describe makes the files of a list: what the list alone says of each, and the Docs that the cache
// has. Those that are among the early ones, sorted like the list, are taken over.
func describe(ctx context.Context, listed []Listed, early []File, o Options) ([]File, error) {
	files := make([]File, len(listed))
	todo := make([]int, 0, len(listed)-min(len(early), len(listed)))
	for i, k := 0, 0; i < len(listed); i++ {
		l := listed[i]
		for k < len(early) && early[k].Path < l.Path {
			k++
		}
		if k < len(early) && early[k].Path == l.Path && early[k].Blob == l.Blob && early[k].Mode == l.Mode {
			files[i] = early[k]
			continue
		}
		todo = append(todo, i)
	}
	tokenizers := sync.Pool{New: func() any { return text.NewTokenizer() }}
	err := parallel(ctx, len(todo), func(k int) {
		tk := tokenizers.Get().(*text.Tokenizer)
		defer tokenizers.Put(tk)
		l, f := listed[todo[k]], &files[todo[k]]
		it := o.Names.name(tk, l.Path)
		*f = File{Path: l.Path, Blob: l.Blob, Mode: l.Mode, Lang: it.lang, Role: it.role, PathTerms: it.terms}
		if o.Cache == nil {
			return
		}
		var ok bool
		if f.Doc, ok = o.Cache.Get(f.key()); !ok && o.Mode != symbols.Regex {
			symbols.Expect(f.Lang)
		}
	})
	return files, err
}

// parse fills in every file's Doc, each distinct blob once.
func (s *Snapshot) parse(ctx context.Context, o Options) error {
	docs := make(map[Key]*Doc, len(s.Files))
	var code, data []Listed
	for i := range s.Files {
		f := &s.Files[i]
		k := f.key()
		if _, ok := docs[k]; ok {
			continue
		}
		if docs[k] = f.Doc; f.Doc != nil {
			continue
		}
		l := Listed{Path: f.Path, Mode: f.Mode, Blob: f.Blob}
		if f.Role.Code() {
			code = append(code, l)
		} else {
			data = append(data, l)
		}
	}
	for _, part := range []struct {
		files []Listed
		max   int64
	}{{code, MaxCode}, {data, MaxData}} {
		if err := s.parseMissing(ctx, part.files, part.max, o, docs); err != nil {
			return err
		}
	}
	for i := range s.Files {
		f := &s.Files[i]
		f.Doc = docs[f.key()]
		f.Size = f.Doc.Size
	}
	return nil
}

func (f *File) key() Key { return Key{f.Blob, f.Lang} }

// parseMissing reads files and parses them on o.Jobs goroutines, into docs and the cache.
func (s *Snapshot) parseMissing(ctx context.Context, files []Listed, maxSize int64, o Options, docs map[Key]*Doc) error {
	if len(files) == 0 {
		return nil
	}
	type item struct {
		i    int
		data []byte
		err  error
	}
	jobs := o.Jobs
	if jobs <= 0 {
		jobs = symbols.Jobs(runtime.GOMAXPROCS(0))
	}
	jobs = min(jobs, len(files))
	work := make(chan item, 4*jobs)
	parsed := make([]*Doc, len(files))
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			tk := text.NewTokenizer()
			for it := range work {
				if ctx.Err() != nil {
					continue // what was read ahead is not wanted any more
				}
				lang := symbols.Language(files[it.i].Path)
				parsed[it.i] = parseDoc(tk, lang, it.data, it.err, o.Mode)
			}
		})
	}
	err := s.source.Read(ctx, files, maxSize, func(i int, data []byte, err error) {
		select {
		case work <- item{i, data, err}:
		case <-ctx.Done():
		}
	})
	close(work)
	wg.Wait()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	if err := s.again(ctx, files, parsed, maxSize, o); err != nil {
		return err
	}
	for i, f := range files {
		k := Key{f.Blob, symbols.Language(f.Path)}
		docs[k] = parsed[i]
		if o.Cache != nil && !transient(parsed[i]) {
			o.Cache.Put(k, parsed[i])
		}
	}
	return nil
}

// again parses the files that a grammar did not finish in time once more, one by one: its limit is
// wall time, and may have passed while others had the processor.
func (s *Snapshot) again(ctx context.Context, files []Listed, parsed []*Doc, maxSize int64, o Options) error {
	var slow []Listed
	var at []int
	for i, d := range parsed {
		if late(d) {
			slow, at = append(slow, files[i]), append(at, i)
		}
	}
	if len(slow) == 0 || len(slow) > maxAgain {
		return nil
	}
	tk := text.NewTokenizer()
	err := s.source.Read(ctx, slow, maxSize, func(i int, data []byte, err error) {
		parsed[at[i]] = parseDoc(tk, symbols.Language(slow[i].Path), data, err, o.Mode)
	})
	if err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	return nil
}

// maxAgain bounds the second try: a tree of files that are all slow is hostile.
const maxAgain = 20

func late(d *Doc) bool { return d != nil && strings.Contains(d.Fault, "time limit") }

// transient reports whether the doc says more about the clone or the moment than about the content.
func transient(d *Doc) bool {
	return d.Reason != "" && !d.Binary || late(d) || symbols.Crashed(d.Fault)
}

// parseDoc makes the Doc of one blob.
func parseDoc(tk *text.Tokenizer, lang string, data []byte, err error, mode symbols.Mode) *Doc {
	switch {
	case errors.Is(err, git.ErrTooLarge):
		return &Doc{Reason: "larger than the size cap", Lines: []uint32{0}}
	case err != nil:
		return &Doc{Reason: "not readable: " + err.Error(), Lines: []uint32{0}}
	}
	d := &Doc{Size: int64(len(data)), Lines: []uint32{0}}
	switch {
	case binary(data):
		d.Binary, d.Reason = true, "binary"
		return d
	case lfsPointer(data):
		d.Binary, d.Reason = true, "a Git LFS pointer"
		return d
	}
	d.Lang = lang
	if symbols.IsCode(lang) {
		r := symbols.Extract(lang, data, cmpOr(mode, symbols.Auto))
		d.Symbols, d.Imports, d.By, d.Fault = r.Symbols, r.Imports, r.By, r.Fault
		d.names(tk)
	}
	d.Tokens, d.Lines = tk.Document(data)
	d.Tokens = slices.Clip(slices.Clone(d.Tokens))
	return d
}

// names fills in Names and Decls from Symbols.
func (d *Doc) names(tk *text.Tokenizer) {
	d.Decls = make([]uint32, len(d.Symbols))
	for i, s := range d.Symbols {
		d.Names = tk.Append(d.Names, s.Name)
		d.Decls[i] = text.CompoundHash(strings.ToLower(s.Name))
	}
}

func cmpOr(m, def symbols.Mode) symbols.Mode {
	if m == "" {
		return def
	}
	return m
}

// binary applies git's rule, a NUL in the first 8,000 bytes, and wants mostly valid UTF-8.
func binary(data []byte) bool {
	head := data[:min(len(data), 8000)]
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	bad := 0
	for i := 0; i < len(head); {
		r, size := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
		}
		i += size
	}
	return bad > len(head)/10+4
}

func lfsPointer(data []byte) bool {
	return len(data) < 1024 && bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/"))
}

// manifests are the small files that import resolution reads.
var manifests = set("go.mod", "package.json", "tsconfig.json", "tsconfig.base.json", "jsconfig.json", "cargo.toml", "composer.json", "pyproject.toml", "setup.cfg")

// resolve fills in Imports and Importers.
func (s *Snapshot) resolve(ctx context.Context) error {
	files := make([]imports.File, len(s.Files))
	var want []Listed
	for i := range s.Files {
		f := &s.Files[i]
		files[i] = imports.File{Path: f.Path, Lang: f.Lang, Imports: f.Doc.Imports, Symbols: f.Doc.Symbols}
		if manifests[lowerBase(f.Path)] && len(want) < 20000 {
			want = append(want, Listed{Path: f.Path, Mode: f.Mode, Blob: f.Blob})
		}
	}
	content := make(map[string][]byte, len(want))
	err := s.source.Read(ctx, want, MaxData, func(i int, data []byte, err error) {
		if err == nil {
			content[want[i].Path] = data
		}
	})
	if err != nil {
		return fmt.Errorf("read manifests: %w", err)
	}
	if s.Imports, err = imports.Resolve(ctx, files, func(p string) []byte { return content[p] }); err != nil {
		return fmt.Errorf("resolve imports: %w", err)
	}
	s.Importers = make([][]int32, len(s.Files))
	for i, ids := range s.Imports {
		for _, id := range ids {
			s.Importers[id] = append(s.Importers[id], int32(i))
		}
	}
	return nil
}

func lowerBase(p string) string {
	b := []byte(path.Base(p))
	return string(bytes.ToLower(b))
}

// Text reads the content of files by id, in order; a file that cannot be read gives nil.
func (s *Snapshot) Text(ctx context.Context, ids []int) ([][]byte, error) {
	out := make([][]byte, len(ids))
	want := make([]Listed, len(ids))
	for i, id := range ids {
		f := &s.Files[id]
		want[i] = Listed{Path: f.Path, Mode: f.Mode, Blob: f.Blob}
	}
	err := s.source.Read(ctx, want, MaxCode, func(i int, data []byte, err error) {
		if err == nil {
			out[i] = data
		}
	})
	return out, err
}

// Memory is a Cache that never forgets.
type Memory struct {
	mu sync.RWMutex
	m  map[Key]*Doc
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{m: make(map[Key]*Doc)} }

// Get implements Cache.
func (c *Memory) Get(k Key) (*Doc, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	d, ok := c.m[k]
	return d, ok
}

// Put implements Cache.
func (c *Memory) Put(k Key, d *Doc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.m[k] = d
}
