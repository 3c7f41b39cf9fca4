package main

import "testing"

// The heap grows to spareHeap without collections, and doubles beyond half of it.
func TestPercentFor(t *testing.T) {
	for live, want := range map[uint64]int{0: 3900, 1 << 20: 3900, 16 << 20: 900, 80 << 20: 100, 500 << 20: 100} {
		if got := percentFor(live); got != want {
			t.Errorf("%d live bytes: %d %%, want %d", live, got, want)
		}
	}
}
