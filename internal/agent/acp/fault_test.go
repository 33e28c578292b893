package acp

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestErrorKinds(t *testing.T) {
	tests := []struct {
		name, object, kind, words string
	}{
		{"ACP's own code for a missing login", `{"code":-32000,"message":"Authentication required"}`, "auth", "Authentication required"},
		{"Gemini's, whose message is the body of the answer", `{"code":401,"message":"{\"error\":{\"code\":401,\"message\":\"bad key\",\"status\":\"UNAUTHENTICATED\"}}"}`, "auth", "UNAUTHENTICATED: bad key"},
		{"Gemini's quota", `{"code":429,"message":"{\"error\":{\"code\":429,\"message\":\"You exceeded your current quota\",\"status\":\"RESOURCE_EXHAUSTED\"}}"}`, "quota", "RESOURCE_EXHAUSTED: You exceeded your current quota"},
		{"Qwen's, whose details begin with the status", `{"code":-32603,"message":"Internal error","data":{"details":"429 slow down"}}`, "rate", "Internal error: 429 slow down"},
		{"opencode's, without a status", `{"code":-32603,"message":"Internal error: Incorrect API key provided","data":{"service":"session","errorName":"APIError"}}`, "auth", "Internal error: Incorrect API key provided"},
		{"opencode's name for a login", `{"code":-32603,"message":"Internal error: no","data":{"errorName":"ProviderAuthError"}}`, "auth", "Internal error: no"},
		{"a server that is down", `{"code":-32603,"message":"Internal error","data":{"details":"503 Service Unavailable"}}`, "overload", "Internal error: 503 Service Unavailable"},
		{"a network that is", `{"code":-32603,"message":"fetch failed"}`, "network", "fetch failed"},
		{"a connection that was cut, in the words of Node", `{"code":-32603,"message":"Internal error","data":{"details":"terminated"}}`, "network", "Internal error: terminated"},
		{"in opencode's", `{"code":-32603,"message":"Internal error: Cannot connect to API: The socket connection was closed unexpectedly.","data":{"errorName":"APIError"}}`, "network", "Internal error: Cannot connect to API: The socket connection was closed unexpectedly."},
		{"a network in Gemini's words, which has no status", `{"code":500,"message":"exception TypeError: fetch failed sending request"}`, "network", "exception TypeError: fetch failed sending request"},
		{"a minute's share, in Google's words for an account", `{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.\nSuggested retry after 38s."}`, "rate", "You exceeded your current quota, please check your plan and billing details.\nSuggested retry after 38s."},
		{"a day's share", `{"code":429,"message":"You have exhausted your daily quota on this model."}`, "quota", "You have exhausted your daily quota on this model."},
		{"a balance that is used up", `{"code":-32603,"message":"Internal error","data":{"details":"402 Insufficient Balance"}}`, "quota", "Internal error: 402 Insufficient Balance"},
		{"a conversation that is too long", `{"code":400,"message":"context_length_exceeded: 200001 tokens"}`, "context", "context_length_exceeded: 200001 tokens"},
		{"a number that is no status", `{"code":-32603,"message":"made 5001 requests"}`, "other", "made 5001 requests"},
		{"words that have nothing to do with it", `{"code":-32602,"message":"Invalid params: model not found"}`, "other", "Invalid params: model not found"},
		{"no words", `{}`, "other", "an error without words"},
		{"no object", `17`, "other", "an error without words"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := readFailure(read(t, test.object))
			if string(f.kind()) != test.kind || f.Words != test.words {
				t.Errorf("%s: %q, want %s: %q", f.kind(), f.Words, test.kind, test.words)
			}
		})
	}
}

func TestRefusalKind(t *testing.T) {
	d := New("opencode")
	if got := d.readOutcome(read(t, `{"stopReason":"refusal"}`), jsonscan.Value{}).finished; got.Kind != event.KindRefusal || got.Outcome != "error" {
		t.Errorf("%+v", got)
	}
	// codex-acp puts what Codex says of it into the model's place.
	if got := failureOf("stream disconnected before completion: Incomplete response returned, reason: content_filter").kind(); got != event.KindRefusal {
		t.Errorf("a refusal of Codex is %q", got)
	}
}

func TestSessionCostReportedOnce(t *testing.T) {
	var c cost
	if c.since() != nil {
		t.Error("a cost that was never reported")
	}
	c.read(read(t, `{"amount":3,"currency":"EUR"}`))
	if c.since() != nil {
		t.Error("euros are no dollars")
	}
	for _, step := range []struct {
		cost string
		want float64 // -1: unknown
	}{
		{`{"amount":0.5,"currency":"USD"}`, 0.5}, {`{"amount":0.5}`, 0}, {`{"amount":7.5e-1}`, 0.25},
		{`{"amount":"1"}`, -1}, {`{"amount":-1}`, -1}, {`{}`, -1}, {`null`, -1}, {`{"amount":1}`, 0.25},
	} {
		c.read(read(t, step.cost))
		got := c.since()
		if step.want < 0 && got != nil || step.want >= 0 && (got == nil || *got != step.want) {
			t.Errorf("after %s: %v more, want %g", step.cost, got, step.want)
		}
	}
}

// A turn that was killed keeps the cost that it reported, which is not all.
func TestKilledTurnKeepsCost(t *testing.T) {
	d := New("opencode")
	d.turn.open = true
	d.cost.read(read(t, `{"amount":0.5,"currency":"USD"}`))
	var out agent.Decoded
	d.End(-1, &out)
	if len(out.Facts) != 2 || *out.Facts[0].(event.AgentUsed).USD != 0.5 || out.Facts[1] != (event.AgentUsed{}) {
		t.Errorf("%+v", out.Facts)
	}
	out.Reset()
	if d.End(-1, &out); len(out.Facts) > 0 {
		t.Errorf("reported again: %+v", out.Facts)
	}
}

// read returns the value of a document.
func read(t *testing.T, doc string) jsonscan.Value {
	t.Helper()
	value, err := new(jsonscan.Document).Read([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
