package git

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
)

// What the search for renames is bounded by.
const (
	maxRenameFiles = 2000      // candidates on one side whose contents are read
	maxRenameBlob  = 1 << 20   // bytes of one candidate
	maxRenameBytes = 128 << 20 // bytes of all
	maxRenamePairs = 250_000   // pairs that are compared
	maxRenameSteps = 50_000_000
)

var emptyBlob = HashBlob(nil)

// pairRenames joins deletions and additions: first those of the same content, then those that share
// at least half of the larger one's bytes by lines, the most alike first; among equals the same file
// name first, then by path.
func (r *Repo) pairRenames(ctx context.Context, changes []Change) ([]changePair, error) {
	var gone, made []Change
	var out []changePair
	for _, c := range changes {
		switch {
		case c.Status == Deleted && renamable(c.OldMode, c.Old):
			gone = append(gone, c)
		case c.Status == Added && renamable(c.NewMode, c.New):
			made = append(made, c)
		default:
			out = append(out, changePair{Change: c})
		}
	}
	gone, made, same := pairSame(gone, made)
	out = append(out, same...)
	gone, made, alike, err := r.pairAlike(ctx, gone, made)
	if err != nil {
		return nil, err
	}
	out = append(out, alike...)
	for _, c := range slices.Concat(gone, made) {
		out = append(out, changePair{Change: c})
	}
	return out, nil
}

func renamable(m Mode, h Hash) bool {
	return (m == ModeFile || m == ModeExec || m == ModeSymlink) && h != emptyBlob
}

func renamed(old, new Change) changePair {
	new.Status, new.Old, new.OldMode = Renamed, old.Old, old.OldMode
	return changePair{new, old.Path}
}

// pairSame pairs equal contents, preferring an equal file name.
func pairSame(gone, made []Change) (restGone, restMade []Change, pairs []changePair) {
	byHash := map[Hash][]int{}
	for i, c := range gone {
		byHash[c.Old] = append(byHash[c.Old], i)
	}
	used := make([]bool, len(gone))
	paired := make([]bool, len(made))
	for _, named := range []bool{true, false} {
		for j, c := range made {
			if paired[j] {
				continue
			}
			list := byHash[c.New]
			for n, i := range list[:min(len(list), 100)] {
				old := gone[i]
				if (old.OldMode == ModeSymlink) != (c.NewMode == ModeSymlink) || named && path.Base(old.Path) != path.Base(c.Path) {
					continue
				}
				used[i], paired[j] = true, true
				pairs = append(pairs, renamed(old, c))
				byHash[c.New] = slices.Delete(list, n, n+1)
				break
			}
		}
	}
	return unused(gone, used), unused(made, paired), pairs
}

func unused(all []Change, used []bool) []Change {
	var rest []Change
	for i, c := range all {
		if !used[i] {
			rest = append(rest, c)
		}
	}
	return rest
}

// profile is a file's lines as sorted hashes, with each line's bytes.
type profile struct {
	lines []lineWeight
	size  int
}

type lineWeight struct {
	hash uint64
	size int
}

func profileOf(data []byte) *profile {
	if isBinary(data) {
		return nil
	}
	p := &profile{size: len(data)}
	hashes := hashLines(data)
	for _, h := range hashes {
		n := slices.Index(data, '\n') + 1
		if n == 0 {
			n = len(data)
		}
		p.lines = append(p.lines, lineWeight{h, n})
		data = data[n:]
	}
	slices.SortFunc(p.lines, func(a, b lineWeight) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.size, b.size))
	})
	return p
}

// common returns the bytes of the lines that both have.
func (p *profile) common(q *profile) (n int) {
	a, b := p.lines, q.lines
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].hash < b[0].hash:
			a = a[1:]
		case a[0].hash > b[0].hash:
			b = b[1:]
		default:
			n += a[0].size
			a, b = a[1:], b[1:]
		}
	}
	return n
}

type likeness struct {
	score     float64
	named     bool // the same file name
	gone, add int
}

// pairAlike pairs similar contents.
func (r *Repo) pairAlike(ctx context.Context, gone, made []Change) (restGone, restMade []Change, pairs []changePair, err error) {
	if len(gone) == 0 || len(made) == 0 || len(gone) > maxRenameFiles || len(made) > maxRenameFiles {
		return gone, made, nil, nil
	}
	profiles, err := r.profiles(ctx, gone, made)
	if err != nil {
		return nil, nil, nil, err
	}
	found := alike(gone, made, profiles)
	used, paired := make([]bool, len(gone)), make([]bool, len(made))
	for _, l := range found {
		if !used[l.gone] && !paired[l.add] {
			used[l.gone], paired[l.add] = true, true
			pairs = append(pairs, renamed(gone[l.gone], made[l.add]))
		}
	}
	return unused(gone, used), unused(made, paired), pairs, nil
}

// profiles reads the candidates' contents; what cannot be compared has none.
func (r *Repo) profiles(ctx context.Context, gone, made []Change) (map[Hash]*profile, error) {
	var want []Hash
	seen := map[Hash]bool{}
	add := func(h Hash, m Mode) {
		if m != ModeSymlink && !seen[h] {
			seen[h] = true
			want = append(want, h)
		}
	}
	for _, c := range gone {
		add(c.Old, c.OldMode)
	}
	for _, c := range made {
		add(c.New, c.NewMode)
	}
	profiles, total := map[Hash]*profile{}, 0
	err := r.Blobs(ctx, want, maxRenameBlob, func(i int, data []byte, err error) {
		if total += len(data); err == nil && total <= maxRenameBytes {
			if p := profileOf(data); p != nil {
				profiles[want[i]] = p
			}
		}
	})
	return profiles, err
}

// alike lists the pairs that are similar enough, best first. Pairs of the same file name are
// compared first, so that they are the last to fall to the bounds.
func alike(gone, made []Change, profiles map[Hash]*profile) []likeness {
	var found []likeness
	tried, steps := 0, 0
	for _, named := range []bool{true, false} {
		for i, g := range gone {
			p := profiles[g.Old]
			if p == nil {
				continue
			}
			for j, m := range made {
				q := profiles[m.New]
				if q == nil || named != (path.Base(g.Path) == path.Base(m.Path)) || min(p.size, q.size)*2 < max(p.size, q.size) {
					continue
				}
				if tried++; tried > maxRenamePairs || steps > maxRenameSteps {
					break
				}
				steps += len(p.lines) + len(q.lines)
				if score := float64(p.common(q)) / float64(max(p.size, q.size)); score >= 0.5 {
					found = append(found, likeness{score, named, i, j})
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b likeness) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		if a.named != b.named {
			if a.named {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(gone[a.gone].Path, gone[b.gone].Path), strings.Compare(made[a.add].Path, made[b.add].Path))
	})
	return found
}
