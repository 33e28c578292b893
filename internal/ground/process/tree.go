package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Stray is a process that outlived its agent.
type Stray struct {
	PID int
	// PPID is its parent when it was found. It is this process or init if the parent has ended.
	PPID int
	// Command is its command line, at most 200 bytes of it, or its name in brackets. It may contain
	// secrets.
	Command string
	Ended   Ending
}

// Ending is how a stray ended.
type Ending string

const (
	Terminated Ending = "terminated" // it exited after TERM
	Killed     Ending = "killed"
	Survived   Ending = "survived" // KILL did not end it in time, or it may not be signalled
)

// tree is a process with all that it started, at any depth and in any session.
type tree struct {
	root identity // the zero identity in a sweep, which searches by mark alone
	mark string
	// group: the members are those of the root's process group.
	group bool
	// baseline is not ended: the root and what counts as its own. It is nil if the root ends too.
	// The groups that it is in must not be killed in one step.
	baseline map[identity]bool
	list     func() (table, error) // lists processes; tests put something between its parts

	mu      sync.Mutex
	members map[identity]*member // all that are known
	listed  []*member            // those that outlived the root, in the order in which they were found
}

// member is what is known of a member of a tree.
type member struct {
	Stray                   // without how it ended
	listed   bool           // as a stray
	signaled syscall.Signal // the last signal that it was sent
	command  string         // its command line when it was sent TERM
	survived bool
}

func newTree(id identity, mark string) *tree {
	t := &tree{root: id, mark: mark, members: map[identity]*member{}}
	t.list = func() (table, error) {
		if t.group {
			return listProcesses(id.pid)
		}
		return listProcesses(0)
	}
	return t
}

// know returns what is known of a process, which is a member from now on. t.mu is held.
func (t *tree) know(id identity) *member {
	if t.members[id] == nil {
		t.members[id] = &member{}
	}
	return t.members[id]
}

// root is a process that this program has started and not reaped.
type root struct {
	mark  string
	group bool // a command: its tree is its process group
}

// roots are the running roots, from fork to reap.
var roots = rootSet{known: map[identity]root{}}

type rootSet struct {
	mu    sync.Mutex
	known map[identity]root
}

func (r *rootSet) remove(id identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, id)
}

func (r *rootSet) others(id identity) map[identity]root {
	r.mu.Lock()
	defer r.mu.Unlock()
	others := maps.Clone(r.known)
	delete(others, id)
	return others
}

// listWith lists processes, and returns with them all roots but one that ran at any moment of the
// listing. A root that began during the listing is known after it: fork registers it. One that was
// reaped during the listing was known before it. What it left running is in the list, and would
// otherwise count as another agent's stray.
func (r *rootSet) listWith(list func() (table, error), but identity) (table, map[identity]root, error) {
	others := r.others(but)
	all, err := list()
	maps.Copy(others, r.others(but))
	return all, others, err
}

// terminate ends every member but the root: TERM, up to grace for them to exit, KILL, and scans
// until none is found. When waiting is done the rest of the grace is skipped. The root must have
// ended and not been reaped, unless there is a baseline.
func (t *tree) terminate(waiting context.Context, grace time.Duration) error {
	patience, cancel := context.WithTimeout(waiting, grace)
	defer cancel()
	_, gone, err := t.signalUntilGone(patience, syscall.SIGTERM)
	if err != nil || gone {
		return err
	}
	limit, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	left, gone, err := t.signalUntilGone(limit, syscall.SIGKILL)
	switch {
	case err != nil || gone:
		return err
	case len(left) == 0:
		return errors.New("end the remaining processes: some were replaced by others faster than they were found")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range left {
		t.know(m.identity).survived = true
	}
	return fmt.Errorf("end the remaining processes: %d survived KILL, among them pid %d", len(left), left[0].pid)
}

// awaitExits gives what the agent left running the time that ask returns. What cannot be listed is
// not waited for.
func (t *tree) awaitExits(ctx context.Context, ask func() time.Duration) {
	if ask == nil {
		return
	}
	ready, cancel := context.WithTimeout(ctx, rescanInterval)
	defer cancel()
	found, _, err := t.scanAll(ready)
	if err != nil || len(found.alive) == 0 {
		return
	}
	patience := ask()
	if patience <= 0 {
		return
	}
	ctx, cancel = context.WithTimeout(ctx, patience)
	defer cancel()
	for err == nil && len(found.alive) > 0 {
		t.track(found.alive)
		if !awaitGone(ctx, found.alive) {
			return
		}
		found, _, err = t.scanAll(ctx)
	}
}

// signalUntilGone sends sig to the members until it is proven that none is left, or until ctx is
// done. Then it returns those it still found. A member that ends may have started others before, so
// only a scan that finds none ends it.
func (t *tree) signalUntilGone(ctx context.Context, sig syscall.Signal) (left []info, gone bool, err error) {
	for {
		scanning, cancel := context.WithTimeout(ctx, rescanInterval)
		found, gone, err := t.scanAll(scanning)
		cancel()
		if err != nil {
			return nil, false, fmt.Errorf("find the remaining processes: %w", err)
		}
		t.recordStrays(found.alive)
		if gone || ctx.Err() != nil {
			return found.alive, gone, nil
		}
		if sig == syscall.SIGKILL {
			t.killGroups(found)
		}
		t.signal(found.alive, sig)
		again, cancel := context.WithTimeout(ctx, rescanInterval)
		awaitGone(again, found.alive)
		cancel()
	}
}

// recordStrays lists members as strays, but those that are ending by themselves: a sandbox ends
// with its agent, a moment later.
func (t *tree) recordStrays(members []info) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range members {
		if now, ok := inspect(m.pid); m.exiting || ok && now.identity == m.identity && now.exiting {
			continue
		}
		if known := t.know(m.identity); !known.listed {
			known.Stray, known.listed = m.stray(), true
			t.listed = append(t.listed, known)
		}
	}
}

