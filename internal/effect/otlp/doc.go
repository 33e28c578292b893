// Package otlp exports a loop as a trace of OpenTelemetry, from its journal alone.
//
//	fold := otlp.NewFold(otlp.Mapping{})
//	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
//		spans = append(spans, fold.Event(e)...)
//	}
//	spans = append(spans, fold.Cut()...) // of a loop that no runner works on
//	body, err := otlp.Encode(fold.Trace, spans, resource, otlp.JSON)
//
// # The trace
//
// A loop is one trace. Names and attributes are those of the semantic conventions for generative
// AI (version 1.41, in development); what they lack begins with "ralph.":
//
//	invoke_workflow <loop>     a run of the loop, from loop.started or loop.resumed to loop.ended
//	  invoke_agent <agent>     an iteration
//	    execute_tool <tool>    a call of a tool; that of a subagent is below the call that began it
//	    evaluate <command>     a guardrail, with the event gen_ai.evaluation.result
//	  wait <what for>          no iteration may begin
//
// A later run is a child of the first one. What a person asked for and what ralph noticed are
// events in these spans.
//
// # Guarantees
//
//   - The trace id is the ULID of the loop, or that of the trace in which the loop began. A span id
//     is a hash of the loop's ULID and the number of a run, an iteration or an event. So the same
//     journal gives the same trace, byte for byte.
//   - A span is returned once, when it has ended. What a dead runner left open ends at the last
//     event before its death, with the attribute ralph.incomplete.
//   - Texts of people, agents and tools are left out unless Mapping.Content asks for them.
//   - A Fold is plain data that is kept as JSON: with the position in the journal, it continues
//     after any death of the process. Its size is bounded.
//   - Following a loop takes no lock, and the runner does not wait for it. What a collector does
//     not take is sent again. The journal is the queue.
//
// # Not here
//
// Which loop is exported, and printing (internal/verb/journaltool); the settings
// (internal/ground/config).
package otlp
