package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/terminal"
	"github.com/ralph-loop/ralph/render/transcript"
)

// The header has a loop's state in any width, whatever its name.
func TestHeaderFitsHostileNames(t *testing.T) {
	b := newBench(t, Options{})
	b.view.Agent, b.view.Pending = strings.Repeat("agent", 40), "stopping after iteration 3"
	for _, name := range []string{
		"a", strings.Repeat("long-", 60), strings.Repeat("値段", 40), strings.Repeat("e\u0301", 80), "e" + strings.Repeat("\u0301", 400),
		"\x1b[2Jx\x00\r\n\tx\u202e", strings.Repeat("👩\u200d👩\u200d👧", 20), "\u0301\u0301", strings.Repeat("🇩🇪", 30),
	} {
		b.o.Name = name
		for columns := 12; columns <= 200; columns++ {
			line := b.header(columns)
			if wide := ansi.StringWidth(line); wide > columns || strings.ContainsAny(line, "\n\t") {
				t.Errorf("%q in %d columns is %d wide: %q", name, columns, wide, line)
			}
			if columns >= 24 && !strings.Contains(ansi.Strip(line), "running") {
				t.Errorf("%q in %d columns does not say that it runs: %q", name, columns, line)
			}
		}
	}
}

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// bench is a model without a terminal: messages go in, a screen comes out.
type bench struct {
	*testing.T
	*model
	sentTo []inbox.Command
	quits  bool
	refuse error // of the inbox
}

// newBench returns the model of a loop that runs its third iteration.
func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	b := &bench{T: t}
	clock := noon
	o.Name, o.Dir, o.Live = "demo", t.TempDir(), true
	o.Now = func() time.Time { return clock }
	o.Send = func(c inbox.Command) (string, error) {
		b.sentTo = append(b.sentTo, c)
		return fmt.Sprintf("id-%d", len(b.sentTo)), b.refuse
	}
	b.model = newModel(t.Context(), o)
	b.conv = newSimple()
	b.ticking = true // no clock
	over, end := context.WithCancel(t.Context())
	end()
	b.do(tea.WindowSizeMsg{Width: 80, Height: 24})
	b.do(terminal.ThemeMsg{Theme: terminal.NewTheme(true, colorprofile.NoTTY)})
	b.Update(openedMsg{view: running3(), follower: &follower{ctx: over}, page: transcript.Page{First: 10, Last: 12, Start: true, Entries: []transcript.Entry{
		{Seq: 10, At: noon, Iteration: 3, Body: transcript.Iteration{N: 3, Maximum: 10}},
		{Seq: 11, At: noon, Iteration: 3, Body: transcript.Words{Text: "I look at the tests first.", Done: true}},
		{Seq: 12, At: noon, Iteration: 3, Body: transcript.Tools{Calls: []transcript.Call{{Name: "bash", About: "make test", State: transcript.StateRunning, Began: noon.Add(-14 * time.Second)}}}},
	}}})
	return b
}

func running3() projector.View {
	cost := 0.42
	return projector.View{
		Summary:  registry.Summary{Seq: 12, Status: event.StatusRunning, Iteration: 3, MaximumIterations: 10, Since: noon.Add(-12 * time.Minute), At: noon, Cost: &cost, Agent: "pi"},
		Identity: projector.Identity{Name: "demo"}, Work: projector.Work{Begun: 3, Open: true},
	}
}

// do passes a message, and carries out the commands that follow from it unless they wait.
func (b *bench) do(msg tea.Msg) {
	b.Helper()
	b.run(b.Update(msg))
}

func (b *bench) run(c tea.Cmd) {
	if c == nil {
		return
	}
	b.took(c())
}

func (b *bench) took(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.QuitMsg:
		b.quits = true
	case tea.BatchMsg:
		for _, c := range msg {
			b.run(c)
		}
	case sentMsg:
		b.do(msg)
	case pageMsg, sideMsg, foundMsg, pagerMsg, unsentMsg:
		b.do(msg)
	default:
		if cmds := sequence(msg); cmds != nil {
			for _, c := range cmds {
				b.run(c)
			}
		}
	}
}

