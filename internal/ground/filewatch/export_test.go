package filewatch

// Waiting is how many events a watch holds at most.
const Waiting = waiting

// Unread returns how many events a watch holds for the next Wait.
func Unread(w *Watch) int { return len(w.watch.Events) }
