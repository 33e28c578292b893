// Package launch starts loops: it reads the options and settings of a start, checks before a loop
// begins what would make it fail, prepares its folder, starts the detached runner and waits until
// its loop runs, or runs it in the foreground. RunnerVerb is the entry point of the runner.
//
// Programs that must not run before a person trusts a project are asked through it as well.
package launch
