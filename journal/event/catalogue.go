package event

func (LoopStarted) EventType() Type          { return TypeLoopStarted }
func (LoopResumed) EventType() Type          { return TypeLoopResumed }
func (LoopConfigured) EventType() Type       { return TypeLoopConfigured }
func (LoopPaused) EventType() Type           { return TypeLoopPaused }
func (LoopUnpaused) EventType() Type         { return TypeLoopUnpaused }
func (LoopWaiting) EventType() Type          { return TypeLoopWaiting }
func (LoopWaited) EventType() Type           { return TypeLoopWaited }
func (LoopEnded) EventType() Type            { return TypeLoopEnded }
func (LoopFenced) EventType() Type           { return TypeLoopFenced }
func (LoopMoved) EventType() Type            { return TypeLoopMoved }
func (SegmentOpened) EventType() Type        { return TypeSegmentOpened }
func (SegmentSealed) EventType() Type        { return TypeSegmentSealed }
func (IterationStarted) EventType() Type     { return TypeIterationStarted }
func (IterationEnded) EventType() Type       { return TypeIterationEnded }
func (AgentStarted) EventType() Type         { return TypeAgentStarted }
func (AgentSaid) EventType() Type            { return TypeAgentSaid }
func (AgentThought) EventType() Type         { return TypeAgentThought }
func (AgentUsed) EventType() Type            { return TypeAgentUsed }
func (AgentPlanned) EventType() Type         { return TypeAgentPlanned }
func (AgentAsked) EventType() Type           { return TypeAgentAsked }
func (AgentLimited) EventType() Type         { return TypeAgentLimited }
func (AgentRetried) EventType() Type         { return TypeAgentRetried }
func (AgentCompacted) EventType() Type       { return TypeAgentCompacted }
func (AgentNoticed) EventType() Type         { return TypeAgentNoticed }
func (AgentUnparsed) EventType() Type        { return TypeAgentUnparsed }
func (AgentFinished) EventType() Type        { return TypeAgentFinished }
func (AgentParked) EventType() Type          { return TypeAgentParked }
func (AgentExited) EventType() Type          { return TypeAgentExited }
func (AgentReplaced) EventType() Type        { return TypeAgentReplaced }
func (ToolCalled) EventType() Type           { return TypeToolCalled }
func (ToolProgressed) EventType() Type       { return TypeToolProgressed }
func (ToolReturned) EventType() Type         { return TypeToolReturned }
func (CommandReceived) EventType() Type      { return TypeCommandReceived }
func (CommandDelivered) EventType() Type     { return TypeCommandDelivered }
func (CommandRefused) EventType() Type       { return TypeCommandRefused }
func (CommandWithdrawn) EventType() Type     { return TypeCommandWithdrawn }
func (CompletionClaimed) EventType() Type    { return TypeCompletionClaimed }
func (CompletionRefused) EventType() Type    { return TypeCompletionRefused }
func (CompletionIgnored) EventType() Type    { return TypeCompletionIgnored }
func (CompletionAccepted) EventType() Type   { return TypeCompletionAccepted }
func (FolderInspected) EventType() Type      { return TypeFolderInspected }
func (RepoInspected) EventType() Type        { return TypeRepoInspected }
func (RepoUnreadable) EventType() Type       { return TypeRepoUnreadable }
func (GuardrailSnapshotted) EventType() Type { return TypeGuardrailSnapshotted }
func (GuardrailStarted) EventType() Type     { return TypeGuardrailStarted }
func (GuardrailEnded) EventType() Type       { return TypeGuardrailEnded }
func (GuardrailEdited) EventType() Type      { return TypeGuardrailEdited }
func (IterationChecked) EventType() Type     { return TypeIterationChecked }
func (RepoCommitted) EventType() Type        { return TypeRepoCommitted }
func (SCMEnded) EventType() Type             { return TypeSCMEnded }
func (HoldoutEnded) EventType() Type         { return TypeHoldoutEnded }
func (HoldoutChecked) EventType() Type       { return TypeHoldoutChecked }
func (ProofTried) EventType() Type           { return TypeProofTried }
func (ProofEnded) EventType() Type           { return TypeProofEnded }
func (StoriesRead) EventType() Type          { return TypeStoriesRead }
func (StoriesJudged) EventType() Type        { return TypeStoriesJudged }
func (StoryReviewed) EventType() Type        { return TypeStoryReviewed }
func (ReviewUndone) EventType() Type         { return TypeReviewUndone }
func (QuestionAsked) EventType() Type        { return TypeQuestionAsked }
func (QuestionAnswered) EventType() Type     { return TypeQuestionAnswered }
func (BudgetWarned) EventType() Type         { return TypeBudgetWarned }
func (BreakerTripped) EventType() Type       { return TypeBreakerTripped }
func (ClockJumped) EventType() Type          { return TypeClockJumped }
func (NotificationSent) EventType() Type     { return TypeNotificationSent }
func (NotificationFailed) EventType() Type   { return TypeNotificationFailed }
func (SandboxOpened) EventType() Type        { return TypeSandboxOpened }
func (SandboxCorrected) EventType() Type     { return TypeSandboxCorrected }
func (LoopHeld) EventType() Type             { return TypeLoopHeld }
func (LoopReleased) EventType() Type         { return TypeLoopReleased }
func (ScheduleObserved) EventType() Type     { return TypeScheduleObserved }
func (AgentHeld) EventType() Type            { return TypeAgentHeld }
func (AgentQuota) EventType() Type           { return TypeAgentQuota }
func (TelemetryFailed) EventType() Type      { return TypeTelemetryFailed }
func (TelemetryRestored) EventType() Type    { return TypeTelemetryRestored }
func (FleetOpened) EventType() Type          { return TypeFleetOpened }
func (FleetObserved) EventType() Type        { return TypeFleetObserved }
func (FleetDecided) EventType() Type         { return TypeFleetDecided }
func (Decided) EventType() Type              { return TypeDecided }
func (EffectFailed) EventType() Type         { return TypeEffectFailed }
func (TimerFired) EventType() Type           { return TypeTimerFired }
func (FaultRaised) EventType() Type          { return TypeFaultRaised }

