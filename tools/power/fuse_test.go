//go:build linux

package power

import (
	"fmt"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// mounted is a disk that is mounted at a folder.
type mounted struct {
	fuse.RawFileSystem
	disk   *disk
	server *fuse.Server
	lists  map[uint64][]string // names in open folders when they were last read from the start
}

// mount needs /dev/fuse and the right to mount.
func mount(d *disk, at string) (*mounted, error) {
	m := &mounted{RawFileSystem: fuse.NewDefaultRawFileSystem(), disk: d, lists: map[uint64][]string{}}
	server, err := fuse.NewServer(m, at, &fuse.MountOptions{
		DirectMountStrict: true, FsName: "power", Name: "power", DisableXAttrs: true, DisableReadDirPlus: true, MaxWrite: 1 << 20,
		DisableSplice: true, // it says on stderr that 1 MB is too long for it
	})
	if err != nil {
		return nil, fmt.Errorf("mount at %s: %w", at, err)
	}
	m.server = server
	go server.Serve()
	return m, server.WaitMount()
}

// unmount does not wait until the kernel has forgotten processes that just used it.
func (m *mounted) unmount(at string) error { return unix.Unmount(at, unix.MNT_DETACH) }

// No other process changes the disk, so the kernel may cache names and attributes, but not bytes
// (FOPEN_DIRECT_IO): a read of a file to which another process was appending ended early.
const remembered = time.Hour

func (m *mounted) entry(n *node, out *fuse.EntryOut) {
	out.NodeId, out.Generation = n.id, 1
	out.SetEntryTimeout(remembered)
	out.SetAttrTimeout(remembered)
	m.attr(n, &out.Attr)
}

func (m *mounted) attr(n *node, out *fuse.Attr) {
	out.Ino, out.Mode, out.Nlink, out.Blksize = n.id, n.mode, 1, 4096
	out.Size = uint64(len(n.data))
	out.Blocks = (out.Size + 511) / 512
	out.SetTimes(&n.mtime, &n.mtime, &n.mtime)
}

// in runs an operation on the node of a request.
func (m *mounted) in(k kind, id uint64, name string, act func(*node) syscall.Errno) fuse.Status {
	m.disk.mu.Lock()
	n := m.disk.nodes[id]
	where := name
	if k.changing() {
		where = "/" + m.disk.path(n) + " " + name
	}
	m.disk.mu.Unlock()
	return fuse.Status(m.disk.do(k, where, func() syscall.Errno { return act(n) }))
}

func (m *mounted) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	return m.in(lookup, h.NodeId, name, func(n *node) syscall.Errno {
		child := n.names[name]
		if child == nil {
			return syscall.ENOENT
		}
		m.entry(child, out)
		return 0
	})
}

func (m *mounted) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return m.in(lookup, in.NodeId, "", func(n *node) syscall.Errno {
		out.SetTimeout(remembered)
		m.attr(n, &out.Attr)
		return 0
	})
}

func (m *mounted) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	k := chmod
	size, sizing := in.GetSize()
	if sizing {
		k = resize
	}
	return m.in(k, in.NodeId, "", func(n *node) syscall.Errno {
		if sizing {
			m.disk.resize(n, int64(size))
		}
		if mode, ok := in.GetMode(); ok {
			n.mode = n.mode&syscall.S_IFMT | mode&0o7777
		}
		if mtime, ok := in.GetMTime(); ok {
			n.mtime = mtime
		}
		out.SetTimeout(remembered)
		m.attr(n, &out.Attr)
		return 0
	})
}

// make gives a new node a name.
func (m *mounted) make(n *node, name string, mode uint32, out *fuse.EntryOut) (*node, syscall.Errno) {
	if n.names[name] != nil {
		return nil, syscall.EEXIST
	}
	child := m.disk.node(mode)
	m.disk.name(setting{n, name, child})
	m.entry(child, out)
	return child, 0
}

func (m *mounted) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return m.in(mkdir, in.NodeId, name, func(n *node) syscall.Errno {
		_, err := m.make(n, name, syscall.S_IFDIR|in.Mode&0o7777, out)
		return err
	})
}

func (m *mounted) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return m.in(create, in.NodeId, name, func(n *node) syscall.Errno {
		_, err := m.make(n, name, syscall.S_IFREG|in.Mode&0o7777, &out.EntryOut)
		out.OpenFlags = fuse.FOPEN_DIRECT_IO
		return err
	})
}

func (m *mounted) Symlink(_ <-chan struct{}, h *fuse.InHeader, to, name string, out *fuse.EntryOut) fuse.Status {
	return m.in(create, h.NodeId, name, func(n *node) syscall.Errno {
		child, err := m.make(n, name, syscall.S_IFLNK|0o777, out)
		if err == 0 {
			child.data = []byte(to)
		}
		return err
	})
}