// types presses keys: words in angle brackets are names, all else is text.
func (b *bench) types(keys ...string) {
	b.Helper()
	for _, k := range keys {
		b.do(press(k))
	}
}

func press(k string) tea.KeyPressMsg {
	switch k {
	case "<alt-1>", "<alt-2>", "<alt-3>":
		return tea.KeyPressMsg{Code: rune(k[5]), Mod: tea.ModAlt}
	case "<enter>":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "<alt-up>":
		return tea.KeyPressMsg{Code: tea.KeyUp, Mod: tea.ModAlt}
	case "<alt-enter>":
		return tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModAlt}
	case "<esc>":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "<up>":
		return tea.KeyPressMsg{Code: tea.KeyUp}
	case "<down>":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "<tab>":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "<ctrl-c>":
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	case "<ctrl-d>":
		return tea.KeyPressMsg{Code: 'd', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
}

func (b *bench) screen() string { return ansi.Strip(b.View().Content) }

func (b *bench) shows(texts ...string) {
	b.Helper()
	for _, text := range texts {
		if !strings.Contains(b.screen(), text) {
			b.Errorf("no %q on\n%s", text, b.screen())
		}
	}
}

func (b *bench) hides(text string) {
	b.Helper()
	if strings.Contains(b.screen(), text) {
		b.Errorf("%q is on\n%s", text, b.screen())
	}
}

func TestScreenSaysWhatRuns(t *testing.T) {
	b := newBench(t, Options{})
	b.shows("demo · iteration 3 of 10 · running · 12m · $0.42", "bash  make test · 14s", "I look at the tests first.", "> ", "ctrl-c stop")
	for _, size := range []tea.WindowSizeMsg{{Width: 40, Height: 12}, {Width: 200, Height: 50}, {Width: 3, Height: 2}, {Width: 80, Height: 5}} {
		b.do(size)
		lines := strings.Split(b.screen(), "\n")
		if len(lines) > size.Height {
			t.Errorf("%d lines for %d rows", len(lines), size.Height)
		}
		for _, line := range lines {
			if render.Columns(line) > size.Width {
				t.Errorf("%q is wider than %d", line, size.Width)
			}
		}
	}
}

func TestSentMessagesShowOutcome(t *testing.T) {
	b := newBench(t, Options{})
	b.types("use tabs", "<enter>", "then docs", "<alt-enter>")
	if len(b.sentTo) != 2 || b.sentTo[0].Kind != inbox.Steer || b.sentTo[1].Kind != inbox.FollowUp || b.sentTo[1].Text != "then docs" {
		t.Fatalf("sent %+v", b.sentTo)
	}
	b.shows("steer  use tabs", "queued")
	b.follow(transcript.Entry{Seq: 13, Body: transcript.Message{ID: "id-1", Command: "steer", State: transcript.MessageDelivered, How: "live", Turn: 3}})
	b.shows("delivered at turn 3")
	b.follow(transcript.Entry{Seq: 14, Body: transcript.Message{ID: "id-2", Command: "follow-up", State: transcript.MessageRefused, Why: "the loop is ending"}})
	b.shows("refused: the loop is ending")
	b.refuse = errors.New("no space left")
	b.types("one more", "<enter>")
	b.shows("not sent: no space left", "> one more")
}

func (b *bench) follow(entries ...transcript.Entry) {
	b.Helper()
	b.do(changesMsg{view: b.view, entries: entries})
}

func TestInterruptAsksWhatToDo(t *testing.T) {
	b := newBench(t, Options{})
	b.types("half a", "<ctrl-c>")
	if b.overlay != nil || !b.line.empty() {
		t.Error("ctrl-c with text does more than clear it")
	}
	b.types("<ctrl-c>")
	b.shows("finish this iteration", "stop now", "leave it running")
	b.types("f")
	if len(b.sentTo) != 1 || b.sentTo[0].Kind != inbox.Stop || b.overlay != nil {
		t.Errorf("sent %+v", b.sentTo)
	}
	b.types("<ctrl-c>", "<ctrl-c>")
	if !b.quits || b.outcome().Ended != nil {
		t.Error("ctrl-c twice does not leave")
	}
}

func TestQuestionIsAnsweredInPlace(t *testing.T) {
	b := newBench(t, Options{})
	v := running3()
	v.Status, v.Waiting, v.Open = event.StatusWaiting, event.LoopWaiting{For: event.WaitPerson, Why: "which of the\x1b[31m two?"}.String(), false
	b.do(changesMsg{view: v})
	b.shows("needs you", "which of the two?", "answer> ")
	if s := b.State(); s.Status != terminal.StatusBlocked || s.Kind != terminal.KindQuestion || !strings.Contains(s.Message, "which of the") {
		t.Errorf("the terminal is given %+v", s)
	}
	b.types("the second", "<enter>")
	if len(b.sentTo) != 2 || b.sentTo[0].Kind != inbox.FollowUp || b.sentTo[1].Kind != inbox.Resume {
		t.Errorf("sent %+v", b.sentTo)
	}
}

func TestAgentAsksWhileItWorks(t *testing.T) {
	b := newBench(t, Options{})
	v := running3()
	v.Questions = []projector.Question{{Number: 1, Text: "Tabs\x1b[31m?"}, {Number: 2, Text: "Which database?", Choices: []string{"postgres", "sqlite"}, Blocks: true}}
	b.do(changesMsg{view: v})
	b.shows("question 1 · 1 more", "Tabs?", "/answer 1 TEXT")
	b.types("use tabs", "<enter>")
	if len(b.sentTo) != 1 || b.sentTo[0].Kind != inbox.Steer {
		t.Errorf("words of a person while the agent works: sent %+v", b.sentTo)
	}
	v.Questions[0].AnsweredAt = time.Unix(1, 0) // elsewhere
	v.Status, v.Open, v.Awaited = event.StatusWaiting, false, 2
	b.types("half a thought")
	b.do(changesMsg{view: v})
	b.shows("needs you", "Which database?", "choices: postgres | sqlite (alt+1 takes the first)", "half a thought")
	b.types("<enter>")
	b.shows("the loop waits for you now; enter again answers question 2", "answer> half a thought")
	b.types("<ctrl-c>", "sqlite", "<enter>")
	if len(b.sentTo) != 2 || b.sentTo[1].Kind != inbox.Answer || b.sentTo[1].Question != 2 || b.sentTo[1].Text != "sqlite" {
		t.Errorf("sent %+v", b.sentTo)
	}
	v.Questions[1].AnsweredAt, v.Status, v.Open, v.Awaited = time.Unix(2, 0), event.StatusRunning, true, 0
	b.do(changesMsg{view: v})
	b.hides("needs you")
}

// A line answers the question that was shown when the person began to type.
func TestLineKeepsItsQuestion(t *testing.T) {
	answered := func(v *projector.View, n int) { v.Questions[n-1].AnsweredAt = time.Unix(1, 0) }
	for name, c := range map[string]struct {
		begun    int // the question that the loop waits for when the line is begun
		line     string
		change   func(v *projector.View)
		says     string // at the first enter, which then sends nothing
		question int    // that the line answers; 0 if it steers
	}{
		"nothing changed":      {1, "yes", func(*projector.View) {}, "", 1},
		"it waits for another": {1, "yes", func(v *projector.View) { v.Awaited = 2 }, "", 1},
		"it works on":          {1, "yes", func(v *projector.View) { v.Awaited, v.Status = 0, event.StatusRunning }, "", 1},
		"answered elsewhere": {1, "yes", func(v *projector.View) { answered(v, 1); v.Awaited = 2 },
			"question 1 has an answer already; enter again answers question 2", 2},
		"answered, and it works on": {1, "yes", func(v *projector.View) { answered(v, 1); v.Awaited, v.Status = 0, event.StatusRunning },
			"question 1 has an answer already; enter again steers the agent", 0},
		"it waits now": {0, "yes", func(v *projector.View) { v.Awaited, v.Status = 1, event.StatusWaiting },
			"the loop waits for you now; enter again answers question 1", 1},
		"a command, answered elsewhere": {1, "/answer yes", func(v *projector.View) { answered(v, 1); v.Awaited = 2 },
			"question 1 has an answer already; enter again answers question 2", 2},
		"a command, it waits for another": {1, "/answer yes", func(v *projector.View) { v.Awaited = 2 }, "", 1},
		"a number":                        {1, "/answer 2 yes", func(v *projector.View) { v.Awaited, v.Status = 0, event.StatusRunning }, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{})
			v := running3()
			v.Questions = []projector.Question{{Number: 1, Text: "Tabs?"}, {Number: 2, Text: "Postgres?"}}
			if v.Awaited = c.begun; c.begun > 0 {
				v.Status, v.Open = event.StatusWaiting, false
			}
			b.do(changesMsg{view: v})
			b.types(c.line)
			v.Questions = slices.Clone(v.Questions)
			c.change(&v)
			b.do(changesMsg{view: v})
			b.types("<enter>")
			if c.says != "" {
				b.shows(c.says)
				if len(b.sentTo) > 0 {
					t.Fatalf("sent %+v", b.sentTo)
				}
				b.types("<enter>")
			}
			if len(b.sentTo) != 1 || b.sentTo[0].Question != c.question || b.sentTo[0].Text != "yes" {
				t.Errorf("sent %+v", b.sentTo)
			}
		})
	}
}

