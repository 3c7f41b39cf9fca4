package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// spareHeap is the heap that is used before garbage is looked for, in bytes: most commands end before
// they have made as much. Beyond it the heap may double, as usual.
const spareHeap = 160 << 20

// spareGC puts garbage collection off until the heap has grown to spareHeap. GOGC in the environment
// has its usual meaning instead.
func spareGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const smallest = 4 << 20 // heap that a percentage of 100 starts with
	debug.SetGCPercent(spareHeap / smallest * 100)
	afterGC()
}

// afterGC sets the percentage anew after each collection.
func afterGC() {
	runtime.AddCleanup(&struct{ self *int }{}, func(int) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetGCPercent(percentFor(live[0].Value.Uint64()))
		afterGC()
	}, 0)
}

// percentFor is how far a heap of so many live bytes may grow.
func percentFor(live uint64) int {
	if live < 1 {
		live = 1
	}
	return int(min(max(spareHeap*100/live, 200), spareHeap/(4<<20)*100) - 100) //nolint:gosec // at most 3900
}