// entry is one type of event with the decoder of its payload.
type entry struct {
	typ    Type
	decode func(Event) (Payload, error)
}

func entryOf[T Payload]() entry {
	var zero T
	return entry{zero.EventType(), func(e Event) (Payload, error) { return As[T](e) }}
}

// catalogue lists every type of event.
var catalogue = []entry{
	entryOf[LoopStarted](),
	entryOf[LoopResumed](),
	entryOf[LoopConfigured](),
	entryOf[LoopPaused](),
	entryOf[LoopUnpaused](),
	entryOf[LoopWaiting](),
	entryOf[LoopWaited](),
	entryOf[LoopEnded](),
	entryOf[LoopFenced](),
	entryOf[LoopMoved](),
	entryOf[SegmentOpened](),
	entryOf[SegmentSealed](),
	entryOf[IterationStarted](),
	entryOf[IterationEnded](),
	entryOf[AgentStarted](),
	entryOf[AgentSaid](),
	entryOf[AgentThought](),
	entryOf[AgentUsed](),
	entryOf[AgentPlanned](),
	entryOf[AgentAsked](),
	entryOf[AgentLimited](),
	entryOf[AgentRetried](),
	entryOf[AgentCompacted](),
	entryOf[AgentNoticed](),
	entryOf[AgentUnparsed](),
	entryOf[AgentFinished](),
	entryOf[AgentParked](),
	entryOf[AgentExited](),
	entryOf[AgentReplaced](),
	entryOf[ToolCalled](),
	entryOf[ToolProgressed](),
	entryOf[ToolReturned](),
	entryOf[CommandReceived](),
	entryOf[CommandDelivered](),
	entryOf[CommandRefused](),
	entryOf[CommandWithdrawn](),
	entryOf[CompletionClaimed](),
	entryOf[CompletionRefused](),
	entryOf[CompletionIgnored](),
	entryOf[CompletionAccepted](),
	entryOf[FolderInspected](),
	entryOf[RepoInspected](),
	entryOf[RepoUnreadable](),
	entryOf[GuardrailSnapshotted](),
	entryOf[GuardrailStarted](),
	entryOf[GuardrailEnded](),
	entryOf[GuardrailEdited](),
	entryOf[IterationChecked](),
	entryOf[RepoCommitted](),
	entryOf[SCMEnded](),
	entryOf[HoldoutEnded](),
	entryOf[HoldoutChecked](),
	entryOf[ProofTried](),
	entryOf[ProofEnded](),
	entryOf[StoriesRead](),
	entryOf[StoriesJudged](),
	entryOf[StoryReviewed](),
	entryOf[ReviewUndone](),
	entryOf[QuestionAsked](),
	entryOf[QuestionAnswered](),
	entryOf[BudgetWarned](),
	entryOf[BreakerTripped](),
	entryOf[ClockJumped](),
	entryOf[NotificationSent](),
	entryOf[NotificationFailed](),
	entryOf[SandboxOpened](),
	entryOf[SandboxCorrected](),
	entryOf[LoopHeld](),
	entryOf[LoopReleased](),
	entryOf[AgentHeld](),
	entryOf[AgentQuota](),
	entryOf[ScheduleObserved](),
	entryOf[TelemetryFailed](),
	entryOf[TelemetryRestored](),
	entryOf[FleetOpened](),
	entryOf[FleetObserved](),
	entryOf[FleetDecided](),
	entryOf[Decided](),
	entryOf[EffectFailed](),
	entryOf[TimerFired](),
	entryOf[FaultRaised](),
}

// byName finds a type by its name. The name is that of the catalogue, so that reading a line does
// not allocate a string.
var byName = func() map[Type]entry {
	index := make(map[Type]entry, len(catalogue))
	for _, e := range catalogue {
		index[e.typ] = e
	}
	return index
}()

// Types returns the catalogue in its order.
func Types() []Type {
	types := make([]Type, len(catalogue))
	for i, e := range catalogue {
		types[i] = e.typ
	}
	return types
}

// Decode returns the payload of an event, one of the structs of this package. It is nil for a type
// that this version does not know.
func Decode(e Event) (Payload, error) {
	known, ok := byName[e.Type]
	if !ok {
		return nil, nil
	}
	return known.decode(e)
}

func intern(name []byte) Type {
	if known, ok := byName[Type(name)]; ok {
		return known.typ
	}
	return Type(name)
}
