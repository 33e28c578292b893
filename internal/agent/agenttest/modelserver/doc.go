// Package modelserver is a scripted model API on loopback, so that the real agents run in tests
// without an account.
//
// It speaks the four wire formats that coding agents use, and answers each request with the [Step]
// its [Script] gives:
//
//	srv := modelserver.Start(t, modelserver.Sequence(
//		modelserver.Step{Text: "Let me look.", Tools: []modelserver.ToolCall{modelserver.Bash("ls")}},
//		modelserver.Step{Text: "All done.", Usage: modelserver.Usage{In: 900, Out: 12}},
//	))
//	env, flags := modelserver.PiHome(t, srv)
//	// … run pi with env and flags, then:
//	for _, r := range srv.Requests() {
//		t.Log(r.Format, r.Messages)
//	}
//
// The formats, as pi 0.87.1 and Claude Code 2.1.329 use them:
//
//	POST /v1/chat/completions        OpenAI chat completions
//	POST /v1/responses               OpenAI responses
//	POST /v1/messages                Anthropic messages; Claude Code and pi add ?beta=true
//	POST /v1beta/models/NAME:…       Google generateContent and streamGenerateContent; of Gemini CLI 0.61.0
//	POST /v1/messages/count_tokens   answered by size, not seen by the script
//	GET  /v1/models                  one model, [Model]
//
// A request that asks for no stream gets the same answer as one JSON object.
//
// # Guarantees
//
// A request is recorded before its script runs, so [Server.Wait] sees it while its answer is still
// held back. A test needs no sleep: [Step.Until] and [Step.UntilEnd] hold an answer until the test
// lets go, and Wait returns at the moment its condition becomes true. [Server.Close] ends every
// answer and leaves no goroutine running.
//
// What the script gets wrong (a sequence that is too short, a tool the agent does not declare, a
// panic) is answered with status 400, which no agent retries, and reported by [Server.Fault];
// [Start] makes it fail the test.
//
// # Not here
//
// No check of keys, no images, no stored conversations (previous_response_id), no WebSocket
// transport. The server does not judge whether a request is one that the real API would accept.
package modelserver
