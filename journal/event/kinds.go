package event

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// parse returns the value of a closed list that text spells.
func parse[T ~string](text, what string, list ...T) (T, error) {
	if !slices.Contains(list, T(text)) {
		return "", fmt.Errorf("%.40q is not %s", text, what)
	}
	return T(text), nil
}

// FaultKind is a kind of fault that an agent reports: see [AgentLimited], [AgentRetried] and
// [AgentFinished].
type FaultKind string

// The closed list of faults.
const (
	KindRate     FaultKind = "rate"
	KindOverload FaultKind = "overload"
	KindNetwork  FaultKind = "network"
	KindQuota    FaultKind = "quota"
	KindAuth     FaultKind = "auth"
	KindContext  FaultKind = "context" // the conversation is too long for the model
	KindRefusal  FaultKind = "refusal" // the model or its provider declined to answer
	KindOther    FaultKind = "other"
)

// LimitKinds are the kinds of agent.limited.
var LimitKinds = []FaultKind{KindRate, KindOverload, KindQuota, KindAuth, KindNetwork, KindContext}

// ParseFaultKind returns the kind of that name.
func ParseFaultKind(text string) (FaultKind, error) {
	return parse(text, "a kind of fault", append(LimitKinds, KindRefusal, KindOther)...)
}

// TurnOutcome is how an agent's turn ended.
type TurnOutcome string

// The closed list of outcomes of a turn.
const (
	TurnOK      TurnOutcome = "ok"
	TurnError   TurnOutcome = "error"
	TurnAborted TurnOutcome = "aborted"
	TurnLength  TurnOutcome = "length" // the answer was cut off at the model's limit
)

// ParseTurnOutcome returns the outcome of that name.
func ParseTurnOutcome(text string) (TurnOutcome, error) {
	return parse(text, "an outcome of a turn", TurnOK, TurnError, TurnAborted, TurnLength)
}

// TodoStatus is the status of an entry of an agent's own list.
type TodoStatus string

// The closed list of such statuses.
const (
	TodoPending TodoStatus = "pending"
	TodoActive  TodoStatus = "active"
	TodoDone    TodoStatus = "done"
)

// Progress says whether an iteration changed anything, as the files show it. It is empty where
// nothing shows it.
type Progress string

// Both values.
const (
	ProgressYes Progress = "yes"
	ProgressNo  Progress = "no"
)

// Claim is a way to claim that the work is done.
type Claim string

// The closed list of claims.
const (
	ClaimPromise   Claim = "promise"   // the promise marker
	ClaimResponse  Claim = "response"  // the response marker
	ClaimChecklist Claim = "checklist" // all boxes of task.md are ticked
	ClaimDoneFile  Claim = "doneFile"  // the file DONE
	ClaimStories   Claim = "stories"   // all stories of tasks.json are done
)

// Origin is whose process dropped a command, as far as the kernel says.
type Origin string

// Whose process it is.
const (
	OriginPerson  Origin = "person"      // descends from no agent of a loop
	OriginAgent   Origin = "agent"       // of the loop's own agent, or that of a loop within it
	OriginOuter   Origin = "outer-agent" // of the agent of a loop around it
	OriginOther   Origin = "other-agent" // of the agent of any other loop
	OriginUnknown Origin = "unknown"     // the kernel does not say it
)

// Delivery is how a command took effect.
type Delivery string

// The closed list of deliveries.
const (
	DeliveredLive   Delivery = "live"   // into the running turn
	DeliveredPrompt Delivery = "prompt" // in the prompt of an iteration
	DeliveredLoop   Delivery = "loop"   // by the loop itself
)

// Effect is what a decision asks for.
type Effect string

