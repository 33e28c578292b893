package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Sync leaves out the times of the file, which fsync would write as well.
func (f osFile) Sync() error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
	}
}

// scarce is the share of what is free on a disk that is not set aside.
const scarce = 64

// reserve is for ext4, where it was measured: other file systems set room aside by themselves
// (XFS), write nothing in place (Btrfs), or would take it from memory (tmpfs).
func (f osFile) reserve(bytes int64) {
	fd := int(f.Fd())
	var disk unix.Statfs_t
	if unix.Fstatfs(fd, &disk) != nil || disk.Type != unix.EXT4_SUPER_MAGIC || int64(disk.Bavail)/scarce*int64(disk.Bsize) < bytes { //nolint:unconvert // Bsize is an int32 on some processors
		return
	}
	_ = unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, bytes)
}

func (f osFile) release() {
	var file unix.Stat_t
	if unix.Fstat(int(f.Fd()), &file) == nil && file.Blocks*512 > file.Size+1<<20 {
		_ = f.Truncate(file.Size) // frees what lies behind, whatever the size was
	}
}

func (f osFile) startWriting(from, bytes int64) {
	if bytes > 0 { // none would mean all
		_ = unix.SyncFileRange(int(f.Fd()), from, bytes, unix.SYNC_FILE_RANGE_WRITE)
	}
}
