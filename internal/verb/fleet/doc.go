// Package fleet lets several loops work through tasks at once. A fleet is a loop like any other,
// whose agent is ralph itself (the hidden verb fleet-agent): it starts a loop for each task in a
// worktree of its own, and merges what they did one at a time. So the fleet is journaled, attached
// to, killed and resumed as any loop is, and the loops of its tasks are nested in it.
//
//	tasks, err := fleet.ReadTasks(project, "")   // the stories of ralph/tasks.json, or a folder
//	err = fleet.Agent{…}.Run(e)                  // in the fleet's worktree
//
// # Decide, record, then act
//
// The agent folds the journal of its own loop, and [policy.Fleet] says from that alone what is
// next. The agent prints the decision as a line of JSON, which the runner records as fleet.decided
// (package fleetagent), carries it out once it finds it in the journal, and prints what it came to:
// fleet.observed. It is woken by that journal and by those of its loops, and when their runners
// exit, not by a clock.
//
// An agent that is killed is started again by the runner and goes on: a loop that runs is watched,
// one that died is resumed, and what was decided without a result is carried out again. Each
// action looks first for what was done of it: a loop of the fleet that is there, one that has gone
// on since its end was seen, work that is merged.
//
// # What is kept
//
// All that decides is in the journal. fleet.json in the folder of the fleet's loop is a projection
// for other programs, which the runner writes beside state.json: it can be deleted at any time, and
// is written again with the next event of the fleet, or the next runner. A fleet of an earlier
// version has nothing else: its first resumption takes fleet.json over into the journal, and from
// then on the file is not read.
//
// facts.md in the same folder is for what one loop has found and others need. Their prompts name
// it.
//
// # The budget
//
// limits.cost of the fleet is that of all its loops together: each begins with its share of what is
// left, and the runner of a nested loop refuses more.
package fleet
