package cache

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
)

// ending is a context that ends at its n-th look.
type ending struct {
	context.Context
	looks atomic.Int64
	end   int64
}

func (e *ending) Err() error {
	if e.looks.Add(1) >= e.end {
		return context.Canceled
	}
	return nil
}

// Closing looks at the context before each record and before it writes; whenever it ends, nothing is
// left that is not whole.
func TestCloseEnds(t *testing.T) {
	const docs = 20
	for end := int64(1); ; end++ {
		dir := t.TempDir()
		c := open(t, dir)
		for i := range byte(docs) {
			c.Put(key1(i), doc(uint32(i)))
		}
		ctx := &ending{Context: context.Background(), end: end}
		err := c.Close(ctx)
		entries, rerr := os.ReadDir(dir)
		if rerr != nil {
			t.Fatal(rerr)
		}
		if err == nil {
			if end <= docs || len(entries) != 2 {
				t.Errorf("closed after %d looks, with %d files", ctx.looks.Load(), len(entries))
			}
			break
		}
		if !errors.Is(err, context.Canceled) || ctx.looks.Load() != end || len(entries) != 1 {
			t.Fatalf("ended at look %d: %v, %d looks, %d files; want .gitignore alone", end, err, ctx.looks.Load(), len(entries))
		}
	}
}
