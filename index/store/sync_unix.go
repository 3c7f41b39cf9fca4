//go:build unix

package store

import (
	"errors"
	"syscall"
)

// unsyncable reports whether a file system has no sync for folders.
func unsyncable(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}
