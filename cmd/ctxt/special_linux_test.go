package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// mknod makes a device file.
func mknod(name string, mode, major, minor uint32) error {
	return syscall.Mknod(name, mode, int(unix.Mkdev(major, minor)))
}
