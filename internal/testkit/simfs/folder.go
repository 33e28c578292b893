package simfs

import (
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/ralph-loop/ralph/internal/ground/journalfs"
)

// folder is a journalfs.Folder.
type folder struct {
	fs *FS
	at *node
}

func (d *folder) Open(name string) (journalfs.File, error) { return d.open(name, false) }

func (d *folder) Append(name string) (journalfs.File, error) { return d.open(name, true) }

func (d *folder) open(name string, writing bool) (journalfs.File, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	if d.fs.dead {
		return nil, wrong("open", name, ErrCrashed)
	}
	n, err := findFile(d.at, name)
	if err == nil && writing && d.fs.plan.ReadOnly {
		err = syscall.EROFS
	}
	if err != nil {
		return nil, wrong("open", name, err)
	}
	return &file{fs: d.fs, at: n, name: name, writing: writing}, nil
}

func (d *folder) Create(name string) (journalfs.File, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	in, base, err := place(d.at, name)
	if err == nil && in.names[base] != nil {
		err = fs.ErrExist
	}
	if err != nil {
		return nil, wrong("create", name, err)
	}
	n, err := d.fs.create(in, base)
	if err != nil {
		return nil, wrong("create", name, err)
	}
	return &file{fs: d.fs, at: n, name: name, writing: true}, nil
}

func (f *FS) create(in *node, base string) (*node, error) {
	n := &node{}
	done, err := f.change()
	if done {
		if old := in.names[base]; old != nil {
			f.used -= int64(len(old.data))
		}
		f.name(naming{{in, base, n}})
	}
	return n, err
}

func (d *folder) Mkdir(name string) error {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	in, base, err := place(d.at, name)
	if err == nil {
		switch old := in.names[base]; {
		case old == nil:
			err = d.fs.mkdir(in, base)
		case old.names == nil:
			err = syscall.ENOTDIR
		}
	}
	return wrong("mkdir", name, err)
}

func (d *folder) List(name string) ([]string, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	if d.fs.dead {
		return nil, wrong("list", name, ErrCrashed)
	}
	return list(d.at, name)
}

func list(from *node, name string) ([]string, error) {
	n, err := findFolder(from, name)
	if err != nil {
		return nil, wrong("list", name, err)
	}
	return slices.Sorted(maps.Keys(n.names)), nil
}

func (d *folder) Stat(name string) (journalfs.Info, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	if d.fs.dead {
		return journalfs.Info{}, wrong("stat", name, ErrCrashed)
	}
	n, err := find(d.at, name)
	if err != nil {
		return journalfs.Info{}, wrong("stat", name, err)
	}
	return journalfs.Info{Size: int64(len(n.data)), Folder: n.names != nil}, nil
}

func (d *folder) Rename(from, to string) error {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	n, err := find(d.at, from)
	if err != nil {
		return wrong("rename", from, err)
	}
	oldFolder, oldName, err1 := place(d.at, from)
	newFolder, newName, err2 := place(d.at, to)
	if err1 != nil || err2 != nil {
		return wrong("rename", to, fs.ErrNotExist)
	}
	done, err := d.fs.change()
	if done {
		if over := newFolder.names[newName]; over != nil {
			d.fs.used -= int64(len(over.data))
		}
		d.fs.name(naming{{oldFolder, oldName, nil}, {newFolder, newName, n}})
	}
	return wrong("rename", to, err)
}

func (d *folder) Remove(name string) error {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	n, err := find(d.at, name)
	if err == nil && len(n.names) > 0 {
		err = syscall.ENOTEMPTY
	}
	if err != nil {
		return wrong("remove", name, err)
	}
	in, base, err := place(d.at, name)
	if err != nil {
		return wrong("remove", name, err)
	}
	done, err := d.fs.change()
	if done {
		d.fs.used -= int64(len(n.data))
		d.fs.name(naming{{in, base, nil}})
	}
	return wrong("remove", name, err)
}

func (d *folder) SyncFolder(name string) error {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	n, err := find(d.at, name)
	if err != nil {
		return wrong("sync", name, err)
	}
	done, err := d.fs.sync()
	if done {
		d.fs.log = slices.DeleteFunc(d.fs.log, func(change naming) bool {
			if !slices.ContainsFunc(change, func(c nameChange) bool { return c.folder == n }) {
				return false
			}
			change.apply((*node).afterLoss)
			return true
		})
	}
	return wrong("sync", name, err)
}

func (f *FS) sync() (done bool, err error) {
	if done, err = f.change(); err != nil {
		return done, err
	}
	f.syncs++
	if f.syncs == f.plan.FailSync {
		return false, f.plan.Err
	}
	return true, nil
}

func (d *folder) Close() error { return nil }

// file is a journalfs.File. Its node remains when its name is removed.
type file struct {
	fs      *FS
	at      *node
	name    string
	writing bool
	closed  atomic.Bool
}

func (h *file) ReadAt(p []byte, offset int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.usable("read", false); err != nil {
		return 0, err
	}
	if offset >= int64(len(h.at.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.at.data[offset:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *file) Write(p []byte) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.usable("write", true); err != nil {
		return 0, err
	}
	n, err := h.fs.write(h.at, p)
	return n, wrong("write", h.name, err)
}

// write appends as much as the plan allows.
func (f *FS) write(n *node, p []byte) (int, error) {
	_, err := f.change()
	if err != nil && !f.dead {
		return 0, err
	}
	f.writes++
	part := len(p)
	switch {
	case err != nil: // the crash happens in the middle
		part = f.rng.IntN(len(p) + 1)
	case f.writes == f.plan.FailWrite:
		part, err = f.rng.IntN(len(p)+1), f.plan.Err
	case f.plan.Space > 0 && f.used+int64(len(p)) > f.plan.Space:
		part, err = int(max(0, f.plan.Space-f.used)), syscall.ENOSPC
	}
	n.data = append(n.data[:len(n.data):cap(n.data)], p[:part]...)
	f.used += int64(part)
	return part, err
}

func (h *file) Size() (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	return int64(len(h.at.data)), h.usable("stat", false)
}

func (h *file) Truncate(size int64) error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.usable("truncate", true); err != nil {
		return err
	}
	if size < 0 || size > int64(len(h.at.data)) {
		return wrong("truncate", h.name, syscall.EINVAL)
	}
	done, err := h.fs.change()
	if done {
		h.fs.used -= int64(len(h.at.data)) - size
		// The next append must not overwrite the snapshots.
		h.at.data = h.at.data[:size:size]
	}
	return wrong("truncate", h.name, err)
}

func (h *file) Sync() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.usable("sync", false); err != nil {
		return err
	}
	done, err := h.fs.sync()
	switch {
	case done && !h.at.spoiled:
		h.at.synced = h.at.data[:len(h.at.data):len(h.at.data)]
	case !done && !h.fs.dead:
		h.at.spoiled = true
	}
	return wrong("sync", h.name, err)
}

func (h *file) Close() error {
	h.closed.Store(true)
	return nil
}

func (h *file) usable(op string, writing bool) error {
	switch {
	case h.fs.dead:
		return wrong(op, h.name, ErrCrashed)
	case h.closed.Load():
		return wrong(op, h.name, fs.ErrClosed)
	case writing && !h.writing:
		return wrong(op, h.name, syscall.EBADF)
	}
	return nil
}
