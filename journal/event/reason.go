package event

// Reason says why a loop ended: a closed list, each with its status and exit code.
type Reason string

// The reasons.
const (
	ReasonPromise     Reason = "promise"     // the promise marker was accepted
	ReasonResponse    Reason = "response"    // the response marker was accepted
	ReasonIterations  Reason = "iterations"  // maximumIterations reached
	ReasonCost        Reason = "cost"        // limits.cost reached
	ReasonTokens      Reason = "tokens"      // limits.tokens reached
	ReasonDuration    Reason = "duration"    // limits.duration reached
	ReasonRestarts    Reason = "restarts"    // restart.max failures in a row
	ReasonConfig      Reason = "config"      // settings that cannot work
	ReasonAgent       Reason = "agent"       // the agent cannot be started
	ReasonEnvironment Reason = "environment" // the agent fails at once, again and again, in the same way
	ReasonDisk        Reason = "disk"        // the journal cannot be written
	ReasonFault       Reason = "fault"       // an error in ralph itself
	ReasonAuth        Reason = "auth"        // the agent is not logged in
	ReasonStop        Reason = "stop"        // a person asked it to stop
	ReasonKill        Reason = "kill"        // a person killed it
	ReasonInterrupt   Reason = "interrupt"   // a signal in the foreground
)

// Exit codes of ralph: the one list of them.
const (
	ExitCompleted   = 0   // the work is done
	ExitLimit       = 1   // a limit was reached
	ExitUsage       = 2   // configuration or usage
	ExitFailed      = 3   // failed
	ExitPerson      = 4   // needs a person
	ExitInterrupted = 130 // interrupted or stopped by the user
)

// Statuses of a loop.
const (
	StatusStarting  = "starting"
	StatusRunning   = "running"
	StatusWaiting   = "waiting"
	StatusPaused    = "paused"
	StatusStopping  = "stopping"
	StatusCompleted = "completed"
	StatusStopped   = "stopped"
	StatusFailed    = "failed"
)

// Status returns the status that a loop which ended for this reason has.
func (r Reason) Status() string {
	switch r.ExitCode() {
	case ExitCompleted:
		return StatusCompleted
	case ExitLimit, ExitInterrupted:
		return StatusStopped
	}
	return StatusFailed
}

// ExitCode returns the exit code of a foreground run that ended for this reason.
// A reason that this version does not know is a failure.
func (r Reason) ExitCode() int {
	switch r {
	case ReasonPromise, ReasonResponse:
		return ExitCompleted
	case ReasonIterations, ReasonCost, ReasonTokens, ReasonDuration, ReasonRestarts:
		return ExitLimit
	case ReasonConfig, ReasonAgent:
		return ExitUsage
	case ReasonAuth:
		return ExitPerson
	case ReasonStop, ReasonKill, ReasonInterrupt:
		return ExitInterrupted
	}
	return ExitFailed
}
