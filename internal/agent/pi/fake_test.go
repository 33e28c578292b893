package pi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// fakePi is as much of pi 1.5.2 as a conversation needs. It answers each line at once; a
// test moves the turn on with its methods.
type fakePi struct {
	t   *testing.T
	d   *Dialect
	got []string // the types of all lines written to it

	facts        []event.Payload
	fresh, stale bool

	// How it behaves.
	rejects   string // error of prompts
	handles   bool   // prompts and steers are taken by an extension
	silent    bool   // agent_start does not follow an accepted prompt
	vetoes    bool   // new_session is cancelled
	clearing  string // "": answers, "unknown": does not know clear_queue, "mute": does not answer
	steerFail string // error of steers
	expand    func(string) string

	queue   []string
	session int
	running bool
}

func newFake(t *testing.T) *fakePi { return &fakePi{t: t, d: New()} }

// open begins a turn and pumps until pi is quiet.
func (f *fakePi) open(prompt string) { f.write(f.d.Open(agent.Prompt{Text: prompt})) }

func (f *fakePi) steer(id, text string) bool {
	lines, live := f.d.Steer(id, text)
	f.write(lines)
	return live
}

// write gives lines to pi.
func (f *fakePi) write(lines [][]byte) {
	for _, line := range lines {
		var cmd struct {
			ID        string `json:"id"`
			Type      string `json:"type"`
			Message   string `json:"message"`
			Cancelled bool   `json:"cancelled"`
		}
		if err := json.Unmarshal(line, &cmd); err != nil || strings.Contains(string(line), "\n") {
			f.t.Fatalf("written to pi: %q: %v", line, err)
		}
		f.got = append(f.got, cmd.Type)
		f.command(cmd.ID, cmd.Type, cmd.Message)
	}
}

func (f *fakePi) command(id, typ, message string) {
	switch typ {
	case "get_state":
		f.respond(id, typ, fmt.Sprintf(`{"sessionId":"s%d","isStreaming":%t,"isCompacting":false}`, f.session, f.running))
	case "prompt":
		switch {
		case f.rejects != "":
			f.refuse(id, typ, f.rejects)
		case f.handles:
			f.respond(id, typ, `{"disposition":"handled"}`)
		default:
			f.respond(id, typ, `{"disposition":"started"}`)
			if !f.silent {
				f.start(message)
			}
		}
	case "steer":
		switch {
		case f.steerFail != "":
			f.refuse(id, typ, f.steerFail)
		case f.handles:
			f.respond(id, typ, `{"disposition":"handled"}`)
		default:
			if f.expand != nil {
				message = f.expand(message)
			}
			f.queue = append(f.queue, message)
			f.sayQueue()
			f.respond(id, typ, `{"disposition":"queued"}`)
		}
	case "clear_queue":
		switch f.clearing {
		case "unknown":
			f.refuse(id, typ, "Unknown command: clear_queue")
		case "":
			left, _ := json.Marshal(append([]string{}, f.queue...))
			if f.queue != nil {
				f.queue = nil
				f.sayQueue()
			}
			f.respond(id, typ, fmt.Sprintf(`{"steering":%s,"followUp":[]}`, left))
		}
	case "abort":
		if f.running {
			f.end("aborted", "Request was aborted")
			f.settle(true)
		}
		f.respond(id, typ, "")
	case "new_session":
		if !f.vetoes {
			f.session++
			f.queue = nil
		}
		f.respond(id, typ, fmt.Sprintf(`{"cancelled":%t}`, f.vetoes))
	}
}

// start begins the run that a prompt asked for.
func (f *fakePi) start(prompt string) {
	f.running = true
	f.say(`{"type":"agent_start"}`, `{"type":"turn_start"}`)
	f.userSays(prompt)
}

func (f *fakePi) userSays(text string) {
	q, _ := json.Marshal(text)
	f.say(fmt.Sprintf(`{"type":"message_start","message":{"role":"user","content":[{"type":"text","text":%s}]}}`, q),
		fmt.Sprintf(`{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":%s}]}}`, q))
}

// deliver gives the oldest steer to the model.
func (f *fakePi) deliver() {
	text := f.queue[0]
	f.queue = f.queue[1:]
	f.say(`{"type":"turn_start"}`)
	f.sayQueue()
	f.userSays(text)
}

// end ends an assistant message.
func (f *fakePi) end(reason, problem string) {
	extra := ""
	if problem != "" {
		q, _ := json.Marshal(problem)
		extra = `,"errorMessage":` + string(q)
	}
	f.say(fmt.Sprintf(`{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":%q%s}}`, reason, extra),
		`{"type":"turn_end"}`, `{"type":"agent_end","messages":[],"willRetry":false}`)
}

func (f *fakePi) settle(aborted bool) {
	f.running = false
	f.say(fmt.Sprintf(`{"type":"agent_settled","aborted":%t}`, aborted))
}

func (f *fakePi) sayQueue() {
	q, _ := json.Marshal(append([]string{}, f.queue...))
	f.say(fmt.Sprintf(`{"type":"queue_update","steering":%s,"followUp":[]}`, q))
}

func (f *fakePi) respond(id, command, data string) {
	if data != "" {
		data = `,"data":` + data
	}
	f.say(fmt.Sprintf(`{"id":%q,"type":"response","command":%q,"success":true%s}`, id, command, data))
}

func (f *fakePi) refuse(id, command, problem string) {
	f.say(fmt.Sprintf(`{"id":%q,"type":"response","command":%q,"success":false,"error":%q}`, id, command, problem))
}

// readAt is when the lines of a fake pi are read.
var readAt = time.Date(2026, 11, 21, 1, 47, 43, 0, time.UTC)

// say prints lines on pi's stdout, which the dialect reads and replies to.
func (f *fakePi) say(lines ...string) {
	for _, line := range lines {
		out := agent.Decoded{At: readAt}
		f.d.Decode([]byte(line), agent.Stdout, &out)
		for _, fact := range out.Facts { // what a fact shares with the line ends with it
			f.facts = append(f.facts, keep(fact))
		}
		f.fresh, f.stale = f.fresh || out.Fresh, f.stale || out.Stale
		f.write(out.Reply)
	}
}

func keep(p event.Payload) event.Payload {
	switch p := p.(type) {
	case event.AgentSaid:
		p.Text = slices.Clone(p.Text)
		return p
	case event.AgentThought:
		p.Text = slices.Clone(p.Text)
		return p
	case event.ToolProgressed:
		p.Text = slices.Clone(p.Text)
		return p
	case event.ToolReturned:
		p.Output = slices.Clone(p.Output)
		return p
	}
	return p
}

// only returns the facts of one type.
func only[T event.Payload](facts []event.Payload) []T {
	var found []T
	for _, fact := range facts {
		if t, ok := fact.(T); ok {
			found = append(found, t)
		}
	}
	return found
}

// finished returns the one end of the turn.
func (f *fakePi) finished() event.AgentFinished {
	f.t.Helper()
	all := only[event.AgentFinished](f.facts)
	if len(all) != 1 {
		f.t.Fatalf("the turn finished %d times: %+v", len(all), all)
	}
	return all[0]
}

func (f *fakePi) unfinished() {
	f.t.Helper()
	if all := only[event.AgentFinished](f.facts); len(all) != 0 {
		f.t.Fatalf("the turn finished already: %+v", all)
	}
}

func (f *fakePi) delivered() []string {
	var ids []string
	for _, c := range only[event.CommandDelivered](f.facts) {
		if c.How != "live" {
			f.t.Errorf("delivered %+v, which is not live", c)
		}
		ids = append(ids, c.ID)
	}
	return ids
}