func TestChoiceGoesIntoLine(t *testing.T) {
	b := newBench(t, Options{})
	v := running3()
	v.Questions = []projector.Question{{Number: 4, Text: "Which database?", Choices: []string{"postgres", "the files"}}}
	b.do(changesMsg{view: v})
	b.types("<alt-3>", "<alt-1>", "<alt-2>")
	b.shows("> /answer 4 the files")
	b.types("<enter>")
	if len(b.sentTo) != 1 || b.sentTo[0].Kind != inbox.Answer || b.sentTo[0].Question != 4 || b.sentTo[0].Text != "the files" {
		t.Errorf("sent %+v", b.sentTo)
	}
	b.types("my own words", "<alt-1>")
	if got := b.line.String(); got != "my own words" {
		t.Errorf("the line has %q", got)
	}
}

func TestNothingTypedIsLost(t *testing.T) {
	b := newBench(t, Options{})
	b.types("half a thought")
	b.types("<esc>", "q")
	if got := b.outcome().Unsent; !b.quits || len(got) != 1 || got[0] != "half a thought" {
		t.Errorf("unsent %q, left %v", got, b.quits)
	}
	b.types("i")
	b.model.line.set("and the docs")
	v := running3()
	v.Ended = &event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise, Why: "the agent says so"}
	b.do(changesMsg{view: v, over: true})
	b.shows("completed: promise", "resume> and the docs", "enter resume with these words")
	b.types("<enter>", "<enter>")
	if got := b.outcome(); got.Resume != "and the docs" || got.Ended == nil || len(got.Unsent) > 0 {
		t.Errorf("outcome %+v", got)
	}
}

