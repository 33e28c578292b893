package filewatch

import "golang.org/x/sys/unix"

// Remote reports whether dir is on a file system that others change without an event here: a
// network's, or one that passes a host's folder into a container or a virtual machine. Numbers
// without a constant are from the kernel's magic.h and fs/fuse.
func Remote(dir string) bool {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return false
	}
	switch uint32(s.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.V9FS_MAGIC, unix.CEPH_SUPER_MAGIC,
		// virtiofs and sshfs are FUSE
		unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC,
		0x786f4256: // vboxsf
		return true
	}
	return false
}
