package event

// Type names what has happened: a noun, a dot, a past participle.
type Type string

// The catalogue. Each name has one payload struct of the same words.
const (
	TypeLoopStarted    Type = "loop.started"
	TypeLoopResumed    Type = "loop.resumed"
	TypeLoopConfigured Type = "loop.configured"
	TypeLoopPaused     Type = "loop.paused"
	TypeLoopUnpaused   Type = "loop.unpaused"
	TypeLoopWaiting    Type = "loop.waiting"
	TypeLoopWaited     Type = "loop.waited"
	TypeLoopEnded      Type = "loop.ended"
	TypeLoopFenced     Type = "loop.fenced"
	TypeLoopMoved      Type = "loop.moved"

	TypeSegmentOpened Type = "segment.opened"
	TypeSegmentSealed Type = "segment.sealed"

	TypeIterationStarted Type = "iteration.started"
	TypeIterationEnded   Type = "iteration.ended"

	TypeAgentStarted   Type = "agent.started"
	TypeAgentSaid      Type = "agent.said"
	TypeAgentThought   Type = "agent.thought"
	TypeAgentUsed      Type = "agent.used"
	TypeAgentPlanned   Type = "agent.planned"
	TypeAgentAsked     Type = "agent.asked"
	TypeAgentLimited   Type = "agent.limited"
	TypeAgentRetried   Type = "agent.retried"
	TypeAgentCompacted Type = "agent.compacted"
	TypeAgentNoticed   Type = "agent.noticed"
	TypeAgentUnparsed  Type = "agent.unparsed"
	TypeAgentFinished  Type = "agent.finished"
	TypeAgentParked    Type = "agent.parked"
	TypeAgentExited    Type = "agent.exited"
	TypeAgentReplaced  Type = "agent.replaced"

	TypeToolCalled     Type = "tool.called"
	TypeToolProgressed Type = "tool.progressed"
	TypeToolReturned   Type = "tool.returned"

	TypeCommandReceived  Type = "command.received"
	TypeCommandDelivered Type = "command.delivered"
	TypeCommandRefused   Type = "command.refused"
	TypeCommandWithdrawn Type = "command.withdrawn"

	TypeCompletionClaimed  Type = "completion.claimed"
	TypeCompletionRefused  Type = "completion.refused"
	TypeCompletionIgnored  Type = "completion.ignored"
	TypeCompletionAccepted Type = "completion.accepted"

	TypeFolderInspected      Type = "folder.inspected"
	TypeRepoInspected        Type = "repo.inspected"
	TypeRepoUnreadable       Type = "repo.unreadable"
	TypeGuardrailSnapshotted Type = "guardrail.snapshotted"
	TypeGuardrailStarted     Type = "guardrail.started"
	TypeGuardrailEnded       Type = "guardrail.ended"
	TypeGuardrailEdited      Type = "guardrail.edited"
	TypeIterationChecked     Type = "iteration.checked"
	TypeRepoCommitted        Type = "repo.committed"
	TypeSCMEnded             Type = "scm.ended"

	TypeHoldoutEnded   Type = "holdout.ended"
	TypeHoldoutChecked Type = "holdout.checked"
	TypeProofTried     Type = "proof.tried"
	TypeProofEnded     Type = "proof.ended"

	TypeStoriesRead   Type = "stories.read"
	TypeStoriesJudged Type = "stories.judged"
	TypeStoryReviewed Type = "story.reviewed"
	TypeReviewUndone  Type = "review.undone"

	TypeQuestionAsked    Type = "question.asked"
	TypeQuestionAnswered Type = "question.answered"

	TypeBudgetWarned   Type = "budget.warned"
	TypeBreakerTripped Type = "breaker.tripped"
	TypeClockJumped    Type = "clock.jumped"

	TypeNotificationSent   Type = "notification.sent"
	TypeNotificationFailed Type = "notification.failed"
	TypeSandboxOpened      Type = "sandbox.opened"
	TypeSandboxCorrected   Type = "sandbox.corrected"
	TypeLoopHeld           Type = "loop.held"
	TypeLoopReleased       Type = "loop.released"
	TypeScheduleObserved   Type = "schedule.observed"
	TypeAgentQuota         Type = "agent.quota"
	TypeAgentHeld          Type = "agent.held"
	TypeTelemetryFailed    Type = "telemetry.failed"
	TypeTelemetryRestored  Type = "telemetry.restored"

	TypeFleetOpened   Type = "fleet.opened"
	TypeFleetObserved Type = "fleet.observed"
	TypeFleetDecided  Type = "fleet.decided"

	TypeDecided      Type = "decided"
	TypeEffectFailed Type = "effect.failed"
	TypeTimerFired   Type = "timer.fired"
	TypeFaultRaised  Type = "fault.raised"
)
