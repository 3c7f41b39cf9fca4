package score

import "github.com/ctxt-dev/ctxt/analyze/task"

// part is one feature's place in the sum.
type part struct {
	signal Signal
	weight float64
}

// mix is the linear mix of one kind of text. docs/quality.md has the figures behind each weight.
type mix struct {
	features  [numBase]part
	relations [numRelations]part
	test      float64 // factor of test files
	other     float64 // factor of files that are not code
	total     [NumSignals]float64
}

// changeMix is for texts that describe a change.
func changeMix() mix {
	return mix{
		features: [numBase]part{
			FContent: {Keyword, 0.88}, FTitle: {Keyword, 0.69}, FPath: {Keyword, 0.55}, FChunk: {Keyword, 1.22}, FPhrase: {Keyword, 1},
			FLearned: {Keyword, 0.96}, FLearnedTitle: {Keyword, 0.71}, FLearnedPath: {Keyword, 0.5},
			FMessages: {Keyword, 0.17}, FNear: {Keyword, 0.29}, FRecentMessages: {Keyword, 0.53}, FFolderMessages: {Keyword, 0.69},
			FMessage: {Keyword, 0.57}, FLike: {Keyword, 0.85}, FDeclares: {Keyword, 0.84}, FMention: {Keyword, 2.5},
			FStem: {Keyword, 0.77}, FScope: {Keyword, 1.04}, FFolder: {Keyword, 0.41},
			FInDegree: {Centrality, 0.21}, FChurn: {Churn, 0.41}, FAge: {Recent, 0.88},
		},
		relations: [numRelations]part{
			rPair: {TestProximity, 0.24}, rPath: {TestProximity, 0.58}, rUses: {TestProximity, 0.88}, rImport: {Centrality, 1.23},
			rChange: {Shadow, 0.44},
		},
		test: 0.9, other: 0.2,
	}
}

// issueMix is for texts that describe a problem: they are answered by source files; the problem's
// title, and the one definition that resembles it most, count for more than in a change's text.
func issueMix() mix {
	m := changeMix()
	m.features[FTitle].weight *= 3
	m.features[FChunk].weight *= 2
	m.features[FStem].weight = 0
	m.test = 0.3
	return m
}

func mixOf(k task.Kind) mix {
	m := changeMix()
	if k == task.Issue {
		m = issueMix()
	}
	for _, p := range m.features {
		m.total[p.signal] += p.weight
	}
	for _, p := range m.relations {
		m.total[p.signal] += p.weight
	}
	return m
}

// weights returns the normalised weights of the signals: those given, or the mix's own.
func (m *mix) weights(given Weights) Weights {
	if given == (Weights{}) {
		given = m.total
	}
	sum := 0.0
	for _, v := range given {
		sum += v
	}
	for s := range given {
		given[s] /= sum
	}
	return given
}

// DefaultWeights are the built-in weights for a kind of text, normalised.
func DefaultWeights(k task.Kind) Weights {
	m := mixOf(k)
	return m.weights(Weights{})
}
