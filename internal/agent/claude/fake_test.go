package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// fake is Claude Code as far as the conversation goes: a queue of user messages, turns, and what is
// printed when. It behaves as the captures under testdata/said show: what waits when a tool returns
// goes along with its result; what waits when a turn ends begins the next one, all of it together;
// an interrupt ends the turn but leaves the queue.
type fake struct {
	t         *testing.T
	d         *Dialect
	lifecycle bool // as 2.1.329 does
	replays   bool // as --replay-user-messages makes both do

	unread   [][]byte // written by the dialect, not yet seen by Claude
	queue    []queued
	turn     []queued // the messages of the running turn
	answered bool     // it has had a response: the first one replays the prompt
	messages int
	cost     float64
	exited   bool

	facts []event.Payload
}

type queued struct{ uuid, text string }

func newFake(t *testing.T, lifecycle, replays bool) *fake {
	return &fake{t: t, d: New(nil), lifecycle: lifecycle, replays: replays}
}

func (f *fake) prompt() {
	f.unread = append(f.unread, f.d.Open(agent.Prompt{Text: "go", Iteration: 3})...)
}

func (f *fake) steer(id string) bool {
	lines, live := f.d.Steer(id, "text of "+id)
	f.unread = append(f.unread, lines...)
	return live
}

func (f *fake) abort() { f.unread = append(f.unread, f.d.Abort()...) }
func (f *fake) stop()  { f.unread = append(f.unread, f.d.Stop()...) }

// say prints a line, and what the dialect answers is written.
func (f *fake) say(format string, args ...any) {
	var out agent.Decoded
	f.d.Decode(fmt.Appendf(nil, format, args...), agent.Stdout, &out)
	f.facts = append(f.facts, out.Facts...)
	f.unread = append(f.unread, out.Reply...)
}

// read processes the lines written so far.
func (f *fake) read() {
	lines := f.unread
	f.unread = nil
	for _, line := range lines {
		var in struct {
			Type, UUID, Priority string
			Message              struct{ Content []struct{ Text string } }
			Request              struct{ Subtype string }
			RequestID            string `json:"request_id"`
		}
		if err := json.Unmarshal(line, &in); err != nil {
			f.t.Fatalf("the dialect wrote %q: %v", line, err)
		}
		switch {
		case in.Type == "user":
			f.queue = append(f.queue, queued{in.UUID, in.Message.Content[0].Text})
			f.state(in.UUID, "queued")
		case in.Type == "control_request":
			f.say(`{"type":"control_response","response":{"subtype":"success","request_id":"%s"}}`, in.RequestID)
			if f.exited = in.Request.Subtype == "end_session"; f.exited {
				f.queue = nil
			}
			if f.turn != nil {
				f.result(`"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["x"]`)
			}
		}
	}
	if f.turn == nil && len(f.queue) > 0 {
		f.begin()
	}
}

func (f *fake) state(uuid, state string) {
	if f.lifecycle {
		f.say(`{"type":"command_lifecycle","command_uuid":"%s","state":"%s"}`, uuid, state)
	}
}

func (f *fake) begin() {
	f.turn, f.queue, f.answered = f.queue, nil, false
	last := len(f.turn) - 1
	for _, m := range f.turn[:last] {
		f.replay(m)
	}
	for _, m := range f.turn {
		f.state(m.uuid, "started")
	}
	f.say(`{"type":"system","subtype":"init","claude_code_version":"fake"}`)
}

func (f *fake) replay(m queued) {
	if f.replays {
		f.say(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"%s"}]},"uuid":"%s","isReplay":true}`, m.text, m.uuid)
	}
}

func (f *fake) response(block string) {
	if !f.answered {
		f.answered = true
		f.replay(f.turn[len(f.turn)-1])
	}
	f.messages++
	f.say(`{"type":"assistant","message":{"id":"msg%d","content":[%s]},"parent_tool_use_id":null}`, f.messages, block)
}

// text is a response without a tool; it does not end the turn, so that a test may write in between.
func (f *fake) text(words string) { f.response(`{"type":"text","text":"` + words + `"}`) }

func (f *fake) tool(id string) {
	f.response(`{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"x"}}`)
}

// returned ends a tool: what is queued goes along.
func (f *fake) returned(id string) {
	f.say(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"ok"}]},"parent_tool_use_id":null}`, id)
	for _, m := range f.queue {
		f.replay(m)
		f.state(m.uuid, "started")
	}
	f.turn, f.queue = append(f.turn, f.queue...), nil
}

func (f *fake) done() {
	f.result(`"subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":2`)
}

// result ends the turn and begins the next, if a message is queued.
func (f *fake) result(how event.Claim) {
	for _, m := range f.turn[1:] {
		f.state(m.uuid, "completed")
	}
	f.cost += 0.25
	f.say(`{%s,"queued_turn_count":0,"modelUsage":{"m":{"inputTokens":%d,"costUSD":%g}},"type":"result"}`, how, int(f.cost*400), f.cost)
	f.state(f.turn[0].uuid, "completed")
	f.turn = nil
	if len(f.queue) > 0 {
		f.begin()
	}
}

// story lists the facts, without the noise.
func (f *fake) story() string {
	var words []string
	for _, fact := range f.facts {
		switch p := fact.(type) {
		case event.AgentSaid:
			words = append(words, "said "+p.Text.String())
		case event.ToolCalled:
			words = append(words, "called")
		case event.ToolReturned:
			if p.Output.String() == agent.NoResult && !p.OK {
				words = append(words, "lost")
			} else {
				words = append(words, "returned")
			}
		case event.CommandDelivered:
			words = append(words, "delivered "+p.ID)
		case event.AgentAsked:
			words = append(words, p.Answer)
		case event.AgentFinished:
			words = append(words, string("finished "+p.Outcome))
		case event.AgentUnparsed:
			f.t.Errorf("the fake printed what is not understood")
		}
	}
	return strings.Join(words, ", ")
}
