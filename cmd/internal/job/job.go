// Package job is the data path of one run: repository in, report out. The CLI, the Action, MCP,
// eval and replay all rank and select through the functions of this package.
package job

import (
	"github.com/ctxt-dev/ctxt/analyze/pick"
)

// PROptions say what one pull request run analyses. Zero values mean the defaults.
type PROptions struct {
	Dir            string // of the repository, or any folder inside it
	Base, Head     string // revisions
	Title, Body    string // the task; untrusted text. Both empty: those of the head commit
	Author, Email  string // of the change; empty: from the head commit
	Login          string // of the pull request's author on the platform ("dependabot[bot]"); empty: unknown
	ConfigFile     string // inside the base commit; empty: .ctxt/ctx_config.toml
	CasesFile      string
	BaselineFile   string
	Mode           string // observe, warn or block; empty: warn
	HistoryCommits int    // 0: 3000
	Budget         pick.Budget
	CacheDir       string // empty: no cache
	FromHead       bool   // title and body are those of the head commit, whatever Title and Body say
	Version        string // the tool's
}
