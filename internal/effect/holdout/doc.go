// Package holdout keeps and runs the held-out guardrails: those that no agent can read.
//
//	store := holdout.Open(home, project)
//	added, err := store.Add(holdout.Guardrail{Command: …, Requirement: …}, paths, false)
//	all, err := store.Guardrails()
//	checked := holdout.Run(ctx, holdout.Config{…})
//
// # The files
//
// They are in ralph's home, which every sandbox hides from agents, and never in a repository, in a
// loop's folder, or in what an agent gets:
//
//	held-out/<project>/guardrails.json   the commands, and what has to hold
//	held-out/<project>/files/            their files, by their paths in the project
//	held-out/<project>/output/           what those that failed printed, for a person
//
// All loops of a project have the same, those in worktrees, too.
//
// # A run
//
// The files of the claimed work are copied to a throw-away work tree, the held-out files are laid
// over them, and the commands run there. What runs is also the agent's own code, beside the
// held-out files. Where the loop has a sandbox it runs in one that may write nothing that an agent
// reads; without one, the guardrails are held out by convention.
//
// A command is never in the arguments of a process: a shell reads it from a file.
package holdout
