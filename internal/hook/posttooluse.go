package hook

import "context"

// postToolUse warns the agent when its context window fills up.
func postToolUse(context.Context, Env, Input) (Reply, error) { return Reply{}, nil }