func (m *mounted) Readlink(_ <-chan struct{}, h *fuse.InHeader) (to []byte, status fuse.Status) {
	status = m.in(lookup, h.NodeId, "", func(n *node) syscall.Errno { to = n.data; return 0 })
	return to, status
}

func (m *mounted) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return m.in(remove, h.NodeId, name, func(n *node) syscall.Errno {
		if n.names[name] == nil {
			return syscall.ENOENT
		}
		m.disk.name(setting{n, name, nil})
		return 0
	})
}

func (m *mounted) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return m.in(remove, h.NodeId, name, func(n *node) syscall.Errno {
		child := n.names[name]
		if child == nil {
			return syscall.ENOENT
		}
		if len(child.names) > 0 {
			return syscall.ENOTEMPTY
		}
		m.disk.name(setting{n, name, nil})
		return 0
	})
}

func (m *mounted) Rename(_ <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	return m.in(rename, in.NodeId, from+" to "+to, func(n *node) syscall.Errno {
		target := m.disk.nodes[in.Newdir]
		moved, over := n.names[from], target.names[to]
		switch {
		case moved == nil:
			return syscall.ENOENT
		case in.Flags&unix.RENAME_NOREPLACE != 0 && over != nil:
			return syscall.EEXIST
		case in.Flags&^unix.RENAME_NOREPLACE != 0:
			return syscall.EINVAL
		case over == moved:
			return 0
		case over != nil && len(over.names) > 0:
			return syscall.ENOTEMPTY
		}
		m.disk.name(setting{n, from, nil}, setting{target, to, moved})
		return 0
	})
}

func (m *mounted) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	return m.in(link, in.NodeId, name, func(n *node) syscall.Errno {
		if n.names[name] != nil {
			return syscall.EEXIST
		}
		old := m.disk.nodes[in.Oldnodeid]
		m.disk.name(setting{n, name, old})
		m.entry(old, out)
		return 0
	})
}

func (m *mounted) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_DIRECT_IO
	k := open
	if in.Flags&syscall.O_TRUNC != 0 {
		k = resize
	}
	return m.in(k, in.NodeId, "", func(n *node) syscall.Errno {
		if k == resize {
			m.disk.resize(n, 0)
		}
		return 0
	})
}

func (m *mounted) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	got := 0
	status := m.in(read, in.NodeId, "", func(n *node) syscall.Errno {
		if in.Offset < uint64(len(n.data)) {
			got = copy(buf, n.data[in.Offset:])
		}
		return 0
	})
	return fuse.ReadResultData(buf[:got]), status
}

func (m *mounted) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	status := m.in(write, in.NodeId, fmt.Sprintf("%d+%d", in.Offset, len(data)), func(n *node) syscall.Errno {
		m.disk.write(n, int64(in.Offset), data)
		return 0
	})
	if status == fuse.OK && in.Flags&unix.O_DSYNC != 0 { // opened with O_SYNC
		status = m.in(syncFile, in.NodeId, "", func(n *node) syscall.Errno { m.disk.keepBytes(n); return 0 })
	}
	if status != fuse.OK {
		return 0, status
	}
	return uint32(len(data)), status
}

func (m *mounted) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return m.in(syncFile, in.NodeId, "", func(n *node) syscall.Errno { m.disk.keepBytes(n); return 0 })
}

func (m *mounted) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return m.in(syncFolder, in.NodeId, "", func(n *node) syscall.Errno { m.disk.keepNames(n); return 0 })
}

func (m *mounted) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return m.in(list, in.NodeId, "", func(*node) syscall.Errno {
		out.Fh = uint64(m.disk.of[list])
		return 0
	})
}

func (m *mounted) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return m.in(list, in.NodeId, "", func(n *node) syscall.Errno {
		if in.Offset == 0 {
			m.lists[in.Fh] = slices.Sorted(maps.Keys(n.names))
		}
		names := m.lists[in.Fh]
		for i := int(in.Offset); i < len(names); i++ {
			child := n.names[names[i]]
			if child == nil {
				continue // removed meanwhile
			}
			if !out.AddDirEntry(fuse.DirEntry{Name: names[i], Mode: child.mode, Ino: child.id, Off: uint64(i + 1)}) {
				break
			}
		}
		return 0
	})
}

func (m *mounted) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.OK }

func (m *mounted) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

func (m *mounted) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.Frsize, out.NameLen = 4096, 4096, 255
	out.Blocks, out.Bfree, out.Bavail, out.Files, out.Ffree = 1<<24, 1<<23, 1<<23, 1<<20, 1<<19
	return fuse.OK
}
