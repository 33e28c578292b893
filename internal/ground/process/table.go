package process

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// identity names one process for as long as the machine is up. A pid alone does not: it is given to
// other processes later.
type identity struct {
	pid   int
	start uint64
}

// info is what a scan read of a process.
type info struct {
	identity
	ppid, pgid, sid int
	state           byte // Linux's letter: 'Z' zombie, 'X' dead
	threads         int
	exiting         bool // on Linux: KILL is pending, or its memory is gone, and with it its arguments
}

// zombie reports whether the process has ended. One whose first thread has ended has the state of a
// zombie while its other threads still run, hold files open, and cannot be reaped.
func (m info) zombie() bool { return m.state == 'X' || m.state == 'Z' && m.threads <= 1 }

// table is all processes of the machine (in a container, of the pid namespace).
type table []info

// scanResult is what a scan found of a tree.
type scanResult struct {
	alive []info
	// groups are the process groups with nothing but members outside of the baseline.
	groups []int
	// orphanExited: an adopted process ended during the scan. What it forked before may be in no
	// list.
	orphanExited bool
}

// scan finds the tree's members without the root and the baseline, and reaps those that have ended
// and are ours to reap.
func (t *tree) scan() (scanResult, error) {
	before := orphanExits.Load()
	all, others, err := roots.listWith(t.list, t.root)
	if err != nil {
		return scanResult{}, err
	}
	ours := all.members(t, others)

	var found scanResult
	shared := map[int]bool{} // groups with a process that is no member, or in the baseline
	for _, m := range all {
		if !ours[m.pid] || t.baseline[m.identity] {
			shared[m.pgid] = true
		}
	}
	counted := map[int]bool{}
	for _, m := range all {
		switch {
		case !ours[m.pid] || m.pid == t.root.pid:
		case m.zombie() && (m.ppid != os.Getpid() || reapOrphan(m.pid)):
		case t.baseline[m.identity]:
		default:
			found.alive = append(found.alive, m)
			if m.pgid > 1 && !shared[m.pgid] && !counted[m.pgid] {
				counted[m.pgid] = true
				found.groups = append(found.groups, m.pgid)
			}
		}
	}
	if !t.group {
		reapUnclaimed(all, ours, others, t.root)
	}
	found.orphanExited = orphanExits.Load() != before
	return found, nil
}

// scanAll scans until it finds a member or proves that none is left. Where this process adopts
// orphans it also ends when ctx is done; proven is false then. One scan may miss a process that is
// forked after the list was made, by one that ends before it is read. But where this process adopts
// orphans, every process that is left is a child of ours or has one among its ancestors. If that
// child lives, the scan finds it. If it ended during the scan, it waits to be reaped by us, and the
// scan finds that. So a scan that finds neither misses no process, however fast they fork. Where
// orphans go elsewhere, two scans have to agree, however long they take.
func (t *tree) scanAll(ctx context.Context) (found scanResult, proven bool, err error) {
	adopting := t.root.pid != 0 && subreaper.Load()
	for scans := 1; ; scans++ {
		found, err = t.scan()
		if err != nil || len(found.alive) > 0 {
			return found, false, err
		}
		if adopting && !found.orphanExited || !adopting && scans > 1 {
			return found, true, nil
		}
		if adopting && ctx.Err() != nil {
			return found, false, nil
		}
	}
}

// members returns the pids of the tree. Four traces lead to a member: it is in the agent's session
// or group, it carries the mark, it has been adopted by us and can belong to no other agent, or one
// of these leads to it by parentage or session. The members of a group are in it.
func (all table) members(t *tree, others map[identity]root) map[int]bool {
	ours := map[int]bool{}
	if t.group {
		for _, m := range all {
			ours[m.pid] = m.pgid == t.root.pid && m.start >= t.root.start
		}
		return ours
	}
	self, excluded := all.excluded(others)
	mark := t.mark
	sole := t.root.pid != 0 && subreaper.Load()
	for _, other := range others {
		if other.mark == mark {
			mark = "" // shared with a running agent: the mark alone does not say whose it is
		}
		sole = sole && other.group
	}
	for _, m := range all {
		if excluded[m.pid] || m.start < t.root.start {
			continue
		}
		switch {
		case t.tracks(m.identity):
		case t.root.pid != 0 && (m.pid == t.root.pid || m.sid == t.root.pid || m.pgid == t.root.pid):
		case sole && m.ppid == self.pid && m.sid != self.sid && !m.zombie():
		case mark != "" && !m.zombie() && hasMark(m.pid, mark):
		default:
			continue
		}
		ours[m.pid] = true
	}
	all.addDescendants(ours, excluded)
	return ours
}

// excluded returns this process and the pids that can be no stray: our ancestors, our own children
// and the running agents with all their descendants, and what may outlive them. A child of ours
// differs from an adopted process by its session: an agent begins in a session of its own, and no
// descendant can return to ours.
func (all table) excluded(others map[identity]root) (self info, excluded map[int]bool) {
	parent := make(map[int]int, len(all))
	for _, m := range all {
		parent[m.pid] = m.ppid
		if m.pid == os.Getpid() {
			self = m
		}
	}
	excluded = map[int]bool{}
	for _, m := range all {
		_, running := others[m.identity]
		if running || m.ppid == self.pid && m.sid == self.sid || mayOutlive(m) {
			excluded[m.pid] = true
		}
	}
	// Before the ancestors are added: all processes descend from them, also the strays that init
	// has adopted.
	all.addDescendants(excluded, nil)
	for pid := self.pid; pid > 0 && !excluded[pid]; pid = parent[pid] {
		excluded[pid] = true
	}
	return self, excluded
}

// addDescendants adds to set, until there is nothing to add, each process whose parent is in it or
// whose session is led by one in it.
func (all table) addDescendants(set, except map[int]bool) {
	for grown := true; grown; {
		grown = false
		for _, m := range all {
			if !set[m.pid] && !except[m.pid] && (set[m.ppid] || set[m.sid]) {
				set[m.pid], grown = true, true
			}
		}
	}
}

// subreaper is set once orphaned descendants become children of this process.
var subreaper atomic.Bool

// orphanExits counts the adopted processes that were found to have ended. It rises before such a
// process is reaped, so that a concurrent scan sees either the process or the count.
var orphanExits atomic.Uint64

// unclaimed are the zombies that are our children and in no tree, by when they were first seen.
var unclaimed = struct {
	mu   sync.Mutex
	seen map[identity]time.Time
}{seen: map[identity]time.Time{}}

// reapUnclaimed reaps adopted processes that ended before any scan could find out whose they were:
// a dead process has no environment. They are children of ours in a session that is not ours. So is
// a child that this program has started with Setsid and not by this package. Its exit status
// belongs to a waiting os/exec, which collects it within microseconds. It is safe here because only
// a process that is still a zombie a second later is reaped.
func reapUnclaimed(all table, ours map[int]bool, others map[identity]root, of identity) {
	if !subreaper.Load() {
		return
	}
	self, _ := inspect(os.Getpid())
	unclaimed.mu.Lock()
	defer unclaimed.mu.Unlock()
	still := map[identity]time.Time{}
	for _, m := range all {
		_, running := others[m.identity]
		if !m.zombie() || m.ppid != self.pid || m.sid == self.sid || ours[m.pid] || running || m.pid == of.pid {
			continue
		}
		since, before := unclaimed.seen[m.identity]
		switch {
		case !before:
			orphanExits.Add(1)
			still[m.identity] = time.Now()
		case time.Since(since) < time.Second:
			still[m.identity] = since
		default:
			reapOrphan(m.pid)
		}
	}
	unclaimed.seen = still
}