// killGroups kills the groups that have no other members. The kernel kills a group in one step, so
// that members which fork without pause cannot escape one by one.
func (t *tree) killGroups(found scanResult) {
	if t.root.pid != 0 && t.baseline == nil {
		// The root has not been reaped, so the group is its own, even if no scan found a member.
		_ = killGroup(t.root.pid)
	}
	for _, group := range found.groups {
		_ = killGroup(group)
	}
}

// rescanInterval is how long members are waited for before a scan finds what they have started or
// executed since.
const rescanInterval = 100 * time.Millisecond

// signal signals each member that has not had sig yet. KILL is sent again, and so is TERM to a
// member that has executed another program since: between a shell's fork and exec a signal is taken
// by the shell's handler and lost.
func (t *tree) signal(members []info, sig syscall.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range members {
		// Never back from KILL to TERM: Kill may have come while TERM was being sent.
		known := t.know(m.identity)
		last := known.signaled
		if sig == syscall.SIGKILL {
			known.signaled = sig
			_ = m.signal(sig) // as in terminate
			continue
		}
		// Read before the signal is sent: this program receives the signal, or is replaced later.
		command := commandLine(m.pid)
		if last == syscall.SIGKILL || last == sig && known.command == command {
			continue
		}
		known.signaled, known.command = sig, command
		m.terminate()
	}
}

// terminate sends TERM. The process may have ended. One that may not be signaled is found again and
// reported as Survived.
func (m info) terminate() {
	_ = m.signal(syscall.SIGTERM)
	_ = m.signal(continueSignal) // a stopped process receives TERM only when it runs again
}

// track keeps members known, so that they are found again whatever becomes of their parents and
// sessions.
func (t *tree) track(members []info) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range members {
		t.know(m.identity)
	}
}

func (t *tree) tracks(id identity) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.members[id] != nil
}

func (t *tree) strays() []Stray {
	t.mu.Lock()
	defer t.mu.Unlock()
	var strays []Stray
	for _, m := range t.listed {
		switch {
		case m.survived:
			m.Ended = Survived
		case m.signaled == syscall.SIGKILL:
			m.Ended = Killed
		default:
			m.Ended = Terminated
		}
		strays = append(strays, m.Stray)
	}
	return strays
}

// signal sends sig to the process with this identity and to no other: os.FindProcess opens a pidfd
// if the system has them. So the pid cannot pass to another process between the comparison of the
// start time and the signal.
func (id identity) signal(sig os.Signal) error {
	handle, err := os.FindProcess(id.pid)
	if err != nil {
		return err
	}
	defer handle.Release()
	if start, ok := StartTime(id.pid); !ok || start != id.start {
		return os.ErrProcessDone
	}
	return handle.Signal(sig)
}

// awaitGone reports whether all members have ended before ctx did. It polls with growing pauses: no
// event that all systems have reports the end of processes that are not our children, and the wait
// is short unless the processes ignore signals.
func awaitGone(ctx context.Context, members []info) bool {
	left := slices.Clone(members)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		left = slices.DeleteFunc(left, info.gone)
		if len(left) == 0 {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
		}
	}
}

func (m info) stray() Stray { return Stray{PID: m.pid, PPID: m.ppid, Command: commandLine(m.pid)} }

func (m info) gone() bool {
	now, ok := inspect(m.pid)
	if !ok || now.identity != m.identity {
		return true
	}
	return now.zombie() && (now.ppid != os.Getpid() || reapOrphan(m.pid))
}
