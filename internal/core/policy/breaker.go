package policy

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Breaker is the circuit breaker: it stops a loop without progress. Progress is what the files
// show: a commit, a difference to the last commit that was not seen before, a box that was ticked.
// Returning to a state of a few iterations ago, as in A-B-A-B, is no progress. Without a repository
// and without boxes in task.md, an iteration made no progress if it used no tool or ended with the
// same message as the one before. In a loop over stories, neither did one that was refused for a
// reason for which one right before it was, whatever the files show. The loop ends after
// breaker.noProgress such iterations in a row, or after breaker.sameError failures in a row without
// progress whose errors differ only in ids, numbers and times. One iteration earlier it waits, and
// two earlier the agent gets a hint with the evidence. (With a limit of 2, the first iteration
// gives the hint; with 1, nothing comes before the end.) Iterations that a person, a limit or a
// dead runner interrupted count neither way, nor do empty iterations, those in which a repository
// could not be read, and those that failed because another program holds a lock.
type Breaker struct {
	// fingerprint of the files, as far as the open iteration inspected them
	Place string   `json:"place,omitempty"`
	Began string   `json:"began,omitempty"` // Place when it began
	Seen  []string `json:"seen,omitempty"`  // Place at the ends of the last iterations
	Shown bool     `json:"shown,omitempty"` // there are files to inspect
	// Blind says why a repository could not be read in the open iteration, so that its changes are
	// unknown.
	Blind string `json:"blind,omitempty"`
	Moved bool   `json:"moved,omitempty"` // some iteration of this loop made progress
	Said  string `json:"said,omitempty"`  // hash of the last final message
	Same  bool   `json:"same,omitempty"`  // the open iteration's final message is the one before
	// Refusal is what the last iteration did to the stories and was refused again.
	Refusal string `json:"refusal,omitempty"`

	Stuck int `json:"stuck,omitempty"` // iterations in a row
	// failures in a row whose errors differ only in ids, numbers and times
	Errors int    `json:"errors,omitempty"`
	Error  string `json:"error,omitempty"`
	Alike  string `json:"alike,omitempty"` // hash of what they have in common: see alike

	// The counts for which the last step of each rule was taken.
	AnsweredStuck  int `json:"answeredStuck,omitempty"`
	AnsweredErrors int `json:"answeredErrors,omitempty"`

	Hint     string    `json:"hint,omitempty"` // for the next prompt
	NotUntil time.Time `json:"notUntil,omitzero"`
	Stop     string    `json:"stop,omitempty"` // the evidence that ended it
}

const (
	// placesKept limits Seen: cycles of up to eight iterations are detected.
	placesKept = 8
	// breakerDelay is how many restart delays a backoff lasts.
	breakerDelay = 10
)

// Rules and steps of breaker.tripped.
const (
	RuleNoProgress = "noProgress"
	RuleSameError  = "sameError"
	StepHint       = "hint"
	StepBackoff    = "backoff"
	StepStop       = "stop"
)

// Apply folds one event. was is the loop before it, said the agent's final message.
func (b *Breaker) Apply(at time.Time, p event.Payload, was *Lifecycle, said *Tail) {
	switch p := p.(type) {
	case event.LoopResumed:
		*b = Breaker{Moved: b.Moved}
	case event.RepoInspected:
		b.addPlace(was.Phase, p.Root, p.Head, p.Fingerprint)
	case event.RepoUnreadable:
		b.Blind = firstBytes(p.Error, problemMost)
	case event.FolderInspected:
		if p.Boxes > 0 { // without boxes, as ralph creates it, task.md shows nothing
			b.addPlace(was.Phase, "task.md", strconv.Itoa(p.Ticked), strconv.Itoa(p.Boxes))
		}
	case event.Decided:
		switch p.Do {
		case event.DoBegin:
			b.Began, b.Place, b.Blind = "", "", ""
		case event.DoCheck:
			b.Place = "" // a new check inspects all files again
		}
	case event.IterationChecked:
		text := strings.TrimSpace(said.String())
		b.Same = text != "" && hash(text) == b.Said
		b.Said = hash(text)
	case event.IterationEnded:
		b.ended(p, was.unread(p))
	case event.AgentReplaced:
		b.Errors, b.Error, b.Alike, b.AnsweredErrors = 0, "", "", 0 // they were the replaced agent's
	case event.BreakerTripped:
		b.tripped(p, at)
	}
}

// addPlace adds what an inspection found to the fingerprint of the files.
func (b *Breaker) addPlace(phase Phase, what, a, c string) {
	if phase == Beginning {
		b.Began = hash(b.Began, what, a, c)
		return
	}
	b.Shown = true
	b.Place = hash(b.Place, what, a, c)
}

// Progress returns whether the open iteration made progress; empty if that is unknown.
func (b *Breaker) Progress(tools int, showsTools bool) event.Progress {
	switch {
	case b.Blind != "":
		return ""
	case b.Shown && b.Place != "":
		if b.Place == b.Began || slices.Contains(b.Seen, b.Place) {
			return event.ProgressNo
		}
		return event.ProgressYes
	case showsTools && tools == 0, b.Same:
		return event.ProgressNo
	}
	return ""
}

