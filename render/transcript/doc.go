// Package transcript turns the events of a loop into entries: what a person reads of it.
//
//	b := transcript.New(transcript.Options{})
//	for e, err := range journal.Follow(ctx, dir, journal.FollowOptions{}) {
//		…
//		b.Add(e)
//		for _, entry := range b.Take() {
//			… // new, or a later state of the entry with the same Seq
//		}
//	}
//
// An entry is one thing that a person sees as a unit: a block of the agent's words, a tool and its
// result, a group of reading tools, a guardrail, a message of a person and what became of it. The
// terminal interface, the report and the web page show the same entries. [Read], [Before] and
// [Tail] return a part of a journal as entries, so that no reader needs all of it in memory.
//
// # Guarantees
//
// The entries depend on the events and the options alone. Entries that Take returned never change:
// any goroutine may read them. A builder keeps what can still change and nothing else, so that its
// memory does not grow with the journal.
//
// All texts are clean, as package render defines it: of the control characters they contain
// newlines and tabs only. [Call.Input] is the one exception; [Call.InputText] is clean.
//
// # Not here
//
// How entries look (packages conversation and markup), and the state of a loop (package projector).
package transcript
