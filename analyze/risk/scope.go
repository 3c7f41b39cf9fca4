package risk

import "fmt"

// scope says which changed files the task text does not reach, and that the text is weak.
func (a *assessor) scope() {
	weak := a.in.Intent == "weak" || a.in.Intent == "insufficient"
	var out []string
	for _, p := range a.in.Unscoped {
		if !hasControl(p) {
			out = append(out, p)
		}
	}
	if len(out) == 0 && !weak {
		return
	}
	n := len(a.in.Change.Files)
	g := Signal{Name: "scope", Title: "Scope", Level: Info, Files: out,
		Numbers: []Number{{"files not reached", float64(len(out)), "files"}, {"changed", float64(n), "files"}},
		Command: "git diff --stat " + a.revisions()}
	switch {
	case weak && len(out) > 0:
		g.Level = Low
		g.Why = fmt.Sprintf("the description is %s, and %d of the %d changed files are not reached by it: `%s`%s", a.in.Intent, len(out), n, out[0], more(len(out)-1))
	case weak:
		g.Why = fmt.Sprintf("the description is %s: it does not say enough to tell what belongs to the change", a.in.Intent)
	default:
		g.Why = fmt.Sprintf("`%s`%s: not reached by the title or the description (%d of %d changed files)", out[0], more(len(out)-1), len(out), n)
	}
	if len(out) > 0 {
		g.Command += " " + pathArgs(first(out, 5)...)
	}
	a.add(g)
}
