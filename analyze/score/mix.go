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
			FContent: {Keyword, 0.97}, FTitle: {Keyword, 0.22}, FPath: {Keyword, 0.47}, FChunk: {Keyword, 1.56}, FPhrase: {Keyword, 0.9},
			FLearned: {Keyword, 1.38}, FLearnedTitle: {Keyword, 0.39}, FLearnedPath: {Keyword, 0.68},
			FMessages: {Keyword, 0.27}, FNear: {Keyword, 0.38}, FRecentMessages: {Keyword, 0.75}, FFolderMessages: {Keyword, 0.6},
			FMessage: {Keyword, 0.21}, FLike: {Keyword, 0.88}, FCited: {Keyword, 0.86}, FDeclares: {Keyword, 1.11}, FMention: {Keyword, 2.12},
			FStem: {Keyword, 0.64}, FScope: {Keyword, 1.09}, FFolder: {Keyword, 0.3},
			FInDegree: {Centrality, 0.18}, FChurn: {Churn, 0.18}, FAge: {Recent, 0.98},
		},
		relations: [numRelations]part{
			rPair: {TestProximity, 0.22}, rPath: {TestProximity, 0.46}, rUses: {TestProximity, 0.67}, rTestRef: {TestProximity, 2.59},
			rImport: {Centrality, 0.79}, rUser: {Centrality, 0.85}, rNamer: {Centrality, 0.56}, rChange: {Shadow, 0.5},
		},
		test: 0.83, other: 0.2,
	}
}

// issueMix is for texts that describe a problem: they are answered by source files; the problem's
// title, and the one definition that resembles it most, count for more than in a change's text.
func issueMix() mix {
	m := changeMix()
	m.features[FTitle].weight *= 14
	m.features[FChunk].weight *= 1.5
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
