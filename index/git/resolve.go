package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

const maxRev = 1024

// Resolve returns the commit that a revision names: HEAD, a branch, a tag, a remote branch
// (origin/x), a full or unique short object name, each with any of ^, ^N, ~N, ^{} and ^{commit}
// after it; with the git program also what else git rev-parse takes for one commit. A revision that
// starts with '-' or holds control characters is refused.
func (r *Repo) Resolve(ctx context.Context, rev string) (Hash, error) {
	if rev == "" || len(rev) > maxRev || rev[0] == '-' || strings.ContainsFunc(rev, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return Hash{}, fmt.Errorf("%w %.60q: want a branch, tag or commit name", ErrUnknown, rev)
	}
	h, err := r.resolve(ctx, rev)
	if errors.Is(err, errNothing) {
		return Hash{}, r.unknown(ctx, rev)
	}
	return h, err
}

// errNothing says that a revision names nothing; Resolve says why.
var errNothing = errors.New("no such revision")

func (r *Repo) resolve(ctx context.Context, rev string) (Hash, error) {
	if r.program == nil {
		return r.resolveGoGit(ctx, rev)
	}
	if rev == "HEAD" && ctx.Err() == nil {
		if h, ok := r.head(); ok {
			return h, nil
		}
	}
	out, err := r.program.output(ctx, "rev-parse", "--verify", "--quiet", rev+"^{commit}")
	if err == nil {
		return ParseHash(strings.TrimSpace(out))
	}
	if exitCode(err) < 0 || ctx.Err() != nil {
		return Hash{}, err
	}
	return Hash{}, errNothing
}

// head reads what HEAD names from the files that git keeps it in, without starting git; false means
// that git is to be asked. A branch always names a commit.
func (r *Repo) head() (Hash, bool) {
	if s := r.config.refStorage; s != "" && s != "files" {
		return Hash{}, false
	}
	b, err := readSmall(filepath.Join(r.gitDir, "HEAD"))
	if err != nil {
		return Hash{}, false
	}
	name, ok := strings.CutPrefix(strings.TrimRight(string(b), "\n"), "ref: refs/heads/")
	if !ok {
		h, err := ParseHash(name)
		return h, err == nil
	}
	name = "refs/heads/" + name
	if !safeRef(name) {
		return Hash{}, false
	}
	loose := filepath.Join(r.common, filepath.FromSlash(name))
	if b, err := readSmall(loose); err == nil {
		h, err := ParseHash(strings.TrimRight(string(b), "\n"))
		return h, err == nil
	}
	if _, err := os.Lstat(loose); !errors.Is(err, fs.ErrNotExist) {
		return Hash{}, false
	}
	packed, err := os.ReadFile(filepath.Join(r.common, "packed-refs"))
	if err != nil {
		return Hash{}, false
	}
	for line := range bytes.Lines(packed) {
		if len(line) > 41 && line[40] == ' ' && string(bytes.TrimRight(line[41:], "\n")) == name {
			h, err := parseHash(line[:40])
			return h, err == nil
		}
	}
	return Hash{}, false
}

// unknown says why a revision names nothing.
func (r *Repo) unknown(ctx context.Context, rev string) error {
	switch {
	case r.Shallow():
		return fmt.Errorf("%w %q in this shallow clone: fetch with depth 0 (git fetch --unshallow; in a workflow fetch-depth: 0)", ErrUnknown, rev)
	case rev == "HEAD":
		return fmt.Errorf("%w %q: the repository has no commit yet; make the first one: git add . && git commit", ErrUnknown, rev)
	}
	if _, err := r.resolve(ctx, "HEAD"); err != nil {
		return fmt.Errorf("%w %q: the repository has no commit yet; make the first one: git add . && git commit", ErrUnknown, rev)
	}
	if i := strings.IndexAny(rev, "^~"); i > 0 {
		if h, err := r.resolve(ctx, rev[:i]); err == nil {
			if _, err := r.rawCommit(ctx, h); err != nil {
				return fmt.Errorf("%s: %w", rev[:i], err)
			}
			return fmt.Errorf("%w %q: the history of %s ends before it", ErrUnknown, rev, rev[:i])
		}
	}
	for _, other := range meant(rev) {
		if _, err := r.resolve(ctx, other); err == nil {
			return fmt.Errorf("%w %q: there is %s; git branch -a and git tag list all", ErrUnknown, rev, other)
		}
	}
	return fmt.Errorf("%w %q: git branch -a and git tag list what there is", ErrUnknown, rev)
}

// meant lists what someone who named an unknown branch may have meant. None of it asks for more.
func meant(rev string) []string {
	switch {
	case strings.ContainsAny(rev, "/^~"):
		return nil
	case rev == "main":
		return []string{"origin/main", "master", "origin/master"}
	case rev == "master":
		return []string{"origin/master", "main", "origin/main"}
	}
	return []string{"origin/" + rev}
}

