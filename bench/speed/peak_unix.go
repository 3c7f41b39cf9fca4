//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the largest memory of a process and of those that it waited for, in bytes.
func peak(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}
