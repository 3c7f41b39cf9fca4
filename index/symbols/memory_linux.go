package symbols

import "syscall"

// limitOwnMemory bounds the private memory of this process. Where the system refuses, it has no bound.
func limitOwnMemory(bytes uint64) {
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
