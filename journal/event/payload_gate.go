package event

import (
	"fmt"
	"strings"
)

// FolderSeen: what the loop's folder says of the work: its marks and the boxes of
// task.md. It is looked at before an iteration begins, and when its agent is gone.
type FolderSeen struct {
	Done   bool   `json:"done,omitempty"`   // there is a file DONE
	Wait   bool   `json:"wait,omitempty"`   // there is a file WAIT_WITHOUT_RESTART
	Text   string `json:"text,omitempty"`   // how the file DONE, or else the other one, begins
	Boxes  int    `json:"boxes,omitempty"`  // of the checklist in task.md
	Ticked int    `json:"ticked,omitempty"` // of these
	// Open are the texts of the first boxes that are not ticked.
	Open   []string `json:"open,omitempty"`
	SHA256 string   `json:"sha256,omitempty"` // of task.md; empty where there is none
}

// RepoSeen: where a git repository stands.
type RepoSeen struct {
	Root  string `json:"root"`            // relative to the project where it lies in it
	When  string `json:"when"`            // begin (of the iteration) or end
	Head  string `json:"head,omitempty"`  // empty before the first commit
	Dirty bool   `json:"dirty,omitempty"` // there are changes that are not committed
	// Fingerprint is of all that differs from Head, new files included; it stays the
	// same as long as no byte of that changes.
	Fingerprint string `json:"fingerprint,omitempty"`
	Files       int    `json:"files,omitempty"` // that differ from Head
	Insertions  int    `json:"insertions,omitempty"`
	Deletions   int    `json:"deletions,omitempty"`
	Commits     int    `json:"commits,omitempty"` // made since the iteration began
}

// RepoUnseen: a git repository could not be looked at, so that nobody knows what the iteration changed there.
type RepoUnseen struct {
	Root  string `json:"root"` // as in repo.seen
	When  string `json:"when"` // begin (of the iteration) or end
	Error string `json:"error"`
}

// GuardrailStarted: ralph runs a command that has to succeed.
type GuardrailStarted struct {
	Name string `json:"name"` // the command
}

// GuardrailEnded: the command is over, and so is everything that it started.
type GuardrailEnded struct {
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Code     int    `json:"code"` // -1 when a signal ended it
	TimedOut bool   `json:"timedOut,omitempty"`
	Took     int64  `json:"took"`          // milliseconds
	Log      string `json:"log,omitempty"` // its whole output, in the loop's folder
	// Action is where a failure goes in the next prompt: APPEND, PREPEND or REPLACE.
	Action string `json:"action,omitempty"`
	// Message is what the agent is told of a failure.
	Message *Blob `json:"message,omitempty"`
	// Warning is what went wrong beside the command and leaves its verdict standing: its log is not whole, or processes that it
	// started cannot be ended.
	Warning string `json:"warning,omitempty"`
}

// GuardrailSealed: what guardrails consist of, before the agent is let at it. It holds until there is another one:
// a check compares the files with it, and what differs is the agent's doing. What differs when no check is due, a person
// has changed, and there is a new one before the next agent starts.
type GuardrailSealed struct {
	Files []SealedFile `json:"files"`
}

// SealedFile is what stood at a path, or that nothing did.
type SealedFile struct {
	Path      string `json:"path"`             // relative to the project
	Role      string `json:"role"`             // program, instructions, argument or settings
	Kind      string `json:"kind,omitempty"`   // file or link; nothing stood there where it is empty
	SHA256    string `json:"sha256,omitempty"` // of a file; the content of one that is protected is sealed/<SHA256> in the loop's folder
	Bytes     int64  `json:"bytes,omitempty"`
	Mode      uint32 `json:"mode,omitempty"`      // the permissions of a file
	Target    string `json:"target,omitempty"`    // of a link
	Protected bool   `json:"protected,omitempty"` // it is put back before a check
}

// GuardrailEdited: a file that a guardrail consists of is not what it was when it was sealed.
type GuardrailEdited struct {
	Path     string `json:"path"`               // relative to the project
	How      string `json:"how"`                // changed, appeared or vanished
	Restored bool   `json:"restored,omitempty"` // it was put back before the check
	Why      string `json:"why,omitempty"`      // it could not be, though it is protected
	Role     string `json:"role,omitempty"`     // program, instructions or settings
	Is       string `json:"is,omitempty"`       // the SHA-256 of a file as it was found, "link to …" of a link; empty where nothing is there
	// Guardrails are the commands that consist of it; none of settings.
	Guardrails []string `json:"guardrails,omitempty"`
	// During: it was changed while the guardrails ran, by one of them or by what the agent left running.
	During bool `json:"during,omitempty"`
}

// EditedFile is a file of guardrails or settings that the agent changed, until a person accepts that.
type EditedFile struct {
	Path       string   `json:"path"`                 // relative to the project
	How        string   `json:"how"`                  // changed, appeared or vanished
	Role       string   `json:"role,omitempty"`       // program, instructions or settings
	Iteration  int      `json:"iteration"`            // the first after whose beginning it was found so
	Guardrails []string `json:"guardrails,omitempty"` // the commands that consist of it
}

// RoleSettings is the role of files of settings.
const RoleSettings = "settings"

// String says it in words for a person.
func (f EditedFile) String() string {
	what := "the settings file " + f.Path
	switch {
	case f.Role == RoleSettings:
	case len(f.Guardrails) == 0:
		what = f.Path + ", which guardrails consist of,"
	default:
		what = f.Path + ", which the guardrail " + strings.Join(f.Guardrails, " and the guardrail ") + " consists of,"
	}
	how := "was changed"
	if f.How == "appeared" || f.How == "vanished" {
		how = f.How
	}
	return fmt.Sprintf("%s %s in iteration %d, and nobody has accepted that", what, how, f.Iteration)
}

// IterationChecked: what the iteration left behind has been looked at, and the
// guardrails have run where they were asked for.
type IterationChecked struct {
	Guardrails int `json:"guardrails,omitempty"` // that ran
	Failed     int `json:"failed,omitempty"`     // of these
}

// RepoCommitted: the work of the iteration is a commit.
type RepoCommitted struct {
	SHA        string `json:"sha"` // empty where another program than git committed, and git does not see it
	Message    string `json:"message"`
	Files      int    `json:"files,omitempty"`
	Insertions int    `json:"insertions,omitempty"`
	Deletions  int    `json:"deletions,omitempty"`
}

// SCMEnded: the tasks of version control have been done, as far as they could be.
type SCMEnded struct {
	Tasks   []string `json:"tasks,omitempty"`   // that were done
	Nothing bool     `json:"nothing,omitempty"` // there was nothing to commit
	Failed  string   `json:"failed,omitempty"`  // the task that failed
	Error   string   `json:"error,omitempty"`   // why
}

// BudgetWarned: a limit is near, or cannot be watched. It is said once for each limit.
type BudgetWarned struct {
	Limit string `json:"limit"` // as in the settings, such as limits.cost
	Why   string `json:"why"`   // one sentence for a person
}

// BreakerTripped: the loop gets nowhere.
type BreakerTripped struct {
	Rule string `json:"rule"` // noProgress or sameError
	// Step is what follows: hint (in the next prompt), backoff (and a wait) or stop.
	Step     string `json:"step"`
	Count    int    `json:"count"`           // iterations in a row
	Evidence string `json:"evidence"`        // one sentence for agent and person
	Delay    int64  `json:"delay,omitempty"` // of a backoff: milliseconds
}

// ClockJumped: the machine slept or its clock was set on: for By milliseconds nobody
// could do anything, and they count against no deadline.
type ClockJumped struct {
	By int64 `json:"by"`
}
