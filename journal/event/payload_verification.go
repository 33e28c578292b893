package event

import (
	"fmt"
	"strings"
)

// FolderInspected: the marker files in the loop's folder, and the boxes of task.md. ralph inspects
// them before an iteration begins, and after its agent's turn.
type FolderInspected struct {
	Done   bool   `json:"done,omitempty"`   // there is a file DONE
	Wait   bool   `json:"wait,omitempty"`   // there is a file WAIT_WITHOUT_RESTART
	Text   string `json:"text,omitempty"`   // the beginning of the file DONE, or else of the other one
	Boxes  int    `json:"boxes,omitempty"`  // of the checklist in task.md
	Ticked int    `json:"ticked,omitempty"` // of these
	// Open are the texts of the first boxes that are not ticked.
	Open   []string `json:"open,omitempty"`
	SHA256 string   `json:"sha256,omitempty"` // of task.md; empty if there is none
}

// RepoInspected: the state of a git repository.
type RepoInspected struct {
	Root string `json:"root"`           // relative to the project if it is inside of it
	When Moment `json:"when"`           // begin (of the iteration) or end
	Head string `json:"head,omitempty"` // empty before the first commit
	// Branch is the branch that is checked out; HEAD if none is.
	Branch string `json:"branch,omitempty"`
	// Left is the branch that the loop works on, while an iteration left it for another one.
	Left  string `json:"left,omitempty"`
	Dirty bool   `json:"dirty,omitempty"` // there are changes that are not committed
	// Fingerprint is a hash of all that differs from Head, new files included. It stays the same as
	// long as no byte of that changes.
	Fingerprint string `json:"fingerprint,omitempty"`
	Files       int    `json:"files,omitempty"` // that differ from Head
	Insertions  int    `json:"insertions,omitempty"`
	Deletions   int    `json:"deletions,omitempty"`
	Commits     int    `json:"commits,omitempty"` // made since the iteration began
	// Committed is the difference that these commits make; nil if there are none, or it is unknown.
	Committed *Difference `json:"committed,omitempty"`
	// Made are those of these commits that were made in this work tree, the oldest first. What was
	// fetched, merged, rebased or picked is not among them.
	Made []string `json:"made,omitempty"`
	// Whole is the difference from how the files were before the first iteration, also by commits;
	// nil if it is unknown.
	Whole *Difference `json:"whole,omitempty"`
	// Size is what limits.diff bounds, where that is set; nil if it is unknown. At the begin it is
	// what differs from Head already, which the end subtracts.
	Size *Size `json:"size,omitempty"`
}

// A Size is how much there is to review: lines that are added and removed.
type Size struct {
	Lines   int        `json:"lines"`
	Skipped int        `json:"skipped,omitempty"` // lines of generated and lock files, which do not count
	Largest []SizeFile `json:"largest,omitempty"` // the files with the most lines, the first five
}

// A SizeFile is a file with its part of a size.
type SizeFile struct {
	Path  string `json:"path"`
	Lines int    `json:"lines"`
}

// DetachedHead is the branch of a repository that has none checked out.
const DetachedHead = "HEAD"

// Away says which branch is checked out instead of the loop's; empty if that is.
func (p RepoInspected) Away() string {
	switch {
	case p.Left == "":
		return ""
	case p.Branch == DetachedHead:
		return "on no branch (detached HEAD), no longer on the loop's branch " + p.Left
	}
	return "on the branch " + p.Branch + ", no longer on the loop's branch " + p.Left
}

// A Difference counts what differs between two states of files.
type Difference struct {
	Files      int `json:"files"`
	Insertions int `json:"insertions"`
	Deletions  int `json:"deletions"`
}

// RepoUnreadable: a git repository could not be inspected, so that it is unknown what the iteration
// changed there.
type RepoUnreadable struct {
	Root  string `json:"root"` // as in repo.inspected
	When  Moment `json:"when"` // begin (of the iteration) or end
	Error string `json:"error"`
}

// GuardrailStarted: ralph runs a command that has to succeed.
type GuardrailStarted struct {
	Name string `json:"name"` // the command
}

// GuardrailEnded: the command and all processes that it started have ended.
type GuardrailEnded struct {
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Code     int    `json:"code"` // -1 when a signal ended it
	TimedOut bool   `json:"timedOut,omitempty"`
	Took     int64  `json:"took"`          // milliseconds
	Log      string `json:"log,omitempty"` // its whole output, in the loop's folder
	// Action is where a failure goes in the next prompt: APPEND, PREPEND or REPLACE.
	Action string `json:"action,omitempty"`
	// Message is what the next prompt says about a failure.
	Message *Blob `json:"message,omitempty"`
	// Warning is a problem that does not change the result: the log is incomplete, or processes
	// that the command started cannot be ended.
	Warning string `json:"warning,omitempty"`
}

// OutputFollows is the line of a guardrail's message before what it printed.
const OutputFollows = "Output (truncated):\n"

// GuardrailSnapshotted: the files of the guardrails, before the agent works. It is valid until the
// next one: a check compares the files with it and attributes a difference to the agent. A
// difference outside of a check is attributed to a person, and there is a new snapshot before the
// next agent starts.
type GuardrailSnapshotted struct {
	Files []SnapshotFile `json:"files"`
}

// SnapshotFile describes what was at a path, or that nothing was.
type SnapshotFile struct {
	Path string `json:"path"` // relative to the project
	Role Role   `json:"role"` // program, instructions or settings
	// file or link; empty if there was nothing
	Kind string `json:"kind,omitempty"`
	// of a file; the content of a protected one is guardrail-files/<SHA256> in the loop's folder
	SHA256    string `json:"sha256,omitempty"`
	Bytes     int64  `json:"bytes,omitempty"`
	Mode      uint32 `json:"mode,omitempty"`      // the permissions of a file
	Target    string `json:"target,omitempty"`    // of a link
	Protected bool   `json:"protected,omitempty"` // it is put back before a check
}

