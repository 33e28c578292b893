package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestLoopsAsJSON(t *testing.T) {
	w := newWorld(t)
	var list struct {
		Loops []struct{ ID, Name, Group, State, Status string }
		Write bool
	}
	must(t, json.Unmarshal([]byte(w.ask("GET", "/api/loops", "", w.bearer()...).body), &list))
	if len(list.Loops) != 1 || list.Loops[0].ID != demoID || list.Loops[0].Name != "demo" || list.Loops[0].Group != "working" || !list.Write {
		t.Errorf("%+v", list)
	}
	for _, id := range []string{"demo", demoID} {
		var d Loop
		got := w.ask("GET", "/api/loops/"+id, "", w.bearer()...)
		must(t, json.Unmarshal([]byte(got.body), &d))
		if got.status != http.StatusOK || d.Name != "demo" || d.MaximumIterations != 5 || !d.Alive {
			t.Errorf("%s: %d %s", id, got.status, got.body)
		}
	}
	for path, want := range map[string]int{"/api/loops/none": 404, "/api/none": 404, "/api/loops/demo/events?from=x": 400, "/api/loops/demo/entries?limit=999999": 400, "/loops/none": 404, "/loops/none/report": 404} {
		if got := w.ask("GET", path, "", w.bearer()...); got.status != want {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// Text of the agent that would reorder the page, or hide something of it, is shown without that.
func TestResumeIsRefused(t *testing.T) {
	w := newWorld(t)
	base, reader := w.browser(w.tokens.ReadOnly)
	for body, want := range map[string]int{`{}`: 409, `{"iterations":3}`: 409, `{"iterations":-1}`: 400, `{"cost":1}`: 400, `more`: 400} {
		headers := append(w.bearer(), "Content-Type", "application/json")
		if got := w.ask("POST", "/api/loops/demo/resume", body, headers...); got.status != want {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	if got := w.ask("POST", base+"/api/loops/demo/resume", "{}", append(reader, "Content-Type", "application/json")...); got.status != http.StatusForbidden {
		t.Errorf("a reader: %d %s", got.status, got.body)
	}
}

// The report of a loop may run its own script and style, and nothing else.
func TestReportIsServed(t *testing.T) {
	w := newWorld(t)
	w.happen(1, event.IterationStarted{N: 1}, event.AgentSaid{Block: "1.0", Text: event.Plain("It <b>counts</b>."), Final: true},
		event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Progress: event.ProgressYes})
	base, reader := w.browser(w.tokens.ReadOnly)
	got := w.ask("GET", base+"/loops/demo/report", "", reader...)
	policy := got.header.Get("Content-Security-Policy")
	if got.status != http.StatusOK || !strings.Contains(got.body, "counts") || strings.Contains(got.body, "<b>counts") {
		t.Errorf("%d: %.2000s", got.status, got.body)
	}
	for _, part := range []string{"default-src 'none'", "script-src 'sha256-", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, part) || strings.Contains(policy, "unsafe") {
			t.Errorf("the policy lacks %s: %s", part, policy)
		}
	}
}

// The page of changes has what the agent's tools changed, and nothing of the project.
func TestChangesAreOfJournal(t *testing.T) {
	w := newWorld(t)
	edit := func(id, name, text string, ok bool) {
		input, err := json.Marshal(map[string]string{"file_path": name, "content": text})
		must(t, err)
		w.happen(1, event.ToolCalled{ID: id, Name: "Write", Input: input}, event.ToolReturned{ID: id, OK: ok})
	}
	base, reader := w.browser(w.tokens.ReadOnly)
	get := func() string {
		got := w.ask("GET", base+"/loops/demo/changes", "", reader...)
		if got.status != http.StatusOK {
			t.Errorf("%d: %s", got.status, got.body)
		}
		return got.body
	}
	if page := get(); !strings.Contains(page, "No tool of the agent has changed a file.") {
		t.Errorf("without edits: %s", page)
	}
	w.happen(1, event.IterationStarted{N: 1})
	edit("a", "../../secret\u202e.txt", "one <b>line</b>\n", true)
	edit("b", "failed.txt", "never written\n", false)
	page := get()
	for _, want := range []string{"Iteration 1", "one &lt;b&gt;line&lt;/b&gt;", `href="` + base + `/loops/` + demoID + `"`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in %s", want, page)
		}
	}
	for _, never := range []string{"never written", "\u202e", "<form", "<script"} {
		if strings.Contains(page, never) {
			t.Errorf("%s is in %s", never, page)
		}
	}
	if got := w.ask("GET", base+"/loops/other/changes", "", reader...); got.status != http.StatusNotFound {
		t.Errorf("of another loop: %d", got.status)
	}
}

func TestHostileQuestionIsClean(t *testing.T) {
	w := newWorld(t)
	hostile := "Tabs\u202e \x1b[31mor spaces?"
	w.happen(1, event.QuestionAsked{Number: 1, Text: hostile + "\n<b>", Choices: []string{"ta\u202ebs\x1b[2J"}, Blocks: true},
		event.CompletionRefused{Missing: []string{hostile}, Questions: []int{1}})
	w.happen(0, event.LoopWaiting{For: event.WaitPerson, Why: "an answer to question 1: " + hostile})
	var d Loop
	detail := w.ask("GET", "/api/loops/demo", "", w.bearer()...).body
	must(t, json.Unmarshal([]byte(detail), &d))
	if len(d.Questions) != 1 || d.Questions[0].Text != "Tabs\ufffd or spaces?\n<b>" || d.Questions[0].Choices[0] != "ta\ufffdbs" {
		t.Errorf("%+v", d.Questions)
	}
	for _, body := range []string{detail, w.ask("GET", "/api/loops", "", w.bearer()...).body} {
		if strings.ContainsAny(body, "\u202e\x1b") || strings.Contains(body, `\u001b`) || strings.Contains(body, `\u202e`) {
			t.Errorf("not clean: %s", body)
		}
	}
}

func TestCommandsReachTheInbox(t *testing.T) {
	w := newWorld(t)
	box, err := inbox.Open(w.dir)
	must(t, err)
	post := func(body string) answered {
		return w.ask("POST", "/api/loops/demo/commands", body, append(w.bearer(), "Content-Type", "application/json; charset=utf-8")...)
	}
	for body, want := range map[string]int{
		`{"kind":"steer","text":" hello "}`: 202, `{"kind":"set","key":"maximumIterations","value":"9"}`: 202, `{"kind":"stop-now"}`: 202, `{"kind":"answer","question":1,"text":"tabs"}`: 202,
		`{"kind":"answer","text":"tabs"}`: 400, `{"kind":"answer","question":1}`: 400, `{"kind":"ask","text":"Why?"}`: 400,
		`{"kind":"steer"}`: 400, `{"kind":"dance"}`: 400, `{"kind":"set"}`: 400, `{"kind":"wait","text":"x"}`: 400, `{"id":"x","kind":"stop"}`: 400, `steer`: 400, ``: 400,
		`{"kind":"steer","text":"` + strings.Repeat("x", maxBody) + `"}`: 413,
	} {
		if got := post(body); got.status != want {
			t.Errorf("%.60s: %d, want %d: %s", body, got.status, want, got.body)
		}
	}
	items, err := box.Pending()
	must(t, err)
	kinds := map[inbox.Kind]inbox.Command{}
	for _, i := range items {
		if i.Command != nil {
			kinds[i.Command.Kind] = *i.Command
		}
	}
	if len(items) != 4 || kinds[inbox.Answer].Question != 1 || kinds[inbox.Steer].Text != "hello" || kinds[inbox.Set].Value != "9" || !strings.HasPrefix(kinds[inbox.Steer].From, "web:") {
		t.Errorf("%d items: %+v", len(items), kinds)
	}
}

// The list has the question of a loop that works on, with what the agent expects as an answer.
func TestListHasQuestion(t *testing.T) {
	w := newWorld(t)
	w.happen(1, event.QuestionAsked{Number: 1, Text: "Tabs or spaces?", Choices: []string{"tabs", "spaces"}})
	var loops []Loop
	var page struct{ Loops []Loop }
	body := w.ask("GET", "/api/loops", "", w.bearer()...).body
	if json.Unmarshal([]byte(body), &loops) != nil {
		must(t, json.Unmarshal([]byte(body), &page))
		loops = page.Loops
	}
	if len(loops) != 1 || loops[0].Group != "needs you" || loops[0].About != "Tabs or spaces?" || len(loops[0].Questions) != 1 || loops[0].Questions[0].Number != 1 || len(loops[0].Questions[0].Choices) != 2 {
		t.Errorf("%s", body)
	}
}

// A reader that reconnects, also to another server, gets each event once.
func TestEventsResume(t *testing.T) {
	w := newWorld(t)
	for n := range 5 {
		w.happen(1, event.AgentSaid{Block: strconv.Itoa(n), Text: event.Plain("words"), Final: true})
	}
	var ids []string
	read := func(s *messages, n int) {
		for range n {
			m, ok := s.next()
			if !ok {
				t.Fatalf("the stream ended after %v", ids)
			}
			if e, err := event.Parse([]byte(m.data)); err != nil || e.Seq.String() != m.id {
				t.Fatalf("%v %q: %v", e.Seq, m, err)
			}
			ids = append(ids, m.id)
		}
		must(t, s.close())
	}
	read(w.stream("/api/loops/demo/events", w.bearer()...), 3)
	w.serve(Options{})
	read(w.stream("/api/loops/demo/events?from=1", append(w.bearer(), "Last-Event-ID", ids[2])...), 4)
	live := w.stream("/api/loops/demo/events?from=8", w.bearer()...)
	w.happen(1, event.AgentNoticed{What: "a"}, event.AgentNoticed{What: "b"})
	read(live, 2)
	if got := strings.Join(ids, " "); got != "1 2 3 4 5 6 7 8 9" {
		t.Errorf("events %s", got)
	}
	lines := w.ask("GET", "/api/loops/demo/events?from=4", "", w.bearer()...)
	if n := strings.Count(lines.body, "\n"); n != 6 || !strings.HasPrefix(lines.body, `{"v":1,"seq":4,`) {
		t.Errorf("%d lines: %s", n, lines.body)
	}
}

// pageOf is what a page shows: the HTML of entries by their keys.
type pageOf map[string]string

func (p pageOf) take(t *testing.T, m message) {
	t.Helper()
	var frame struct{ Entries []struct{ Key, HTML string } }
	must(t, json.Unmarshal([]byte(m.data), &frame))
	for _, e := range frame.Entries {
		if p[e.Key] == e.HTML {
			t.Errorf("event %s repeats %s", m.id, e.Key)
		}
		p[e.Key] = e.HTML
	}
}

// A page that loses its connection after any event, while entries are open, shows the same in the
// end as one that did not.
func TestLivePagesResume(t *testing.T) {
	w := newWorld(t)
	last := w.happen(1, event.IterationStarted{N: 1},
		event.AgentSaid{Block: "1", Text: event.Plain("some ")}, event.ToolCalled{ID: "t", Name: "bash"},
		event.CommandReceived{ID: "01JD0000000000000000000001", Kind: inbox.Steer, Text: "hello"},
		event.AgentSaid{Block: "1", Text: event.Plain("words"), Final: true},
		event.ToolReturned{ID: "t", OK: true, Output: event.Plain("done")},
		event.CommandDelivered{ID: "01JD0000000000000000000001", How: event.DeliveredLive},
		event.IterationEnded{N: 1, Outcome: event.OutcomeDone})
	read := func(page pageOf, after event.Seq) {
		s := w.stream(fmt.Sprintf("/api/loops/demo/live?first=1&after=%d", after), w.bearer()...)
		for m, ok := s.next(); ok; m, ok = s.next() {
			if m.name != "entries" {
				continue
			}
			if page.take(t, m); m.id == last.String() {
				break
			}
		}
		must(t, s.close())
	}
	want := pageOf{}
	read(want, 0)
	if len(want) != 6 || want["01JD0000000000000000000001"] == "" {
		t.Fatalf("entries: %v", want)
	}
	for cut := event.Seq(1); cut < last; cut++ {
		page := pageOf{}
		got := w.ask("GET", fmt.Sprintf("/api/loops/demo/entries?html=1&before=%d", cut+1), "", w.bearer()...)
		page.take(t, message{data: got.body})
		read(page, cut)
		if !reflect.DeepEqual(page, want) {
			t.Errorf("cut after %d: %v\nwant %v", cut, page, want)
		}
	}
	for _, before := range []event.Seq{last + 1, 9999} {
		page := pageOf{}
		page.take(t, message{data: w.ask("GET", fmt.Sprintf("/api/loops/demo/entries?html=1&limit=500&before=%d", before), "", w.bearer()...).body})
		if !reflect.DeepEqual(page, want) {
			t.Errorf("before event %d: %v\nwant %v", before, page, want)
		}
	}
	for _, path := range []string{"", "?after=9999", "?first=1&after=9998"} {
		s := w.stream("/api/loops/demo/live"+path, w.bearer()...)
		page := pageOf{}
		m, _ := s.next()
		if page.take(t, m); m.name != "page" || m.id != last.String() || !reflect.DeepEqual(page, want) {
			t.Errorf("a page that begins by %q: %v\nwant %v", path, m, want)
		}
		must(t, s.close())
	}
}

func TestStreamsAreBounded(t *testing.T) {
	w := newWorld(t)
	open := w.stream("/api/loops/demo/live", w.bearer()...)
	if n := w.server.streams.Load(); n != 1 {
		t.Fatalf("%d streams", n)
	}
	w.server.streams.Store(maxStreams)
	got := w.ask("GET", "/api/loops/demo/live", "", w.bearer()...)
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", got.status, got.body)
	}
	w.server.streams.Store(1)
	must(t, open.close())
}

// A server that ends does not wait for pages that are open.
func TestServeEndsStreams(t *testing.T) {
	w := newWorld(t)
	on, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	env := &cli.Env{Home: w.home, Now: w.server.env.Now}
	s := New(Options{Env: env, Tokens: w.tokens})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, on) }()
	w.http.URL = "http://" + on.Addr().String()
	streams := []*messages{
		w.stream("/api/loops", w.bearer()...), w.stream("/api/loops/demo/events", w.bearer()...), w.stream("/api/loops/demo/live", w.bearer()...),
	}
	cancel()
	for _, s := range streams {
		for _, ok := s.next(); ok; {
			_, ok = s.next()
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := s.streams.Load(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}
