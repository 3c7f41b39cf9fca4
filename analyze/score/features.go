package score

import (
	"context"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ctxt-dev/ctxt/analyze/task"
	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/history"
	"github.com/ctxt-dev/ctxt/index/text"
)

// Input is everything that a ranking reads.
type Input struct {
	Snapshot          *index.Snapshot
	History           *history.History
	Task              *task.Task
	Touched           map[string]bool // paths touched in a session; nil: none
	ChurnHalfLifeDays float64         // 0: 60
}

// Feature names one column of the feature table.
type Feature int

// The features; each is divided by its maximum over the files before it is weighed.
const (
	FContent Feature = iota
	FTitle
	FPath
	FChunk
	FPhrase
	FMessages
	FMessage
	FDeclares
	FMention
	FStem
	FScope
	FChurn
	FAge
	FInDegree
	FLearned
	FLearnedTitle
	FLearnedPath
	FFolder
	FNear
	FRecentMessages
	FLike
	FFolderMessages
	FCited
	numBase
)

// Table is the features of every file: Cols[feature][file], each in [0,1].
type Table struct {
	Cols [numBase][]float64
	lex  *lexical
	mem  *memory
	act  *activity
	ids  []int32

	cited  []int32 // commits that the text cites, newest first
	titled []bool  // by file id: the title names this file and no other
}

// Features computes the table.
func Features(ctx context.Context, in Input) (*Table, error) {
	t := &Table{ids: fileIDs(in.Snapshot, in.History)}
	var err error
	if t.lex, err = newLexical(ctx, in, t.ids); err != nil {
		return nil, err
	}
	var declared, mentioned, stem, scope, degree, folder, cited []float64
	together(
		func() { t.mem = newMemory(in, t.ids) },
		func() { t.act = newActivity(in, t.ids) },
		func() { declared = declares(in); mentioned, t.titled = mentions(in) },
		func() { stem, scope, degree = stems(in), scopes(in), inDegree(in.Snapshot) },
		func() { folder = folderWords(in); cited, t.cited = citedChanges(in, t.ids) },
	)
	t.Cols = [numBase][]float64{
		FContent: t.lex.content, FTitle: t.lex.title, FPath: t.lex.path, FChunk: t.lex.chunk, FPhrase: t.lex.phrase,
		FMessages: t.mem.sum, FMessage: t.mem.best,
		FDeclares: declared, FMention: mentioned, FStem: stem, FScope: scope,
		FChurn: t.act.churn, FAge: t.act.age, FInDegree: degree,
		FLearned: t.lex.learned, FLearnedTitle: t.lex.learnedTitle, FLearnedPath: t.lex.learnedPath, FFolder: folder,
		FNear: t.mem.near, FRecentMessages: t.mem.recent, FLike: t.mem.like, FFolderMessages: t.mem.folder,
		FCited: cited,
	}
	for i := range t.Cols {
		t.Cols[i] = normalised(t.Cols[i])
	}
	return t, nil
}

// together runs works that have nothing to do with each other, on as many cores as there are.
func together(works ...func()) {
	var wg sync.WaitGroup
	for _, work := range works {
		wg.Go(work)
	}
	wg.Wait()
}

// normalised returns the column divided by its maximum.
func normalised(col []float64) []float64 {
	out := make([]float64, len(col))
	if top := slices.Max(append([]float64{0}, col...)); top > 0 {
		for i, v := range col {
			out[i] = v / top
		}
	}
	return out
}

const maxDeclarers = 5 // an identifier declared in more files names none of them

// declares scores files that declare an identifier that the text names: Σ weight / declaring files.
func declares(in Input) []float64 {
	want := make(map[uint32]int, len(in.Task.Idents))
	for i, m := range in.Task.Idents {
		want[text.CompoundHash(m.Text)] = i
	}
	where := make([][]int32, len(in.Task.Idents))
	for f := range in.Snapshot.Files {
		for _, d := range in.Snapshot.Files[f].Doc.Decls {
			if k, ok := want[d]; ok {
				if w := where[k]; len(w) == 0 || w[len(w)-1] != int32(f) {
					where[k] = append(where[k], int32(f))
				}
			}
		}
	}
	out := make([]float64, len(in.Snapshot.Files))
	for k, files := range where {
		if len(files) > maxDeclarers {
			continue
		}
		for _, f := range files {
			out[f] += in.Task.Idents[k].Weight / float64(len(files))
		}
	}
	return out
}

