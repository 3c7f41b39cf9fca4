package pick

import (
	"cmp"
	"math"
	"slices"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/history"
)

// ShadowOptions choose the files that are added from the co-commit graph.
type ShadowOptions struct {
	Disabled          bool
	MinAffinity       float64 // in [0,1]; 0: 0.30
	MinCoCommits      int     // 0: 3
	MaxAdds           int     // 0: 3
	TauDays           float64 // time constant of the decay; 0: 60
	CommitSizePenalty float64 // a commit of n files counts (n−1)^−p; 0: 0.5
}

func (o ShadowOptions) withDefaults() ShadowOptions {
	o.MinAffinity = cmp.Or(o.MinAffinity, 0.30)
	o.MinCoCommits = cmp.Or(o.MinCoCommits, 3)
	o.MaxAdds = cmp.Or(o.MaxAdds, 3)
	o.TauDays = cmp.Or(o.TauDays, 60)
	o.CommitSizePenalty = cmp.Or(o.CommitSizePenalty, 0.5)
	return o
}

const (
	maxPartnerCommit = 50 // larger commits join files by accident
	day              = 86400.0
)

// affinityPrior is added to the weight of the partner's commits, so that affinity falls with age: joint
// commits of long ago weigh little against it.
const affinityPrior = 0.5

// candidate is a file that could be added, with the best of its partners.
type candidate struct {
	file int
	info ShadowInfo
}

// shadows returns the files outside the selection that usually changed with a selected one, best
// first. Affinity is the decayed and size-penalised weight of the joint commits over that of all the
// partner's commits and a prior: in [0,1], and falling with the age of the joint commits.
func shadows(s *index.Snapshot, h *history.History, selected []int, o ShadowOptions) []candidate {
	if o.Disabled {
		return nil
	}
	o = o.withDefaults()
	in := make(map[int]bool, len(selected))
	for _, f := range selected {
		in[f] = true
	}
	best := make(map[int]ShadowInfo)
	for _, f := range selected {
		for id, info := range partners(h, s.Files[f].Path, o) {
			g, ok := s.Find(h.Paths[id])
			if !ok || in[g] || info.Joint < o.MinCoCommits || info.Affinity < o.MinAffinity {
				continue
			}
			if old, ok := best[g]; !ok || info.Affinity > old.Affinity || info.Affinity == old.Affinity && info.Partner < old.Partner {
				best[g] = info
			}
		}
	}
	out := make([]candidate, 0, len(best))
	for g, info := range best {
		out = append(out, candidate{g, info})
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.info.Affinity, a.info.Affinity), cmp.Compare(b.info.Joint, a.info.Joint), cmp.Compare(a.file, b.file))
	})
	return out[:min(len(out), o.MaxAdds)]
}

// partners weighs every file that changed with path.
func partners(h *history.History, path string, o ShadowOptions) map[int32]ShadowInfo {
	self, ok := h.PathID(path)
	if !ok {
		return nil
	}
	out := make(map[int32]ShadowInfo)
	total, commits := 0.0, 0
	for _, c := range h.CommitsOf(path) {
		commit := &h.Commits[c]
		n := len(commit.Files)
		if n > maxPartnerCommit {
			continue
		}
		commits++
		w := math.Exp(-math.Max(float64(h.Now-commit.Time), 0)/(o.TauDays*day)) * math.Pow(math.Max(float64(n-1), 1), -o.CommitSizePenalty)
		total += w
		for _, id := range commit.Files {
			if id == self {
				continue
			}
			p := out[id]
			if p.Joint == 0 {
				p = ShadowInfo{Partner: path, Last: commit.Hash.String(), LastTime: commit.Time}
			}
			p.Joint++
			p.Affinity += w
			out[id] = p
		}
	}
	for id, p := range out {
		if total > 0 {
			p.Affinity /= total + affinityPrior
		}
		p.Confidence = float64(p.Joint) / float64(commits)
		out[id] = p
	}
	return out
}
