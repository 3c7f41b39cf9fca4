package risk

import (
	"fmt"
	"slices"
	"strings"
)

// workflows is the folder whose files the platform runs, not this program.
const workflows = ".github/workflows/"

// DefaultControlPlane are the globs of what judges a change: configuration, cases, baseline.
func DefaultControlPlane() []string {
	return []string{".ctxt/ctx_config.toml", ".ctxt/cases.json", ".ctxt/baseline.json", ".codeledger/config.json"}
}

// controlPlane says that a change edits what judges it. The edit has no effect on its own gates, since
// configuration, cases and baseline are read from the base.
func (a *assessor) controlPlane() {
	globs := a.o.ControlPlane
	if len(globs) == 0 {
		globs = DefaultControlPlane()
	}
	if a.o.Workflow != "" {
		globs = append(append([]string(nil), globs...), a.o.Workflow)
	}
	files := controlFiles(a.in.Change, globs)
	if len(files) == 0 {
		return
	}
	read := "this run read them from the base commit, where the edit has no effect"
	if slices.ContainsFunc(files, func(p string) bool { return strings.HasPrefix(p, workflows) }) {
		read = "this run read its configuration from the base commit, but a workflow may run as the change has it"
	}
	a.add(Signal{Name: "control-plane", Title: "Control plane", Level: Medium, Files: files,
		Numbers: []Number{{"files", float64(len(files)), "files"}},
		Why:     fmt.Sprintf("edits what judges it: `%s`%s; %s", files[0], more(len(files)-1), read),
		Command: "git diff " + a.revisions() + " " + pathArgs(first(files, 5)...)})
}

// controlFiles gives the changed files, old names included, that a glob matches.
func controlFiles(c Change, globs []string) (files []string) {
	for _, f := range c.Files {
		if matchAny(globs, f.Path) || f.OldPath != "" && matchAny(globs, f.OldPath) {
			files = append(files, f.Path)
		}
	}
	return files
}
