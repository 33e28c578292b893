// Package scratch makes throw-away work trees: guardrails are tried there on states in which no
// loop and no person works.
//
//	tree, err := scratch.Open(ctx, scratch.Config{Dir: project, Tree: claimed, Home: home})
//	defer tree.Close()
//	err = tree.Prepare(ctx, scratch.Preparation{From: project, Setup: settings.Worktree.Setup})
//	// run commands in tree.Project, write files there
//	err = tree.Reset(ctx, other) // the files of another tree of git, nothing else
//
// # Guarantees
//
//   - The repository that a tree is made from is only read: no ref, index, file or list of
//     worktrees of it changes. The throw-away tree is a repository of its own that borrows its objects; what
//     is committed there is gone with it.
//   - Folders are made with mode 0700 in ralph's home, which every sandbox hides from agents.
//   - What a killed process leaves is removed by the next [Open] that is a minute later, which ends
//     the commands with the mark of such a tree.
//   - What the repository's index has of ralph's folders is in each state, as in a fresh clone.
//   - No hook and no filter of the repository runs: a file of Git LFS is a pointer. Submodules are
//     empty.
//
// # Not here
//
// Which states are tried and what is laid over them: internal/effect/prove,
// internal/effect/holdout.
package scratch
