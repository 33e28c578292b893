package hook

import "context"

// stop holds an agent that is about to stop: in a session loop until its promise, and in a loop
// over stories until the plan is in order. A failure lets it stop: the runner judges anyway.
func stop(ctx context.Context, e Env, in Input) (Reply, error) {
	if in.Subagent != "" || in.Event != "" && in.Event != Stop.event() || in.Session == "" {
		return Reply{}, nil
	}
	reply, held, err := stopSession(ctx, e, in)
	if held || err != nil {
		return reply, err
	}
	return stopPlan(ctx, e, in)
}
