package event

// Reason is why a loop ended: a closed list, each with its status and exit code.
type Reason string

// The reasons.
const (
	ReasonPromise     Reason = "promise"     // the promise marker was accepted
	ReasonResponse    Reason = "response"    // the response marker was accepted
	ReasonChecklist   Reason = "checklist"   // all boxes of task.md are ticked
	ReasonDoneFile    Reason = "doneFile"    // the file DONE is there
	ReasonStories     Reason = "stories"     // all stories of tasks.json are done
	ReasonIterations  Reason = "iterations"  // maximumIterations reached
	ReasonCost        Reason = "cost"        // limits.cost reached
	ReasonTokens      Reason = "tokens"      // limits.tokens reached
	ReasonDuration    Reason = "duration"    // limits.duration reached
	ReasonRestarts    Reason = "restarts"    // restart.max failures in a row
	ReasonConfig      Reason = "config"      // settings that cannot work
	ReasonAgent       Reason = "agent"       // the agent cannot be started
	ReasonEnvironment Reason = "environment" // the agent fails at once, again and again, in the same way, or does not reach its model
	ReasonDisk        Reason = "disk"        // the journal cannot be written
	ReasonFault       Reason = "fault"       // an error in ralph itself
	ReasonAuth        Reason = "auth"        // the agent is not logged in
	ReasonQuota       Reason = "quota"       // the agent's account has nothing left, and does not say until when
	ReasonOutage      Reason = "outage"      // limits.maxOutage: what the agent needs stayed out of order
	ReasonBreaker     Reason = "breaker"     // the loop made no progress
	ReasonBlocked     Reason = "blocked"     // the agent needs a person's answer
	ReasonWait        Reason = "wait"        // the agent waits for a person, and none is there
	ReasonStop        Reason = "stop"        // a person asked it to stop
	ReasonKill        Reason = "kill"        // a person killed it
	ReasonInterrupt   Reason = "interrupt"   // a signal in the foreground
	ReasonFenced      Reason = "fenced"      // another host of the pool has the loop
)

// ParseReason returns the reason of that name.
func ParseReason(text string) (Reason, error) {
	return parse(text, "a reason why a loop ends",
		ReasonPromise, ReasonResponse, ReasonChecklist, ReasonDoneFile, ReasonStories, ReasonIterations,
		ReasonCost, ReasonTokens, ReasonDuration, ReasonRestarts, ReasonConfig,
		ReasonAgent, ReasonEnvironment, ReasonDisk, ReasonFault, ReasonAuth,
		ReasonQuota, ReasonOutage, ReasonBreaker, ReasonBlocked, ReasonWait,
		ReasonStop, ReasonKill, ReasonInterrupt, ReasonFenced)
}

// Exit codes of ralph: the one list of them.
const (
	ExitCompleted   = 0   // the work is done
	ExitLimit       = 1   // a limit was reached
	ExitUsage       = 2   // configuration or usage
	ExitFailed      = 3   // failed
	ExitPerson      = 4   // needs a person
	ExitFenced      = 6   // another host of the pool has the loop
	ExitInterrupted = 130 // interrupted or stopped by the user
)

// Status returns the status that a loop which ended for this reason has.
func (r Reason) Status() Status {
	switch r.ExitCode() {
	case ExitCompleted:
		return StatusCompleted
	case ExitLimit, ExitInterrupted, ExitFenced:
		return StatusStopped
	}
	if r == ReasonBlocked || r == ReasonWait {
		return StatusStopped // nothing went wrong: the agent stopped by itself
	}
	return StatusFailed
}

// Result returns the reason's word in the specification of loops within one session; empty for a
// reason that the specification does not have.
func (r Reason) Result() string {
	switch r {
	case ReasonPromise:
		return "PROMISE_ACCEPTED"
	case ReasonIterations:
		return "MAX_ITERATIONS_REACHED"
	}
	return ""
}

// ExitCode returns the exit code of a foreground run that ended for this reason.
// A reason that this version does not know is a failure.
func (r Reason) ExitCode() int {
	switch r {
	case ReasonPromise, ReasonResponse, ReasonChecklist, ReasonDoneFile, ReasonStories:
		return ExitCompleted
	case ReasonIterations, ReasonCost, ReasonTokens, ReasonDuration, ReasonRestarts:
		return ExitLimit
	case ReasonConfig, ReasonAgent:
		return ExitUsage
	case ReasonAuth, ReasonQuota, ReasonBlocked, ReasonWait:
		return ExitPerson
	case ReasonStop, ReasonKill, ReasonInterrupt:
		return ExitInterrupted
	case ReasonFenced:
		return ExitFenced
	}
	return ExitFailed
}
