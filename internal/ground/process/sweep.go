package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Sweep ends what an earlier runner left running: every process of this user that carries mark in
// its environment, with their descendants and the sessions they lead, but never this process, its
// ancestors, its own children, or an agent that it runs itself. They get TERM, up to grace to exit,
// then KILL. Sweep returns when they are verified gone, with what it found. The error says that
// processes could not be listed or did not end. When ctx ends, the rest of the grace is skipped,
// not the ending.
//
// A process that wiped its environment, or wrote its title over it, and left no marked parent or
// session leader alive, is not found. While the runner lives, EnableSubreaper covers it; after the
// runner's death nothing does.
func Sweep(ctx context.Context, mark string, grace time.Duration) ([]Stray, error) {
	if mark == "" {
		return nil, errors.New("sweep: the mark is empty")
	}
	marked := newTree(identity{}, mark)
	if err := marked.terminate(ctx, grace); err != nil {
		return marked.strays(), fmt.Errorf("sweep %s: %w", mark, err)
	}
	return marked.strays(), nil
}

// EndTree kills the process with this pid and start time (see [StartTime]) at once. It ends all
// that the process has started and what carries one of the marks: TERM, up to grace to exit, KILL.
// This process with its ancestors and its own children live on. EndTree returns when all are
// verified gone, with what it ended besides the first. It is no error if the process ended before.
// An error says that something could not be listed, may not be signaled, or outlived KILL.
func EndTree(ctx context.Context, pid int, start uint64, grace time.Duration, marks ...string) ([]Stray, error) {
	leader := info{identity: identity{pid, start}}
	found, err := newTree(leader.identity, "").scan()
	if err != nil {
		return nil, fmt.Errorf("find what pid %d has started: %w", pid, err)
	}
	if err := leader.signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return nil, fmt.Errorf("kill pid %d: %w", pid, err)
	}
	gone, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	if !awaitGone(gone, []info{leader}) {
		return nil, fmt.Errorf("kill pid %d: it is still there %s after KILL", pid, units.Plain(killTime))
	}
	// Its pid is free from here on. Its children are known by their own.
	left := newTree(identity{}, "")
	left.track(found.alive)
	if err = left.terminate(ctx, grace); err != nil {
		err = fmt.Errorf("end what pid %d has started: %w", pid, err)
	}
	strays := left.strays()
	for _, mark := range marks {
		more, failed := Sweep(ctx, mark, grace)
		strays, err = append(strays, more...), errors.Join(err, failed)
	}
	return strays, err
}

// Marked returns the running processes of this user that carry a mark, by the mark, without this
// process. None of them has been signaled.
func Marked() (map[string][]Stray, error) {
	all, err := listProcesses(0)
	if err != nil {
		return nil, fmt.Errorf("find marked processes: %w", err)
	}
	marked := map[string][]Stray{}
	for _, m := range all {
		if m.zombie() || m.pid == os.Getpid() {
			continue
		}
		if mark := markOf(m.pid); mark != "" {
			marked[mark] = append(marked[mark], m.stray())
		}
	}
	return marked, nil
}

// StartTime returns when the process with this pid was started, in the system's own unit (Linux:
// clock ticks since boot; macOS: microseconds since 1970), and whether there is such a process. The
// pid and this number together name a process for as long as the machine is up. It also answers for
// a process that has ended and has not been reaped.
func StartTime(pid int) (start uint64, ok bool) {
	m, ok := inspect(pid)
	return m.start, ok
}

// EnableSubreaper makes this process the parent of its descendants' orphans (Linux, prctl
// PR_SET_CHILD_SUBREAPER), so that even one that left the session and wiped its environment is
// found when its agent ends. It lasts for the life of this process and its threads, and is not
// inherited. Elsewhere it returns an error that satisfies errors.Is with errors.ErrUnsupported, and
// the other traces remain.
//
// From then on, a child of this process that is in another session, and was not started by this
// package, counts as an adopted one when the last running agent older than itself ends. Start such
// children with Start or Run.
func EnableSubreaper() error {
	if err := enableSubreaper(); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	subreaper.Store(true)
	return nil
}
