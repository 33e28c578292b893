// Package launch starts loops, in four steps. [Start] holds the options.
//
//   - plan decides what the start would do: which loop, whether it begins or continues, with
//     which prompt, settings and stories. The answer is a [Plan], a value. A person may be asked.
//   - check returns findings: what the start is refused for, and what a person should know. Plan
//     and check change nothing of the project and the loop.
//   - prepare makes the loop's folder, worktree and task, and can undo them until the agent runs.
//   - startRunner starts the detached runner, whose entry point is [RunnerVerb], and waits until
//     its loop runs; [Start.Foreground] runs the loop in this process.
//
// Programs that must not run before a person trusts a project are asked through it as well.
package launch
