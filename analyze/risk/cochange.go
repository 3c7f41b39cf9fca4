package risk

import (
	"math"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/ctxt-dev/ctxt/index"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/history"
)

// maxChangeFiles is the largest change, in files, that teaches or is asked what belongs together.
const maxChangeFiles = 15

// The kinds of what a change is known by, besides its files.
const (
	itemFolder = iota // a folder that it touches, or an extension under a top folder
	itemAdded         // a folder to which it adds a file
	itemWord          // a word of its title
	itemAuthor
	itemKinds
)

// How much of the past of one file or item is read.
const (
	filePast = 128 // changes of a file
	itemPast = 100 // changes of an item
	nearPast = 60  // changes of either that are compared as wholes
	rareItem = 300 // an item of more changes than this says nothing about likeness
)

type itemID int32

// coChanges is the past of a repository in the form that the companions are computed from. Changes
// are numbered by age: 0 is the oldest.
type coChanges struct {
	h       *history.History
	files   [][]int32  // change → file ids
	status  [][]byte   // change → per file: 'A', 'M' or 'D'
	items   [][]itemID // change → items; nil for a change that is too large
	small   []int32    // change → smaller changes before it
	slow    []float64  // change → weight with a half-life of a year, relative to the tip
	kind    []uint8    // item → kind
	name    []string   // item → for people
	byFile  [][]int32  // file → changes, ascending
	byItem  [][]int32  // item → changes, ascending
	touched [][]int32  // file → changes of any size, ascending
	folder  []string   // file → folder
	stem    []string
	role    []index.Role
	words   map[uint32]itemID
	named   map[string]itemID
}

// fileChange is one file of a change that is asked about: its id, or -1 when the past does not know it.
type fileChange struct {
	id   int32
	path string
	add  bool
}

func newCoChanges(h *history.History) *coChanges {
	n := len(h.Commits)
	c := &coChanges{
		h: h, files: make([][]int32, n), status: make([][]byte, n), items: make([][]itemID, n),
		small: make([]int32, n), slow: make([]float64, n),
		byFile: make([][]int32, len(h.Paths)), touched: make([][]int32, len(h.Paths)),
		folder: make([]string, len(h.Paths)), stem: make([]string, len(h.Paths)), role: make([]index.Role, len(h.Paths)),
		words: map[uint32]itemID{}, named: map[string]itemID{},
	}
	for i, p := range h.Paths {
		c.folder[i], c.stem[i], c.role[i] = path.Dir(p), index.Stem(p), index.RoleOf(p)
	}
	count := int32(0)
	for seq := range n {
		k := &h.Commits[n-1-seq]
		c.small[seq] = count
		c.slow[seq] = math.Exp2(float64(k.Time-h.Now) / (365 * day))
		c.files[seq], c.status[seq] = k.Files, c.statuses(k, int32(seq))
		for _, f := range k.Files {
			c.touched[f] = append(c.touched[f], int32(seq))
		}
		if len(k.Files) == 0 || len(k.Files) > maxChangeFiles {
			continue
		}
		count++
		c.items[seq] = c.itemsOf(c.asked(seq), k.Terms[:k.InTitle], h.Authors[k.Author], true)
		for _, it := range c.items[seq] {
			c.byItem[it] = append(c.byItem[it], int32(seq))
		}
		for _, f := range k.Files {
			c.byFile[f] = append(c.byFile[f], int32(seq))
		}
	}
	return c
}

// statuses says what a change did to each of its files. A path that was renamed since counts as
// modified, unless the past does not know it from before.
func (c *coChanges) statuses(k *history.Commit, seq int32) []byte {
	out := make([]byte, len(k.Files))
	for i, f := range k.Files {
		p := c.h.Paths[f]
		at := sort.Search(len(k.Changes), func(j int) bool { return k.Changes[j].Path >= p })
		out[i] = 'M'
		switch {
		case at < len(k.Changes) && k.Changes[at].Path == p:
			out[i] = byte(k.Changes[at].Status)
			if out[i] == byte(git.Added) && len(c.touched[f]) > 0 && !c.deletedBefore(f, seq) {
				out[i] = 'M' // moved here by this very change
			}
		case len(c.touched[f]) == 0:
			out[i] = 'A'
		}
	}
	return out
}

// asked gives the files of a past change as a question.
func (c *coChanges) asked(seq int) []fileChange {
	out := make([]fileChange, len(c.files[seq]))
	for i, f := range c.files[seq] {
		out[i] = fileChange{id: f, path: c.h.Paths[f], add: c.status[seq][i] == 'A'}
	}
	return out
}

// item numbers what a change is known by; -1 when it is unknown and learn is false.
func (c *coChanges) item(kind uint8, key, name string, learn bool) itemID {
	if id, ok := c.named[key]; ok {
		return id
	}
	if !learn {
		return -1
	}
	id := c.newItem(kind, name)
	c.named[key] = id
	return id
}

func (c *coChanges) newItem(kind uint8, name string) itemID {
	c.kind, c.name, c.byItem = append(c.kind, kind), append(c.name, name), append(c.byItem, nil)
	return itemID(len(c.kind) - 1)
}

// itemsOf gives what a change is known by, ascending. Only with learn are new ones numbered.
func (c *coChanges) itemsOf(fs []fileChange, words []uint32, author string, learn bool) []itemID {
	var out []itemID
	put := func(id itemID) {
		if id >= 0 {
			out = append(out, id)
		}
	}
	for _, f := range fs {
		dir, ext := path.Dir(f.path), path.Ext(f.path)
		top, _, _ := strings.Cut(dir, "/")
		put(c.item(itemFolder, "d:"+dir, "touch "+dir+"/", learn))
		put(c.item(itemFolder, "e:"+top+":"+ext, "touch "+ext+" files under "+top+"/", learn))
		if up := path.Dir(dir); up != "." && up != "/" {
			put(c.item(itemFolder, "u:"+up, "touch "+up+"/*/", learn))
		}
		if f.add {
			put(c.item(itemAdded, "a:"+dir, "add a file to "+dir+"/", learn))
			put(c.item(itemAdded, "ae:"+top+":"+ext, "add a "+ext+" file under "+top+"/", learn))
		}
	}
	for _, w := range words {
		id, ok := c.words[w]
		if !ok {
			if !learn {
				continue
			}
			id = c.newItem(itemWord, "share a word of the title")
			c.words[w] = id
		}
		put(id)
	}
	if author != "" {
		put(c.item(itemAuthor, "n:"+author, "are by "+author, learn))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// deletedBefore reports whether the newest change of a file before seq deleted it.
func (c *coChanges) deletedBefore(f, seq int32) bool {
	past := before(c.touched[f], seq)
	if len(past) == 0 {
		return false
	}
	last := past[len(past)-1]
	k := sort.Search(len(c.files[last]), func(i int) bool { return c.files[last][i] >= f })
	return c.status[last][k] == byte(git.Deleted)
}

// before gives the numbers below seq of an ascending list.
func before(list []int32, seq int32) []int32 {
	return list[:sort.Search(len(list), func(i int) bool { return list[i] >= seq })]
}

// newest gives the last n of a list.
func newest(list []int32, n int) []int32 {
	return list[max(0, len(list)-n):]
}
