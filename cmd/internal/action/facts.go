package action

import (
	"slices"
	"strings"
)

// Facts are what a job's event says about the rights of its run.
type Facts struct {
	Supported bool   // the Action knows the event
	Number    int    // of the pull request; 0: none
	Base      string // commit that the pull request is to be merged into; empty: none
	Fork      bool   // the pull request's head is in another repository
}

// ReadFacts reads the event file of a job.
func ReadFacts(name, path string) (Facts, error) {
	f := Facts{Supported: slices.Contains(strings.Split(supported, ", "), name)}
	e, err := readEvent(path)
	if err != nil || e.PullRequest == nil {
		return f, err
	}
	pr := e.PullRequest
	f.Number, f.Base = pr.Number, pr.Base.SHA
	f.Fork = pr.Head.Repo == nil || pr.Base.Repo == nil || pr.Head.Repo.ID != pr.Base.Repo.ID
	return f, nil
}
