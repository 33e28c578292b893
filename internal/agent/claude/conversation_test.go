package claude

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// TestConversations plays what may happen around steering and ending, to a Claude that reports when
// it takes a message in both ways (2.1.329), by replays alone (2.1.197), and not at all.
func TestConversations(t *testing.T) {
	tests := []struct {
		name string
		play func(*fake)
		want string
	}{
		{"a turn without a steer ends with its result", func(f *fake) {
			f.prompt()
			f.read()
			f.tool("t")
			f.returned("t")
			f.text("end")
			f.done()
		}, "called, returned, said end, finished ok"},

		{"a steer while a tool runs is delivered with its result, in the same turn", func(f *fake) {
			f.prompt()
			f.read()
			f.tool("t")
			f.steer("s1")
			f.read()
			f.returned("t")
			f.text("end")
			f.done()
		}, "called, returned, delivered s1, said end, finished ok"},

		{"a steer while the final text is written makes a second turn, which counts", func(f *fake) {
			f.prompt()
			f.read()
			f.text("almost")
			f.steer("s1")
			f.read()
			f.done()
			f.text("end")
			f.result(`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":529,"result":"x"`)
		}, "said almost, delivered s1, said end, finished error"},

		{"a steer that Claude reads only after its result is not lost", func(f *fake) {
			f.prompt()
			f.read()
			f.text("almost")
			f.steer("s1")
			f.done()
			f.read()
			f.text("end")
			f.done()
		}, "said almost, delivered s1, said end, finished ok"},

		{"two steers that come too late make one more turn", func(f *fake) {
			f.prompt()
			f.read()
			f.text("one")
			f.steer("s1")
			f.steer("s2")
			f.done()
			f.read()
			f.text("two")
			f.done()
		}, "said one, delivered s1, delivered s2, said two, finished ok"},

		{"after the end a steer is refused", func(f *fake) {
			f.prompt()
			f.read()
			f.text("end")
			f.done()
			if f.steer("s1") {
				f.t.Error("it was taken")
			}
		}, "said end, finished ok"},

		{"before the prompt a steer is refused", func(f *fake) {
			if f.steer("s1") {
				f.t.Error("it was taken")
			}
		}, ""},

		{"an interrupt ends the turn, and a steer that waits is not delivered by the turn after it", func(f *fake) {
			f.prompt()
			f.read()
			f.tool("t")
			f.steer("s1")
			f.read()
			f.abort()
			f.read()
			f.text("more")
			f.done()
		}, "called, lost, finished aborted, said more"},

		{"a result that crosses the interrupt counts as it is", func(f *fake) {
			f.prompt()
			f.read()
			f.text("end")
			f.abort()
			f.done()
			f.read()
		}, "said end, finished ok"},

		{"a second interrupt and a steer after one are refused", func(f *fake) {
			f.prompt()
			f.read()
			f.abort()
			f.abort()
			if f.steer("s1") {
				f.t.Error("it was taken")
			}
			if len(f.unread) != 1 {
				f.t.Errorf("%d lines were written", len(f.unread))
			}
		}, ""},

		{"the end of the session in mid-turn is an aborted turn", func(f *fake) {
			f.prompt()
			f.read()
			f.tool("t")
			f.stop()
			f.read()
			if !f.exited {
				f.t.Error("Claude was not asked to end")
			}
		}, "called, lost, finished aborted"},

		{"a request for permission is answered, and the turn goes on", func(f *fake) {
			f.prompt()
			f.read()
			f.tool("t")
			f.say(`{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"x"}}}`)
			const want = `{"response":{"request_id":"q1","response":{"behavior":"allow","updatedInput":{"command":"x"}},"subtype":"success"},"type":"control_response"}`
			if len(f.unread) != 1 || string(f.unread[0]) != want {
				f.t.Errorf("reply %s\nwant %s", f.unread, want)
			}
			f.returned("t")
			f.text("end")
			f.done()
		}, "called, allow, returned, said end, finished ok"},
	}
	claudes := []struct {
		name               string
		lifecycle, replays bool
	}{
		{"lifecycle and replays", true, true}, {"replays", false, true}, {"lifecycle", true, false}, {"no echo", false, false},
	}
	for _, test := range tests {
		for _, c := range claudes {
			t.Run(test.name+"/"+c.name, func(t *testing.T) {
				f := newFake(t, c.lifecycle, c.replays)
				test.play(f)
				got := f.story()
				if got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
			})
		}
	}
}

// TestCancelledSteer: a message that Claude dropped is not waited for.
func TestCancelledSteer(t *testing.T) {
	f := newFake(t, true, true)
	f.prompt()
	f.read()
	f.text("end")
	f.steer("s1")
	f.done()
	f.state(f.d.sent[1].uuid, "cancelled")
	if got, want := f.story(), "said end, finished ok"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestUUIDs: what Claude takes for a uuid, the same in each run, and never the same twice.
func TestUUIDs(t *testing.T) {
	valid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for iteration := range 5 {
		once, again := New(nil), New(nil)
		for n := range 5 {
			for _, d := range []*Dialect{once, again} {
				if n == 0 {
					d.Open(agent.Prompt{Text: "x", Iteration: iteration})
				} else {
					d.Steer("id", "x")
				}
			}
			uuid := once.sent[n].uuid
			if !valid.MatchString(uuid) || seen[uuid] || uuid != again.sent[n].uuid {
				t.Errorf("iteration %d message %d: uuid %q, seen %v, again %q", iteration, n, uuid, seen[uuid], again.sent[n].uuid)
			}
			seen[uuid] = true
		}
	}
}

// TestSentTextIsOneLine: a prompt may hold anything.
func TestSentTextIsOneLine(t *testing.T) {
	const prompt = "a \"b\"\n\t\x00\xff\u2028\\ </x>"
	d := New(nil)
	lines := d.Open(agent.Prompt{Text: prompt})
	if len(lines) != 1 || strings.ContainsAny(string(lines[0]), "\n\r") {
		t.Fatalf("lines %q", lines)
	}
	var out agent.Decoded
	d.Decode(lines[0], agent.Stdout, &out) // it has the shape of a user line
	notice, ok := out.Facts[0].(event.AgentNoticed)
	if !ok || notice.Text != strings.ToValidUTF8(prompt, "\uFFFD") {
		t.Errorf("the prompt became %#v", out.Facts[0])
	}
}
