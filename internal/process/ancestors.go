package process

import "os"

// mostAncestors bounds how far Ancestors looks.
const mostAncestors = 128

// Ancestors returns the pids of the processes that this one descends from, its parent first, as far
// as they still run. On Windows there are none.
func Ancestors() (pids []int) {
	for pid := os.Getpid(); len(pids) < mostAncestors; {
		m, ok := inspect(pid)
		if !ok || m.ppid <= 1 {
			break
		}
		pid = m.ppid
		pids = append(pids, pid)
	}
	return pids
}
