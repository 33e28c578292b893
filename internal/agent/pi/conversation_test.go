package pi

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestPromptWaitsForGetState(t *testing.T) {
	d := New()
	lines := d.Open(agent.Prompt{Text: "go"})
	if len(lines) != 1 || string(lines[0]) != `{"id":"ralph-1","type":"get_state"}` {
		t.Fatalf("Open wrote %q", lines)
	}
	var out agent.Decoded
	d.Decode([]byte(`{"id":"x","type":"extension_ui_request","method":"setStatus","statusText":"on"}`), agent.Stdout, &out)
	if len(out.Reply) != 0 {
		t.Fatalf("another line than the answer was replied to with %q", out.Reply)
	}
	d.Decode([]byte(`{"id":"ralph-1","type":"response","command":"get_state","success":true,"data":{"sessionId":"s"}}`), agent.Stdout, &out)
	if len(out.Reply) != 1 || string(out.Reply[0]) != `{"id":"ralph-2","type":"prompt","message":"go"}` {
		t.Fatalf("the answer was replied to with %q", out.Reply)
	}
}

func TestTurnEndsAfterClearQueue(t *testing.T) {
	f := newFake(t)
	f.open("go")
	f.end("stop", "")
	f.unfinished()
	f.settle(false)
	if got := f.finished(); got.Outcome != "ok" {
		t.Errorf("finished %+v", got)
	}
	if want := []string{"get_state", "prompt", "clear_queue"}; !slices.Equal(f.got, want) {
		t.Errorf("pi got %v, want %v", f.got, want)
	}
}

func TestSteers(t *testing.T) {
	tests := []struct {
		name  string
		set   func(*fakePi)
		talk  func(*fakePi)
		after []string // delivered when the turn has ended
	}{
		{
			name: "a steer counts when the model gets it, not when it is queued",
			talk: func(f *fakePi) {
				f.steer("a", "look at x")
				if ids := f.delivered(); ids != nil {
					f.t.Errorf("delivered %v while it is in the queue", ids)
				}
				f.deliver()
			},
			after: []string{"a"},
		},
		{
			name:  "a steer that came too late is not delivered",
			talk:  func(f *fakePi) { f.end("stop", ""); f.steer("a", "too late") },
			after: nil,
		},
		{
			name: "of two equal texts the first is delivered first",
			talk: func(f *fakePi) {
				f.steer("a", "again")
				f.steer("b", "again")
				f.deliver()
				if ids := f.delivered(); !slices.Equal(ids, []string{"a"}) {
					f.t.Errorf("delivered %v after the first", ids)
				}
				f.deliver()
			},
			after: []string{"a", "b"},
		},
		{
			name: "of two equal texts only the first was delivered",
			talk: func(f *fakePi) {
				f.steer("a", "again")
				f.steer("b", "again")
				f.deliver()
			},
			after: []string{"a"},
		},
		{
			name: "the prompt is not a steer of the same text",
			talk: func(f *fakePi) {
				f.steer("a", "go")
				f.userSays("go")
			},
			after: nil,
		},
		{
			name:  "a steer that pi refuses is not delivered",
			set:   func(f *fakePi) { f.steerFail = "no" },
			talk:  func(f *fakePi) { f.steer("a", "x") },
			after: nil,
		},
		{
			name:  "a steer that an extension took has had its effect",
			talk:  func(f *fakePi) { f.handles = true; f.steer("a", "/mine") },
			after: []string{"a"},
		},
		{
			name: "a steer whose template pi expanded is known by its place",
			set: func(f *fakePi) {
				f.expand = func(s string) string { return "the long text of " + s }
			},
			talk: func(f *fakePi) {
				f.queue = []string{"of somebody else"}
				f.sayQueue()
				f.steer("a", "/template")
				f.deliver()
				f.deliver()
			},
			after: []string{"a"},
		},
		{
			name: "bytes that are no UTF-8 are known again as pi spells them",
			talk: func(f *fakePi) {
				f.steer("a", "caf\xe9\xff")
				f.deliver()
			},
			after: []string{"a"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			if test.set != nil {
				test.set(f)
			}
			f.open("go")
			test.talk(f)
			f.end("stop", "")
			f.settle(false)
			f.finished()
			if ids := f.delivered(); !slices.Equal(ids, test.after) {
				t.Errorf("delivered %v, want %v", ids, test.after)
			}
		})
	}
}

