// Package keep says what would be lost, keeps it, and puts files back. All that replaces or removes
// files which a person may have made goes through it.
//
//	losses, err := keep.FindLosses(ctx, worktree, project) // before keep.DropWorktree
//	err = keep.Merge(ctx, project, plan)                   // replaces nothing that is not committed
//
//	commit, err := keep.BeforeIteration(ctx, project, id, 3, 20)
//	plan, err := keep.Restore(ctx, project, id, commit, true) // the same with false does it
//
//	base, err := keep.WorkTree(ctx, project, keep.LoopRefs(id)+"review-3-before")
//	// an agent that may only change some files
//	undone, err := base.Undo(ctx, keep.Undo{Ref: keep.LoopRefs(id) + "review-3", Allowed: allowed, Message: message})
//	err = base.Drop(ctx)
//
// # Guarantees
//
//   - A work tree is kept as git objects under a private ref, with each byte of its files, HEAD,
//     and the index. No branch, file, index or stash changes by that.
//   - [Restore] and [Base.Undo] remove or replace a file only after a ref keeps it durably, rewrite
//     no history, and leave a file that has changed since. What is ignored stays.
//   - What a git tree does not have is in the message of its commit: permissions, empty folders,
//     what was ignored or too large.
//   - A copy in the loop's folder is durable before its file is replaced, and used later only if
//     its SHA-256 is that of the record.
//   - No program that the repository names is started, but by [Merge], which runs the person's
//     filters.
//   - A folder named .ralph is neither kept nor put back.
//   - Paths are opened below the root of the work tree, and no link on the way is followed.
//
// # Where things are
//
// tree.go writes a work tree into git, and notes.go what git does not have of it. base.go keeps one
// for a moment, iterations.go one for each iteration. undo.go compares, putback.go puts back;
// restore.go does that for a person. copies.go keeps single files without git, and putfile.go puts
// one at its place. losses.go says what goes with a worktree, and remove.go removes it. bundle.go
// takes a repository to another machine.
package keep
