package simfs

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/ralph-loop/ralph/internal/ground/journalfs"
)

// ErrCrashed is the result of every call after the crash.
var ErrCrashed = errors.New("the simulated process is dead")

// Plan says what goes wrong. The zero Plan is a disk that never fails.
type Plan struct {
	// CrashAt is the change during which the process dies. Half of a write, or
	// all or nothing of another change, has happened then.
	CrashAt int
	// FailWrite and FailSync are the numbers of the write and of the sync that fail with Err. Each
	// is counted from 1 after the call of FS.Plan. A failing write leaves a first part of its
	// bytes.
	FailWrite, FailSync int
	// Err is their error; nil means EIO.
	Err error
	// Space is the disk's size in bytes; a write beyond it is short and fails with ENOSPC. 0 means
	// no limit.
	Space int64
	// ReadOnly refuses every change with EROFS.
	ReadOnly bool
}

// Loss says how a process dies.
type Loss int

const (
	Killed    Loss = iota // kill -9: what was written remains
	PowerLost             // also the machine dies: what was not synced may be lost, the last changes first
	// PowerLostAnyOrder is a power loss with a file system that keeps no order: each unsynced
	// change of names may be lost, whether or not earlier ones are.
	PowerLostAnyOrder
)

// FS is the file system. Its methods may be called from several goroutines.
type FS struct {
	mu      sync.Mutex
	rng     *rand.Rand
	plan    Plan
	changes int
	writes  int
	syncs   int
	used    int64
	dead    bool
	root    *node
	log     []naming // changes of names that no sync has made durable
}

// node is a file or a folder.
type node struct {
	names   map[string]*node // of a folder; nil for a file
	durable map[string]*node

	// Bytes are only ever appended to or replaced by other memory, so that a
	// slice of them is a snapshot.
	data    []byte
	synced  []byte
	spoiled bool // a sync failed: later ones make nothing durable
}

// naming is one change of one name, or of two names at once.
type naming []nameChange

// nameChange gives a name in a folder to a node, or removes it.
type nameChange struct {
	folder *node
	name   string
	node   *node // nil removes
}

// New makes an empty file system that takes its random choices from rng.
func New(rng *rand.Rand) *FS {
	return &FS{rng: rng, root: newFolder()}
}

func newFolder() *node {
	return &node{names: map[string]*node{}, durable: map[string]*node{}}
}

// Plan begins a plan.
func (f *FS) Plan(p Plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.Err == nil {
		p.Err = syscall.EIO
	}
	f.plan, f.writes, f.syncs = p, 0, 0
}

// Changes returns the number of changes: a test can crash at each of them.
func (f *FS) Changes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes
}

// Crashed reports whether the plan's crash has happened.
func (f *FS) Crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

// Crash ends the process that uses f, if it is still alive, and returns the file system for the
// next one, without a plan and with its changes counted from 0.
func (f *FS) Crash(how Loss) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
	next := &FS{rng: f.rng, root: f.root, log: f.log}
	if how != Killed {
		log := f.log
		if how == PowerLost {
			log = log[:f.rng.IntN(len(log)+1)]
		}
		for _, change := range log {
			if how == PowerLost || f.rng.IntN(2) == 0 {
				change.apply((*node).afterLoss)
			}
		}
		next.root, next.log = f.afterPowerLoss(f.root), nil
	}
	next.used = next.root.size()
	return next
}

// afterPowerLoss rebuilds a folder from its durable part. It sorts the names, so that the same seed
// gives the same disk.
func (f *FS) afterPowerLoss(folder *node) *node {
	fresh := newFolder()
	for _, name := range slices.Sorted(maps.Keys(folder.durable)) {
		n := folder.durable[name]
		if n.names != nil {
			n = f.afterPowerLoss(n)
		} else {
			data := n.survives(f.rng)
			n = &node{data: data, synced: data}
		}
		fresh.names[name], fresh.durable[name] = n, n
	}
	return fresh
}

func (n *node) survives(rng *rand.Rand) []byte {
	if rest, ok := bytes.CutPrefix(n.data, n.synced); ok {
		end := len(n.synced) + rng.IntN(len(rest)+1)
		return n.data[:end:end]
	}
	if rng.IntN(2) == 0 {
		return n.synced
	}
	return n.data[:len(n.data):len(n.data)]
}