func TestEarlySteerIsHeld(t *testing.T) {
	f := newFake(t)
	greet := f.d.Open(agent.Prompt{Text: "go"})
	if !f.steer("a", "early") || f.got != nil {
		t.Fatalf("pi got %v", f.got)
	}
	f.write(greet)
	if want := []string{"get_state", "prompt", "steer"}; !slices.Equal(f.got, want) {
		t.Fatalf("pi got %v, want %v", f.got, want)
	}
	f.deliver()
	if ids := f.delivered(); !slices.Equal(ids, []string{"a"}) {
		t.Errorf("delivered %v", ids)
	}
}

func TestSteerNeedsTurn(t *testing.T) {
	f := newFake(t)
	check := func(when string) {
		t.Helper()
		if f.steer("a", "x") {
			t.Errorf("live %s", when)
		}
	}
	check("before the first turn")
	f.open("go")
	f.end("stop", "")
	f.clearing = "mute"
	f.settle(false)
	check("while the turn settles")
	f.settle(false)
	check("after the turn")
	f.open("go")
	f.d.Abort()
	check("in an aborted turn")
}

func TestClearQueueNeverHangs(t *testing.T) {
	tests := []struct {
		name string
		set  func(*fakePi)
		then func(*fakePi)
	}{
		{"pi does not know clear_queue", func(f *fakePi) { f.clearing = "unknown" }, nil},
		{"pi could not read the line", mute, func(f *fakePi) {
			f.say(`{"type":"response","command":"parse","success":false,"error":"Failed to parse command"}`)
		}},
		{"pi settles again", mute, func(f *fakePi) { f.settle(false) }},
		{"an extension began another run, which settles", mute, func(f *fakePi) {
			f.clearing = ""
			f.say(`{"type":"agent_start"}`)
			f.unfinished()
			f.end("stop", "")
			f.settle(false)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			test.set(f)
			f.open("go")
			f.end("stop", "")
			f.settle(false)
			if test.then != nil {
				f.unfinished()
				test.then(f)
			}
			if got := f.finished(); got.Outcome != "ok" {
				t.Errorf("finished %+v", got)
			}
			outdated := slices.ContainsFunc(only[event.AgentNoticed](f.facts), func(n event.AgentNoticed) bool { return n.What == "pi.outdated" })
			if outdated != (f.clearing == "unknown") {
				t.Errorf("pi.outdated was noticed: %t", outdated)
			}
		})
	}
}

func mute(f *fakePi) { f.clearing = "mute" }

func TestPromptWithoutTurnFinishes(t *testing.T) {
	tests := []struct {
		name string
		set  func(*fakePi)
		kind event.FaultKind
	}{
		{"no key", func(f *fakePi) { f.rejects = "No API key found for anthropic.\n\nUse /login" }, "auth"},
		{"busy", func(f *fakePi) { f.rejects = "Agent is already processing." }, "other"},
		{"an extension took it", func(f *fakePi) { f.handles = true }, "other"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			test.set(f)
			f.open("go")
			got := f.finished()
			if got.Outcome != "error" || got.Kind != test.kind || got.Error == "" {
				t.Errorf("finished %+v", got)
			}
			if slices.Contains(f.got, "clear_queue") {
				t.Errorf("pi got %v", f.got)
			}
			if lines, same := f.d.Reset(); !same || len(lines) != 1 {
				t.Errorf("the process cannot be reset: %q, %t", lines, same)
			}
		})
	}
}

