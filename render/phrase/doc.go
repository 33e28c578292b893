// Package phrase says in words what an event means. Each type of event has one phrase, and every
// front end shows that one: the terminal, the full screen, pages, reports, explanations, editors.
//
//	phrase.Of(event.CompletionAccepted{How: event.ClaimPromise}, phrase.Known{}).String()
//	// "claim accepted (promise)"
//
// # Guarantees
//
// The words depend on the payload and on what [Known] says alone. Every type of journal/event has a
// phrase; that of a type which this version does not know is empty.
//
// # Not here
//
// Which events a reader sees (package transcript and [News] decide that from the tone), and how a
// phrase looks. Phrases contain text of agents, tools and files as it is: who shows one cleans it.
package phrase
