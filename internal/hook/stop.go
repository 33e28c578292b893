package hook

import "context"

// stop holds an agent that is about to stop.
func stop(context.Context, Env, Input) (Reply, error) { return Reply{}, nil }
