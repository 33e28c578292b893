// Package workspace makes the git worktree in which a loop works, beside the work tree of the
// person.
//
// The worktree is .ralph/<name>/worktree, with a branch of its own; .ralph/<name>/worktree.json
// describes it. That file is written before git makes anything, and again when the files of the
// person that the settings name are copied: a worktree that is not ready is made again by the next
// start, because nothing has worked in it. An agent without a sandbox can write the file too: what
// it says of a branch counts as far as git agrees.
//
//	w, made, err := workspace.Make(ctx, workspace.Plan{Home: home, Project: project, LoopDir: dir, Branch: "ralph/fix"})
//	found, err := w.Copy(ctx, project, patterns)   // ignored files that are needed
//	err = w.Done(dir)
//	tree, err := workspace.Tree(dir, project)      // where a loop works
//	err = w.Remove(ctx, project)                   // after InspectWork
package workspace
