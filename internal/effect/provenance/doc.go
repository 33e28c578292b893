// Package provenance says what wrote a commit: which iteration of which loop, with which agent and
// model, for how much money, with which checks.
//
//	loop, err := provenance.Read(loopDir)              // what the journal says
//	note := provenance.NoteOf(loop.Iterations[0], seq) // the same in short
//	err = provenance.Write(ctx, project, note, commits)
//	notes, err := provenance.Notes(ctx, project, commits)
//
// # Notes
//
// [Write] adds a note to each commit under [Ref], which git keeps with the repository and pushes
// only if a person says so. So the answer outlives the journal, and reaches another clone. Where
// git signs the person's commits, the commit of the notes is signed in the same way.
//
// Anyone may have written a note. What reads one says that the note says so, unless a journal or a
// kept work tree of the loop agrees.
package provenance
