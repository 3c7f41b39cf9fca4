package cache

import (
	"syscall"
	"unsafe"
)

// hugePages asks the system to back the whole large pages of a new buffer as such: filling one of many
// megabytes otherwise takes as long again in page faults. A system that refuses is as good, but slower.
func hugePages(b []byte) {
	const page, wanted = 2 << 20, 14 // MADV_HUGEPAGE
	if len(b) < 2*page {
		return
	}
	from := int(-uintptr(unsafe.Pointer(&b[0])) % page) // #nosec G103 -- only the address is used
	if n := (len(b) - from) / page * page; n > 0 {
		_ = syscall.Madvise(b[from:from+n], wanted) // a hint
	}
}
