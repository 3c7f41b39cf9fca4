//go:build unix

package store

import (
	"errors"
	"syscall"
)

// noSpace reports whether a write failed for want of space or quota.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// readOnly reports whether a write failed because the file system takes none.
func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// unsyncable reports whether a file system has no sync for folders.
func unsyncable(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}
