package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/units"
)

// EndTree kills a process at once, which its pid and start time name (see [Facts]), and ends all that it has started and what carries
// one of the marks: TERM, up to grace to leave, KILL. What this process belongs to, and its own children, live on. It
// returns when they are verified gone, with what there was beside the first. That the process has ended before is no error. An error says that
// something could not be listed, may not be signalled, or outlived KILL.
func EndTree(ctx context.Context, pid int, start uint64, grace time.Duration, marks ...string) ([]Stray, error) {
	root := member{identity: identity{pid, start}}
	found, err := newFamily(root.identity, "").find()
	if err != nil {
		return nil, fmt.Errorf("find what pid %d has started: %w", pid, err)
	}
	if err := root.signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return nil, fmt.Errorf("kill pid %d: %w", pid, err)
	}
	gone, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	if !awaitGone(gone, []member{root}) {
		return nil, fmt.Errorf("kill pid %d: it is still there %s after KILL", pid, units.Plain(killTime))
	}
	// Its pid is free from here on: its children are known by their own.
	left := newFamily(identity{}, "")
	left.remember(found.alive)
	if err = left.end(ctx, grace); err != nil {
		err = fmt.Errorf("end what pid %d has started: %w", pid, err)
	}
	strays := left.strays()
	for _, mark := range marks {
		more, failed := Sweep(ctx, mark, grace)
		strays, err = append(strays, more...), errors.Join(err, failed)
	}
	return strays, err
}

// Marked returns what runs now of this user's processes that carry a mark, by the mark; not this process. Each is a Stray that nobody
// has asked to end. One look costs about 2 ms for 200 processes, however many marks there are.
func Marked() (map[string][]Stray, error) {
	all, err := snapshot()
	if err != nil {
		return nil, fmt.Errorf("look for marked processes: %w", err)
	}
	marked := map[string][]Stray{}
	for _, m := range all {
		if m.zombie() || m.pid == os.Getpid() {
			continue
		}
		if mark := markOf(m.pid); mark != "" {
			marked[mark] = append(marked[mark], Stray{PID: m.pid, PPID: m.ppid, Command: commandLine(m.pid)})
		}
	}
	return marked, nil
}
