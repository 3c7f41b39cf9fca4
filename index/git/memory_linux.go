package git

import (
	"os"

	"golang.org/x/sys/unix"
)

// limitMemory bounds the private memory of a running process. Packs that it maps do not count. Where
// the system refuses, the process runs without a bound.
func limitMemory(p *os.Process, bytes uint64) {
	_ = unix.Prlimit(p.Pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}
