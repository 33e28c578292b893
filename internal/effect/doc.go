// Package effect holds the hands of a loop: one for each thing that a decision can
// ask for.
//
//	h := effect.New(effect.Config{Deliver: deliver, Agent: newAgent, …})
//	h.Do(decided, cause, state) // returns at once; the outcome comes through Deliver
//	defer h.Close()             // ends whatever agent is still there
//
// | effect | done again after a crash | answered by |
// |---|---|---|
// | iteration.begin | yes: it only reads | iteration.started or effect.failed |
// | iteration.check, repo.commit | yes | iteration.checked, scm.ended, or effect.failed |
// | check.cancel | yes | by what it ends: the beginning, the check or the commit that is under way |
// | agent.start | no: the next runner sweeps the old process tree and begins a new iteration | agent.started or effect.failed |
// | agent.steer | no: what was not confirmed goes into the next prompt | command.delivered, from the agent, or effect.failed |
// | agent.release | yes | agent.rested or agent.exited |
// | agent.abort, agent.kill | yes | agent.exited |
//
// # Guarantees
//
// Effects on the agent are done one after another, in the order in which they
// were decided; only agent.kill overtakes. Each effect has exactly one answer, except that
// a process which ends by itself has answered whatever was asked of it.
//
// # Not here
//
// Whether and when an effect is done: internal/loop.
package effect