// The effects that a decision can ask for.
const (
	DoBegin   Effect = "iteration.begin"  // compose the prompt; answered by iteration.started
	DoStart   Effect = "agent.start"      // give the agent the prompt; answered by agent.started
	DoSteer   Effect = "agent.steer"      // put a command's text into the running turn; answered by command.delivered
	DoRelease Effect = "agent.release"    // after a finished turn: keep the process or end it; answered by agent.parked or agent.exited
	DoAbort   Effect = "agent.abort"      // end the running turn and the process, politely first; answered by agent.exited
	DoKill    Effect = "agent.kill"       // end the process tree at once; answered by agent.exited
	DoCheck   Effect = "iteration.check"  // inspect what the agent left, and run the guardrails; answered by iteration.checked
	DoCommit  Effect = "repo.commit"      // the tasks of version control; answered by scm.ended
	DoHoldout Effect = "holdout.check"    // run the held-out guardrails on the claimed state; answered by holdout.checked
	DoProve   Effect = "guardrails.prove" // try whether the guardrails can fail; answered by proof.ended
	DoCancel  Effect = "check.cancel"     // end the guardrails or tasks that run; they answer as they would have
	DoObserve Effect = "schedule.observe" // look at what the next iteration may have to wait for; answered by schedule.observed
)

// Class is a class of errors that decisions differ by.
type Class string

// The closed list of classes.
const (
	ClassMissing    Class = "missing"    // a program or file is not there
	ClassPermission Class = "permission" // not allowed
	ClassConfig     Class = "config"     // a person has to change settings
	ClassDisk       Class = "disk"       // full, read-only or vanished
	ClassTransient  Class = "transient"  // another try may succeed
)

// Moment is when a repository was inspected.
type Moment string

// Both moments of an iteration.
const (
	MomentBegin Moment = "begin"
	MomentEnd   Moment = "end"
)

// Role is what a file of a guardrail is for.
type Role string

// The closed list of roles.
const (
	RoleProgram      Role = "program"
	RoleInstructions Role = "instructions"
	RoleSettings     Role = "settings"
)

// Edit is how a file differs from its snapshot.
type Edit string

// The closed list of edits.
const (
	EditChanged  Edit = "changed"
	EditAppeared Edit = "appeared"
	EditVanished Edit = "vanished"
)

// Past says in words what happened to the file, to follow its name.
func (e Edit) Past() string {
	if e == EditAppeared || e == EditVanished {
		return string(e)
	}
	return "was changed"
}

// BlobRef names a blob: the SHA-256 of its bytes in hexadecimal.
type BlobRef string

// ParseBlobRef returns the reference that text spells.
func ParseBlobRef(text string) (BlobRef, error) {
	if sum, err := hex.DecodeString(text); err != nil || len(sum) != 32 || hex.EncodeToString(sum) != text {
		return "", fmt.Errorf("%.80q is not the name of a blob", text)
	}
	return BlobRef(text), nil
}

// RawBlob returns the name of the blob that has a line of an agent, if its raw is such a reference:
// an object with blob and bytes, and nothing else. It is empty for the line itself. A key may have
// escapes, or be there twice: other readers would take that for a reference, too.
func RawBlob(raw []byte) (name BlobRef) {
	sized := false
	for cur := jsonscan.Object(raw); ; {
		switch key, value, ok := cur.Next(); {
		case !ok && sized:
			return name
		case jsonscan.EqualKey(key, "blob"):
			if ref, err := ParseBlobRef(jsonscan.Unquote(value)); err == nil {
				name = ref
			}
		case jsonscan.EqualKey(key, "bytes"):
			sized = true
		default:
			return ""
		}
	}
}

// StoryMode is what an iteration does with a story.
type StoryMode string

// The modes, in the order in which ralph prefers them.
const (
	ModeReviewFix StoryMode = "review-fix" // corrects what a review found
	ModeReview    StoryMode = "review"     // reviews what an earlier iteration did
	ModeImplement StoryMode = "implement"  // implements a story
)

// StoryStatus is the state of a story's review.
type StoryStatus string

// The states. A story that is not implemented has none: null in tasks.json.
const (
	StoryNeedsReview      StoryStatus = "needs_review"
	StoryChangesRequested StoryStatus = "changes_requested"
	StoryApproved         StoryStatus = "approved"
)
