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
	// PPID is its parent when it was found: this process or init, for one whose parent has ended.
	PPID int
	// Command is its command line, at most 200 bytes of it, or its name in brackets. It may contain secrets.
	Command string
	Ended   Ending
}

// Ending is how a stray came to its end.
type Ending string

const (
	Terminated Ending = "terminated" // it left after TERM
	Killed     Ending = "killed"
	Survived   Ending = "survived" // KILL did not end it in time, or it may not be signalled
)

// family is an agent's process together with all it started, at any depth, in any session.
type family struct {
	root identity // the zero identity in a sweep, which looks by mark alone
	mark string
	// spared are to live on: the root and what is its own. The groups they are in must not be killed as a whole.
	spared   map[identity]bool
	snapshot func() (table, error) // of all processes; tests put something between its parts

	mu       sync.Mutex
	asked    map[identity]syscall.Signal // the last signal each known member was sent
	image    map[identity]string         // the command line of each when it was sent TERM
	found    []Stray                     // without how they ended, which asked and survived tell
	place    map[identity]int            // in found
	survived map[identity]bool
}

func newFamily(root identity, mark string) *family {
	return &family{root: root, mark: mark, snapshot: snapshot, asked: map[identity]syscall.Signal{}, image: map[identity]string{}, place: map[identity]int{}, survived: map[identity]bool{}}
}

// spare leaves the root alone, and these.
func (f *family) spare(own []identity) {
	f.spared = map[identity]bool{f.root: true}
	for _, id := range own {
		f.spared[id] = true
	}
}

// live holds the agents of this process, with their marks, from fork to reap.
var live = registry{roots: map[identity]string{}}

type registry struct {
	mu    sync.Mutex
	roots map[identity]string
}

func (r *registry) remove(root identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.roots, root)
}

func (r *registry) others(root identity) map[identity]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	others := maps.Clone(r.roots)
	delete(others, root)
	return others
}

// during takes a snapshot, and returns with it all agents but root that lived at any moment of it. One that began meanwhile is in the
// registry afterwards: it was registered before its fork let go of the registry. One that was reaped meanwhile was there
// before; what it had left running is in the snapshot, and would else be taken for somebody else's.
func (r *registry) during(snapshot func() (table, error), root identity) (table, map[identity]string, error) {
	others := r.others(root)
	all, err := snapshot()
	maps.Copy(others, r.others(root))
	return all, others, err
}

// end brings down every member but the root: TERM, up to grace for them to leave, KILL, and looks again until none is found. When
// hurry is done the rest of the grace is skipped. The root must have ended and not been reaped, unless it is spared.
func (f *family) end(hurry context.Context, grace time.Duration) error {
	patience, cancel := context.WithTimeout(hurry, grace)
	defer cancel()
	_, none, err := f.press(patience, syscall.SIGTERM)
	if err != nil || none {
		return err
	}
	limit, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	left, none, err := f.press(limit, syscall.SIGKILL)
	switch {
	case err != nil || none:
		return err
	case len(left) == 0:
		return errors.New("end the agent's processes: some were replaced by others faster than they were found")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range left {
		f.survived[m.identity] = true
	}
	return fmt.Errorf("end the agent's processes: %d survived KILL, among them pid %d", len(left), left[0].pid)
}

// linger gives what the agent left running the time to end by itself. What cannot be listed is not waited for.
func (f *family) linger(ctx context.Context, ask func() time.Duration) {
	if ask == nil {
		return
	}
	ready, cancel := context.WithTimeout(ctx, lookAgain)
	defer cancel()
	found, _, err := f.search(ready)
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
		f.remember(found.alive)
		if !awaitGone(ctx, found.alive) {
			return
		}
		found, _, err = f.search(ctx)
	}
}

// press sends sig to the members until it is proven that none is left, or until ctx is done: then it returns those it still found. A
// member that ends may have started others meanwhile, so nothing is over before a search finds nobody.
func (f *family) press(ctx context.Context, sig syscall.Signal) (left []member, none bool, err error) {
	for {
		looking, cancel := context.WithTimeout(ctx, lookAgain)
		found, none, err := f.search(looking)
		cancel()
		if err != nil {
			return nil, false, fmt.Errorf("find the agent's processes: %w", err)
		}
		f.record(found.alive)
		if none || ctx.Err() != nil {
			return found.alive, none, nil
		}
		if sig == syscall.SIGKILL {
			f.killGroups(found)
		}
		f.send(found.alive, sig)
		again, cancel := context.WithTimeout(ctx, lookAgain)
		awaitGone(again, found.alive)
		cancel()
	}
}

