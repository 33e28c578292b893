// Package repo inspects a folder's version control and commits, with the git that is installed.
//
//	before, err := repo.TakeSnapshot(ctx, project)
//	if repo.Absent(err) {
//		// no git, or no repository: progress is then detected in another way
//	}
//	// an iteration of the agent
//	after, err := repo.TakeSnapshot(ctx, project)
//	progress := after.Head != before.Head || after.Fingerprint != before.Fingerprint
//	commits, err := repo.Since(ctx, project, before.Head)
//
//	message, err := repo.Message(said) // the agent's answer to repo.MessagePrompt
//	result, err := repo.Run(ctx, repo.Config{
//		Dir: project, Command: "git", Tasks: []string{"commit", "push"}, AddUntracked: true, Message: message,
//	})
//	if failed, ok := errors.AsType[*repo.Error](err); ok { … failed.Output, failed.Hint() … }
//	// result.SHA is set even if the push failed
//
// # Guarantees
//
//   - [TakeSnapshot], [Since] and [Repos] change nothing: not the working tree, not the index,
//     not a reference. They may run while an agent or a person works in the same repository.
//   - A folder named .ralph, anywhere in the working tree and whether ignored or not, is never
//     listed, counted or added.
//   - The fingerprint changes exactly if a byte of the working tree's difference against HEAD
//     changes. For a file that is too large to be read each time it uses the size and time of
//     change; see [Snapshot.Partial].
//   - [Run] makes no empty commit, unless a hook removes everything that was to be committed. So
//     a second Run after a crash does not commit the same work again. A failed commit leaves the
//     index, byte for byte, as it was before.
//   - [TakeSnapshot], [Since], [Repos], [Branch], [Remotes], [OnDefaultBranch] and [Subjects],
//     and the questions that [Run] asks before and after a commit, start no program that the
//     repository names: no fsmonitor, hook, filter, external diff, textconv, pager or credential
//     helper; and they fetch nothing. They end with their context, and after a minute at the
//     latest, with all processes that git has started in its session. git's own files are opened
//     only if they are regular files below a limit: a pipe in the place of one is an error that
//     names it.
//   - In the tasks of [Run], hooks, signing, filters, includes and credential helpers run as they
//     do for the user. Nothing waits for a person without end: there is no terminal (for gpg's
//     agent neither), no editor and no standard input. A window may be opened and a key may wait
//     to be touched. A task that exceeds its time is ended with the processes of its group.
//   - No push is forced, unless a task says so in words of its own. [PushParts] moves a branch
//     only from a commit that the caller names.
//   - No shell reads arguments, and paths are passed with NULs between them: newlines, quotes and
//     a leading dash in a name have no effect.
//   - The folder determines the repository: GIT_DIR and similar variables, which a git hook that
//     starts ralph would set, are not passed on.
//
// git 2.26 or later is needed; before 2.31 a snapshot runs filters, within its time. All
// functions may be called at the same time; two Runs in one working tree are serialized by git's
// own lock.
//
// # Not here
//
// What replaces or removes files, and keeps them before: internal/effect/keep, which uses [Git].
// Asking the agent for a message, and whether to commit at all: internal/effect/executor and
// internal/core/policy. Masking of secrets in the output of git and hooks: the caller.
package repo
