package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/store"
)

// SessionVersion is the version of Session and of what the session commands print.
const SessionVersion = 1

// The caps of a session's state.
const (
	maxSession        = 8 << 20  // bytes of the file
	maxSessionDirty   = 10_000   // files that were changed when it began
	maxSessionBundles = 20       // newest bundles that are kept
	maxSessionHash    = 64 << 20 // bytes; a larger file is known by its size
	maxSessions       = 1000
)

// Session is .ctxt/sessions/ID.json: what the work tree was when some work began. The files that
// differ from that now are what the session touched.
//
//	{"version":1,"id":"s1","started":"2024-01-02T03:04:05Z","base":"40 digits, or empty without a commit",
//	 "dirty":[{"path":"a.go","content":"40 digits, or empty for a deleted file"}],
//	 "bundles":[{"task":"…","commit":"…","files":["a.go"]}]}
type Session struct {
	Version int             `json:"version"`
	ID      string          `json:"id"`
	Started string          `json:"started"` // RFC 3339, UTC
	Base    string          `json:"base"`    // commit that was checked out
	Dirty   []SessionFile   `json:"dirty"`   // uncommitted then, sorted by path
	Bundles []SessionBundle `json:"bundles"` // selected in the session, oldest first
}

// SessionFile is the content of a file, by its blob name.
type SessionFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// SessionBundle is what one activate or refine selected.
type SessionBundle struct {
	Task   string   `json:"task"` // its first line
	Commit string   `json:"commit,omitempty"`
	Files  []string `json:"files"` // in the bundle's order
}

// CheckSessionID refuses names that are not one plain file name.
func CheckSessionID(id string) error {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	}
	if id == "" || len(id) > 64 || id[0] == '.' || strings.ContainsFunc(id, func(r rune) bool { return !plain(r) }) {
		return fmt.Errorf("session %.80q: want 1 to 64 letters, digits, dots, underscores and hyphens, and no dot first", id)
	}
	return nil
}

func sessionsFolder(root string) string { return filepath.Join(root, store.Dir, "sessions") }

func sessionFile(root, id string) (string, error) {
	if err := CheckSessionID(id); err != nil {
		return "", err
	}
	// A repository could hold a link to any folder of the machine.
	for _, dir := range []string{filepath.Join(root, store.Dir), sessionsFolder(root)} {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return "", fmt.Errorf("%s is not a folder; look at it and remove it: rm %q", dir, dir)
		}
	}
	return filepath.Join(sessionsFolder(root), id+".json"), nil
}

// NewSession records the commit and the work tree's state. An empty id takes the first free one of
// s1, s2 …; an id that exists is refused. Now is the wall clock, which only cleanup reads.
func NewSession(ctx context.Context, root, id string, now time.Time) (*Session, error) {
	if id == "" {
		for n := 1; id == ""; n++ {
			name := fmt.Sprintf("s%d", n)
			if _, err := os.Lstat(filepath.Join(sessionsFolder(root), name+".json")); errors.Is(err, fs.ErrNotExist) {
				id = name
			} else if n > maxSessions {
				return nil, fmt.Errorf("there are %d sessions; remove old ones: ctxt session cleanup", n-1)
			}
		}
	}
	file, err := sessionFile(root, id)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(file); err == nil {
		return nil, fmt.Errorf("session %s exists; look at it with ctxt session progress %s, or remove it: ctxt session cleanup %s", id, id, id)
	}
	repo, err := checkout(root)
	if err != nil {
		return nil, err
	}
	s := &Session{Version: SessionVersion, ID: id, Started: now.UTC().Format(time.RFC3339), Dirty: []SessionFile{}, Bundles: []SessionBundle{}}
	head, err := headOf(ctx, repo)
	if err != nil {
		return nil, err
	}
	if !head.IsZero() {
		s.Base = head.String()
	}
	changes, err := repo.Worktree(ctx)
	if err != nil {
		return nil, err
	}
	changes = withoutState(changes)
	if len(changes) > maxSessionDirty {
		return nil, fmt.Errorf("%d files are uncommitted, more than %d; commit or ignore them, then begin the session", len(changes), maxSessionDirty)
	}
	dir, err := os.OpenRoot(repo.Root())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", repo.Root(), errors.Unwrap(err))
	}
	defer dir.Close()
	for _, c := range changes {
		s.Dirty = append(s.Dirty, SessionFile{c.Path, contentOnDisk(dir, c.Path)})
	}
	return s, s.save(root)
}

// checkout opens a repository that must have a work tree.
func checkout(root string) (*git.Repo, error) {
	repo, err := git.Open(root, git.Options{})
	if errors.Is(err, git.ErrNotRepository) {
		return nil, fmt.Errorf("%s is in no git repository, which this needs; make one with: git init", root)
	}
	if err == nil && repo.Root() == "" {
		return nil, fmt.Errorf("%s is a bare repository, and this needs a work tree", root)
	}
	return repo, err
}

