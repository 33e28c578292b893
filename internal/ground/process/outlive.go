package process

import "sync"

// Outliving returns the mark for processes that may outlive the run with this mark. No run has it,
// so no sweep finds it.
func Outliving(mark string) string { return mark + ".outlives" }

// outliving are the marks of LetOutlive.
var outliving = struct {
	mu    sync.RWMutex
	marks map[string]bool
}{marks: map[string]bool{}}

// LetOutlive lets processes that carry Outliving(mark) live on, with their descendants: from now on
// they are no agent's strays, even if this process has adopted them. Any process that can set its
// environment can carry that mark. It lasts for the life of this process.
func LetOutlive(mark string) {
	outliving.mu.Lock()
	defer outliving.mu.Unlock()
	outliving.marks[Outliving(mark)] = true
}

// markOf returns the mark that a process of this user was started with; empty if there is none.
func markOf(pid int) string { return Variable(pid, MarkVariable) }

// mayOutlive reports whether a process carries a mark of LetOutlive.
func mayOutlive(m info) bool {
	outliving.mu.RLock()
	defer outliving.mu.RUnlock()
	return len(outliving.marks) > 0 && !m.zombie() && outliving.marks[markOf(m.pid)]
}
