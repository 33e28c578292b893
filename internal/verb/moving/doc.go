// Package moving brings a loop to another machine, as one file.
//
// [Export] writes the file: a tar archive, compressed by Zstandard, with a [Manifest], the loop's
// folder, its prompt file and a git bundle of the repository (format.md, "The file of an export").
// To move a loop, it fences it first, so that no runner resumes it here as well; [Undo] removes the
// fence. [Import] unpacks the file beside the place of the loop's folder, and moves it there as its
// last step.
package moving