func TestReadOnlySendsNothing(t *testing.T) {
	b := newBench(t, Options{ReadOnly: true})
	b.types("x", "i", "<enter>", "/", "s", "t", "<esc>", "<tab>", "<enter>")
	b.do(tea.PasteMsg{Content: "pasted"})
	if len(b.sentTo) > 0 || !b.model.line.empty() {
		t.Errorf("sent %+v, the line has %q", b.sentTo, b.model.line.String())
	}
	b.hides("───")
	b.types("<ctrl-c>")
	if !b.quits {
		t.Error("ctrl-c does not leave")
	}
}

func TestFooterShowsKeysThatWork(t *testing.T) {
	b := newBench(t, Options{})
	b.types("<esc>")
	b.shows("i type", "j k select")
	b.types("j")
	b.shows("y copy")
	b.types("/")
	b.shows("enter search")
	b.types("t", "e", "s", "t", "s", "<enter>")
	if e, ok := b.conv.Selected(); !ok || e.Seq != 11 {
		t.Errorf("found %v %v", e, ok)
	}
	b.shows("n N next match")
	b.types("<esc>", "<esc>", "<esc>", "<esc>")
	b.shows("i type") // esc never leads to the line
	b.types("?")
	b.shows("Keys and commands", "the answer that the agent expects")
}

