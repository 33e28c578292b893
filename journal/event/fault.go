package event

// The closed list of kinds of faults that an agent reports: see [AgentLimited], [AgentRetried] and [AgentFinished].
const (
	KindRate     = "rate"
	KindOverload = "overload"
	KindNetwork  = "network"
	KindQuota    = "quota"
	KindAuth     = "auth"
	KindContext  = "context" // the conversation is too long for the model
	KindRefusal  = "refusal" // the model, or who guards it, declined to answer
	KindOther    = "other"
)

// LimitKinds are those of agent.limited.
var LimitKinds = []string{KindRate, KindOverload, KindQuota, KindAuth, KindNetwork, KindContext}
