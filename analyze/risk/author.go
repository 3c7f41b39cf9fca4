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
	foreignCommits = 20
	foreignShare   = 0.5
)

// wrongBase reports whether the change carries mostly commits that are not its own.
func wrongBase(c Change) bool {
	return c.Commits >= foreignCommits && (float64(c.ByOthers) > foreignShare*float64(c.Commits) && c.OnOthers > 0 || float64(c.OnOthers) > foreignShare*float64(c.Commits))
}
