//go:build !unix

package store

// unsyncable reports whether a file system has no sync for folders: none has, here.
func unsyncable(error) bool { return true }

// noSpace reports whether a write failed for want of space. The text of the error says it there.
func noSpace(error) bool { return false }

// readOnly reports whether a write failed because the file system takes none.
func readOnly(error) bool { return false }
