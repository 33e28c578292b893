package policy

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Breaker stops a loop that gets nowhere. Progress is what the files show: a commit, a
// difference to the last commit that was not seen before, a box that was ticked. Coming back to where
// the loop stood a few iterations ago, as in A-B-A-B, is none. Where no repository and no
// box of task.md can be looked at, an iteration that used no tool or ended with the very words
// of the one before got nowhere. After breaker.noProgress such iterations in a row, or
// breaker.sameError failures in a row without progress that say the same, but for ids, numbers and times, the loop ends; one before that
// it waits a while, and two before that the agent is told, with the evidence. (Of two, the first is
// told; of one, nothing comes before the end.) What a person, a limit or a dead runner cut off
// counts neither way, nor does an empty iteration, or one in which a repository could not be looked at.
type Breaker struct {
	Place string   `json:"place,omitempty"` // where the files stand, as far as the open iteration looked
	Began string   `json:"began,omitempty"` // where they stood when it began
	Seen  []string `json:"seen,omitempty"`  // where they stood at the ends of the last iterations
	Shown bool     `json:"shown,omitempty"` // there are files to look at
	// Opening says that the next iteration is being begun: what is looked at now is where it begins.
	Opening bool `json:"opening,omitempty"`
	// Blind says why a repository could not be looked at in the open iteration: what it changed is not known.
	Blind string `json:"blind,omitempty"`
	Moved bool   `json:"moved,omitempty"` // some iteration of this loop made progress
	Said  string `json:"said,omitempty"`  // hash of the last final message
	Same  bool   `json:"same,omitempty"`  // the open iteration's final message is the one before

	Stuck  int    `json:"stuck,omitempty"`  // iterations in a row
	Errors int    `json:"errors,omitempty"` // failures in a row that said the same, but for ids, numbers and times
	Error  string `json:"error,omitempty"`
	Alike  string `json:"alike,omitempty"` // what they all said: see alike

	// The counts that the last step of each rule was taken for.
	AnsweredStuck  int `json:"answeredStuck,omitempty"`
	AnsweredErrors int `json:"answeredErrors,omitempty"`

	Hint     string    `json:"hint,omitempty"` // for the next prompt
	NotUntil time.Time `json:"notUntil,omitzero"`
	Stop     string    `json:"stop,omitempty"` // the evidence that ended it
}