// mentions scores files whose path the text names: the longer the matching tail, and the fewer files
// share it, the more. titled are those that the title names, and that are the only ones it may mean.
func mentions(in Input) (out []float64, titled []bool) {
	out, titled = make([]float64, len(in.Snapshot.Files)), make([]bool, len(in.Snapshot.Files))
	for _, m := range slices.Concat(in.Task.Paths, plainFiles(in.Task)) {
		var match []int
		for i := range in.Snapshot.Files {
			p := strings.ToLower(in.Snapshot.Files[i].Path)
			if p == m.Text || strings.HasSuffix(p, "/"+m.Text) || len(p) > 3 && strings.HasSuffix(m.Text, "/"+p) {
				match = append(match, i)
			}
		}
		if len(match) == 0 || len(match) > 2*maxDeclarers {
			continue
		}
		for _, i := range match {
			out[i] += m.Weight / float64(len(match))
			if m.Weight == 1 && (len(match) == 1 || strings.ToLower(in.Snapshot.Files[i].Path) == m.Text) {
				titled[i] = true
			}
		}
	}
	return out, titled
}

// plainFiles are the names without a dot or a slash that only a file has, such as Dockerfile and
// Makefile, as the title says them.
func plainFiles(t *task.Task) []task.Mention {
	var out []task.Mention
	for _, w := range t.Words {
		if strings.HasSuffix(w, "file") && len(w) > len("file") {
			out = append(out, task.Mention{Text: w, Weight: 1})
		}
	}
	return out
}

// stems scores files whose stem is a word of the title, by how few files have it.
func stems(in Input) []float64 {
	words := make(map[string]bool, len(in.Task.Words))
	var first [256]bool // bytes that words begin with: stemming keeps a word's first letter
	for _, w := range in.Task.Words {
		words[w] = true
		words[text.Stem(w)] = true
		if w != "" {
			first[w[0]] = true
		}
	}
	out := make([]float64, len(in.Snapshot.Files))
	count := make(map[string]int)
	match := make([]string, len(out))
	flatten := strings.NewReplacer("_", "", "-", "")
	for i := range in.Snapshot.Files {
		stem := index.Stem(in.Snapshot.Files[i].Path)
		flat := flatten.Replace(stem)
		if words[stem] || words[flat] || stem != "" && first[stem[0]] && words[text.Stem(stem)] {
			match[i] = flat
			count[flat]++
		}
	}
	for i, m := range match {
		if m != "" {
			out[i] = 1 / math.Sqrt(float64(count[m]))
		}
	}
	return out
}

// scopes scores files whose path has what the title names before its text.
func scopes(in Input) []float64 {
	out := make([]float64, len(in.Snapshot.Files))
	if len(in.Task.Areas) == 0 {
		return out
	}
	matched := 0
	for i := range in.Snapshot.Files {
		if inArea(&in.Snapshot.Files[i], in.Task.Areas) != nil {
			out[i] = 1
			matched++
		}
	}
	if matched > len(out)/3 {
		clear(out)
	}
	return out
}

// inArea returns the first of the areas whose terms are all in a path; nil when there is none.
func inArea(f *index.File, areas []task.Area) *task.Area {
	for i := range areas {
		if !slices.ContainsFunc(areas[i].Terms, func(h uint32) bool { return !slices.Contains(f.PathTerms, h) }) {
			return &areas[i]
		}
	}
	return nil
}

// foldersOf numbers the folders: each file's folder, and how many there are.
func foldersOf(s *index.Snapshot) (of []int, n int) {
	of = make([]int, len(s.Files))
	ids := make(map[string]int)
	for i := range s.Files {
		d := path.Dir(s.Files[i].Path)
		id, ok := ids[d]
		if !ok {
			id = len(ids)
			ids[d] = id
		}
		of[i] = id
	}
	return of, len(ids)
}

// folderWords scores files by the title's words in their folders' paths, by inverse document frequency.
func folderWords(in Input) []float64 {
	s := in.Snapshot
	title := make(map[uint32]bool)
	for _, t := range in.Task.Terms {
		if t.InTitle {
			title[t.Hash] = true
		}
	}
	of, n := foldersOf(s)
	files := make([]float64, n) // in each folder
	words := make([][]uint32, n)
	tk := text.NewTokenizer()
	for i, d := range of {
		if files[d]++; files[d] > 1 {
			continue
		}
		for _, h := range tk.Hashes(path.Dir(s.Files[i].Path)) {
			if title[h] && h&text.CompoundBit == 0 && !slices.Contains(words[d], h) {
				words[d] = append(words[d], h)
			}
		}
		slices.Sort(words[d])
	}
	df := make(map[uint32]float64)
	for d, list := range words {
		for _, h := range list {
			df[h] += files[d]
		}
	}
	out := make([]float64, len(s.Files))
	for i, d := range of {
		for _, h := range words[d] {
			out[i] += math.Log(1 + float64(len(s.Files))/df[h])
		}
	}
	return out
}

// inDegree is the logarithm of the number of importers.
func inDegree(s *index.Snapshot) []float64 {
	out := make([]float64, len(s.Files))
	for i, from := range s.Importers {
		out[i] = math.Log1p(float64(len(from)))
	}
	return out
}
