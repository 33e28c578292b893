// Package blaming does what the verb blame does: it says for each line of a file which iteration of
// which loop wrote it, or which commit of a person, or that this is not known.
//
// # How a line is traced
//
// git blame finds the commit that has the line. What a commit says of itself is not enough: a loop
// commits what a person left in the work tree, a person commits what a loop left there, and a
// rebase or a squash makes other commits of the same lines. So each commit is traced further, and
// the first answer counts:
//
//   - The journal says that an iteration made it. Then the line is compared with the work trees
//     that are kept before and after iterations: an earlier iteration may have written it, or a
//     person between two of them (chain.go).
//   - It puts back what another commit removed, or makes the same change as a commit of a loop
//     (patch.go): it is a copy by rebase, cherry-pick or squash.
//   - It was made in a work tree in which a loop had left the line uncommitted.
//   - It is a commit of a loop that was changed, with its author and time.
//   - A note or a record of Agent Trace says so. They are named as what they are, because anyone
//     can write them.
//   - It moved the line: it removed a run of the same lines elsewhere, long enough to be no chance
//     (moves.go). Who wrote them there wrote this one.
//   - A run of its lines is one that a loop wrote, and as long, and that no other file had before.
//   - No loop wrote a line with this text: git's answer is right. Else it is not known.
//
// Who wrote the line here is the answer: a copy whose original stays is of who copied. So git blame
// follows renames of files, but gets no -M and no -C, which name the author of the original.
//
// The work trees of a loop become commits that no ref names, in a folder of objects that is removed
// at the end, so that git blame itself follows lines through them. The repository is not changed.
package blaming
