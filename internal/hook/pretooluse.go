package hook

import "context"

// preToolUse judges a tool call before it runs.
func preToolUse(context.Context, Env, Input) (Reply, error) { return Reply{}, nil }

// unreadableToolUse is the verdict on a call whose input could not be read.
func unreadableToolUse(error) Reply { return Reply{} }
