package process

import "sync"

// Outliving returns the mark of what may live on when the run with that mark ends what it started: it is that of no run, so that no
// sweep finds it.
func Outliving(mark string) string { return mark + ".outlives" }

// outliving are the marks of LetOutlive.
var outliving = struct {
	mu    sync.RWMutex
	marks map[string]bool
}{marks: map[string]bool{}}

// LetOutlive lets the processes live on that carry Outliving(mark), with all that they have started: from now on this process takes them for
// nobody's, also where it has adopted them. Any process that can set its environment can carry it, so that what may not leave processes
// behind must not be let. It lasts for the life of this process.
func LetOutlive(mark string) {
	outliving.mu.Lock()
	defer outliving.mu.Unlock()
	outliving.marks[Outliving(mark)] = true
}

// mayOutlive reports whether a process was let live on. Where nothing was, no process is looked at.
func mayOutlive(m member) bool {
	outliving.mu.RLock()
	defer outliving.mu.RUnlock()
	return len(outliving.marks) > 0 && !m.zombie() && outliving.marks[markOf(m.pid)]
}
