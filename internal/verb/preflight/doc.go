// Package preflight examines what a loop needs before it begins: its agents and their keys, its
// sandbox, the proof of its claim, where its pull request and its trace go. [Loop.Examine] returns
// the findings, each with its name, what it says and the next step. A start is refused for one
// that fails, and prints the others. The verb doctor prints the same list, and what [Program] says
// of each agent; so does the verb init of the agent that a person chooses. Nothing is changed.
package preflight
