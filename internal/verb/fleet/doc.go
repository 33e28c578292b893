// Package fleet lets several loops work through tasks at once. A fleet is a loop like any other,
// whose agent is ralph itself (the hidden verb fleet-agent): it starts a loop for each task in a
// worktree of its own, and merges what they did one at a time. So the fleet is journaled, attached
// to, killed and resumed as any loop is, and the loops of its tasks are nested in it.
//
//	tasks, err := fleet.ReadTasks(project, "")   // the stories of ralph/tasks.json, or a folder
//	err = fleet.Agent{…}.Run(e)                  // in the fleet's worktree
//
// # What is kept
//
// fleet.json in the folder of the fleet's loop says which task is how far. It is written before a
// loop is started and after a merge counts. An agent that is killed is started again by the runner
// and goes on: a loop that runs is watched, one that died is resumed, and a merge that was cut off
// is made again.
//
// facts.md in the same folder is for what one loop has found and others need. Their prompts name
// it.
//
// # The budget
//
// limits.cost of the fleet is that of all its loops together: each begins with its share of what is
// left, and the runner of a nested loop refuses more.
package fleet