const (
	// placesKept is how many ends of iterations are remembered: enough for cycles of up to eight.
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

// Apply folds one event. It is asked before Completion, whose text the iteration's end clears.
func (b *Breaker) Apply(e event.Event, c *Completion) error {
	switch e.Type {
	case event.TypeLoopResumed:
		*b = Breaker{Moved: b.Moved}
	case event.TypeRepoSeen:
		p, err := event.As[event.RepoSeen](e)
		if err != nil {
			return err
		}
		b.stand(p.Root, p.Head, p.Fingerprint)
	case event.TypeRepoUnseen:
		p, err := event.As[event.RepoUnseen](e)
		if err != nil {
			return err
		}
		b.Blind = firstBytes(p.Error, problemMost)
	case event.TypeFolderSeen:
		p, err := event.As[event.FolderSeen](e)
		if err != nil {
			return err
		}
		if p.Boxes > 0 { // one without boxes, as ralph itself lays it out, shows nothing
			b.stand("task.md", strconv.Itoa(p.Ticked), strconv.Itoa(p.Boxes))
		}
	case event.TypeDecided:
		p, err := event.As[event.Decided](e)
		if err != nil {
			return err
		}
		switch p.Do {
		case event.DoBegin:
			b.Opening, b.Began, b.Place, b.Blind = true, "", "", ""
		case event.DoCheck:
			b.Place = "" // another look begins
		}
	case event.TypeIterationStarted, event.TypeEffectFailed:
		b.Opening = false
	case event.TypeIterationChecked:
		text := strings.TrimSpace(c.Text.String())
		said := hash(text)
		b.Same = text != "" && said == b.Said
		b.Said = said
	case event.TypeIterationEnded:
		p, err := event.As[event.IterationEnded](e)
		if err != nil {
			return err
		}
		b.ended(p)
	case event.TypeAgentReplaced:
		b.Errors, b.Error, b.Alike, b.AnsweredErrors = 0, "", "", 0 // they were another agent's
	case event.TypeBreakerTripped:
		p, err := event.As[event.BreakerTripped](e)
		if err != nil {
			return err
		}
		b.tripped(p, e.At)
	}
	return nil
}

// stand adds one thing that was looked at to where the files stand.
func (b *Breaker) stand(what, a, c string) {
	if b.Opening {
		b.Began = hash(b.Began, what, a, c)
		return
	}
	b.Shown = true
	b.Place = hash(b.Place, what, a, c)
}

// Progress says what the files show of the open iteration: yes, no, or nothing.
func (b *Breaker) Progress(tools int, showsTools bool) string {
	switch {
	case b.Blind != "":
		return ""
	case b.Shown && b.Place != "":
		if b.Place == b.Began || slices.Contains(b.Seen, b.Place) {
			return "no"
		}
		return "yes"
	case showsTools && tools == 0, b.Same:
		return "no"
	}
	return ""
}

func (b *Breaker) ended(p event.IterationEnded) {
	switch p.Outcome {
	case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited, event.OutcomeEmpty:
		return // they say nothing about the work, and the next agent is still to be told
	}
	b.Hint = ""
	if b.Place != "" && b.Blind == "" && !slices.Contains(b.Seen, b.Place) {
		b.Seen = append(b.Seen, b.Place)
		if len(b.Seen) > placesKept {
			b.Seen = slices.Delete(b.Seen, 0, len(b.Seen)-placesKept)
		}
	}
	switch p.Progress {
	case "yes":
		b.Stuck, b.Moved = 0, true
	case "no":
		b.Stuck++
	default:
		if b.Blind == "" { // else it counts neither way: nobody has seen it
			b.Stuck = 0
		}
	}
	problem, same := lastBytes(p.Error, 500), alike(p.Error)
	switch {
	case p.Outcome != event.OutcomeFailed || p.Progress == "yes":
		b.Errors, b.Error, b.Alike = 0, "", ""
	case same == b.Alike:
		b.Errors, b.Error = b.Errors+1, problem
	default:
		b.Errors, b.Error, b.Alike = 1, problem, same
	}
	// A row that begins anew has not been answered at all.
	if b.Stuck <= 1 {
		b.AnsweredStuck = 0
	}
	if b.Errors <= 1 {
		b.AnsweredErrors = 0
	}
}

// Trip returns the step that has to be taken now; false where none has.
func (b *Breaker) Trip(r event.Rules) (event.BreakerTripped, bool) {
	if b.Stop != "" {
		return event.BreakerTripped{}, false
	}
	if step := stepOf(b.Errors, r.SameError); step != "" && b.AnsweredErrors < b.Errors {
		return event.BreakerTripped{
			Rule: RuleSameError, Step: step, Count: b.Errors, Delay: b.delay(step, r),
			Evidence: b.sameError(),
		}, true
	}
	if step := stepOf(b.Stuck, r.NoProgress); step != "" && b.AnsweredStuck < b.Stuck {
		return event.BreakerTripped{Rule: RuleNoProgress, Step: step, Count: b.Stuck, Delay: b.delay(step, r), Evidence: b.evidence()}, true
	}
	return event.BreakerTripped{}, false
}

// stepOf returns what follows from a count; nothing below the last two before the limit.
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

func (b *Breaker) delay(step string, r event.Rules) int64 {
	if step != StepBackoff {
		return 0
	}
	return breakerDelay * r.RestartDelay
}

// SameError says of an agent that its failures are as many as end a loop; empty where they are not.
func (b *Breaker) SameError(r event.Rules) string {
	if r.SameError <= 0 || b.Errors < r.SameError {
		return ""
	}
	return b.sameError()
}

func (b *Breaker) sameError() string {
	if b.Errors == 1 {
		return "the last iteration ended with an error: " + b.Error
	}
	return fmt.Sprintf("%s ended with the same error: %s", iterations(b.Errors), b.Error)
}

func (b *Breaker) evidence() string {
	switch {
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
	switch p.Step {
	case StepStop:
		b.Stop = firstBytes(p.Evidence, problemMost)
	case StepBackoff:
		b.NotUntil = at.Add(milliseconds(p.Delay))
		b.Hint = firstBytes(p.Evidence, problemMost)
	default:
		b.Hint = firstBytes(p.Evidence, problemMost)
	}
}

// hash tells texts apart. Nobody gains by two that look the same: the worst is a hint too many.
func hash(parts ...string) string {
	h := fnv.New64a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return strconv.FormatUint(h.Sum64(), 36)
}