func (n *node) size() (total int64) {
	for _, child := range n.names {
		total += child.size()
	}
	return total + int64(len(n.data))
}

// change counts one change. done says whether to make the change. The caller gets the error, even
// if the change is made.
func (f *FS) change() (done bool, err error) {
	if f.dead {
		return false, ErrCrashed
	}
	if f.plan.ReadOnly {
		return false, syscall.EROFS
	}
	f.changes++
	if f.changes == f.plan.CrashAt {
		f.dead = true
		return f.rng.IntN(2) == 0, ErrCrashed
	}
	return true, nil
}

func (f *FS) name(n naming) {
	n.apply((*node).now)
	f.log = append(f.log, n)
}

func (n *node) now() map[string]*node       { return n.names }
func (n *node) afterLoss() map[string]*node { return n.durable }

func (n naming) apply(of func(*node) map[string]*node) {
	for _, c := range n {
		if c.node == nil {
			delete(of(c.folder), c.name)
		} else {
			of(c.folder)[c.name] = c.node
		}
	}
}

// find returns the node of a path below a folder.
func find(from *node, name string) (*node, error) {
	at := from
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if part == "" || part == "." {
			continue
		}
		if at.names == nil {
			return nil, syscall.ENOTDIR
		}
		if at = at.names[part]; at == nil {
			return nil, fs.ErrNotExist
		}
	}
	return at, nil
}

// place returns the folder of a path and the path's last part.
func place(from *node, name string) (*node, string, error) {
	dir, base := path.Split(path.Clean(name))
	folder, err := findFolder(from, dir)
	return folder, base, err
}

func findFolder(from *node, name string) (*node, error) {
	n, err := find(from, name)
	if err == nil && n.names == nil {
		err = syscall.ENOTDIR
	}
	return n, err
}

func findFile(from *node, name string) (*node, error) {
	n, err := find(from, name)
	if err == nil && n.names != nil {
		err = syscall.EISDIR
	}
	return n, err
}

func wrong(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// OpenFolder opens a folder for a journal. The folder must exist: see MkdirAll.
func (f *FS) OpenFolder(name string) (journalfs.Folder, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return nil, wrong("open", name, ErrCrashed)
	}
	n, err := findFolder(f.root, name)
	if err != nil {
		return nil, wrong("open", name, err)
	}
	return &folder{f, n}, nil
}

// MkdirAll makes a folder and those above it.
func (f *FS) MkdirAll(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.root
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if part == "" || part == "." {
			continue
		}
		if at.names[part] == nil {
			if err := f.mkdir(at, part); err != nil {
				return wrong("mkdir", name, err)
			}
		}
		if at = at.names[part]; at == nil || at.names == nil {
			return wrong("mkdir", name, syscall.ENOTDIR)
		}
	}
	return nil
}

func (f *FS) mkdir(in *node, base string) error {
	done, err := f.change()
	if done {
		f.name(naming{{in, base, newFolder()}})
	}
	return err
}

// WriteFile makes or replaces a file, in two changes.
func (f *FS) WriteFile(name string, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	in, base, err := place(f.root, name)
	if err != nil {
		return wrong("write", name, err)
	}
	file, err := f.create(in, base)
	if err == nil {
		_, err = f.write(file, data)
	}
	return wrong("write", name, err)
}

// Drop makes a complete, durable file, like another process: it does not count as a change of the
// plan, and succeeds after the crash.
func (f *FS) Drop(name string, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	in, base, err := place(f.root, name)
	if err != nil {
		return wrong("drop", name, err)
	}
	data = bytes.Clone(data)
	n := &node{data: data, synced: data}
	in.names[base], in.durable[base] = n, n
	f.used += int64(len(data))
	return nil
}

// ReadFile returns a file's content. It works also after the crash, so that a test can check what
// is left.
func (f *FS) ReadFile(name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := findFile(f.root, name)
	if err != nil {
		return nil, wrong("read", name, err)
	}
	return bytes.Clone(n.data), nil
}

// List returns the names in a folder, sorted.
func (f *FS) List(name string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return list(f.root, name)
}

// Remove removes a file.
func (f *FS) Remove(name string) error { return (&folder{f, f.root}).Remove(name) }

// Rename moves a file, within a folder or to another.
func (f *FS) Rename(from, to string) error { return (&folder{f, f.root}).Rename(from, to) }
