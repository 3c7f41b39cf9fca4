package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxTotal caps how many cases a run may have.
const MaxTotal = 100_000

// MaxPart caps the JSON of one part, in bytes.
const MaxPart = 256 << 20

// Part is the JSON that one shard of a run wrote.
type Part struct {
	Name string // for errors
	Data []byte
}

// Merge joins all parts of one run, in any order, into the JSON that the whole run would have
// written. A part that is missing, doubled, of another run or not a part is an error.
func Merge(parts []Part) ([]byte, error) {
	if len(parts) == 0 {
		return nil, errors.New("nothing to merge: name the JSON files of all shards")
	}
	kind := ""
	for _, p := range parts {
		k, err := kindOf(p)
		switch {
		case err != nil:
			return nil, err
		case kind == "":
			kind = k
		case kind != k:
			return nil, fmt.Errorf("%s is a result of kind %s, %s of kind %s", parts[0].Name, kind, p.Name, k)
		}
	}
	switch kind {
	case "eval":
		return merge(parts, evalParts)
	case "replay":
		return merge(parts, replayParts)
	case "bench":
		return merge(parts, benchParts)
	default:
		return nil, fmt.Errorf("%s: kind %q is none of eval, replay and bench", parts[0].Name, kind)
	}
}

func kindOf(p Part) (string, error) {
	if len(p.Data) > MaxPart {
		return "", fmt.Errorf("%s is larger than %d bytes", p.Name, MaxPart)
	}
	var head struct {
		Version int    `json:"version"`
		Kind    string `json:"kind"`
	}
	if err := json.Unmarshal(p.Data, &head); err != nil {
		return "", fmt.Errorf("%s is not a result of eval or bench: %w", p.Name, err)
	}
	if head.Version != 2 {
		return "", fmt.Errorf("%s: version %d, this program reads version 2", p.Name, head.Version)
	}
	return head.Kind, nil
}

// joint is how merge reaches into a kind of result.
type joint[R, C any] struct {
	shard     func(*R) **ShardInfo
	results   func(*R) *[]C
	summarize func(*R)
}

var (
	evalParts = joint[EvalResult, CaseResult]{
		func(r *EvalResult) **ShardInfo { return &r.Shard },
		func(r *EvalResult) *[]CaseResult { return &r.Results }, (*EvalResult).Summarize}
	replayParts = joint[ReplayResult, ReplayCase]{
		func(r *ReplayResult) **ShardInfo { return &r.Shard },
		func(r *ReplayResult) *[]ReplayCase { return &r.Results }, (*ReplayResult).Summarize}
	benchParts = joint[BenchResult, QueryResult]{
		func(r *BenchResult) **ShardInfo { return &r.Shard },
		func(r *BenchResult) *[]QueryResult { return &r.Results }, (*BenchResult).Summarize}
)

func merge[R, C any](parts []Part, j joint[R, C]) ([]byte, error) {
	var whole *R
	var frame []byte // the first part without what differs among parts
	var all []C
	var names []string // by shard index
	for _, p := range parts {
		r, info, err := decodePart(p, j)
		if err != nil {
			return nil, err
		}
		own := *j.results(r)
		*j.shard(r), *j.results(r) = nil, nil
		j.summarize(r)
		f, err := encode(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		if whole == nil {
			whole, frame, all, names = r, f, make([]C, info.Total), make([]string, info.Of)
		}
		switch {
		case !bytes.Equal(f, frame) || info.Total != len(all) || info.Of != len(names):
			return nil, fmt.Errorf("%s and %s are not parts of one run: cases, settings or the number of shards differ", parts[0].Name, p.Name)
		case names[info.Index-1] != "":
			return nil, fmt.Errorf("shard %d/%d is there twice: %s and %s", info.Index, info.Of, names[info.Index-1], p.Name)
		}
		names[info.Index-1] = p.Name
		for i := range own {
			all[info.Index-1+i*info.Of] = own[i]
		}
	}
	for i, n := range names {
		if n == "" {
			return nil, fmt.Errorf("shard %d/%d is missing", i+1, len(names))
		}
	}
	*j.results(whole) = all
	j.summarize(whole)
	return Encode(whole)
}

// decodePart reads one part and checks that it holds what its shard must.
func decodePart[R, C any](p Part, j joint[R, C]) (*R, *ShardInfo, error) {
	r := new(R)
	dec := json.NewDecoder(bytes.NewReader(p.Data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(r); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, nil, fmt.Errorf("%s: text after the end of the document", p.Name)
	}
	info := *j.shard(r)
	if info == nil {
		return nil, nil, fmt.Errorf("%s is not part of a sharded run: it has no shard", p.Name)
	}
	if info.Of < 1 || info.Of > MaxShards || info.Index < 1 || info.Index > info.Of || info.Total < 0 || info.Total > MaxTotal {
		return nil, nil, fmt.Errorf("%s: shard %d/%d of %d cases is not possible", p.Name, info.Index, info.Of, info.Total)
	}
	if want := (info.Total - info.Index + info.Of) / info.Of; len(*j.results(r)) != want {
		return nil, nil, fmt.Errorf("%s: shard %d/%d of %d cases must hold %d results, it holds %d", p.Name, info.Index, info.Of, info.Total, want, len(*j.results(r)))
	}
	return r, info, nil
}
