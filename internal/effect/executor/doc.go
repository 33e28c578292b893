// Package executor performs the effects that a loop has decided, and reports their outcomes.
//
//	x := executor.New(executor.Config{Deliver: deliver, Agent: newAgent, …})
//	x.Do(decided, cause, state) // returns at once; the outcome comes through Deliver
//	defer x.Close()             // ends the agent if one is running
//
// The answer to each effect, besides effect.failed:
//
//   - iteration.begin: iteration.started; or folder.inspected or stories.read that say that all is
//     done already
//   - iteration.check: iteration.checked
//   - holdout.check: holdout.checked
//   - repo.commit: scm.ended
//   - guardrails.prove: proof.ended
//   - schedule.observe: schedule.observed
//   - check.cancel: the answer of the begin, the checks, the commit or the proof that it ends
//   - agent.start: agent.started
//   - agent.steer: command.delivered, from the agent
//   - agent.release: agent.parked or agent.exited
//   - agent.abort, agent.kill: agent.exited
//
// After a crash all of them may be repeated except two: agent.start, because the next runner ends
// the old process tree and begins a new iteration, and agent.steer, because an unconfirmed text
// goes into the next prompt.
//
// # Guarantees
//
// Effects on the agent run one after another, in the order of their decisions; only agent.kill
// overtakes. Each effect has exactly one answer. The exit of a process answers all effects that
// were pending for it.
//
// # Not here
//
// Whether and when an effect is done: internal/core/loop.
package executor
