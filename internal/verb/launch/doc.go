// Package launch starts loops. It reads the options and settings of a start, refuses a start that
// would fail, and prepares the loop's folder. It starts the detached runner and waits until its
// loop runs, or runs the loop in the foreground. RunnerVerb is the entry point of the runner.
//
// Programs that must not run before a person trusts a project are asked through it as well.
package launch
