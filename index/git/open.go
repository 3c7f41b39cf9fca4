package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The errors that callers tell apart. Each is wrapped with what was attempted.
var (
	ErrNotRepository = errors.New("not a git repository")
	ErrUnsupported   = errors.New("unsupported repository")
	ErrUnknown       = errors.New("unknown revision")
	ErrAbsent        = errors.New("object is not in this clone")
	ErrTooLarge      = errors.New("object is over the size limit")
	ErrUnreadable    = errors.New("object cannot be read (git fsck lists what is damaged; fetch or clone it again)")
	ErrNotFound      = errors.New("no such path")
)

// Options choose how a repository is read.
type Options struct {
	// Backend is "" (the git program when there is one, else go-git), "git" or "go-git".
	Backend string
	// GitProgram is the path of the git program; empty for the one on PATH.
	GitProgram string
}

// Repo is an open repository. Its methods may be called concurrently and never write to it.
type Repo struct {
	root    string // work tree; empty for a bare repository
	gitDir  string // of this work tree
	common  string // of all linked work trees: objects, refs, config, shallow
	config  repoConfig
	shallow map[Hash]bool
	program *program      // nil with the go-git backend
	stall   time.Duration // see logStall
	memory  Memory        // nil: none
	kept    *keptReaders  // nil: none

	goOnce sync.Once
	goRepo *goGit
	goErr  error
}

