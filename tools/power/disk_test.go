//go:build linux

package power

import (
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// disk is the file system: what processes see of it, what of that is certain, and what else may
// survive. Its methods may be called from several goroutines.
type disk struct {
	mu    sync.Mutex
	rng   *rand.Rand
	root  *node
	nodes map[uint64]*node
	log   []naming // changes of names since the oldest uncertain one

	// keepsNew says that the sync of a file keeps its name as well, if it is new, and those of the
	// folders above: ext4, XFS and Btrfs do that.
	keepsNew bool

	plan    plan
	changes int        // so far
	of      [kinds]int // operations so far, by kind
	trace   []string   // the changes, for a person
	refused int        // operations that were refused
	off     bool       // the power is cut
	cut     chan struct{}
	over    chan struct{} // closed when all that wait get an answer
}

// node is a file, a folder or a symbolic link.
type node struct {
	id    uint64
	mode  uint32 // type and permissions
	mtime time.Time
	names map[string]*node // of a folder
	data  []byte           // of a file; a link's target

	known   map[string]*node // the names before disk.log
	base    []byte           // the bytes as of the last sync
	pending []edit           // edits since
	synced  string           // the path at the last sync
}

// edit is a write at an offset, or a change of the size to that offset.
type edit struct {
	at     int64
	data   []byte
	resize bool
}

// naming is one change of names, which survives whole or not at all.
type naming struct {
	sets    []setting
	certain bool
}

// setting gives a name in a folder to a node, or removes the name if the node is nil.
type setting struct {
	in   *node
	name string
	to   *node
}

// plan is what goes wrong.
type plan struct {
	cutAt  int // the change, counted from 1, at which the power is cut; 0 means never
	refuse kind
	from   int // the first operation of that kind that is refused, counted from 1; 0 means none
	most   int // how many are refused; 0 means all that follow
	with   syscall.Errno
}

// kind is a kind of operation.
type kind int

const (
	lookup kind = iota
	open
	read
	list
	create
	write
	resize
	chmod
	mkdir
	rename
	link
	remove
	syncFile
	syncFolder
	kinds
)

var kindNames = [kinds]string{"lookup", "open", "read", "list", "create", "write", "resize", "chmod", "mkdir", "rename", "link", "remove", "syncFile", "syncFolder"}

func (k kind) String() string { return kindNames[k] }

// changing reports whether an operation changes what is on the disk, or makes it certain.
func (k kind) changing() bool { return k >= create }

func newDisk(rng *rand.Rand) *disk {
	d := &disk{rng: rng, nodes: map[uint64]*node{}, cut: make(chan struct{}), over: make(chan struct{})}
	d.root = d.node(syscall.S_IFDIR | 0o755)
	return d
}

func (d *disk) node(mode uint32) *node {
	n := &node{id: uint64(len(d.nodes) + 1), mode: mode, mtime: time.Now()}
	if n.folder() {
		n.names, n.known = map[string]*node{}, map[string]*node{}
	}
	d.nodes[n.id] = n
	return n
}

func (n *node) folder() bool { return n.mode&syscall.S_IFMT == syscall.S_IFDIR }

// do performs one operation, unless the plan says otherwise. The operation at which the power is
// cut, and all later ones, get no answer until the machine is off.
func (d *disk) do(k kind, what string, act func() syscall.Errno) syscall.Errno {
	d.mu.Lock()
	if d.off {
		d.mu.Unlock()
		<-d.over
		return syscall.EIO
	}
	d.of[k]++
	if p := d.plan; p.from > 0 && k == p.refuse && d.of[k] >= p.from && (p.most == 0 || d.of[k] < p.from+p.most) {
		d.note(k, what+" refused: "+p.with.Error())
		d.refused++
		d.mu.Unlock()
		return p.with
	}
	if !k.changing() {
		defer d.mu.Unlock()
		return act()
	}
	d.changes++
	d.note(k, what)
	if d.changes != d.plan.cutAt {
		defer d.mu.Unlock()
		return act()
	}
	// A sync without an answer may have happened; everything else is uncertain anyway.
	if k != syncFile && k != syncFolder || d.rng.IntN(2) == 0 {
		act()
	}
	d.off = true
	close(d.cut)
	d.mu.Unlock()
	<-d.over
	return syscall.EIO
}

func (d *disk) note(k kind, what string) {
	d.trace = append(d.trace, k.String()+" "+what)
}

// name makes one change of names.
func (d *disk) name(sets ...setting) {
	for _, s := range sets {
		s.apply(s.in.names)
	}
	d.log = append(d.log, naming{sets: sets})
}

func (s setting) apply(names map[string]*node) {
	if s.to == nil {
		delete(names, s.name)
	} else {
		names[s.name] = s.to
	}
}

// keepNames makes the names in a folder certain.
func (d *disk) keepNames(folder *node) {
	d.keep(func(s setting) bool { return s.in == folder })
}

// keep makes changes of names certain that have such a setting.
func (d *disk) keep(has func(setting) bool) {
	for i, change := range d.log {
		if slices.ContainsFunc(change.sets, has) {
			d.log[i].certain = true
		}
	}
	for len(d.log) > 0 && d.log[0].certain {
		d.log[0].apply()
		d.log = d.log[1:]
	}
}

func (n naming) apply() {
	for _, s := range n.sets {
		s.apply(s.in.known)
	}
}

// keepBytes makes the bytes of a file certain.
func (d *disk) keepBytes(n *node) {
	n.base, n.pending = slices.Clone(n.data), nil
	n.synced = d.path(n)
	if at := d.root; d.keepsNew && n.synced != "" {
		for part := range strings.SplitSeq(n.synced, "/") {
			at = at.names[part]
			d.keep(func(s setting) bool { return s.to == at })
		}
	}
}

func (d *disk) write(n *node, at int64, data []byte) {
	n.edit(edit{at: at, data: slices.Clone(data)})
}

func (d *disk) resize(n *node, size int64) {
	n.edit(edit{at: size, resize: true})
}

func (n *node) edit(e edit) {
	n.pending = append(n.pending, e)
	n.data = e.on(n.data)
	n.mtime = time.Now()
}

// on returns the bytes after the edit.
func (e edit) on(data []byte) []byte {
	if e.resize {
		return sized(data, e.at)
	}
	end := e.at + int64(len(e.data))
	data = sized(data, max(end, int64(len(data))))
	copy(data[e.at:], e.data)
	return data
}

// sized returns data with that many bytes, zeros at its end where it had fewer.
func sized(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data[:size]
	}
	return append(data, make([]byte, size-int64(len(data)))...)
}

