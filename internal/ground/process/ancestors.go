package process

import "os"

// ID names a process for as long as the machine is up. Start is as in [StartTime].
type ID struct {
	PID   int
	Start uint64
}

// lineageTries is how often the processes above one are read: they may end meanwhile.
const lineageTries = 16

// lineageMost bounds what is read, whatever the kernel says.
const lineageMost = 1 << 16

// Lineage returns the process with this pid, then those that it descends from, its parent first. It
// reports false if one of them cannot be found, and then names those below it: the kernel does not
// say any more what that process descends from. On Windows it finds none.
func Lineage(pid int) (line []ID, complete bool) {
	for range lineageTries {
		if line, complete = lineage(pid); complete || len(line) == 0 {
			break // an orphan has another parent by now, and is read again
		}
	}
	return line, complete
}

// lineage is one try of Lineage. A parent that began later than its child is another process that
// has got the parent's pid.
func lineage(pid int) (line []ID, complete bool) {
	for pid > 0 && len(line) < lineageMost {
		m, ok := inspect(pid)
		if !ok || len(line) > 0 && m.start > line[len(line)-1].Start {
			return line, false
		}
		line = append(line, ID{m.pid, m.start})
		if m.ppid == pid {
			return line, false
		}
		pid = m.ppid
	}
	return line, pid == 0
}

// Ancestors returns the pids of the processes that this one descends from, its parent first, as far
// as they still run. On Windows there are none.
func Ancestors() (pids []int) {
	line, _ := Lineage(os.Getpid())
	for i, p := range line {
		if i > 0 && p.PID > 1 {
			pids = append(pids, p.PID)
		}
	}
	return pids
}
