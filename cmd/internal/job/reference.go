package job

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ctxt-dev/ctxt/analyze/pick"
	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/bench/eval"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
)

// The methods of a replay. All but MethodCtxt are simple rankings to compare with: they read the same
// files and words, and know neither history nor declarations. Their bundle is whole files, best first,
// those left out that do not fit.
const (
	MethodCtxt  = "ctxt"  // the product
	MethodBM25  = "bm25"  // BM25 of title and description over the files' content and path
	MethodWords = "words" // how many of the title's words the content holds, then how often
	MethodPaths = "paths" // how many of the title's words the path holds
)

// Methods lists them.
var Methods = []string{MethodCtxt, MethodBM25, MethodWords, MethodPaths}

// Reference ranks a commit's files by one of the simple methods. Files without a word of the task are not
// ranked.
func (e *Engine) Reference(ctx context.Context, method string, commit git.Hash, title, body string) (eval.Selection, error) {
	s, err := e.Snapshot(ctx, index.Tree(e.repo, commit))
	if err != nil {
		return eval.Selection{}, err
	}
	order := referenceOrder(s, method, task.Parse(title, body, task.Change).Terms)
	order = order[:min(len(order), rankedKept)]
	var out eval.Selection
	for _, i := range order {
		out.Ranked = append(out.Ranked, s.Files[i].Path)
	}
	return out, wholeFiles(ctx, s, order, &out)
}

// wholeFiles fills the default budget with whole files.
func wholeFiles(ctx context.Context, s *index.Snapshot, order []int, out *eval.Selection) error {
	const tokens, files = pick.DefaultTokens, pick.DefaultFiles
	texts, err := s.Text(ctx, order)
	if err != nil {
		return fmt.Errorf("read the ranked files: %w", err)
	}
	for k, i := range order {
		if texts[k] == nil || len(out.Files) == files || len(texts[k]) > 64*tokens {
			continue
		}
		n, err := pick.CountTokens(s.Files[i].Path + "\n" + string(texts[k]))
		if err != nil {
			return err
		}
		if out.Tokens+n <= tokens {
			out.Tokens += n
			out.Files = append(out.Files, eval.SelectedFile{Path: s.Files[i].Path, Regions: [][2]int{{1, max(s.Files[i].Doc.NumLines(), 1)}}})
		}
	}
	return nil
}

// The usual values of BM25.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// referenceOrder lists the files that hold a word of the task, best first, ties by path.
func referenceOrder(s *index.Snapshot, method string, terms []task.Term) []int {
	at := map[uint32]int{}
	for i, t := range terms {
		if t.InTitle || method == MethodBM25 {
			at[t.Hash] = i
		}
	}
	counts := make([]map[int]int, len(s.Files)) // file to term to occurrences
	df := make([]int, len(terms))
	length := make([]float64, len(s.Files))
	total := 0.0
	for i := range s.Files {
		n := map[int]int{}
		add := func(tokens []uint32) {
			for _, h := range tokens {
				if t, ok := at[h]; ok {
					n[t]++
				}
			}
		}
		f := &s.Files[i]
		if method != MethodPaths {
			add(f.Doc.Tokens)
		}
		if method != MethodWords {
			add(f.PathTerms)
		}
		for t := range n {
			df[t]++
		}
		counts[i], length[i] = n, float64(len(f.Doc.Tokens)+len(f.PathTerms))
		total += length[i]
	}
	avg := max(total/float64(max(len(s.Files), 1)), 1)
	score, often := make([]float64, len(s.Files)), make([]int, len(s.Files))
	var order []int
	for i, n := range counts {
		if len(n) == 0 {
			continue
		}
		order = append(order, i)
		for t := range terms { // in the order of the terms: sums of floats depend on it
			c := float64(n[t])
			switch {
			case c == 0:
			case method == MethodBM25:
				idf := math.Log(1 + (float64(len(s.Files))-float64(df[t])+0.5)/(float64(df[t])+0.5))
				score[i] += idf * c * (bm25K1 + 1) / (c + bm25K1*(1-bm25B+bm25B*length[i]/avg))
			default:
				score[i]++
				often[i] += n[t]
			}
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(often[b], often[a]), cmp.Compare(s.Files[a].Path, s.Files[b].Path))
	})
	return order
}
