// Package event contains the vocabulary of ralph's journal: the envelope of a line, the type names
// and the payloads.
//
// A line of a journal is one JSON object whose keys have a fixed order:
//
//	{"v":1,"seq":412,"id":"01JD…","at":"2026-11-21T01:52:28.123456Z","iter":3,
//	 "by":"agent:pi","cause":398,"type":"tool.called","data":{…},"raw":{…},"crc":"9f3a01c7"}
//
// Package journal returns the events of a loop. A reader decodes those that it needs:
//
//	payload, err := event.Decode(e)
//	switch p := payload.(type) {
//	case event.ToolCalled:
//		…
//	}
//
// # Guarantees
//
// An [Event] is a view of its line: reading the envelope does not allocate and does not read data
// or raw, and an event of a type that this version does not know keeps its bytes exactly. A new
// type or a new optional field needs no new version; a changed meaning gets a new type name. The
// files under testdata/v1 never change and must decode in every later version.
//
// # Not here
//
// Files, locks and the order of lines (package journal), the state that events add up to (package
// projector), and clocks.
package event
