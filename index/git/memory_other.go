//go:build !linux

package git

import "os"

// limitMemory does nothing: no other system limits the memory of a process that runs already.
func limitMemory(*os.Process, uint64) {}
