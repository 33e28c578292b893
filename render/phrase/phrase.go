package phrase

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Tone says how a phrase is meant.
type Tone string

// The closed list of tones. ToneQuiet is that of an event which only a reader looks for who wants
// all details.
const (
	ToneQuiet   Tone = ""
	ToneGood    Tone = "good"
	ToneWarning Tone = "warning"
	ToneFailure Tone = "failure"
)

// Phrase is what an event means in words. Its texts are foreign in parts, and not clean.
type Phrase struct {
	Tone  Tone
	Text  string   // what happened; of several facts, one on each line
	Facts []string // its circumstances, each in a few words
	Why   string   // what explains it; of several lines perhaps
}

// String is all of the phrase: "iteration 3 failed (4.2s · 1 tool): the agent's process ended".
func (p Phrase) String() string {
	text := p.Text
	if len(p.Facts) > 0 {
		text += " (" + strings.Join(p.Facts, " · ") + ")"
	}
	return colon(text, p.Why)
}

// Line is String on one line.
func (p Phrase) Line() string {
	var lines []string
	for line := range strings.Lines(p.String()) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), ":; ", ": ")
}

// Known is what a reader knows besides the event. The zero value knows nothing.
type Known struct {
	At       time.Time      // of the event
	Location *time.Location // of times of day; nil leaves them in RFC 3339
	Day      time.Time      // a time on another day has its date; zero is any day
	Verbose  bool           // errors in full

	Loop              string // its name
	Refunded, Maximum int    // iterations of the loop, as in units.Count
	Agent             string // that works, if the loop has several
	Story, Title      string // of the iteration: see Story
	Running           int    // the iteration that runs; 0 between two
	ToolsFailed       int    // in this iteration

	Command event.CommandKind // that is answered
	Turn    int               // of the iteration, in which a message is delivered; from 1
	Back    string            // the loop's branch, if a repository is on it again
}

// Of returns the phrase of an event.
func Of(p event.Payload, k Known) Phrase {
	if p == nil {
		return Phrase{}
	}
	say, known := book[p.EventType()]
	if !known {
		return Phrase{}
	}
	return say(p, k)
}

