//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// hostile is what an agent could print to take over a terminal. Each contains the word owned.
var hostile = []string{
	"\x1b]0;owned\x07", "\x1b]2;owned\x1b\\", "\x1b]52;c;b3duZWQ=\x07owned", "\x1b]8;;http://owned\x1b\\owned\x1b]8;;\x1b\\",
	"\x1b]9;owned\x07", "\x1b]777;notify;owned;owned\x07", "\x1b]7501;state=done:msg=owned\x07", "\x1b]1337;owned\x07", "\x1b]4;1;owned\x07",
	"\x1b[2J\x1b[3Jowned", "\x1b[31;5;8mowned", "\x1b[?1049lowned", "\x1b[?2026lowned", "\x1b[?1000howned", "\x1b[6nowned", "\x1b[>4;2mowned", "\x1b[20towned",
	"\x1bcowned", "\x1bPowned\x1b\\", "\x1b_owned\x1b\\", "\x1b^owned\x1b\\", "\x1bXowned\x1b\\", "\x1bP$qowned",
	"\u009b31mowned", "\u009d0;owned\u009c", "\x9b2Jowned", "owned\x00\x01\x05\x07\x08\x0b\x0c\x0e\x0f\x7f", "safe\rowned", "\x1b", "\x1b[", "\x1b]52;",
	"\u202eowned\u202c", "\u2066owned\u2069", "\u200fowned\u200e", "\u061cowned", "a\u0301\u0301\u0301\u0301owned", "👩\u200d👩\u200d👧owned", "日本語owned", "e\u0301\u200downed",
	"שלום owned", "\ufeffowned", "\u2028owned", "\U000e0041owned", "<script>owned</script>", "⟦owned⟧",
}

// own are the sequences that ralph uses itself.
var own = regexp.MustCompile(`^(C0 '\\[btnr]'` + // the cursor moves
	`|CSI [ABCDEFGHIJKLMPSTXZabdefmr@` + "`" + `]` + // drawing
	`|CSI \?(25|1004|1007|1049|2004|2026|2027|7|5)[hl]|CSI 4[hl]|CSI \?W|CSI [qt]|CSI  q` + // modes
	`|CSI \?\$p|CSI [<>=?]u|CSI >m|CSI c|CSI >c|CSI >q` + // queries, and the keyboard
	`|OSC (2|11|10|12|112|9|7501)|ESC [78M=>]|ESC \(B)$`)

// Nothing that an agent, a tool, a file or a person far away wrote gives the terminal a command.
func TestHostileTextStaysText(t *testing.T) {
	leaveToInterface(t)
	t.Parallel()
	p := newPlace(t)
	p.hostileLoop("bad")
	for _, o := range []terminaltest.Options{
		{Columns: 40, Rows: 20, Marks: true},
		{Columns: 200, Rows: 50, Marks: true, Clusters: true},
	} {
		for _, tt := range []struct {
			args  []string
			shows string
		}{
			{[]string{"attach", "bad"}, "resume>"},
			{[]string{"attach", "bad", "--inline"}, "failed · stop"},
			{[]string{"replay", "bad", "--speed", "max"}, "at the end"},
			{[]string{"list", "--watch"}, "failed"},
		} {
			w := p.screen(o, nil, tt.args...)
			w.sees(tt.shows)
			if tt.shows == "resume>" {
				w.readsAll()
			}
			w.commandsAreOwn(tt.args)
			w.End()
		}
	}
}

// readsAll goes through the loop, and unfolds it.
func (w *watched) readsAll() {
	w.Helper()
	for _, step := range []struct{ keys, shows string }{
		{"\t", "j k"}, {"k", ""}, {"k", ""}, {ctrlHome, "── loop bad"}, {pageDown, ""}, {"z" + pageDown, ""},
		{"l", "Iterations"}, {"l", "resume>"}, {"?", "Keys and commands"}, {"q", ""}, {ctrlF + "owned" + enter, ""}, {ctrlEnd, "failed · stop"},
	} {
		var before string
		w.Look(func(e *terminaltest.Emulator) { before = e.Styled() })
		w.types(step.keys)
		if _, err := w.Await(patience, func(e *terminaltest.Emulator) bool {
			return e.Styled() != before && strings.Contains(e.Text(), step.shows)
		}); err != nil {
			w.Fatalf("%q does not show %q: %v", step.keys, step.shows, err)
		}
	}
}

// commandsAreOwn checks everything that was written.
func (w *watched) commandsAreOwn(args []string) {
	w.Helper()
	var all []byte
	for _, c := range w.Written(time.Time{}) {
		all = append(all, c.Data...)
	}
	for _, forbidden := range []string{"\u202e", "\u202d", "\u202a", "\u2066", "\u2067", "\u200f", "\u200e", "\u061c", "\ufeff", "\u2028", "\U000e0041", "\x00", "\x05", "\x7f"} {
		if bytes.Contains(all, []byte(forbidden)) {
			w.Errorf("%v: %+q was written", args, forbidden)
		}
	}
	w.Look(func(e *terminaltest.Emulator) {
		for kind, n := range e.Seen {
			if !own.MatchString(kind) {
				w.Errorf("%v: %d times %q", args, n, kind)
			}
		}
		for _, text := range e.Commands {
			if message, ok := statusMessage(text); ok { // it may be foreign, but not a command
				if strings.ContainsFunc(message, unicode.IsControl) {
					w.Errorf("%v: the status is reported as %q", args, message)
				}
				continue
			}
			if strings.Contains(text, "owned") || strings.Contains(text, "b3duZWQ") {
				w.Errorf("%v: a command of the terminal has foreign text: %q", args, text)
			}
		}
		if e.Clears > 0 {
			w.Errorf("%v: %d clears of the screen", args, e.Clears)
		}
		if !bytes.Contains(all, []byte("owned")) && args[0] == "attach" {
			w.Errorf("%v: the text is not shown either:\n%s", args, e.Text())
		}
	})
}

