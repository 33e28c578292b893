// Package repo looks at a folder's version control and runs what ralph does to it, through the git that the user has.
//
//	before, err := repo.See(ctx, project)
//	if repo.Absent(err) {
//		// no git, or no repository: progress is then seen elsewhere
//	}
//	// an iteration of the agent
//	after, err := repo.See(ctx, project)
//	moved := after.Head != before.Head || after.Fingerprint != before.Fingerprint
//	made, err := repo.Since(ctx, project, before.Head) // made.Count commits, made.Subjects
//
//	message, err := repo.Message(said) // what the agent answered to repo.MessagePrompt
//	result, err := repo.Run(ctx, repo.Config{
//		Dir: project, Command: "git", Tasks: []string{"commit", "push"}, AddNew: true, Message: message,
//	})
//	if failed, ok := errors.AsType[*repo.Error](err); ok { … failed.Output, failed.Hint() … }
//	// result.SHA also when the push failed
//
// # Guarantees
//
//   - [See], [Since] and [Repos] change nothing: not the working tree, not the index, not a reference. They may run while an agent
//     or a person works in the same repository.
//   - A folder named .ralph, wherever it stands in the working tree and whether ignored or not, is never seen, counted or added.
//   - The fingerprint is the same as long as nothing changes, and another one when a byte of the working tree's difference against
//     HEAD does. What is too big to be read every time is told apart by its size and time of change; see [Sight.Partial].
//   - [Run] makes no empty commit, except where a hook takes out what was to be committed, so that doing it again after a crash
//     makes no second commit of the same work. A commit that did not come about leaves the index, byte for byte, as it was before.
//   - [See], [Since], [Repos] and [Branch], and what [Run] asks before and after a commit, start no program that the repository names: no
//     fsmonitor, hook, filter, external diff, textconv, pager or credential helper; and they fetch nothing. They end with their context,
//     within a minute in any case, with all that git has started in its session. git's own files are opened only where they are regular files of a
//     sane size: a pipe in the place of one is an error that names it.
//   - In what [Run] does for the user, hooks, signing, filters, includes and credential helpers run as they do for the user. Nothing waits for a person for ever: there is
//     no terminal, none is named to gpg's agent either, no editor and no standard input. A window may be opened and a key may wait to be
//     touched; what exceeds its time is ended together with the processes of its session.
//   - Arguments are never read by a shell, and paths are handed over with NULs between them: names with newlines, quotes or a
//     leading dash are names.
//   - Where the repository is, the folder decides: GIT_DIR and its like, as a git hook around ralph would set them, are not passed on.
//
// Needed is git 2.26 or later; before 2.31 filters are run by a look, within its time. All functions may be called at the same time; two Runs in one working tree meet at git's own lock.
//
// # Not here
//
// Asking the agent for a message, and whether there should be a commit at all: those are hands and decisions. Masking of secrets
// in what git and hooks print: the caller's. Opening and closing worktrees.
package repo
