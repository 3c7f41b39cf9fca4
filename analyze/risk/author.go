package risk

import (
	"path"
	"strings"
)

// automated recognises the accounts of dependency and release bots by their customary names.
func automated(name, email string) bool {
	n := strings.ToLower(name)
	if strings.HasSuffix(n, "[bot]") || strings.Contains(strings.ToLower(email), "[bot]@") {
		return true
	}
	switch n {
	case "dependabot", "dependabot-preview", "renovate", "renovate bot", "renovate-bot", "github-actions", "github actions", "pre-commit-ci",
		"greenkeeper", "snyk-bot", "pyup-bot", "imgbot", "allcontributors", "mergify", "semantic-release-bot", "weblate":
		return true
	}
	return false
}

// Automated names the account that wrote the change when it is one of a program; empty for people.
func (c Change) Automated() string {
	switch {
	case automated(c.Author, c.Email):
		return c.Author
	case automated(c.Login, ""):
		return c.Login
	}
	return ""
}

// LockOnly reports whether nothing but lock files and the manifests beside them changed.
func (c Change) LockOnly() bool {
	paths := make([]string, len(c.Files))
	for i, f := range c.Files {
		paths[i] = f.Path
	}
	return onlyLocks(paths)
}

// onlyLocks reports whether all changed files are lock files or manifests beside or above one.
func onlyLocks(paths []string) bool {
	locks := 0
	for _, p := range paths {
		switch {
		case matchAny(lockGlobs, p):
			locks++
		case matchAny(manifestGlobs, p) && path.Base(p) != "setup.py":
		default:
			return false
		}
	}
	return locks > 0
}

// From when a base looks wrong: this many commits, most of them by others, or already on another branch.
const (
	foreignCommits = ManyCommits
	foreignShare   = 0.5
)

// ManyCommits is from how many commits on OnOthers matters.
const ManyCommits = 20

// wrongBase reports whether the change carries mostly commits that are not its own.
func wrongBase(c Change) bool {
	return c.Commits >= foreignCommits && (float64(c.ByOthers) > foreignShare*float64(c.Commits) && c.OnOthers > 0 || float64(c.OnOthers) > foreignShare*float64(c.Commits))
}
