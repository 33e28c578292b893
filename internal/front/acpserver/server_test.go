package acpserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
)

const otherID = "01JD0000000000000000000001"

func TestLoadReplaysThenFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	l.happen(
		event.IterationStarted{N: 1, Prompt: event.Blob{Text: "p", Bytes: 1}},
		event.AgentSaid{Block: "1", Text: event.Plain("I look."), Final: true},
		event.ToolCalled{ID: "t", Name: "bash", Input: []byte(`{"command":"make"}`)},
		event.ToolReturned{ID: "t", OK: true, Output: event.Plain("built")},
		event.AgentPlanned{Todos: []event.Todo{{Text: "look", Status: event.TodoDone}}},
	)
	c := w.client(plainClient)
	if g := c.load(demoID); g.Error != nil {
		t.Fatal(g.Error)
	}
	for _, want := range []string{"build the mill", "**Loop demo started**", "**Iteration 1 of 5**", "I look."} {
		if !strings.Contains(c.words(), want) {
			t.Errorf("%q is not in %q", want, c.words())
		}
	}
	kinds := map[string]int{}
	for _, g := range c.seen {
		kinds[g.Params.Update.Kind]++
	}
	if kinds["tool_call"] != 1 || kinds["plan"] != 1 || kinds["user_message_chunk"] != 1 {
		t.Errorf("the updates are %v", kinds)
	}
	l.happen(event.AgentSaid{Block: "2", Text: event.Plain("And now live."), Final: true})
	c.until(func(g got) bool { return g.text() == "And now live." })
}

func TestResumeReplaysNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	l.happen(event.AgentSaid{Block: "1", Text: event.Plain("before"), Final: true})
	c := w.client(plainClient)
	if g := c.request("session/resume", `{"sessionId":"demo","cwd":"/"}`); g.Error != nil {
		t.Fatal(g.Error)
	}
	l.happen(event.AgentSaid{Block: "2", Text: event.Plain("after"), Final: true})
	c.until(func(g got) bool { return g.text() == "after" })
	if strings.Contains(c.words(), "before") {
		t.Errorf("what was before is shown: %q", c.words())
	}
}

func TestSessionsShareNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, other := w.loop("demo", demoID), w.loop("other", otherID)
	a, b := w.client(plainClient), w.client(plainClient)
	for _, id := range []string{demoID, otherID} {
		if g := a.load(id); g.Error != nil {
			t.Fatal(g.Error)
		}
	}
	if g := b.load(otherID); g.Error != nil {
		t.Fatal(g.Error)
	}
	one.happen(event.AgentSaid{Block: "1", Text: event.Plain("of one"), Final: true})
	a.until(func(g got) bool { return g.text() == "of one" && g.Params.Session == demoID })
	other.happen(event.AgentSaid{Block: "1", Text: event.Plain("of other"), Final: true})
	a.until(func(g got) bool { return g.text() == "of other" && g.Params.Session == otherID })
	b.until(func(g got) bool { return g.text() == "of other" })
	for _, g := range b.seen {
		if g.Params.Session != otherID || strings.Contains(g.text(), "of one") {
			t.Errorf("another loop's update came: %+v", g)
		}
	}
}

func TestPromptSteersUntilEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason event.Reason
		stop   string
		fails  string
	}{
		{event.ReasonPromise, "end_turn", ""},
		{event.ReasonIterations, "max_turn_requests", ""},
		{event.ReasonCost, "max_tokens", ""},
		{event.ReasonStop, "cancelled", ""},
		{event.ReasonBlocked, "end_turn", ""},
		{event.ReasonAuth, "", "loop demo failed: because (log in)"},
	} {
		t.Run(string(c.reason), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := w.loop("demo", demoID)
			client := w.client(plainClient)
			client.load(demoID)
			id := client.prompt(demoID, "use tabs")
			status := client.request("session/list", `{}`) // the answer comes while the prompt is open
			if !strings.Contains(string(status.Result), demoID) {
				t.Errorf("the list is %s", status.Result)
			}
			sent := awaitCommands(l, 1)
			if sent[0].Kind != inbox.Steer || sent[0].Text != "use tabs" || !strings.HasPrefix(sent[0].From, "acp:") {
				t.Errorf("the inbox has %+v", sent[0])
			}
			l.happen(
				event.CommandReceived{ID: sent[0].ID, Kind: inbox.Steer, Text: "use tabs", From: sent[0].From},
				event.CommandDelivered{ID: sent[0].ID, How: "live"},
				event.LoopEnded{Status: c.reason.Status(), Reason: c.reason, Why: "because", Hint: "log in"},
			)
			g := client.answer(id)
			if c.fails != "" {
				if g.Error == nil || g.Error.Message != c.fails {
					t.Errorf("the answer is %+v", g)
				}
			} else if want := `{"stopReason":"` + c.stop + `"}`; string(g.Result) != want {
				t.Errorf("the answer is %s, want %s", g.Result, want)
			}
			if n := strings.Count(client.words(), "use tabs"); n != 0 {
				t.Errorf("the client's own words came back %d times", n)
			}
		})
	}
}

func TestPromptEndsWaitForPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	l.happen(
		event.IterationStarted{N: 1, Prompt: event.Blob{Text: "p", Bytes: 1}},
		event.LoopPaused{Why: "a person paused the loop"},
	)
	c := w.client(plainClient)
	c.load(demoID)
	id := c.prompt(demoID, "go ahead")
	sent := awaitCommands(l, 2)
	if sent[0].Kind != inbox.Steer || sent[1].Kind != inbox.Resume {
		t.Fatalf("the inbox has %+v", sent)
	}
	l.happen(
		event.CommandReceived{ID: sent[0].ID, Kind: inbox.Steer, Text: "go ahead"},
		event.CommandReceived{ID: sent[1].ID, Kind: inbox.Resume},
		event.LoopUnpaused{}, event.CommandDelivered{ID: sent[1].ID, How: "loop"},
		event.LoopPaused{Why: "again"},
	)
	if g := c.answer(id); string(g.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("the answer is %+v", g)
	}
	if !strings.Contains(c.words(), "**Paused**") {
		t.Errorf("the words are %q", c.words())
	}
}

func TestCancelStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	c := w.client(plainClient)
	c.load(demoID)
	c.write(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"01JD9999999999999999999999"}}`) // none of ours
	c.write(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"` + demoID + `"}}`)
	if sent := awaitCommands(l, 1); sent[0].Kind != inbox.StopNow {
		t.Errorf("the inbox has %+v", sent)
	}
}

func TestLoopIsLostDuringPrompt(t *testing.T) {
	t.Parallel()
	for want, lose := range losses {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := w.loop("demo", demoID)
			c := w.client(plainClient)
			c.load(demoID)
			id := c.prompt(demoID, "use tabs")
			awaitCommands(l, 1)
			lose(l)
			if g := c.answer(id); g.Error == nil || !strings.Contains(g.Error.Message, want) {
				t.Errorf("the answer is %s %+v", g.Result, g.Error)
			}
		})
	}
}

func TestRequestsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.loop("demo", demoID)
	c := w.client(plainClient)
	for _, r := range []struct{ method, params, want string }{
		{"initialize", `{"protocolVersion":1}`, "answered already"},
		{"session/load", `{"sessionId":"01JD9999999999999999999999","cwd":"/"}`, "there is no session"},
		{"session/load", `{"sessionId":"../../etc","cwd":"/"}`, "there is no session"},
		{"session/load", `[]`, "id is missing"},
		{"session/new", `{"cwd":"relative","mcpServers":[]}`, "absolute"},
		{"session/new", `{"cwd":"/no/such/folder","mcpServers":[]}`, "there is no folder"},
		{"session/prompt", `{"sessionId":"` + demoID + `","prompt":[{"type":"text","text":"x"}]}`, "there is no session"},
		{"session/list", `{"cursor":"-1"}`, "cursor"},
		{"session/list", `{"cwd":"../mill"}`, "absolute"},
		{`fs/read\u001b[2J`, `{}`, `ralph has no method "fs/read"`},
	} {
		if g := c.request(r.method, r.params); g.Error == nil || !strings.Contains(g.Error.Message, r.want) {
			t.Errorf("%s %s: %+v, want %q", r.method, r.params, g.Error, r.want)
		}
	}
	c.load(demoID)
	for _, prompt := range []string{`[]`, `[{"type":"image"}]`, `[{"type":"text","text":"  "}]`, `"text"`} {
		if g := c.request("session/prompt", `{"sessionId":"`+demoID+`","prompt":`+prompt+`}`); g.Error == nil || g.Error.Code != codeParams {
			t.Errorf("the prompt %s: %+v", prompt, g)
		}
	}
}

func TestLinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client(plainClient)
	for _, l := range []struct {
		line string
		code int
	}{
		{"not json", codeParse},
		{`[{"id":1}]`, codeRequest},
		{`{"id":{},"method":"session/list"}`, codeRequest},
		{`{"id":true,"method":"session/list"}`, codeRequest},
		{`{"jsonrpc":"2.0"}`, codeRequest},
		{`{"id":"` + strings.Repeat("x", maxID) + `","method":"m"}`, codeRequest},
		{strings.Repeat("x", maxLine+1), codeRequest},
	} {
		c.write(l.line)
		if g := c.next(); g.Error == nil || g.Error.Code != l.code || string(g.ID) != "null" {
			t.Errorf("%.30q: %+v", l.line, g)
		}
	}
	c.write(`{"id":"no-one-asked","result":{}}`)
	c.write("")
	if g := c.request("session/list", `{}`); g.Error != nil {
		t.Errorf("after all that: %+v", g.Error)
	}
	must(t, c.in.Close())
	if err := c.end(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

func TestFloodIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	c := w.client(plainClient)
	c.load(demoID)
	const flood = 4 * maxRequests
	go func() {
		for n := range flood {
			_, _ = fmt.Fprintf(c.in, `{"id":"f%d","method":"session/prompt","params":{"sessionId":"`+demoID+`","prompt":[{"type":"text","text":"again"}]}}`+"\n", n)
		}
	}()
	refused := 0
	for refused < flood-maxRequests {
		if g := c.next(); g.Error != nil && strings.Contains(g.Error.Message, "too many") {
			refused++
		}
	}
	if sent := awaitCommands(l, maxRequests); len(sent) != maxRequests {
		t.Errorf("%d commands are in the inbox", len(sent))
	}
}

func TestSessionsHaveALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client(plainClient)
	for range 3 * maxSessions { // those without a prompt make way
		if g := c.request("session/new", `{"cwd":"/","mcpServers":[]}`); g.Error != nil {
			t.Fatal(g.Error)
		}
	}
}

// A client that does not read gets nothing, and nothing is kept for it.
func TestSlowClientDelaysItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	slow, quick := w.client(plainClient), w.client(plainClient)
	slow.load(demoID)
	quick.load(demoID)
	last := ""
	for n := range 3000 {
		last = fmt.Sprintf("word %d", n)
		l.happen(event.AgentSaid{Block: fmt.Sprint(n), Text: event.Plain(last), Final: true})
	}
	quick.until(func(g got) bool { return g.text() == last })
	slow.until(func(g got) bool { return g.text() == last })
	if n := strings.Count(slow.words(), "word "); n != 3000 {
		t.Errorf("the slow client got %d of 3000 words", n)
	}
}

func TestHostileTextIsClean(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	bad := "a\x1b]52;c;AAAA\x07b\u202ec\x9b31m"
	input := []byte(`{"command":"x\u001b[2J"}`)
	l.happen(
		event.AgentSaid{Block: "1", Text: event.Plain(bad), Final: true},
		event.ToolCalled{ID: "t", Name: "bash" + bad, Input: input},
		event.ToolReturned{ID: "t", Output: event.Plain(bad)},
		event.AgentPlanned{Todos: []event.Todo{{Text: bad}}},
		event.GuardrailStarted{Name: bad},
		event.CommandReceived{ID: "x", Kind: inbox.Steer, Text: bad, From: bad},
		event.CommandRefused{ID: "x", Why: bad},
		event.QuestionAsked{Number: 1, Text: bad, Choices: []string{bad}},
		event.LoopWaiting{For: event.WaitPerson, Why: bad},
		event.LoopEnded{Status: event.StatusFailed, Reason: event.ReasonFault, Why: bad, Hint: bad},
	)
	c := w.client(plainClient)
	id := c.send("session/load", `{"sessionId":"demo","cwd":"/"}`)
	for {
		line, err := c.out.ReadString('\n')
		must(t, err)
		for _, mark := range []string{"\\u001b", "\\u0007", "\u202e", "\\u202e", "\\u009b", "\u009b"} {
			if strings.Contains(line, mark) {
				t.Errorf("%q is in %s", mark, line)
			}
		}
		if strings.Contains(line, `"id":`+id) {
			return
		}
	}
}

func TestNewerEventsAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	_, err := l.writer.Append([]event.Draft{{Type: "dream.began", By: "loop", Data: []byte(`{}`)}})
	must(t, err)
	c := w.client(plainClient)
	c.load(demoID)
	if !strings.Contains(c.words(), "not shown: dream.began") {
		t.Errorf("the words are %q", c.words())
	}
}

func TestDraftReportsStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.loop("demo", demoID)
	c := w.client(draftClient)
	if g := c.request("session/resume", `{"sessionId":"`+demoID+`","cwd":"/","replayFrom":{"type":"start"}}`); g.Error != nil {
		t.Fatal(g.Error)
	}
	if !strings.Contains(c.words(), "build the mill") {
		t.Errorf("nothing was replayed: %q", c.words())
	}
	if last := c.seen[len(c.seen)-1].Params.Update; last.Kind != "state_update" || last.State != "running" {
		t.Errorf("before the answer came %+v", last)
	}
	g := c.answer(c.prompt(demoID, "use tabs"))
	sent := awaitCommands(l, 1)
	if want := `{"messageId":"` + sent[0].ID + `"}`; string(g.Result) != want {
		t.Errorf("the answer is %s, want %s", g.Result, want)
	}
	l.happen(event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise, Why: "done"})
	c.until(func(g got) bool { return g.Params.Update.State == "idle" && g.Params.Update.StopReason == "end_turn" })
	if g := c.request("session/close", `{"sessionId":"`+demoID+`"}`); g.Error != nil {
		t.Fatal(g.Error)
	}
	if left := l.commands(); len(left) != 0 {
		t.Errorf("closing the session sent %+v", left)
	}
}

// awaitCommands reads the inbox until it has had so many commands.
func awaitCommands(l *testLoop, n int) (all []inbox.Command) {
	l.t.Helper()
	box, err := inbox.Open(l.dir)
	must(l.t, err)
	wake := box.Watch(l.t.Context())
	for len(all) < n {
		<-wake
		all = append(all, l.commands()...)
	}
	return all
}

// A session's first prompt runs ralph, which starts a loop with the session's id.
func TestFirstPromptRunsProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	folder := t.TempDir()
	w.program = filepath.Join(folder, "ralph")
	script := "#!/bin/sh\nfor a; do echo \"$a\"; done > words; cat > task\necho 'ralph: a note' >&2\n" +
		"echo 'ralph: error: not today' >&2\necho 'ralph: hint: come back' >&2\nexit 2\n"
	must(t, os.WriteFile(w.program, []byte(script), 0o700))
	c := w.client(plainClient)
	var opened struct {
		ID string `json:"sessionId"`
	}
	must(t, json.Unmarshal(c.request("session/new", `{"cwd":"`+folder+`","mcpServers":[]}`).Result, &opened))
	g := c.answer(c.prompt(opened.ID, "make it"))
	if g.Error == nil || g.Error.Message != "not today (come back)" {
		t.Errorf("the answer is %s %+v", g.Result, g.Error)
	}
	if !strings.Contains(c.words(), "a note") {
		t.Errorf("the words are %q", c.words())
	}
	words, err := os.ReadFile(filepath.Join(folder, "words"))
	must(t, err)
	if want := "start\n--detach\n--json\n--numbered\n--id=" + opened.ID + "\n--prompt=-\n--protocol=text\n"; string(words) != want {
		t.Errorf("it was called with %q, want %q", words, want)
	}
	if task, err := os.ReadFile(filepath.Join(folder, "task")); err != nil || string(task) != "make it" {
		t.Errorf("the task is %q, %v", task, err)
	}
}