// statusMessage returns the message of a report of the program's status.
func statusMessage(command string) (string, bool) {
	_, encoded, ok := strings.Cut(command, ":msg=")
	message, err := base64.StdEncoding.DecodeString(encoded)
	return string(message), ok && err == nil && strings.HasPrefix(command, "7501;")
}

// hostileLoop records a loop in which everything that is foreign is hostile. It has ended.
func (p *place) hostileLoop(name string) {
	p.Helper()
	var payloads []event.Payload
	for i, bad := range hostile {
		payloads = append(payloads, p.hostileTurn(i+1, bad)...)
	}
	p.recordLoop(name, append(payloads, event.LoopEnded{Status: event.StatusFailed, Reason: event.ReasonStop, Why: strings.Join(hostile, " ")})...)
}

func (p *place) hostileTurn(n int, bad string) []event.Payload {
	text := event.Plain(bad)
	id, block := fmt.Sprintf("t%d", n), fmt.Sprintf("m%d.0", n)
	quoted := event.Plain(bad) // as a value of JSON
	input := []byte(`{"command":` + string(quoted) + `,"file_path":` + string(quoted) + `,"old_string":` + string(quoted) + `,"new_string":"b"}`)
	turn := []event.Payload{
		event.IterationStarted{N: n, Mode: "work", Prompt: event.Blob{Text: bad, Bytes: len(bad)}},
		event.AgentStarted{PID: 7, Tools: true, Argv: []string{bad}},
		event.AgentThought{Block: block, Text: text, Final: true},
		event.AgentSaid{Block: fmt.Sprintf("m%d.1", n), Text: event.Plain("# " + bad + "\n\n```" + bad + "\n" + bad + "\n```\n\n| " + bad + " | b |\n|---|---|\n| [" + bad + "](http://x/" + bad + ") | `" + bad + "` |\n"), Final: true},
		event.AgentUsed{In: 1, Model: bad},
		event.AgentPlanned{Todos: []event.Todo{{Text: bad, Status: "done"}}},
		event.AgentNoticed{What: bad, Text: bad},
		event.AgentRetried{Attempt: 1, Max: 2, Kind: event.FaultKind(bad)},
		event.AgentCompacted{Trigger: bad},
		event.AgentUnparsed{Line: text, Stream: "stderr"},
	}
	for _, tool := range []string{"Bash", "Edit", "Read", bad} {
		turn = append(turn, event.ToolCalled{ID: id + tool, Name: tool, Input: input}, event.ToolProgressed{ID: id + tool, Text: text}, event.ToolReturned{ID: id + tool, OK: tool == "Bash", Output: text})
	}
	return append(turn,
		event.CommandReceived{ID: fmt.Sprintf("01JD%022d", n), Kind: "steer", From: bad, Text: bad},
		event.CommandRefused{ID: fmt.Sprintf("01JD%022d", n), Why: bad},
		event.AgentFinished{Outcome: "error", Error: bad, Kind: "auth"},
		event.CompletionClaimed{How: "promise"},
		event.CompletionRefused{Missing: []string{bad}},
		event.GuardrailStarted{Name: bad},
		event.GuardrailEnded{Name: bad, Code: 2, Log: "x.log", Action: "APPEND", Message: &event.Blob{Text: bad, Bytes: len(bad)}},
		event.RepoCommitted{SHA: "4b825dc", Message: bad, Files: 1},
		event.IterationEnded{N: n, Outcome: event.OutcomeFailed},
	)
}

// recordLoop writes the journal of a loop that no program runs. Its times and ids are always the
// same.
func (p *place) recordLoop(name string, payloads ...event.Payload) {
	p.Helper()
	w, now := p.journalOf(name, begin)
	payloads = slices.Concat([]event.Payload{event.LoopStarted{
		Name: name, ID: "01JD000000000000000000000A", Dir: "/home/ada/greet/.ralph/" + name, Project: "/home/ada/greet",
		Agent: event.Agent{Protocol: "claude"}, Rules: event.Rules{MaximumIterations: 50},
	}}, payloads)
	iteration := 0
	for _, payload := range payloads {
		draft := event.Encode(payload, "loop")
		if started, ok := payload.(event.IterationStarted); ok {
			iteration = started.N
		}
		draft.Iter = iteration
		_, err := w.Append([]event.Draft{draft})
		p.must(err)
		*now = now.Add(time.Second)
	}
	p.must(w.Close())
}

// journalOf begins the journal of a loop that no program runs. Its ids are always the same, and its
// events get the time that now points to.
func (p *place) journalOf(name string, began time.Time) (w *journal.Writer, now *time.Time) {
	p.Helper()
	dir := p.loop(name)
	p.must(os.MkdirAll(dir, 0o700))
	p.must(registry.Put(p.home, registry.Entry{
		Name: name, Dir: dir, Project: p.dir, ID: "01JD000000000000000000000A", Agent: "claude", Host: "mill", PID: 7, Started: began, Version: "1.0.0",
	}))
	n := 0
	now = &began
	w, _, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 1, nil, journal.Options{
		Now: func() time.Time { return *now },
		NewID: func(time.Time) (id [26]byte) {
			n++
			copy(id[:], fmt.Sprintf("01JD%022d", n))
			return id
		},
	})
	p.must(err)
	return w, now
}