// path returns one of the paths of a node, from the root on; empty if the node has no name any
// more.
func (d *disk) path(n *node) string {
	found := ""
	d.walk(d.root, "", func(at string, other *node) {
		if other == n {
			found = at
		}
	})
	return found
}

// walk visits all nodes below a folder that have a name.
func (d *disk) walk(folder *node, under string, visit func(string, *node)) {
	for name, n := range folder.names {
		at := path.Join(under, name)
		visit(at, n)
		if n.folder() {
			d.walk(n, at, visit)
		}
	}
}

// put makes a file before anything runs. The file and its folders are certain.
func (d *disk) put(name, content string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.root
	dir, base := path.Split(name)
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if at.names[part] == nil {
			n := d.node(syscall.S_IFDIR | 0o755)
			at.names[part], at.known[part] = n, n
		}
		at = at.names[part]
	}
	if base != "" {
		n := d.node(syscall.S_IFREG | 0o644)
		n.data, n.base = []byte(content), []byte(content)
		at.names[base], at.known[base] = n, n
	}
}

// read returns what a file holds.
func (d *disk) read(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.root
	for part := range strings.SplitSeq(name, "/") {
		if at = at.names[part]; at == nil {
			return nil, fs.ErrNotExist
		}
	}
	return slices.Clone(at.data), nil
}
