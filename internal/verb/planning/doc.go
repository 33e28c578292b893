// Package planning is what the verbs init --tasks, plan and archive do with the plan of a project,
// the folder ralph/.
//
//	init --tasks   lays it out from templates
//	plan           lets the person's own agent write it in a conversation, and checks it
//	archive        moves it to ralph-archive/ and begins a new one
//
// What is wrong with a plan is found by two sets of rules. Those of internal/core/story are about
// the form of tasks.json: without it no loop begins. Those of this package are about its use for a
// loop: whether a story is small enough for an iteration, whether a review can check its acceptance
// criteria, and whether the order is right. They only warn.
package planning
