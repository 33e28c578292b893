package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// everything is the length of a lock on a file of any size, in two halves.
const everything = ^uint32(0)

func try(f *os.File, exclusive bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, everything, everything, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("LockFileEx", err)
}

func release(f *os.File) error {
	err := windows.UnlockFileEx(windows.Handle(f.Fd()), 0, everything, everything, &windows.Overlapped{})
	return os.NewSyscallError("UnlockFileEx", err)
}
