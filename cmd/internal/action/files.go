package action

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxt-dev/ctxt/report"
)

// setOutput appends one output to the runner's file. The delimiter is random and not in the value, so
// that the value cannot end itself and set another key.
func setOutput(path, name, value string) error {
	if path == "" {
		return nil // not under a runner
	}
	delim, err := delimiter(value)
	if err != nil {
		return err
	}
	return appendFile(path, fmt.Sprintf("%s<<%s\n%s\n%s\n", name, delim, value, delim))
}

func delimiter(value string) (string, error) {
	for {
		var b [16]byte
		if _, err := rand.Read(b[:]); err != nil {
			return "", fmt.Errorf("a random delimiter: %w", err)
		}
		if d := "ctxt_" + hex.EncodeToString(b[:]); !strings.Contains(value, d) {
			return d, nil
		}
	}
}

func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("the runner's file: %w", err)
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// addSummary appends the report to the step's summary, within what the platform takes of the whole.
func addSummary(path string, r *report.Report) error {
	if path == "" {
		return nil
	}
	room := report.SummaryLimit
	if info, err := os.Stat(path); err == nil {
		room -= int(min(info.Size(), int64(room)))
	}
	s := report.SummaryMax(r, room)
	if s == "" {
		return fmt.Errorf("the step's summary has no room left")
	}
	return appendFile(path, s)
}

// place is where files go: a folder below a root that no link may leave.
type place struct {
	root string // the workspace or the runner's temporary folder
	dir  string // below it
}

// reportPlace finds the folder of the report: input report-dir, or RUNNER_TEMP/ctxt. A relative one
// lies in the workspace, because someone asked for it there.
func (a *run) reportPlace() (place, error) {
	dir := a.container(a.in.reportDir)
	switch {
	case dir == "" && a.temp == "":
		return place{}, errors.New("RUNNER_TEMP is not set: give report-dir")
	case dir == "":
		return place{a.temp, "ctxt"}, nil
	}
	return a.placeOf("report-dir", dir)
}

func (a *run) placeOf(input, path string) (place, error) {
	if !filepath.IsAbs(path) {
		if !filepath.IsLocal(path) {
			return place{}, fmt.Errorf("input %s is %q: want a path inside the workspace or an absolute one", input, path)
		}
		return place{a.workspace, filepath.Clean(path)}, nil
	}
	for _, root := range []string{a.workspace, a.temp} {
		if rel, err := filepath.Rel(root, path); root != "" && err == nil && filepath.IsLocal(rel) {
			return place{root, rel}, nil
		}
	}
	return place{path, "."}, nil
}

// write puts a file into a place and gives it to the owner of the place's root: what root writes, a
// self-hosted runner's next checkout could not remove. It returns the path.
func (p place) write(name string, data []byte) (string, error) {
	if err := os.MkdirAll(p.root, 0o755); err != nil {
		return "", fmt.Errorf("report folder: %w", err)
	}
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return "", fmt.Errorf("report folder: %w", err)
	}
	defer root.Close()
	var made []string
	dir := p.dir
	for d := dir; d != "."; d = filepath.Dir(d) {
		if _, err := root.Lstat(d); errors.Is(err, fs.ErrNotExist) {
			made = append(made, d)
		}
	}
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("report folder: %w", err)
	}
	file := filepath.Join(dir, name)
	if err := root.WriteFile(file, data, 0o644); err != nil {
		return "", fmt.Errorf("report file: %w", err)
	}
	if info, err := os.Stat(p.root); err == nil {
		for _, f := range append(made, file) {
			giveTo(root, f, info)
		}
	}
	return filepath.Join(p.root, file), nil
}

// container gives the path inside of the container for one on its host. The runner does the same to
// the environment, where a value starts with a folder that it mounts.
func (a *run) container(path string) string {
	if rest, ok := strings.CutPrefix(path, a.hostTemp()+"/"); ok && a.hostTemp() != "" {
		return filepath.Join(a.temp, rest)
	}
	return path
}

// hostTemp is the runner's temporary folder on the host, when this is a container; else empty.
func (a *run) hostTemp() string {
	if w := a.env("RUNNER_WORKSPACE"); strings.HasPrefix(a.temp, "/github/") && filepath.IsAbs(w) {
		return filepath.Join(filepath.Dir(w), "_temp")
	}
	return ""
}

// outside gives a path as later steps see it: relative to the workspace inside of it, else on the
// host.
func (a *run) outside(path string) string {
	if rel, err := filepath.Rel(a.workspace, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if h := a.hostTemp(); h != "" {
		if rel, err := filepath.Rel(a.temp, path); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(h, rel)
		}
	}
	return path
}
