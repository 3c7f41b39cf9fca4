// Package agent keeps a section about ctxt in the files that coding agents read: CLAUDE.md, AGENTS.md,
// Cursor's rules and Copilot's instructions.
//
//  1. Read every file of the chosen agents; refuse what cannot be changed safely, before anything is written.
//  2. Find the section by its markers, each a line of its own.
//  3. Replace, append or cut out the section; everything outside the markers keeps its bytes.
//  4. Write what changed, atomically.
//
// The first marker says what was put before it, and whether the file was made for it, so that Remove
// gives back the exact bytes that were there before Install.
package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxt-dev/ctxt/index/store"
)

// maxFile caps an instructions file, in bytes.
const maxFile = 4 << 20

// Target is one agent's file.
type Target struct {
	Agent string // claude, agents, cursor or copilot
	Path  string // project-relative, "/"
	head  string // what a file of that kind must begin with
}

// Targets lists the agents' files, in the order in which they are written.
func Targets() []Target {
	return []Target{
		{Agent: "claude", Path: "CLAUDE.md"},
		{Agent: "agents", Path: "AGENTS.md"}, // Codex and others
		{Agent: "cursor", Path: ".cursor/rules/ctxt.mdc", head: "---\ndescription: finding the files that a task is about\nalwaysApply: true\n---\n\n"},
		{Agent: "copilot", Path: ".github/copilot-instructions.md"},
	}
}

// Change is what was done, or would be, to one file.
type Change struct {
	Agent  string `json:"agent"`
	Path   string `json:"path"`
	Action string `json:"action"` // created, updated, unchanged, removed (the section), deleted (the file) or absent
}

// edit is a change with the bytes to write.
type edit struct {
	Change
	file string // that is written; a link's target
	data []byte
	perm fs.FileMode
}

// Install writes or updates the section in the files of the named agents; none named means all. It
// writes nothing when dry is set, nor when one of the files cannot be changed.
func Install(root string, agents []string, dry bool) ([]Change, error) {
	return apply(root, agents, dry, func(t Target, old []byte, exists bool) ([]byte, string, error) {
		text, err := install(t, string(old), exists)
		switch {
		case err != nil:
			return nil, "", err
		case !exists:
			return []byte(text), "created", nil
		case text == string(old):
			return old, "unchanged", nil
		}
		return []byte(text), "updated", nil
	})
}

// Remove cuts the section out again, and deletes the files that Install made and that hold nothing else.
func Remove(root string, agents []string, dry bool) ([]Change, error) {
	return apply(root, agents, dry, func(t Target, old []byte, exists bool) ([]byte, string, error) {
		if !exists {
			return nil, "absent", nil
		}
		text, found, del, err := remove(t, string(old))
		switch {
		case err != nil:
			return nil, "", err
		case !found:
			return old, "absent", nil
		case del:
			return nil, "deleted", nil
		}
		return []byte(text), "removed", nil
	})
}

func apply(root string, agents []string, dry bool, change func(t Target, old []byte, exists bool) ([]byte, string, error)) ([]Change, error) {
	targets, err := chosen(agents)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, t := range targets {
		e, err := plan(root, t, change)
		if err != nil {
			return nil, err
		}
		// A link to another agent's file names the same section.
		if slices.ContainsFunc(edits, func(o edit) bool { return o.file == e.file }) {
			e.Action = "unchanged"
		}
		edits = append(edits, e)
	}
	out := make([]Change, len(edits))
	for i, e := range edits {
		out[i] = e.Change
		if dry {
			continue
		}
		if err := e.write(root); err != nil {
			return out[:i], err
		}
	}
	return out, nil
}

func chosen(agents []string) ([]Target, error) {
	all := Targets()
	if len(agents) == 0 {
		return all, nil
	}
	var out []Target
	for _, a := range agents {
		i := slices.IndexFunc(all, func(t Target) bool { return t.Agent == a || a == "codex" && t.Agent == "agents" })
		if i < 0 {
			return nil, fmt.Errorf("agent %.40q is not known; want claude, codex, agents, cursor or copilot", a)
		}
		if !slices.Contains(out, all[i]) {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// plan reads a file and works out what to write. Nothing is changed yet.
func plan(root string, t Target, change func(Target, []byte, bool) ([]byte, string, error)) (edit, error) {
	e := edit{Change: Change{Agent: t.Agent, Path: t.Path}, perm: 0o644}
	var err error
	if e.file, err = locate(root, t.Path); err != nil {
		return e, err
	}
	var old []byte
	info, err := os.Lstat(e.file)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return e, fmt.Errorf("look at %s: %w", t.Path, errors.Unwrap(err))
	}
	if exists {
		e.perm = info.Mode().Perm()
		if old, err = store.ReadFile(e.file, maxFile); err != nil {
			return e, err
		}
		if strings.ContainsRune(string(old), 0) {
			return e, fmt.Errorf("%s is not UTF-8 text; save it as such, or leave its agent out with --agent", t.Path)
		}
	}
	e.data, e.Action, err = change(t, old, exists)
	return e, err
}

// locate is the file behind a path: a link within the project is followed, one that leads out of it is
// refused.
func locate(root, path string) (string, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", fmt.Errorf("root %s: %w", root, errors.Unwrap(err))
	}
	file := filepath.Join(real, filepath.FromSlash(path))
	// The deepest part that exists decides where the file is.
	rest, at := "", file
	for {
		to, err := filepath.EvalSymlinks(at)
		if err == nil {
			to = filepath.Join(to, rest)
			if rel, err := filepath.Rel(real, to); err != nil || !filepath.IsLocal(rel) {
				return "", fmt.Errorf("%s leads out of the project, to %s; change that file yourself, or leave its agent out with --agent", path, to)
			}
			return to, nil
		}
		if info, lerr := os.Lstat(at); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%s is a link that leads nowhere; remove it: rm %q", path, at)
		}
		if !errors.Is(err, fs.ErrNotExist) || at == real {
			return "", fmt.Errorf("find %s: %w", path, err)
		}
		rest, at = filepath.Join(filepath.Base(at), rest), filepath.Dir(at)
	}
}

func (e *edit) write(root string) error {
	switch e.Action {
	case "created", "updated", "removed":
		return store.WriteFile(e.file, e.data, e.perm)
	case "deleted":
		if err := os.Remove(e.file); err != nil {
			return fmt.Errorf("remove %s: %w", e.Path, errors.Unwrap(err))
		}
		// Folders that were made for the file go with it; one that holds anything else stays.
		for dir := filepath.Dir(filepath.FromSlash(e.Path)); dir != "."; dir = filepath.Dir(dir) {
			if os.Remove(filepath.Join(root, dir)) != nil {
				break
			}
		}
	}
	return nil
}
