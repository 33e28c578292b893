// Package prove tries whether guardrails can fail: on the program as it was before the loop, and on
// small changes of the lines that the loop changed.
//
//	strength, err := prove.Run(ctx, prove.Config{
//		Dir: project, Home: home, Start: start, Claimed: claimed, // trees of git
//		Guardrails: guards, Env: env, Rules: rules.Prove,
//		Done:  tried,                                           // what an earlier process tried
//		Tried: func(t event.ProofTried) error { … journal … },  // each trial, when it is done
//	})
//
// # The trials, in their order
//
//   - The control: all guardrails have to pass on the claimed state in a fresh work tree. One that
//     fails gets what git ignores there and the person's work tree has (worktree.copy,
//     worktree.setup, folders of dependencies) and runs again; then it is [event.BrokenControl].
//   - The start: the claimed tests over the program as it was before the loop. A guardrail that
//     fails there is [event.ProvedAtStart].
//   - The tests of the start over the claimed program, where the loop changed tests: the facts need
//     to know whether these hid a failure.
//   - Mutants (internal/effect/prove/mutant), which a seed chooses. A guardrail that fails on one
//     is [event.Proved].
//
// # Guarantees
//
//   - The work tree, the index and the refs of the repository do not change: see
//     internal/effect/scratch.
//   - The same states, seed and guardrails give the same trials in the same order, so that a proof
//     that a crash cut off continues after the last of them.
//   - The proof ends: in the time of the rules, each command in a few times the time of its
//     control. What a command prints is kept nowhere but that of a broken control: see [Folder].
package prove
