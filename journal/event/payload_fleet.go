package event

// The events of a fleet: a loop whose agent lets several loops work through tasks. Its agent
// reports what it observes and what it is about to do, so that the journal has each step before it
// is done.

// FleetStep is how far a task of a fleet is.
type FleetStep string

// The steps of a task.
const (
	FleetWaiting FleetStep = "waiting" // it has not begun
	FleetWorking FleetStep = "working" // its loop works
	FleetMerging FleetStep = "merging" // its loop has completed, and its work is being merged
	FleetMerged  FleetStep = "merged"
	FleetFailed  FleetStep = "failed" // it is left to a person
)

// FleetAction is what the agent of a fleet does next.
type FleetAction string

// The actions of a fleet. The last three end the agent.
const (
	FleetBegin    FleetAction = "begin"    // start the loop of a task
	FleetResume   FleetAction = "resume"   // resume the loop of a task
	FleetMerge    FleetAction = "merge"    // merge the work of a task
	FleetGiveUp   FleetAction = "give up"  // leave a task to a person
	FleetComplete FleetAction = "complete" // all tasks are merged
	FleetBlock    FleetAction = "block"    // ask a person: nothing else can be done
	FleetStop     FleetAction = "stop"     // a person stops the fleet
)

// FleetResult is what an action, or the loop of a task, came to.
type FleetResult string

// The results. Those of a loop are known when its runner has exited.
const (
	FleetStarted     FleetResult = "started"     // the loop runs, or has run since
	FleetRefused     FleetResult = "refused"     // the loop could not be started or resumed
	FleetAbsent      FleetResult = "absent"      // there is no loop
	FleetCompleted   FleetResult = "completed"   // the loop ended, and its work is done
	FleetInterrupted FleetResult = "interrupted" // the loop was interrupted
	FleetDied        FleetResult = "died"        // the runner of the loop died
	FleetEnded       FleetResult = "ended"       // the loop ended in any other way
	FleetSpent       FleetResult = "spent"       // the loop has spent more than its share, or has another
	FleetBased       FleetResult = "based"       // the commit that the work is about to be merged into
	FleetAccepted    FleetResult = "accepted"    // the work is merged
	FleetUnchanged   FleetResult = "unchanged"   // there was no work to merge
	FleetUncommitted FleetResult = "uncommitted" // what the agent left could not be committed
	FleetConflicting FleetResult = "conflicting" // the work conflicts with what was merged before
	FleetRejected    FleetResult = "rejected"    // guardrails failed on the result of the merge
	FleetLost        FleetResult = "lost"        // the work cannot be read
)

// FleetOpened: the agent of a fleet began. It says what it finds, before any step.
type FleetOpened struct {
	Parallel int    `json:"parallel"`           // how many loops may work at once
	Branch   string `json:"branch,omitempty"`   // the branch that gets the work
	ByPerson bool   `json:"byPerson,omitempty"` // a person resolves conflicts
	Closed   string `json:"closed,omitempty"`   // why no task may begin
	// Tasks are in the order in which they begin.
	Tasks []FleetTask `json:"tasks"`
}

// FleetTask is one task of a fleet, as its agent found it.
type FleetTask struct {
	ID        string   `json:"id"`
	Loop      string   `json:"loop"`
	DependsOn []string `json:"dependsOn,omitempty"` // tasks that have to be merged before
	Begun     bool     `json:"begun,omitempty"`     // there is a loop
	Share     float64  `json:"share,omitempty"`     // limits.cost of the loop, US dollars
	USD       float64  `json:"usd,omitempty"`       // what the loop has spent
	// The others count for a task that the journal does not know yet: one that was done before, or
	// one of a fleet of an earlier version, which had them in fleet.json alone.
	Step   FleetStep `json:"step,omitempty"`
	Tries  int       `json:"tries,omitempty"`
	Commit string    `json:"commit,omitempty"`
	Why    string    `json:"why,omitempty"`
}

// FleetObserved: the agent of a fleet saw what became of a task's loop, or of an action.
type FleetObserved struct {
	Task   string      `json:"task"`
	What   FleetResult `json:"what"`
	Why    string      `json:"why,omitempty"`
	Seq    uint64      `json:"seq,omitempty"`    // the last event of the loop, for one that does not run
	Commit string      `json:"commit,omitempty"` // of what is based or accepted
	Share  float64     `json:"share,omitempty"`  // limits.cost of the loop, for what is spent
	USD    float64     `json:"usd,omitempty"`    // what the loop has spent
}

// FleetDecided: the next action of a fleet, which its agent carries out once this is recorded.
type FleetDecided struct {
	Do      FleetAction `json:"do"`
	Task    string      `json:"task,omitempty"`
	Why     string      `json:"why,omitempty"`
	Message string      `json:"message,omitempty"` // for the agent of a loop that is resumed
	Share   float64     `json:"share,omitempty"`   // limits.cost of a loop that begins, US dollars; 0 for none
}