// headOf is the checked-out commit; the null one before the first commit.
func headOf(ctx context.Context, repo *git.Repo) (git.Hash, error) {
	head, err := repo.Resolve(ctx, "HEAD")
	if errors.Is(err, git.ErrUnknown) {
		return git.Hash{}, nil
	}
	return head, err
}

// contentOnDisk names what lies at a path: the blob that it would be, or "" for nothing. Links are
// not followed.
func contentOnDisk(dir *os.Root, path string) string {
	name := filepath.FromSlash(path)
	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		return ""
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := dir.Readlink(name)
		if err != nil {
			return "unreadable"
		}
		return git.HashBlob([]byte(to)).String()
	case !info.Mode().IsRegular():
		return "special"
	case info.Size() > maxSessionHash:
		return fmt.Sprintf("%d bytes", info.Size())
	}
	data, err := dir.ReadFile(name)
	if err != nil {
		return "unreadable"
	}
	return git.HashBlob(data).String()
}

func (s *Session) save(root string) error {
	file, err := sessionFile(root, s.ID)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return fmt.Errorf("encode session %s: %w", s.ID, err)
	}
	return store.WriteFile(file, append(data, '\n'), 0o644)
}

// LoadSession reads a session.
func LoadSession(root, id string) (*Session, error) {
	file, err := sessionFile(root, id)
	if err != nil {
		return nil, err
	}
	data, err := store.ReadFile(file, maxSession)
	if store.IsNotExist(err) {
		return nil, fmt.Errorf("there is no session %s; begin it with: ctxt session init %s", id, id)
	}
	if err != nil {
		return nil, err
	}
	next := "remove it: ctxt session cleanup " + id
	if err := checkVersion(file, data, SessionVersion, next); err != nil {
		return nil, err
	}
	var s Session
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %s; %s", file, store.JSONFault(data, err), next)
	}
	if s.ID != id {
		return nil, fmt.Errorf("%s: its id is %.80q; %s", file, s.ID, next)
	}
	if _, err := git.ParseHash(s.Base); err != nil && s.Base != "" {
		return nil, fmt.Errorf("%s: base: %w; %s", file, err, next)
	}
	return &s, nil
}

// checkVersion refuses a JSON document of another version than the one that is read.
func checkVersion(file string, data []byte, version int, next string) error {
	var head struct {
		Version json.RawMessage `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("%s: %s; %s", file, store.JSONFault(data, err), next)
	}
	if got := string(head.Version); got != fmt.Sprint(version) {
		return fmt.Errorf("%s has version %.20s; only version %d is read; %s", file, cmp.Or(got, "none"), version, next)
	}
	return nil
}

// SessionEntry is one line of the list of sessions.
type SessionEntry struct {
	ID      string `json:"id"`
	Started string `json:"started,omitempty"`
	Base    string `json:"base,omitempty"`
	Bundles int    `json:"bundles"`
	Fault   string `json:"fault,omitempty"` // why it cannot be read
}

// ListSessions lists the sessions of a project by id. One that cannot be read is listed with its fault.
func ListSessions(root string) ([]SessionEntry, error) {
	out := []SessionEntry{}
	if _, err := sessionFile(root, "s"); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(sessionsFolder(root))
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || CheckSessionID(id) != nil {
			continue
		}
		if len(out) == maxSessions {
			break
		}
		s, err := LoadSession(root, id)
		if err != nil {
			out = append(out, SessionEntry{ID: id, Fault: err.Error()})
			continue
		}
		out = append(out, SessionEntry{ID: id, Started: s.Started, Base: s.Base, Bundles: len(s.Bundles)})
	}
	slices.SortFunc(out, func(a, b SessionEntry) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// RemoveSession removes one session's file.
func RemoveSession(root, id string) error {
	file, err := sessionFile(root, id)
	if err != nil {
		return err
	}
	switch err := os.Remove(file); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no session %s; list them with: ctxt session list", id)
	case err != nil:
		return fmt.Errorf("remove session %s: %w", id, errors.Unwrap(err))
	}
	return nil
}

// RecordBundle keeps in a session which files a bundle holds, for its summary.
func RecordBundle(root, id string, b *pick.Bundle) error {
	s, err := LoadSession(root, id)
	if err != nil {
		return err
	}
	s.Bundles = append(s.Bundles, bundleOf(b))
	s.Bundles = s.Bundles[max(0, len(s.Bundles)-maxSessionBundles):]
	return s.save(root)
}

func bundleOf(b *pick.Bundle) SessionBundle {
	title, _, _ := strings.Cut(b.Task, "\n")
	out := SessionBundle{Task: strings.ToValidUTF8(title[:min(len(title), 1000)], ""), Commit: b.Commit, Files: []string{}}
	for _, f := range b.Files {
		out.Files = append(out.Files, f.Path)
	}
	return out
}
