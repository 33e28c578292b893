package hook

import (
	"bytes"
	"encoding/json"
)

// A Reply is what a hook answers. The zero Reply says nothing: the agent goes its way.
type Reply struct {
	// Block keeps the agent from stopping; the text is the reason, which the model reads.
	Block string
	// Context is text that the model reads with its next request.
	Context string
	// Note is text that the person reads.
	Note string
	// Permission is the verdict on a tool call, with its reason; empty: no opinion.
	Permission Permission
	Reason     string
}

// A Permission is a hook's verdict on a tool call.
type Permission string

// The verdicts. Ask leaves the decision to the person; without one the call is denied.
const (
	Allow Permission = "allow"
	Deny  Permission = "deny"
	Ask   Permission = "ask"
)

// JSON returns the reply in the format of both agents, with a newline; nil for the zero Reply.
// event is the name that the agent gave to the event.
func (r Reply) JSON(event string) []byte {
	if r == (Reply{}) {
		return nil
	}
	type specific struct {
		Event      string     `json:"hookEventName"`
		Permission Permission `json:"permissionDecision,omitempty"`
		Reason     string     `json:"permissionDecisionReason,omitempty"`
		Context    string     `json:"additionalContext,omitempty"`
	}
	var out struct {
		Decision string    `json:"decision,omitempty"`
		Reason   string    `json:"reason,omitempty"`
		Note     string    `json:"systemMessage,omitempty"`
		Specific *specific `json:"hookSpecificOutput,omitempty"`
	}
	out.Note = r.Note
	if r.Block != "" {
		out.Decision, out.Reason = "block", r.Block
	}
	if r.Permission != "" || r.Context != "" {
		out.Specific = &specific{event, r.Permission, r.Reason, r.Context}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // people read it in transcripts
	if encoder.Encode(out) != nil {
		return nil // cannot happen: strings only
	}
	return text.Bytes()
}