func TestReset(t *testing.T) {
	tests := []struct {
		name   string
		set    func(*fakePi)
		answer string // instead of the fake's
		fresh  bool
	}{
		{name: "pi has a new session", fresh: true},
		{name: "an extension vetoed it", set: func(f *fakePi) { f.vetoes = true }},
		{name: "pi does not say whether it was cancelled", answer: `{"id":"ralph-4","type":"response","command":"new_session","success":true}`},
		{name: "pi failed", answer: `{"id":"ralph-4","type":"response","command":"new_session","success":false,"error":"disk"}`},
		{name: "pi could not read the line", answer: `{"type":"response","command":"parse","success":false,"error":"x"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			if test.set != nil {
				test.set(f)
			}
			f.open("go")
			before := f.d.Session()
			if _, same := f.d.Reset(); same {
				t.Fatal("a running turn was reset")
			}
			f.end("stop", "")
			f.settle(false)
			lines, same := f.d.Reset()
			if !same {
				t.Fatal("refused between turns")
			}
			if test.answer != "" {
				f.say(test.answer)
			} else {
				f.write(lines)
			}
			if f.fresh != test.fresh || f.stale == test.fresh {
				t.Fatalf("fresh %t, stale %t", f.fresh, f.stale)
			}
			if !test.fresh {
				return
			}
			if after := f.d.Session(); before == "" || after == "" || after == before {
				t.Errorf("the session was %q and is %q", before, after)
			}
			f.facts = nil
			f.open("again")
			f.end("stop", "")
			f.settle(false)
			if f.finished(); f.session != 1 {
				t.Errorf("session %d", f.session)
			}
		})
	}
}

func TestDialogsAreAnsweredAtOnce(t *testing.T) {
	tests := []struct {
		name, line, what string
	}{
		{"select", `{"type":"extension_ui_request","id":"d","method":"select","title":"Allow?","options":["Yes","No"]}`, "select: Allow? (Yes, No)"},
		{"confirm", `{"type":"extension_ui_request","id":"d","method":"confirm","title":"Switch?","message":"really?"}`, "confirm: Switch? really?"},
		{"input", `{"type":"extension_ui_request","id":"d","method":"input","title":"Value?"}`, "input: Value?"},
		{"editor", `{"type":"extension_ui_request","id":"d","method":"editor","title":"Text?","prefill":"x"}`, "editor: Text?"},
		{"one of a later pi", `{"type":"extension_ui_request","id":"d","method":"pick","title":"Which?"}`, "pick: Which?"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := New()
			var out agent.Decoded
			d.Decode([]byte(test.line), agent.Stdout, &out)
			if len(out.Reply) != 1 || string(out.Reply[0]) != `{"type":"extension_ui_response","id":"d","cancelled":true}` {
				t.Errorf("replied %q", out.Reply)
			}
			if want := (event.AgentAsked{What: test.what, Answer: "cancelled"}); len(out.Facts) != 1 || out.Facts[0] != event.Payload(want) {
				t.Errorf("facts %+v", out.Facts)
			}
		})
	}
}

func TestLastMessageDecidesOutcome(t *testing.T) {
	tests := []struct {
		name    string
		reason  string
		problem string
		want    event.AgentFinished
		limited []event.AgentLimited
	}{
		{name: "stop", reason: "stop", want: event.AgentFinished{Outcome: "ok"}},
		{name: "length", reason: "length", want: event.AgentFinished{Outcome: "length"}},
		{name: "a tool ended the run", reason: "toolUse", want: event.AgentFinished{Outcome: "ok"}},
		{name: "aborted by an extension", reason: "aborted", problem: "Request was aborted", want: event.AgentFinished{Outcome: "aborted"}},
		{
			name: "a limit with a stated end", reason: "error", problem: `429: {"error":{"type":"usage_limit_reached","resets_at":1795225728}}`,
			want:    event.AgentFinished{Outcome: "error", Kind: "rate", Error: `429: {"error":{"type":"usage_limit_reached","resets_at":1795225728}}`},
			limited: []event.AgentLimited{{Kind: "rate", Until: "2026-11-21T01:48:48Z", Text: `429: {"error":{"type":"usage_limit_reached","resets_at":1795225728}}`}},
		},
		{
			name: "an error that no waiting mends", reason: "error", problem: "400: bad",
			want: event.AgentFinished{Outcome: "error", Kind: "other", Error: "400: bad"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t)
			f.open("go")
			f.end("error", "500: an earlier one, which pi retried")
			f.end(test.reason, test.problem)
			f.settle(false)
			if got := f.finished(); got != test.want {
				t.Errorf("finished %+v, want %+v", got, test.want)
			}
			if got := only[event.AgentLimited](f.facts); !slices.Equal(got, test.limited) {
				t.Errorf("limited %+v, want %+v", got, test.limited)
			}
		})
	}
	t.Run("no message at all", func(t *testing.T) {
		f := newFake(t)
		f.open("go")
		f.settle(false)
		if got := f.finished(); got.Outcome != "error" || got.Kind != "other" {
			t.Errorf("finished %+v", got)
		}
	})
}
