package event

import "fmt"

// Status is the word that says what a loop does.
type Status string

// The statuses of a loop.
const (
	StatusStarting  Status = "starting"
	StatusRunning   Status = "running"
	StatusWaiting   Status = "waiting"
	StatusPaused    Status = "paused"
	StatusStopping  Status = "stopping"
	StatusCompleted Status = "completed"
	StatusStopped   Status = "stopped"
	StatusFailed    Status = "failed"

	// StatusUnknown is for readers that cannot find out. No loop has it.
	StatusUnknown Status = "unknown"
)

// ParseStatus returns the status of that name.
func ParseStatus(text string) (Status, error) {
	if s := Status(text); s.Active() || s.Ended() {
		return s, nil
	}
	return StatusUnknown, fmt.Errorf("%.40q is not a status of a loop", text)
}

func (s Status) String() string { return string(s) }

// Active reports whether a loop in this status has a runner, unless that died.
func (s Status) Active() bool {
	switch s {
	case StatusStarting, StatusRunning, StatusWaiting, StatusPaused, StatusStopping:
		return true
	}
	return false
}

// Ended reports whether a loop in this status has ended.
func (s Status) Ended() bool {
	switch s {
	case StatusCompleted, StatusStopped, StatusFailed:
		return true
	}
	return false
}
