//go:build !linux

package symbols

// limitOwnMemory does nothing: no other system limits the memory of a process that runs already.
func limitOwnMemory(uint64) {}