// GuardrailEdited: a file of a guardrail differs from its snapshot.
type GuardrailEdited struct {
	Path     string `json:"path"`               // relative to the project
	How      Edit   `json:"how"`                // changed, appeared or vanished
	Restored bool   `json:"restored,omitempty"` // it was put back before the check
	Kept     string `json:"kept,omitempty"`     // what was found, in the loop's folder
	// Aside are the new names of what was in the way, relative to the project.
	Aside []string `json:"aside,omitempty"`
	Why   string   `json:"why,omitempty"`  // why a protected file could not be put back
	Role  Role     `json:"role,omitempty"` // program, instructions or settings
	// the SHA-256 of a file as it was found, "link to …" of a link; empty if nothing is there
	Is string `json:"is,omitempty"`
	// Guardrails are the commands that consist of it; none of settings.
	Guardrails []string `json:"guardrails,omitempty"`
	// During: it was changed while the guardrails ran, by one of them or by what the agent left
	// running.
	During bool `json:"during,omitempty"`
}

// EditedFile is a file of guardrails or settings that the agent changed, until a person accepts
// that.
type EditedFile struct {
	Path string `json:"path"`           // relative to the project
	How  Edit   `json:"how"`            // changed, appeared or vanished
	Role Role   `json:"role,omitempty"` // program, instructions or settings
	// the iteration in which it was first found so
	Iteration  int      `json:"iteration"`
	Guardrails []string `json:"guardrails,omitempty"` // the commands that consist of it
}

// String says it in words for a person.
func (f EditedFile) String() string {
	what := "the settings file " + f.Path
	switch {
	case f.Role == RoleSettings:
	case len(f.Guardrails) == 0:
		what = "the guardrail file " + f.Path
	default:
		what = f.Path + ", a file of the guardrail " + strings.Join(f.Guardrails, " and the guardrail ") + ","
	}
	return fmt.Sprintf("%s %s in iteration %d, and no person has accepted that", what, f.How.Past(), f.Iteration)
}

// IterationChecked: the result of the iteration was inspected, and the guardrails that were due
// have run.
type IterationChecked struct {
	Guardrails int `json:"guardrails,omitempty"` // that ran
	Failed     int `json:"failed,omitempty"`     // of these
	// Snapshot is the commit that keeps the work tree as it is then; empty if it is not kept.
	Snapshot string `json:"snapshot,omitempty"`
	// Warning is why there is no note on the commits that the agent made.
	Warning string `json:"warning,omitempty"`
}

// RepoCommitted: the work of the iteration is a commit.
type RepoCommitted struct {
	// empty if a program other than git committed, and git does not see the commit
	SHA        string `json:"sha"`
	Message    string `json:"message"`
	Files      int    `json:"files,omitempty"`
	Insertions int    `json:"insertions,omitempty"`
	Deletions  int    `json:"deletions,omitempty"`
	// Warning is why there is no note on the commit.
	Warning string `json:"warning,omitempty"`
}

// SCMEnded: the tasks of version control were done, as far as possible.
type SCMEnded struct {
	Tasks   []string `json:"tasks,omitempty"`   // that were done
	Nothing bool     `json:"nothing,omitempty"` // there was nothing to commit
	Failed  string   `json:"failed,omitempty"`  // the task that failed
	Error   string   `json:"error,omitempty"`   // why
	PR      string   `json:"pr,omitempty"`      // the address of the pull request that was made or changed
	Left    []string `json:"left,omitempty"`    // new files that are in no commit, the first hundred
	// PRs are the pull requests of a branch that is larger than limits.diff, in their order. PR is
	// then the first that is open.
	PRs []StackedRequest `json:"prs,omitempty"`
}

// A StackedRequest is one of several pull requests: each but the first is based on the branch of
// the one before it.
type StackedRequest struct {
	Branch string       `json:"branch"`
	Head   string       `json:"head"`          // its last commit
	URL    string       `json:"url,omitempty"` // empty if it was not made
	State  RequestState `json:"state"`
	Lines  int          `json:"lines"` // as limits.diff counts
	// Note says why it is larger than limits.diff, or that its guardrails did not run.
	Note string `json:"note,omitempty"`
}

// RequestState is what became of a pull request.
type RequestState string

// The closed list of states.
const (
	RequestOpen   RequestState = "open"
	RequestMerged RequestState = "merged"
	RequestClosed RequestState = "closed" // without being merged
)

// BudgetWarned: a limit is near, or cannot be watched. It is reported once for each limit.
type BudgetWarned struct {
	Limit string `json:"limit"` // as in the settings, such as limits.cost
	Why   string `json:"why"`   // one sentence for a person
}

// BreakerTripped: the loop makes no progress.
type BreakerTripped struct {
	Rule string `json:"rule"` // noProgress or sameError
	// Step is what follows: hint (in the next prompt), backoff (a hint and a wait) or stop.
	Step     string `json:"step"`
	Count    int    `json:"count"`           // iterations in a row
	Evidence string `json:"evidence"`        // one sentence for agent and person
	Delay    int64  `json:"delay,omitempty"` // of a backoff: milliseconds
}

// ClockJumped: the machine slept or its clock was set forward. By milliseconds are excluded from
// all deadlines.
type ClockJumped struct {
	By int64 `json:"by"`
}