// On a narrow terminal, what a key does has several lines.
func TestManualIsNotCut(t *testing.T) {
	b := newBench(t, Options{})
	words := func(columns int) []string {
		return strings.Fields(ansi.Strip(strings.Join(b.manual().lines(b.model, columns, 10000)[1:], " ")))
	}
	for _, columns := range []int{200, 80, 60, 40} { // a line that is too long is cut
		if got, want := words(columns), words(1000); !slices.Equal(got, want) {
			t.Errorf("%d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
}

// Each drawing of a long diff takes the lines that are shown, and does not go through all of it.
func TestLongDiffIsNotCopied(t *testing.T) {
	p := &pager{text: diffRows(strings.Repeat("+a line\n", 20000), newBench(t, Options{}).theme)}
	if allocs := testing.AllocsPerRun(1, func() { p.fit(80) }); allocs != 0 || len(p.fit(80)) != 20000 {
		t.Errorf("%d lines, %v allocations", len(p.fit(80)), allocs)
	}
}

// A message that is taken back is in the line again.
func TestTakenBackMessageReturns(t *testing.T) {
	b := newBench(t, Options{})
	b.types("use tabs", "<alt-enter>", "<alt-up>")
	if len(b.sentTo) != 2 || b.sentTo[1].Kind != inbox.TakeBack {
		t.Fatalf("sent %+v", b.sentTo)
	}
	b.follow(transcript.Entry{Seq: 13, Body: transcript.Message{ID: "id-1", Command: "follow-up", Text: "use tabs", State: transcript.MessageWithdrawn}},
		transcript.Entry{Seq: 14, Body: transcript.Message{ID: "id-2", Command: "withdraw", State: transcript.MessageDelivered, How: "loop"}})
	b.shows("follow-up  use tabs", "withdrawn", "> use tabs", "withdraw  ")
	b.types("<ctrl-c>", "x", "<alt-up>")
	b.follow(transcript.Entry{Seq: 15, Body: transcript.Message{ID: "id-3", Command: "withdraw", State: transcript.MessageRefused, Why: "the agent has them all"}})
	b.shows("refused: the agent has them all", "> x")
}

// In the conversation, i and enter lead to the line; there, up brings back what was typed before.
func TestUpRecallsLastMessage(t *testing.T) {
	b := newBench(t, Options{})
	if b.types("<up>"); b.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse is taken although the wheel changes nothing in the line")
	}
	b.types("use tabs", "<enter>", "<esc>", "<enter>", "<up>")
	b.shows("> use tabs")
	if b.View().MouseMode == tea.MouseModeNone {
		t.Error("the wheel would change the line")
	}
	b.types("<down>")
	b.hides("> use tabs")
	b.do(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	b.hides("> use tabs")
	b.types("<up>", "<esc>", "i", "x")
	b.shows("> use tabsx")
}

func TestHeaderShowsStories(t *testing.T) {
	b := newBench(t, Options{})
	b.view.Stories, b.view.StoriesDone, b.view.Boxes, b.view.Ticked = 5, 2, 3, 1
	b.view.Story = &projector.Story{Mode: event.ModeReview, ID: "US-\x1b[31m002"}
	if got := ansi.Strip(b.header(200)); !strings.Contains(got, "stories 2/5 · review US-002") {
		t.Errorf("%q", got)
	}
	if got := ansi.Strip(b.header(40)); !strings.Contains(got, "stories 2/5") {
		t.Errorf("on a narrow terminal: %q", got)
	}
	if got := b.State(); got.Done != 2 || got.Total != 5 {
		t.Errorf("progress is %d of %d", got.Done, got.Total)
	}
	b.view.Stories, b.view.Story = 0, nil
	if got := ansi.Strip(b.header(200)); strings.Contains(got, "stories") {
		t.Errorf("%q", got)
	}
}
