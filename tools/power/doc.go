// Package power runs the real ralph on a disk that forgets: a file system over FUSE
// whose power is cut at a chosen change, and that has afterwards what a disk may have, and no more.
// A second use of it refuses operations with EIO or ENOSPC. It holds tests only, in a module of its own:
//
//	make power            # CUTS=500 cuts, then every kind of refusal
//	make power SEED=17    # one night again, which a failure names
//
// # What survives a cut
//
// The model is stricter than any one file system. Certain is what a sync covered that was answered
// without error before the cut:
//
//   - fsync or fdatasync of a file: the bytes and the size that it had when the sync began. Not its name,
//     not even where it is new.
//   - fsync of a folder: the names in it as they were when the sync began. Not what these files hold,
//     and not the folder's own name in the folder around it.
//
// All else may or may not survive, in any order:
//
//   - Each block of 512 bytes of a file is as one of the writes since the last sync left it, or as before them all, whatever became of
//     its neighbours; the size is any of those since, or between two of them. What is within the size and
//     was not written reads as zeros. Blocks never hold what nobody wrote there.
//   - Each creation, link, rename and removal by itself. One is whole: a rename leaves the old name or the
//     new one, never both or none, and a file that has two names has one content.
//
// Each cut draws one of four ways for names and one for bytes: none of it survives, all of it, what came
// before some moment, or each piece by chance. Modes and times are not forgotten. A folder's fsync counts for
// all names in it at once.
//
// # What is asked afterwards
//
// See the comments of night_test.go. What is not on the disk (files that the agent and the guardrails write outside
// of it, answers of ralph's verbs, lines that a reader was shown) is what the world knows; the disk has to agree with it.
//
// # Not here
//
// The journal's code against a simulated disk: internal/simfs and internal/loop. git: its durability is its own,
// so the project has no repository.
package power
