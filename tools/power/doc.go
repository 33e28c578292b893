// Package power runs the real ralph on a file system over FUSE whose power is cut at a chosen
// change. Afterwards the disk contains what a real one may contain, and no more. The package also
// runs ralph on a disk that refuses operations with EIO or ENOSPC. It contains tests only, in a
// module of its own:
//
//	make power            # CUTS=500 cuts, then every kind of refusal
//	make power SEED=17    # one run again, which a failure names
//
// # What survives a cut
//
// The model is stricter than any one file system. Certain is what a sync covered that returned
// without error before the cut:
//
//   - fsync or fdatasync of a file: the bytes and the size that it had when the sync began. Not its
//     name, not even where it is new.
//   - fsync of a folder: the names in it as they were when the sync began. Not the content of these
//     files, and not the name of the folder in its parent.
//
// All else may or may not survive, in any order:
//
//   - Each block of 512 bytes of a file is as one of the writes since the last sync left it, or as
//     before them all, independent of its neighbours. The size is any of those since, or between two
//     of them. What is within the size and was not written reads as zeros. Blocks never contain
//     what was not written there.
//   - Each creation, link, rename and removal by itself. Each is atomic: a rename leaves the old
//     name or the new one, never both or none, and a file that has two names has one content.
//
// Each cut draws one of four ways for names and one for bytes: none of it survives, all of it, what
// came before some moment, or each piece by chance. Modes and times survive. The fsync of a
// folder counts for all names in it at once.
//
// # What is checked afterwards
//
// See the comments of run_test.go. Files that the agent and the guardrails write outside of the
// disk, answers of ralph's verbs, and lines that a reader was shown are what was observed. The disk
// has to agree with them.
//
// # Not here
//
// The journal on a simulated disk: internal/testkit/simfs and internal/core/loop. git: its
// durability is its own, so the project has no repository.
package power