func (b *Breaker) ended(p event.IterationEnded, unread bool) {
	switch p.Outcome {
	case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited, event.OutcomeUnauthorized, event.OutcomeEmpty:
		return // they show nothing about the work, and the hint is still unread
	}
	if p.Outcome == event.OutcomeFailed && p.Progress != event.ProgressYes && held(p.Error) {
		return // the lock may be free next time
	}
	if !unread {
		b.Hint = ""
	}
	fresh := b.Place != "" && b.Blind == "" && !slices.Contains(b.Seen, b.Place)
	b.Moved = b.Moved || fresh && b.Shown && b.Place != b.Began // also if its claim was refused
	if fresh {
		b.Seen = append(b.Seen, b.Place)
		if len(b.Seen) > placesKept {
			b.Seen = slices.Delete(b.Seen, 0, len(b.Seen)-placesKept)
		}
	}
	switch p.Progress {
	case event.ProgressYes:
		b.Stuck, b.Moved = 0, true
	case event.ProgressNo:
		b.Stuck++
	default:
		if b.Blind == "" { // else the files are unknown, and nothing is counted
			b.Stuck = 0
		}
	}
	b.Refusal = firstBytes(p.Refusal, storyProblemMost)
	problem, same := lastBytes(p.Error, 500), alike(p.Error)
	switch {
	case p.Outcome != event.OutcomeFailed || p.Progress == event.ProgressYes:
		b.Errors, b.Error, b.Alike = 0, "", ""
	case same == b.Alike:
		b.Errors, b.Error = b.Errors+1, problem
	default:
		b.Errors, b.Error, b.Alike = 1, problem, same
	}
	// No step was taken yet for a count that has just begun.
	if b.Stuck <= 1 {
		b.AnsweredStuck = 0
	}
	if b.Errors <= 1 {
		b.AnsweredErrors = 0
	}
}

// Trip returns the step to take now; false for none. culprit is the guardrail that keeps the work
// from being done; the zero Failing is none.
func (b *Breaker) Trip(r event.Rules, culprit Failing) (event.BreakerTripped, bool) {
	if b.Stop != "" {
		return event.BreakerTripped{}, false
	}
	trip := event.BreakerTripped{Rule: RuleSameError, Step: stepOf(b.Errors, r.Breaker.SameError), Count: b.Errors, Evidence: b.sameError()}
	if trip.Step == "" || b.AnsweredErrors >= b.Errors {
		trip = event.BreakerTripped{Rule: RuleNoProgress, Step: stepOf(b.Stuck, r.Breaker.NoProgress), Count: b.Stuck, Evidence: b.evidence(culprit)}
		if trip.Step == "" || b.AnsweredStuck >= b.Stuck {
			return event.BreakerTripped{}, false
		}
	}
	if trip.Step == StepBackoff {
		trip.Delay = breakerDelay * r.Restart.Delay.Std().Milliseconds()
	}
	return trip, true
}

// stepOf returns the step for a count; empty if the count is more than two below the limit.
func stepOf(count, limit int) string {
	switch {
	case limit <= 0 || count == 0:
		return ""
	case count >= limit:
		return StepStop
	case count == limit-1 && limit > 2:
		return StepBackoff
	case count >= limit-2:
		return StepHint
	}
	return ""
}

// SameError returns the evidence if the agent failed often enough to end a loop, else nothing.
func (b *Breaker) SameError(r event.Rules) string {
	if r.Breaker.SameError <= 0 || b.Errors < r.Breaker.SameError {
		return ""
	}
	return b.sameError()
}

// Advice is the next step for a person if the agent failed often enough to end a loop.
func (b *Breaker) Advice(r event.Rules) string {
	if b.SameError(r) == "" {
		return ""
	}
	return fmt.Sprintf("mend the cause of %q, or take another agent with -a; then resume the loop", firstBytes(b.Error, 200))
}

func (b *Breaker) sameError() string {
	if b.Errors == 1 {
		return "the last iteration ended with an error: " + b.Error
	}
	return fmt.Sprintf("%s ended with the same error: %s", iterations(b.Errors), b.Error)
}

func (b *Breaker) evidence(culprit Failing) string {
	switch {
	case culprit.Times > 1 && culprit.Times >= b.Stuck:
		return fmt.Sprintf("%s got nowhere: %s", iterations(b.Stuck), culprit)
	case b.Refusal != "":
		return fmt.Sprintf("%s got nowhere, and the last was refused again for the same reason: %s", iterations(b.Stuck), b.Refusal)
	case b.Shown && b.Same:
		return fmt.Sprintf("%s changed nothing that lasts, and the last two ended with the same words", iterations(b.Stuck))
	case b.Shown:
		return iterations(b.Stuck) + " left no new commit, no new change and no ticked box"
	case b.Same:
		return iterations(b.Stuck) + " got nowhere, and the last two ended with the same words"
	}
	return iterations(b.Stuck) + " used no tool"
}

func iterations(n int) string {
	if n == 1 {
		return "1 iteration"
	}
	return fmt.Sprintf("%d iterations in a row", n)
}

func (b *Breaker) tripped(p event.BreakerTripped, at time.Time) {
	if p.Rule == RuleSameError {
		b.AnsweredErrors = p.Count
	} else {
		b.AnsweredStuck = p.Count
	}
	evidence := firstBytes(p.Evidence, problemMost)
	if p.Step == StepStop {
		b.Stop = evidence
		return
	}
	b.Hint = evidence
	if p.Step == StepBackoff {
		b.NotUntil = at.Add(units.Milliseconds(p.Delay))
	}
}

// hash identifies texts. A collision causes one hint too many.
func hash(parts ...string) string {
	h := fnv.New64a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return strconv.FormatUint(h.Sum64(), 36)
}