// record lists members as strays.
func (f *family) record(members []member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range members {
		if _, known := f.place[m.identity]; known {
			continue
		}
		f.place[m.identity] = len(f.found)
		f.found = append(f.found, Stray{PID: m.pid, PPID: m.ppid, Command: commandLine(m.pid)})
	}
}

// killGroups ends the groups that are the family's alone. The kernel kills a group in one step, so that members which fork without pause
// cannot slip away one by one.
func (f *family) killGroups(found census) {
	if f.root.pid != 0 && f.spared == nil {
		_ = killGroup(f.root.pid) // the root has not been reaped, so the group is its own, also where no look has seen a member
	}
	for _, group := range found.groups {
		_ = killGroup(group)
	}
}

// lookAgain is how long members are waited for before a look finds what they have started or become meanwhile.
const lookAgain = 100 * time.Millisecond

// send signals each member that has not had sig yet. KILL is sent again, and so is TERM to a member that has become another
// program since: between a shell's fork and exec a signal is taken by the shell's handler and lost.
func (f *family) send(members []member, sig syscall.Signal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range members {
		// Never back from KILL to TERM: Kill may have come while TERM was being sent round.
		last := f.asked[m.identity]
		if sig == syscall.SIGKILL {
			f.asked[m.identity] = sig
			_ = m.signal(sig) // as in terminate
			continue
		}
		// Read before the signal is sent: what it says then is what takes the signal, or is another later.
		image := commandLine(m.pid)
		if last == syscall.SIGKILL || last == sig && f.image[m.identity] == image {
			continue
		}
		f.asked[m.identity], f.image[m.identity] = sig, image
		m.terminate()
	}
}

// terminate asks a member to leave. That it is gone already is as good; one that may not be signalled is found again and
// reported as Survived.
func (m member) terminate() {
	_ = m.signal(syscall.SIGTERM)
	_ = m.signal(continueSignal) // a stopped process receives TERM only when it runs again
}

// remember keeps members known, so that they are found again whatever becomes of their parents and sessions.
func (f *family) remember(members []member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range members {
		if _, known := f.asked[m.identity]; !known {
			f.asked[m.identity] = 0
		}
	}
}

func (f *family) strays() []Stray {
	f.mu.Lock()
	defer f.mu.Unlock()
	strays := slices.Clone(f.found)
	for id, at := range f.place {
		switch {
		case f.survived[id]:
			strays[at].Ended = Survived
		case f.asked[id] == syscall.SIGKILL:
			strays[at].Ended = Killed
		default:
			strays[at].Ended = Terminated
		}
	}
	return strays
}

// signal sends sig to the process with this identity and to no other: os.FindProcess takes a pidfd where there are any, so once
// the start time has been found right the pid cannot pass to another process before the signal is sent.
func (id identity) signal(sig os.Signal) error {
	handle, err := os.FindProcess(id.pid)
	if err != nil {
		return err
	}
	defer handle.Release()
	if start, ok := Facts(id.pid); !ok || start != id.start {
		return os.ErrProcessDone
	}
	return handle.Signal(sig)
}

// awaitGone reports whether all members have ended before ctx did. It polls, ever more slowly: there is no event for the end of
// processes that are not our children which all systems have, and the wait is short or the processes are stubborn.
func awaitGone(ctx context.Context, members []member) bool {
	pause, left := time.Millisecond, slices.Clone(members)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		left = slices.DeleteFunc(left, member.gone)
		if len(left) == 0 {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
		}
		pause = min(2*pause, 20*time.Millisecond)
		timer.Reset(pause)
	}
}

func (m member) gone() bool {
	now, ok := look(m.pid)
	if !ok || now.identity != m.identity {
		return true
	}
	return now.zombie() && (now.ppid != os.Getpid() || reapAdopted(m.pid))
}
