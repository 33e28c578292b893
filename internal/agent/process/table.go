package process

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// identity names one process for as long as the machine is up. A pid alone does not: it is given to others later.
type identity struct {
	pid   int
	start uint64
}

// member is a process as it was at one look.
type member struct {
	identity
	ppid, pgid, sid int
	state           byte // Linux's letter: 'Z' zombie, 'X' dead
	threads         int
}

// zombie reports whether the process has ended for good. One whose first thread has ended shows the letter of a zombie while its
// other threads still run, hold files open, and cannot be reaped.
func (m member) zombie() bool { return m.state == 'X' || m.state == 'Z' && m.threads <= 1 }

// table is all processes of the machine (of the pid namespace, in a container) at one look.
type table []member

// census is what a look found of a family.
type census struct {
	alive []member
	// groups are the process groups whose every process is a member that is not spared.
	groups []int
	// died says that an adopted process ended while we looked. What it forked before that may be in no list.
	died bool
}

// outside returns the members that a signal to the group does not reach.
func (c census) outside(group int) []member {
	var outside []member
	for _, m := range c.alive {
		if m.pgid != group {
			outside = append(outside, m)
		}
	}
	return outside
}

// find looks for the family's members, the root and what is spared excepted, and reaps those that have ended and are ours to reap.
func (f *family) find() (census, error) {
	before := deaths.Load()
	all, others, err := live.during(f.snapshot, f.root)
	if err != nil {
		return census{}, err
	}
	ours := all.relatives(f, others)

	var found census
	stranger := map[int]bool{} // groups that have a process which is no member, or spared
	for _, m := range all {
		if !ours[m.pid] || f.spared[m.identity] {
			stranger[m.pgid] = true
		}
	}
	counted := map[int]bool{}
	for _, m := range all {
		switch {
		case !ours[m.pid] || m.pid == f.root.pid:
		case m.zombie() && (m.ppid != os.Getpid() || reapAdopted(m.pid)):
		case f.spared[m.identity]:
		default:
			found.alive = append(found.alive, m)
			if m.pgid > 1 && !stranger[m.pgid] && !counted[m.pgid] {
				counted[m.pgid] = true
				found.groups = append(found.groups, m.pgid)
			}
		}
	}
	reapForgotten(all, ours, others, f.root)
	found.died = deaths.Load() != before
	return found, nil
}

// search looks until it finds somebody, until the looks prove that nobody is left, or until ctx is done; proven is false then. One look
// may miss a process that is forked after the list was made, by one that ends before it is read. But where the orphans come to us,
// every process that is left has a child of ours among its ancestors, or is one. If that child lives, the look finds it. If it
// ended during the look, it waits for us to reap it, and the look finds that. So a look that finds neither misses nobody,
// however fast they fork. Where orphans go elsewhere, two looks have to agree.
func (f *family) search(ctx context.Context) (found census, proven bool, err error) {
	adopting := f.root.pid != 0 && subreaper.Load()
	for looks := 1; ; looks++ {
		found, err = f.find()
		if err != nil || len(found.alive) > 0 {
			return found, false, err
		}
		if adopting && !found.died || !adopting && looks > 1 {
			return found, true, nil
		}
		if ctx.Err() != nil {
			return found, false, nil
		}
	}
}

// relatives returns the pids of the family. Four traces lead to a member: it is in the agent's session or group, it carries
// the mark, it has been adopted by us and can be nobody else's, or one of these leads on to it by parentage or session.
func (t table) relatives(f *family, others map[identity]string) map[int]bool {
	self, foreign := t.foreign(others)
	ours := map[int]bool{}
	mark := f.mark
	for _, theirs := range others {
		if theirs == mark {
			mark = "" // shared with a living agent: the mark alone does not say whose it is
		}
	}
	sole := f.root.pid != 0 && len(others) == 0 && subreaper.Load()
	for _, m := range t {
		if foreign[m.pid] || m.start < f.root.start {
			continue
		}
		switch {
		case f.knows(m.identity):
		case f.root.pid != 0 && (m.pid == f.root.pid || m.sid == f.root.pid || m.pgid == f.root.pid):
		case sole && m.ppid == self.pid && m.sid != self.sid && !m.zombie():
		case mark != "" && !m.zombie() && carries(m.pid, mark):
		default:
			continue
		}
		ours[m.pid] = true
	}
	t.spread(ours, foreign)
	return ours
}

// foreign returns ourselves and the pids that can be no stray of anyone: our ancestors, our own children with all that is theirs, the
// living agents with all that is theirs, and what may outlive them. A child of ours is told from an adopted process by its session: an agent begins
// in a session of its own, and no descendant can come back into ours.
func (t table) foreign(others map[identity]string) (self member, foreign map[int]bool) {
	parent := make(map[int]int, len(t))
	for _, m := range t {
		parent[m.pid] = m.ppid
		if m.pid == os.Getpid() {
			self = m
		}
	}
	foreign = map[int]bool{}
	for _, m := range t {
		_, agent := others[m.identity]
		if agent || m.ppid == self.pid && m.sid == self.sid || mayOutlive(m) {
			foreign[m.pid] = true
		}
	}
	// Before the ancestors are added: from them everything would be reached, the strays that init has adopted first of all.
	t.spread(foreign, nil)
	for pid := self.pid; pid > 0 && !foreign[pid]; pid = parent[pid] {
		foreign[pid] = true
	}
	return self, foreign
}

// spread adds to set, until there is nothing to add, each process whose parent is in it or whose session is led by one in it.
func (t table) spread(set, except map[int]bool) {
	for grown := true; grown; {
		grown = false
		for _, m := range t {
			if !set[m.pid] && !except[m.pid] && (set[m.ppid] || set[m.sid]) {
				set[m.pid], grown = true, true
			}
		}
	}
}

func (f *family) knows(id identity) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.asked[id]
	return known
}

// subreaper is set once orphaned descendants come to us.
var subreaper atomic.Bool

// deaths counts the adopted processes that were found to have ended. It rises before such a process is reaped, so that whoever looks at
// the same time sees either the process or the count.
var deaths atomic.Uint64

// forgotten remembers zombies that are our children and in no family, by when they were first seen.
var forgotten = struct {
	mu   sync.Mutex
	seen map[identity]time.Time
}{seen: map[identity]time.Time{}}

// reapForgotten reaps adopted processes that ended before any look could tell whose they were: a dead process has no
// environment. They are children of ours in a session that is not ours. So is a child which someone in this program has started with
// Setsid and not through Start; its exit status belongs to a waiting os/exec, which collects it within microseconds, and is safe
// here because only a process that is still a zombie a second later is reaped.
func reapForgotten(t table, ours map[int]bool, others map[identity]string, root identity) {
	if !subreaper.Load() {
		return
	}
	self, _ := look(os.Getpid())
	forgotten.mu.Lock()
	defer forgotten.mu.Unlock()
	still := map[identity]time.Time{}
	for _, m := range t {
		_, agent := others[m.identity]
		if !m.zombie() || m.ppid != self.pid || m.sid == self.sid || ours[m.pid] || agent || m.pid == root.pid {
			continue
		}
		since, before := forgotten.seen[m.identity]
		switch {
		case !before:
			deaths.Add(1)
			still[m.identity] = time.Now()
		case time.Since(since) < time.Second:
			still[m.identity] = since
		default:
			reapAdopted(m.pid)
		}
	}
	forgotten.seen = still
}
