package pi

import (
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

func TestErrorsAreClassified(t *testing.T) {
	tests := []struct {
		message string
		kind    event.FaultKind
	}{
		{`401: {"message":"invalid api key","type":"authentication_error"}`, "auth"},
		{`403: {"error":{"message":"forbidden"}}`, "auth"},
		{`429: {"message":"Rate limit reached","type":"rate_limit_error"}`, "rate"},
		{`429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your limit"},"request_id":"r"}`, "rate"},
		{`Mistral API error (429): {"message":"Requests rate limit exceeded"}`, "rate"},
		{`{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}`, "rate"},
		{`You have hit your ChatGPT usage limit (plus plan). Try again in ~42 min.`, "rate"},
		{`Throttling error: too many tokens per day`, "rate"},
		{`429: {"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, "quota"},
		{`429: {"message":"You exceeded your current quota, please check your plan"}`, "quota"},
		{`402: {"error":"pay"}`, "quota"},
		{`400: {"error":{"message":"Your credit balance is too low"}}`, "quota"},
		{`400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213423 tokens > 200000 maximum"}}`, "context"},
		{`400: {"message":"too long","code":"context_length_exceeded"}`, "context"},
		{`413 {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, "context"},
		{`prompt is too long: 5 tokens > 4 maximum`, "context"},
		{`529: {"message":"Overloaded","type":"overloaded_error"}`, "overload"},
		{`{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}`, "overload"},
		{`500 Internal server error`, "overload"},
		{`503 status code (no body)`, "overload"},
		{`503`, "overload"},
		{`overloaded_error: try later`, "overload"},
		{`Connection error.`, "network"},
		{`connect ECONNREFUSED 127.0.0.1:1`, "network"},
		{`Request timed out.: This operation was aborted (20)`, "network"},
		{`terminated: Body Timeout Error`, "network"},
		{`Stream ended without finish_reason`, "network"},
		{`408: {"message":"slow"}`, "network"},
		{`No API key found for anthropic.`, "auth"},
		{`Request was aborted`, "other"},
		{`4290 tokens`, "other"},
		{``, "other"},
		// Words that are quoted, by a body or by a model that declines, name nothing.
		{`400: {"error":{"message":"the word overloaded in a prompt that was refused, 429"}}`, "other"},
		{`400: {"error":{"message":"messages.3: 'rate_limit_error: billing, usage limit' is not allowed"}}`, "other"},
		{`500: {"error":{"message":"while reading 'insufficient_quota, billing'"}}`, "overload"},
		{`{"error":{"message":"connection lost in your text, 429 rate limit"}}`, "other"},
		{`The model declined to talk about an invalid api key and a network timeout`, "other"},
		{`I cannot help with that: {"type":"error","error":{"type":"overloaded_error"}} is what the log of the user says, and it is long`, "other"},
	}
	for _, test := range tests {
		if got := classify(test.message); got != test.kind {
			t.Errorf("%q is %s, want %s", test.message, got, test.kind)
		}
	}
}

func TestLimitEnds(t *testing.T) {
	for name, row := range map[string]struct{ message, want string }{
		"a moment in the body":         {`429: {"error":{"code":"usage_limit_reached","resets_at":1795229108}}`, "2026-11-21T02:45:08Z"},
		"one at its top":               {`429: {"message":"x","resets_at":1795229108}`, "2026-11-21T02:45:08Z"},
		"one in milliseconds is none":  {`429: {"message":"x","resets_at":1795229108000}`, ""},
		"words are read for all alike": {`You have hit your ChatGPT usage limit. Try again in ~42 min.`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := until(row.message); got != row.want {
				t.Errorf("until %q, want %q", got, row.want)
			}
		})
	}
}

// A limit is reported when it ends the turn: what the policy knows of it by then may be forgotten
// again.
func TestLimitReportedAtTurnEnd(t *testing.T) {
	type row struct {
		message string // the last assistant message, without its braces
		want    event.AgentFinished
		limited event.AgentLimited
	}
	for name, row := range map[string]row{
		"a subscription's limit, with its end": {
			`"stopReason":"error","errorMessage":"You have hit your ChatGPT usage limit (plus plan). Try again in ~1 min.","timestamp":1795225663000`,
			event.AgentFinished{Outcome: "error", Kind: "rate", Error: "You have hit your ChatGPT usage limit (plus plan). Try again in ~1 min."},
			event.AgentLimited{Kind: "rate", Until: "2026-11-21T01:49:43Z", Text: "You have hit your ChatGPT usage limit (plus plan). Try again in ~1 min."},
		},
		"the status in the diagnostics": {
			`"stopReason":"error","errorMessage":"the model is busy","diagnostics":[{"type":"bedrock_response_failure","details":{"status":503}}]`,
			event.AgentFinished{Outcome: "error", Kind: "overload", Error: "the model is busy"},
			event.AgentLimited{Kind: "overload", Text: "the model is busy"},
		},
		"a conversation that is too long is none": {
			`"stopReason":"error","errorMessage":"400: {\"code\":\"context_length_exceeded\"}"`,
			event.AgentFinished{Outcome: "length", Kind: "context", Error: `400: {"code":"context_length_exceeded"}`},
			event.AgentLimited{},
		},
		"a part that refuses is none": {
			`"stopReason":"stop","content":[{"type":"refusal","refusal":"I cannot help with that."}]`,
			event.AgentFinished{Outcome: "error", Kind: "refusal", Error: "I cannot help with that."},
			event.AgentLimited{},
		},
		"the agent's words are none": {
			`"stopReason":"stop","content":[{"type":"text","text":"429: rate limit, overloaded, insufficient_quota"}]`,
			event.AgentFinished{Outcome: "ok"},
			event.AgentLimited{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.open("go")
			// A tool's output is no error either.
			f.say(`{"type":"tool_execution_end","toolCallId":"t","toolName":"bash","isError":true,"result":{"content":[{"type":"text","text":"429: {\"type\":\"rate_limit_error\"}"}]}}`)
			f.say(`{"type":"message_end","message":{"role":"assistant",` + row.message + `}}`)
			f.settle(false)
			if got := f.finished(); got != row.want {
				t.Errorf("got  %+v\nwant %+v", got, row.want)
			}
			limited := only[event.AgentLimited](f.facts)
			if want := row.limited.Kind != ""; len(limited) == 1 != want || want && limited[0] != row.limited {
				t.Errorf("limited %+v", limited)
			}
		})
	}
}
