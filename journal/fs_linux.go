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

// freeShare: a file reserves at most 1/freeShare of the free space.
const freeShare = 64

// reserve works on ext4, where it was measured. Other file systems reserve space themselves (XFS),
// write nothing in place (Btrfs), or would take it from memory (tmpfs).
func (f osFile) reserve(bytes int64) {
	fd := int(f.Fd())
	var disk unix.Statfs_t
	//nolint:unconvert // Bsize is an int32 on some processors
	if unix.Fstatfs(fd, &disk) != nil || disk.Type != unix.EXT4_SUPER_MAGIC || int64(disk.Bavail)/freeShare*int64(disk.Bsize) < bytes {
		return
	}
	_ = unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, bytes)
}

func (f osFile) release() {
	var file unix.Stat_t
	if unix.Fstat(int(f.Fd()), &file) == nil && file.Blocks*512 > file.Size+firstReserve/16 {
		_ = f.Truncate(file.Size) // frees the space after the end
	}
}