// Open opens the repository that dir is in: a folder of a work tree, a linked work tree, a bare
// repository, or a git directory, also one without a config file. SHA-256 repositories are refused.
func Open(dir string, o Options) (*Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	if st, err := os.Stat(abs); err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	} else if !st.IsDir() {
		return nil, fmt.Errorf("open repository: %s is not a folder", dir)
	}
	r, err := discover(abs)
	if err != nil {
		return nil, err
	}
	r.stall = logStall
	if err := r.readConfig(); err != nil {
		return nil, err
	}
	if r.shallow, err = readShallow(filepath.Join(r.common, "shallow")); err != nil {
		return nil, err
	}
	switch o.Backend {
	case "":
		if p, err := findProgram(o.GitProgram, r); err == nil {
			r.program = p
		} else if o.GitProgram != "" {
			return nil, err
		}
	case "git":
		if r.program, err = findProgram(o.GitProgram, r); err != nil {
			return nil, err
		}
	case "go-git":
	default:
		return nil, fmt.Errorf("unknown git backend %q: want git or go-git", o.Backend)
	}
	if r.program == nil {
		if _, err := r.goGit(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Root returns the top folder of the work tree, or "" for a bare repository.
func (r *Repo) Root() string { return r.root }

// GitDir returns the git directory of this work tree.
func (r *Repo) GitDir() string { return r.gitDir }

// Shallow reports whether the clone is shallow: its history ends before the root commits.
func (r *Repo) Shallow() bool { return len(r.shallow) > 0 }

// Boundary names the places where a shallow clone ends; it is empty for a whole one, and changes when
// they do.
func (r *Repo) Boundary() string {
	if len(r.shallow) == 0 {
		return ""
	}
	all := make([]string, 0, len(r.shallow))
	for h := range r.shallow {
		all = append(all, string(h[:]))
	}
	slices.Sort(all)
	return hashObject("boundary", []byte(strings.Join(all, ""))).String()
}

// Partial reports whether the clone may lack objects that a server has.
func (r *Repo) Partial() bool { return r.config.partial }

// Backend returns "git" or "go-git".
func (r *Repo) Backend() string {
	if r.program != nil {
		return "git"
	}
	return "go-git"
}

// discover walks up from dir to the first folder that holds or is a git directory.
func discover(dir string) (*Repo, error) {
	for d := dir; ; d = filepath.Dir(d) {
		dot := filepath.Join(d, ".git")
		if st, err := os.Stat(dot); err == nil {
			gitDir := dot
			if !st.IsDir() {
				if gitDir, err = readGitFile(dot); err != nil {
					return nil, err
				}
			}
			if common, ok := isGitDir(gitDir); ok {
				return &Repo{root: d, gitDir: gitDir, common: common}, nil
			}
			if !st.IsDir() {
				return nil, fmt.Errorf("%s names %s, which is %w; mend it with git worktree repair", dot, gitDir, ErrNotRepository)
			}
		}
		if common, ok := isGitDir(d); ok {
			r := &Repo{gitDir: d, common: common}
			if filepath.Base(d) == ".git" {
				r.root = filepath.Dir(d)
			}
			return r, nil
		}
		if filepath.Dir(d) == d {
			return nil, fmt.Errorf("%s is %w, nor is any folder above it; run git init there or name another folder", dir, ErrNotRepository)
		}
	}
}

// isGitDir tells a git directory by its HEAD and objects, as git does, and returns the directory
// that its objects and refs are in (another one for a linked work tree).
func isGitDir(d string) (common string, ok bool) {
	if _, err := os.Lstat(filepath.Join(d, "HEAD")); err != nil {
		return "", false
	}
	common = d
	if b, err := readSmall(filepath.Join(d, "commondir")); err == nil {
		common = resolvePath(d, strings.TrimSpace(string(b)))
	}
	for _, sub := range []string{"objects", "refs"} {
		if st, err := os.Stat(filepath.Join(common, sub)); err != nil || !st.IsDir() {
			return "", false
		}
	}
	return common, true
}

// readGitFile reads a .git file: one line "gitdir: PATH".
func readGitFile(file string) (string, error) {
	b, err := readSmall(file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	p, ok := strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), "gitdir: ")
	if !ok || p == "" || strings.ContainsAny(p, "\x00\n") {
		return "", fmt.Errorf("%s: want one line \"gitdir: PATH\"", file)
	}
	return resolvePath(filepath.Dir(file), p), nil
}

func resolvePath(base, p string) string {
	p = filepath.FromSlash(p)
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}

// readSmall reads a file of at most 1 MiB.
func readSmall(name string) ([]byte, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > 1<<20 {
		return nil, fmt.Errorf("%s: not a regular file of at most 1 MiB", name)
	}
	return os.ReadFile(name)
}

// readShallow reads the boundary commits of a shallow clone, one object name a line.
func readShallow(file string) (map[Hash]bool, error) {
	st, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > 64<<20 {
		return nil, fmt.Errorf("%s: not a regular file of at most 64 MiB", file)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m := map[Hash]bool{}
	for n, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		h, err := ParseHash(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w; fetch again with git fetch --unshallow", file, n+1, err)
		}
		m[h] = true
	}
	return m, nil
}

// repoConfig is what matters here of a repository's config file.
type repoConfig struct {
	objectFormat string
	refStorage   string
	partial      bool // a promisor remote or extensions.partialClone
	mayFilter    bool // it, or a file that it includes, may name content filters
}

// readConfig reads the repository's own config, which may be absent, and refuses what cannot be read.
func (r *Repo) readConfig() error {
	promised, err := filepath.Glob(filepath.Join(globQuote(r.common), "objects", "pack", "*.promisor"))
	if err != nil {
		return err
	}
	r.config.partial = len(promised) > 0
	file := filepath.Join(r.common, "config")
	b, err := readSmall(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read git configuration: %w", err)
	}
	lower := strings.ToLower(string(b))
	r.config.mayFilter = strings.Contains(lower, "filter") || strings.Contains(lower, "include") || strings.Contains(lower, "worktreeconfig")
	section := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, rest, _ := strings.Cut(line[1:], "]")
			section, line = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(rest)
		}
		key, value, has := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		value = strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`))
		switch {
		case section == "extensions" && key == "objectformat":
			r.config.objectFormat = value
		case section == "extensions" && key == "refstorage":
			r.config.refStorage = value
		case section == "extensions" && key == "partialclone",
			strings.HasPrefix(section, "remote ") && key == "promisor" && (!has || value == "true"):
			r.config.partial = true
		}
	}
	if f := r.config.objectFormat; f != "" && f != "sha1" {
		return fmt.Errorf("%s: object format %s: %w; ctxt reads SHA-1 repositories only", file, f, ErrUnsupported)
	}
	return nil
}

var globSpecial = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// globQuote makes a path match itself only.
func globQuote(p string) string {
	if filepath.Separator == '\\' {
		return p // no quoting there, and no special characters in names but [
	}
	return globSpecial.Replace(p)
}

// absent says that an object is not there, and what to do about it.
func (r *Repo) absent(h Hash) error {
	switch {
	case r.config.partial:
		return fmt.Errorf("object %s: %w (a partial clone): fetch it, or clone without --filter", h, ErrAbsent)
	case r.Shallow():
		return fmt.Errorf("object %s: %w (a shallow clone): fetch with depth 0 (git fetch --unshallow)", h, ErrAbsent)
	}
	return fmt.Errorf("object %s: %w: git fsck lists what is missing; fetch or clone it again", h, ErrAbsent)
}

// session opens a reader of objects, to be closed after use by one goroutine. In a partial clone git
// ends at each absent object that it may not fetch, so go-git reads there.
func (r *Repo) session(ctx context.Context, once bool) (objectSession, error) {
	if r.program != nil && !r.config.partial {
		if r.kept != nil {
			return r.kept.lend(ctx, r), nil
		}
		return &catFile{repo: r, ctx: ctx, once: once}, nil
	}
	g, err := r.goGit()
	if err != nil {
		return nil, err
	}
	return &goSession{g: g, ctx: ctx}, nil
}

func (r *Repo) goGit() (*goGit, error) {
	r.goOnce.Do(func() { r.goRepo, r.goErr = openGoGit(r) })
	return r.goRepo, r.goErr
}
