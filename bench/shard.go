package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxShards caps how many parts a run may be cut into.
const MaxShards = 1_000

// Shard is part Index (from 1) of Of. The zero value is the whole run.
type Shard struct{ Index, Of int }

// ParseShard reads "i/n".
func ParseShard(s string) (Shard, error) {
	a, b, ok := strings.Cut(s, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || i < 1 || n < 1 || i > n || n > MaxShards {
		return Shard{}, fmt.Errorf("shard %q: want i/n with 1 <= i <= n <= %d, for example 2/4", s, MaxShards)
	}
	return Shard{i, n}, nil
}

// Whole reports whether s is not a part.
func (s Shard) Whole() bool { return s.Of == 0 }

// Holds reports whether the case at position p (from 0) belongs to s: parts take turns.
func (s Shard) Holds(p int) bool { return s.Whole() || p%s.Of == s.Index-1 }

// ShardInfo is how a result says which part of a run it is.
type ShardInfo struct {
	Index int `json:"index"` // from 1
	Of    int `json:"of"`
	Total int `json:"total"` // cases of the whole run
}

// Info is nil for the whole run.
func (s Shard) Info(total int) *ShardInfo {
	if s.Whole() {
		return nil
	}
	return &ShardInfo{s.Index, s.Of, total}
}