// book has the phrase of each type of event.
var book = map[event.Type]func(event.Payload, Known) Phrase{
	event.TypeLoopStarted:    of(loopStarted),
	event.TypeLoopResumed:    of(loopResumed),
	event.TypeLoopConfigured: of(loopConfigured),
	event.TypeLoopPaused:     of(loopPaused),
	event.TypeLoopUnpaused:   of(loopUnpaused),
	event.TypeLoopWaiting:    of(loopWaiting),
	event.TypeLoopWaited:     of(loopWaited),
	event.TypeLoopEnded:      of(loopEnded),
	event.TypeLoopFenced:     of(loopFenced),
	event.TypeLoopMoved:      of(loopMoved),
	event.TypeLoopHeld:       of(loopHeld),
	event.TypeLoopReleased:   of(loopReleased),

	event.TypeScheduleObserved: of(scheduleObserved),
	event.TypeFleetOpened:      of(fleetOpened),
	event.TypeFleetObserved:    of(fleetObserved),
	event.TypeFleetDecided:     of(fleetDecided),

	event.TypeSegmentOpened: of(segmentOpened),
	event.TypeSegmentSealed: of(segmentSealed),

	event.TypeIterationStarted: of(iterationStarted),
	event.TypeIterationEnded:   of(iterationEnded),

	event.TypeAgentStarted:   of(agentStarted),
	event.TypeAgentSaid:      of(agentSaid),
	event.TypeAgentThought:   of(agentThought),
	event.TypeAgentUsed:      of(agentUsed),
	event.TypeAgentPlanned:   of(agentPlanned),
	event.TypeAgentAsked:     of(agentAsked),
	event.TypeAgentLimited:   of(agentLimited),
	event.TypeAgentRetried:   of(agentRetried),
	event.TypeAgentCompacted: of(agentCompacted),
	event.TypeAgentNoticed:   of(agentNoticed),
	event.TypeAgentUnparsed:  of(agentUnparsed),
	event.TypeAgentFinished:  of(agentFinished),
	event.TypeAgentParked:    of(agentParked),
	event.TypeAgentExited:    of(agentExited),
	event.TypeAgentReplaced:  of(agentReplaced),
	event.TypeAgentQuota:     of(agentQuota),
	event.TypeAgentHeld:      of(agentHeld),

	event.TypeToolCalled:     of(toolCalled),
	event.TypeToolProgressed: of(toolProgressed),
	event.TypeToolReturned:   of(toolReturned),

	event.TypeCommandReceived:  of(commandReceived),
	event.TypeCommandDelivered: of(commandDelivered),
	event.TypeCommandRefused:   of(commandRefused),
	event.TypeCommandWithdrawn: of(commandWithdrawn),
	event.TypeQuestionAsked:    of(questionAsked),
	event.TypeQuestionAnswered: of(questionAnswered),

	event.TypeCompletionClaimed:  of(completionClaimed),
	event.TypeCompletionRefused:  of(completionRefused),
	event.TypeCompletionIgnored:  of(completionIgnored),
	event.TypeCompletionAccepted: of(completionAccepted),

	event.TypeFolderInspected:      of(folderInspected),
	event.TypeRepoInspected:        of(repoInspected),
	event.TypeRepoUnreadable:       of(repoUnreadable),
	event.TypeGuardrailSnapshotted: of(guardrailSnapshotted),
	event.TypeGuardrailStarted:     of(guardrailStarted),
	event.TypeGuardrailEnded:       of(guardrailEnded),
	event.TypeGuardrailEdited:      of(guardrailEdited),
	event.TypeIterationChecked:     of(iterationChecked),
	event.TypeRepoCommitted:        of(repoCommitted),
	event.TypeSCMEnded:             of(scmEnded),

	event.TypeHoldoutEnded:   of(holdoutEnded),
	event.TypeHoldoutChecked: of(holdoutChecked),
	event.TypeProofTried:     of(proofTried),
	event.TypeProofEnded:     of(proofEnded),

	event.TypeStoriesRead:   of(storiesRead),
	event.TypeStoriesJudged: of(storiesJudged),
	event.TypeStoryReviewed: of(storyReviewed),
	event.TypeReviewUndone:  of(reviewUndone),

	event.TypeBudgetWarned:       of(budgetWarned),
	event.TypeBreakerTripped:     of(breakerTripped),
	event.TypeClockJumped:        of(clockJumped),
	event.TypeNotificationSent:   of(notificationSent),
	event.TypeNotificationFailed: of(notificationFailed),
	event.TypeSandboxOpened:      of(sandboxOpened),
	event.TypeSandboxCorrected:   of(sandboxCorrected),
	event.TypeTelemetryFailed:    of(telemetryFailed),
	event.TypeTelemetryRestored:  of(telemetryRestored),

	event.TypeDecided:      of(decided),
	event.TypeEffectFailed: of(effectFailed),
	event.TypeTimerFired:   of(timerFired),
	event.TypeFaultRaised:  of(faultRaised),
}

// of makes a phrase of one type of payload one of any.
func of[T event.Payload](say func(T, Known) Phrase) func(event.Payload, Known) Phrase {
	return func(p event.Payload, k Known) Phrase {
		payload, ok := p.(T)
		if !ok {
			return Phrase{}
		}
		return say(payload, k)
	}
}

func quiet(text, why string) Phrase   { return Phrase{ToneQuiet, text, nil, why} }
func good(text, why string) Phrase    { return Phrase{ToneGood, text, nil, why} }
func warning(text, why string) Phrase { return Phrase{ToneWarning, text, nil, why} }
func failure(text, why string) Phrase { return Phrase{ToneFailure, text, nil, why} }

// with adds circumstances, as far as there are some.
func (p Phrase) with(facts ...string) Phrase {
	for _, fact := range facts {
		if fact != "" {
			p.Facts = append(p.Facts, fact)
		}
	}
	return p
}

// clock formats an RFC 3339 time as a time of day, with the date if that is not the current one.
// Any other text is returned unchanged.
func (k Known) clock(rfc3339 string) string {
	at, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil || k.Location == nil {
		return rfc3339
	}
	at, day := at.In(k.Location), k.Day.In(k.Location)
	if k.Day.IsZero() || at.Format(time.DateOnly) == day.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// until says until when; empty for the zero time.
func (k Known) until(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " until " + k.clock(at.Format(time.RFC3339))
}

// colon joins a statement and its explanation, if there is one.
func colon(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// lastLines returns the last lines of a text. If there are several, they begin on a line of their
// own.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) == 1 {
		return lines[0]
	}
	return "\n" + strings.Join(lines[max(0, len(lines)-n):], "\n")
}
