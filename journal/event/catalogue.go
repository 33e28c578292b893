package event

func (LoopStarted) EventType() Type        { return TypeLoopStarted }
func (LoopResumed) EventType() Type        { return TypeLoopResumed }
func (LoopConfigured) EventType() Type     { return TypeLoopConfigured }
func (LoopPaused) EventType() Type         { return TypeLoopPaused }
func (LoopUnpaused) EventType() Type       { return TypeLoopUnpaused }
func (LoopEnded) EventType() Type          { return TypeLoopEnded }
func (SegmentOpened) EventType() Type      { return TypeSegmentOpened }
func (SegmentSealed) EventType() Type      { return TypeSegmentSealed }
func (IterationStarted) EventType() Type   { return TypeIterationStarted }
func (IterationEnded) EventType() Type     { return TypeIterationEnded }
func (AgentStarted) EventType() Type       { return TypeAgentStarted }
func (AgentSaid) EventType() Type          { return TypeAgentSaid }
func (AgentThought) EventType() Type       { return TypeAgentThought }
func (AgentUsed) EventType() Type          { return TypeAgentUsed }
func (AgentPlanned) EventType() Type       { return TypeAgentPlanned }
func (AgentAsked) EventType() Type         { return TypeAgentAsked }
func (AgentLimited) EventType() Type       { return TypeAgentLimited }
func (AgentRetried) EventType() Type       { return TypeAgentRetried }
func (AgentCompacted) EventType() Type     { return TypeAgentCompacted }
func (AgentNoticed) EventType() Type       { return TypeAgentNoticed }
func (AgentUnread) EventType() Type        { return TypeAgentUnread }
func (AgentFinished) EventType() Type      { return TypeAgentFinished }
func (AgentRested) EventType() Type        { return TypeAgentRested }
func (AgentExited) EventType() Type        { return TypeAgentExited }
func (AgentReplaced) EventType() Type      { return TypeAgentReplaced }
func (ToolCalled) EventType() Type         { return TypeToolCalled }
func (ToolProgressed) EventType() Type     { return TypeToolProgressed }
func (ToolReturned) EventType() Type       { return TypeToolReturned }
func (CommandReceived) EventType() Type    { return TypeCommandReceived }
func (CommandDelivered) EventType() Type   { return TypeCommandDelivered }
func (CommandRefused) EventType() Type     { return TypeCommandRefused }
func (CompletionClaimed) EventType() Type  { return TypeCompletionClaimed }
func (CompletionRefused) EventType() Type  { return TypeCompletionRefused }
func (CompletionIgnored) EventType() Type  { return TypeCompletionIgnored }
func (CompletionAccepted) EventType() Type { return TypeCompletionAccepted }
func (FolderSeen) EventType() Type         { return TypeFolderSeen }
func (RepoSeen) EventType() Type           { return TypeRepoSeen }
func (RepoUnseen) EventType() Type         { return TypeRepoUnseen }
func (GuardrailSealed) EventType() Type    { return TypeGuardrailSealed }
func (GuardrailStarted) EventType() Type   { return TypeGuardrailStarted }
func (GuardrailEnded) EventType() Type     { return TypeGuardrailEnded }
func (GuardrailEdited) EventType() Type    { return TypeGuardrailEdited }
func (IterationChecked) EventType() Type   { return TypeIterationChecked }
func (RepoCommitted) EventType() Type      { return TypeRepoCommitted }
func (SCMEnded) EventType() Type           { return TypeSCMEnded }
func (BudgetWarned) EventType() Type       { return TypeBudgetWarned }
func (BreakerTripped) EventType() Type     { return TypeBreakerTripped }
func (ClockJumped) EventType() Type        { return TypeClockJumped }
func (Decided) EventType() Type            { return TypeDecided }
func (EffectFailed) EventType() Type       { return TypeEffectFailed }
func (TimerFired) EventType() Type         { return TypeTimerFired }
func (FaultRaised) EventType() Type        { return TypeFaultRaised }

