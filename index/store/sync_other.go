//go:build !unix

package store

// unsyncable reports whether a file system has no sync for folders: none has, here.
func unsyncable(error) bool { return true }
