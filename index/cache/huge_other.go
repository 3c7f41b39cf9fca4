//go:build !linux

package cache

func hugePages([]byte) {}