// intern returns the constant of a known name, so that reading a line allocates
// nothing, and a copy of any other.
func intern(name []byte) Type {
	switch Type(name) {
	case TypeLoopStarted:
		return TypeLoopStarted
	case TypeLoopResumed:
		return TypeLoopResumed
	case TypeLoopConfigured:
		return TypeLoopConfigured
	case TypeLoopPaused:
		return TypeLoopPaused
	case TypeLoopUnpaused:
		return TypeLoopUnpaused
	case TypeLoopEnded:
		return TypeLoopEnded
	case TypeSegmentOpened:
		return TypeSegmentOpened
	case TypeSegmentSealed:
		return TypeSegmentSealed
	case TypeIterationStarted:
		return TypeIterationStarted
	case TypeIterationEnded:
		return TypeIterationEnded
	case TypeAgentStarted:
		return TypeAgentStarted
	case TypeAgentSaid:
		return TypeAgentSaid
	case TypeAgentThought:
		return TypeAgentThought
	case TypeAgentUsed:
		return TypeAgentUsed
	case TypeAgentPlanned:
		return TypeAgentPlanned
	case TypeAgentAsked:
		return TypeAgentAsked
	case TypeAgentLimited:
		return TypeAgentLimited
	case TypeAgentRetried:
		return TypeAgentRetried
	case TypeAgentCompacted:
		return TypeAgentCompacted
	case TypeAgentNoticed:
		return TypeAgentNoticed
	case TypeAgentUnread:
		return TypeAgentUnread
	case TypeAgentFinished:
		return TypeAgentFinished
	case TypeAgentRested:
		return TypeAgentRested
	case TypeAgentExited:
		return TypeAgentExited
	case TypeAgentReplaced:
		return TypeAgentReplaced
	case TypeToolCalled:
		return TypeToolCalled
	case TypeToolProgressed:
		return TypeToolProgressed
	case TypeToolReturned:
		return TypeToolReturned
	case TypeCommandReceived:
		return TypeCommandReceived
	case TypeCommandDelivered:
		return TypeCommandDelivered
	case TypeCommandRefused:
		return TypeCommandRefused
	case TypeCompletionClaimed:
		return TypeCompletionClaimed
	case TypeCompletionRefused:
		return TypeCompletionRefused
	case TypeCompletionIgnored:
		return TypeCompletionIgnored
	case TypeCompletionAccepted:
		return TypeCompletionAccepted
	case TypeFolderSeen:
		return TypeFolderSeen
	case TypeRepoSeen:
		return TypeRepoSeen
	case TypeRepoUnseen:
		return TypeRepoUnseen
	case TypeGuardrailSealed:
		return TypeGuardrailSealed
	case TypeGuardrailStarted:
		return TypeGuardrailStarted
	case TypeGuardrailEnded:
		return TypeGuardrailEnded
	case TypeGuardrailEdited:
		return TypeGuardrailEdited
	case TypeIterationChecked:
		return TypeIterationChecked
	case TypeRepoCommitted:
		return TypeRepoCommitted
	case TypeSCMEnded:
		return TypeSCMEnded
	case TypeBudgetWarned:
		return TypeBudgetWarned
	case TypeBreakerTripped:
		return TypeBreakerTripped
	case TypeClockJumped:
		return TypeClockJumped
	case TypeDecided:
		return TypeDecided
	case TypeEffectFailed:
		return TypeEffectFailed
	case TypeTimerFired:
		return TypeTimerFired
	case TypeFaultRaised:
		return TypeFaultRaised
	}
	return Type(name)
}

// Types returns the catalogue in its order.
func Types() []Type {
	return []Type{
		TypeLoopStarted,
		TypeLoopResumed,
		TypeLoopConfigured,
		TypeLoopPaused,
		TypeLoopUnpaused,
		TypeLoopEnded,
		TypeSegmentOpened,
		TypeSegmentSealed,
		TypeIterationStarted,
		TypeIterationEnded,
		TypeAgentStarted,
		TypeAgentSaid,
		TypeAgentThought,
		TypeAgentUsed,
		TypeAgentPlanned,
		TypeAgentAsked,
		TypeAgentLimited,
		TypeAgentRetried,
		TypeAgentCompacted,
		TypeAgentNoticed,
		TypeAgentUnread,
		TypeAgentFinished,
		TypeAgentRested,
		TypeAgentExited,
		TypeAgentReplaced,
		TypeToolCalled,
		TypeToolProgressed,
		TypeToolReturned,
		TypeCommandReceived,
		TypeCommandDelivered,
		TypeCommandRefused,
		TypeCompletionClaimed,
		TypeCompletionRefused,
		TypeCompletionIgnored,
		TypeCompletionAccepted,
		TypeFolderSeen,
		TypeRepoSeen,
		TypeRepoUnseen,
		TypeGuardrailSealed,
		TypeGuardrailStarted,
		TypeGuardrailEnded,
		TypeGuardrailEdited,
		TypeIterationChecked,
		TypeRepoCommitted,
		TypeSCMEnded,
		TypeBudgetWarned,
		TypeBreakerTripped,
		TypeClockJumped,
		TypeDecided,
		TypeEffectFailed,
		TypeTimerFired,
		TypeFaultRaised,
	}
}
