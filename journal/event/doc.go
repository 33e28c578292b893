// Package event holds every word that ralph's journal speaks: the envelope of
// one line, the type names and the payloads.
//
// A journal line is one JSON object whose keys stand in a fixed order:
//
//	{"v":1,"seq":412,"id":"01JD…","at":"2026-11-21T01:52:28.123456Z","iter":3,
//	 "by":"agent:pi","cause":398,"type":"tool.called","data":{…},"raw":{…},"crc":"9f3a01c7"}
//
// Writing starts from a payload, reading from a line:
//
//	d := event.Encode(event.ToolCalled{ID: "t1", Name: "bash"}, "agent:pi")
//	line, crc := event.AppendLine(nil, event.Stamp{Seq: 412, ID: id, At: now}, d, prevCRC)
//
//	e, err := event.Parse(line)
//	if e.Type == event.TypeToolCalled {
//		called, err := event.As[event.ToolCalled](e)
//		…
//	}
//
// # Guarantees
//
// An [Event] is a view of its line: reading the envelope costs no allocation and
// does not touch data or raw, and an event of a type this version does not know
// keeps its bytes exactly. A new type or a new optional field needs no new
// version; a changed meaning gets a new type name. The files under testdata/v1
// are never edited again and must decode for ever.
//
// # Not here
//
// Files, locks and the order of lines (package journal), what events add up to
// (package projector), and clocks: time and ids are handed in.
package event