// resolveGoGit is resolve without a git program.
func (r *Repo) resolveGoGit(ctx context.Context, rev string) (Hash, error) {
	w, err := r.newWalker(ctx)
	if err != nil {
		return Hash{}, err
	}
	defer w.s.close()
	base, suffix := rev, ""
	if i := strings.IndexAny(rev, "^~"); i >= 0 {
		base, suffix = rev[:i], rev[i:]
	}
	g, err := r.goGit()
	if err != nil {
		return Hash{}, err
	}
	h, ok := g.lookup(base)
	if !ok {
		if h, err = g.abbreviated(base); err != nil {
			return Hash{}, fmt.Errorf("%w %q: %w", ErrUnknown, rev, err)
		}
		if h.IsZero() {
			return Hash{}, errNothing
		}
	}
	if h, err = w.peel(h); err == nil {
		h, err = w.steps(h, suffix)
	}
	if errors.Is(err, errNoParent) || errors.Is(err, ErrAbsent) {
		return Hash{}, errNothing
	}
	if err != nil {
		return Hash{}, fmt.Errorf("resolve %q: %w", rev, err)
	}
	return h, nil
}

var errNoParent = errors.New("no such parent")

// steps follows ^, ^N, ~, ~N, ^{} and ^{commit} from a commit.
func (w *walker) steps(h Hash, suffix string) (Hash, error) {
	for suffix != "" {
		op, rest := suffix[0], suffix[1:]
		if op == '^' && (strings.HasPrefix(rest, "{}") || strings.HasPrefix(rest, "{commit}")) {
			suffix = rest[strings.IndexByte(rest, '}')+1:]
			continue
		}
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		n := 1
		if digits > 0 {
			var err error
			if n, err = strconv.Atoi(rest[:digits]); err != nil || n > 10_000_000 {
				return h, errNoParent
			}
		}
		suffix = rest[digits:]
		if suffix != "" && suffix[0] != '^' && suffix[0] != '~' {
			return h, fmt.Errorf("unsupported form at %q without a git program; install git", suffix)
		}
		steps, parent := n, 1
		if op == '^' {
			steps, parent = min(n, 1), n
		}
		for ; steps > 0; steps-- {
			c, err := w.commit(h)
			if err != nil {
				return h, err
			}
			if len(c.parents) < parent {
				return h, errNoParent
			}
			h = c.parents[parent-1]
		}
	}
	return h, nil
}

// peel follows annotated tags to a commit.
func (w *walker) peel(h Hash) (Hash, error) {
	for range 16 {
		next := h
		err := w.s.read([]Hash{h}, maxObject, func(_ int, k kind, data []byte, err error) error {
			switch {
			case err != nil:
				return err
			case k == kindCommit:
				return nil
			case k == kindTag && len(data) >= 48 && strings.HasPrefix(string(data[:7]), "object "):
				next, err = ParseHash(string(data[7:47]))
				return err
			}
			return fmt.Errorf("object %s is not a commit", h)
		})
		if err != nil || next == h {
			return h, err
		}
		h = next
	}
	return h, errors.New("tags nested more than 16 deep")
}

// lookup finds a reference by its full or short name, in git's order, and follows symbolic ones.
func (g *goGit) lookup(name string) (Hash, bool) {
	if name == "@" {
		name = "HEAD"
	}
	for _, pattern := range []string{"%s", "refs/%s", "refs/tags/%s", "refs/heads/%s", "refs/remotes/%s", "refs/remotes/%s/HEAD"} {
		full := fmt.Sprintf(pattern, name)
		if !safeRef(full) {
			continue
		}
		if h, ok := g.reference(full); ok {
			return h, true
		}
	}
	return Hash{}, false
}

// safeRef reports whether a name may be looked up as a file under the git directory.
func safeRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return false
	}
	if strings.ContainsAny(name, " ~^:?*[\\") || strings.Contains(name, "..") || strings.Contains(name, "//") ||
		strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".lock") || strings.Contains(name, "@{") {
		return false
	}
	return !strings.Contains(name, "/.")
}

func (g *goGit) reference(name string) (Hash, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for range 8 {
		ref, err := g.stores[0].Reference(plumbing.ReferenceName(name))
		if err != nil {
			return Hash{}, false
		}
		if ref.Type() == plumbing.HashReference {
			return Hash(ref.Hash()), true
		}
		if name = ref.Target().String(); !safeRef(name) {
			return Hash{}, false
		}
	}
	return Hash{}, false
}

// abbreviated finds the commit that a full or short object name means; the zero hash when there is none.
func (g *goGit) abbreviated(name string) (Hash, error) {
	name = strings.ToLower(name)
	if len(name) < 4 || len(name) > 40 || strings.Trim(name, "0123456789abcdef") != "" {
		return Hash{}, nil
	}
	if len(name) == 40 {
		return ParseHash(name)
	}
	prefix, err := hex.DecodeString(name[:len(name)&^1])
	if err != nil {
		return Hash{}, err
	}
	g.mu.Lock()
	var all []Hash
	for _, s := range g.stores {
		found, err := s.HashesWithPrefix(prefix)
		if err != nil {
			g.mu.Unlock()
			return Hash{}, err
		}
		for _, f := range found {
			if strings.HasPrefix(f.String(), name) {
				all = append(all, Hash(f))
			}
		}
	}
	g.mu.Unlock()
	var commit Hash
	for _, h := range all {
		k, _, err := g.get(h, maxObject)
		if err != nil || k != kindCommit && k != kindTag || h == commit {
			continue
		}
		if !commit.IsZero() {
			return Hash{}, errors.New("the short name is ambiguous: give more digits")
		}
		commit = h
	}
	return commit, nil
}
