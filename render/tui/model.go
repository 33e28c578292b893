package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/conversation"
	"github.com/ralph-loop/ralph/render/terminal"
	"github.com/ralph-loop/ralph/render/transcript"
)

// focus is what the keys go to.
type focus int

const (
	typing    focus = iota // the line
	reading                // the conversation
	searching              // the line for what is searched
	listing                // the list of iterations
	going                  // the line for where a replay goes
)

// tone is how a notice is meant.
type tone int

const (
	toneDim tone = iota
	toneGood
	toneWarning
	toneFailure
)

// notice is one line about something that just happened.
type notice struct {
	tone  tone
	text  string
	until time.Time
}

// noticeShown is how long a notice is shown.
const noticeShown = 8 * time.Second

// model is the state of the screen.
type model struct {
	o   Options
	ctx context.Context

	conv    Conversation
	theme   terminal.Theme
	columns int
	rows    int
	now     time.Time // of this update

	opened   bool
	follower *follower
	player   *player   // nil but in a replay
	progress *progress // of the replay
	failed   error     // a replay could not begin
	view     projector.View
	use      transcript.Use
	active   time.Duration // of the iterations that have ended
	over     bool          // nothing comes any more
	died     bool
	win      window
	recent   []transcript.Entry

	focus    focus
	line     editor
	subject  subject // of the line
	query    editor
	found    string // what is searched
	forwards bool   // the direction of the search
	stopSeek func()
	notice   notice
	sent     []sent
	numbered int

	overlay overlay // over all but the header; nil without one
	dialog  *dialog // a question about what a key does; nil without one
	side    side
	inline  *inline

	resume  string // with which the loop is to be resumed
	ticking bool
	asked   bool // the person was notified of what the loop waits for now
	noticed int  // the number of the last question that the person was notified of
}

// overlay is what is shown instead of the conversation.
type overlay interface {
	// key handles a key; closed says that the overlay is done.
	key(m *model, k tea.KeyPressMsg) (c tea.Cmd, closed bool)
	lines(m *model, columns, rows int) []string
	hints() []hint
}

func newModel(ctx context.Context, o Options) *model {
	m := &model{
		o: o, ctx: ctx, conv: conversation.New(), now: o.Now(), columns: 80, rows: 24, stopSeek: func() {},
		view: projector.View{Summary: o.Head, Identity: projector.Identity{Name: o.Name}},
	}
	if o.Replay != nil {
		m.o.ReadOnly = true
	}
	if m.o.ReadOnly {
		m.focus = reading
	}
	m.line.set(o.Draft)
	if o.Inline {
		m.inline = &inline{printed: map[event.Seq]string{}}
	}
	return m
}

func (m *model) Init() tea.Cmd {
	opens := open
	if m.o.Replay != nil {
		opens = openReplay
	}
	return tea.Batch(opens(m.ctx, m.o), m.tick())
}

// tickMsg comes each second while something on the screen depends on the time.
type tickMsg struct{}

// tick starts the clock of the screen. It stops while nothing on the screen depends on the time.
func (m *model) tick() tea.Cmd {
	if m.ticking || !m.moves() {
		return nil
	}
	m.ticking = true
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{} })
}

// moves reports whether something on the screen depends on the time.
func (m *model) moves() bool {
	if m.notice.text != "" || len(m.sent) > 0 {
		return true
	}
	if m.progress != nil {
		return !m.progress.paused && !m.progress.ended
	}
	return !m.over && m.follower != nil && !m.needsPerson() && m.view.Status != event.StatusPaused
}

func (m *model) Update(msg tea.Msg) tea.Cmd {
	if m.now = m.o.Now(); m.player != nil {
		m.now = m.player.now()
	}
	var c tea.Cmd
	switch msg := msg.(type) {
	case tickMsg:
		m.ticking = false
		m.forget()
		if !m.notice.until.IsZero() && !m.o.Now().Before(m.notice.until) {
			m.notice = notice{}
		}
	case terminal.ThemeMsg:
		m.theme = msg.Theme
		m.conv.SetTheme(msg.Theme)
		if m.inline != nil {
			m.inline.themed = true
			c = m.print(nil)
		}
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
	case tea.KeyPressMsg:
		c = m.key(msg)
	case tea.MouseWheelMsg:
		c = m.wheel(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case openedMsg:
		c = m.open(msg)
	case changesMsg:
		c = m.changes(msg)
	case sentMsg:
		m.wasSent(msg)
	case pageMsg:
		c = m.loaded(msg)
	case foundMsg:
		c = m.wasFound(msg)
	case sideMsg:
		m.side.loaded(m, msg)
	case visitMsg:
		c = m.visited(msg)
	case pagerMsg:
		m.showPager(msg)
	case printedMsg:
		c = m.printNext()
	case terminal.DrawnMsg:
		if m.inline != nil {
			m.inline.drawn = true
			c = m.print(nil)
		}
	case unsentMsg:
		m.keepUnsent(msg)
	case terminal.CopiedMsg:
		m.copied(msg)
	case editedMsg:
		if msg.err != nil {
			m.say(toneFailure, "the editor: "+msg.err.Error())
		}
	}
	if m.line.empty() {
		if m.subject = subjectOf(m.view, m.needsPerson()); m.over {
			m.subject.question = 0 // it can have no answer any more
		}
	}
	m.layout()
	return tea.Batch(c, m.tick())
}

// say shows a notice. The text may be foreign.
func (m *model) say(t tone, text string) {
	m.notice = notice{t, render.Clean(text), m.o.Now().Add(noticeShown)}
}

// open takes in the loop as it was found.
func (m *model) open(msg openedMsg) tea.Cmd {
	if m.o.Replay != nil && msg.err != nil {
		m.failed = msg.err
		return tea.Quit
	}
	m.use = msg.page.Use
	m.view = msg.view
	if m.view.Name == "" {
		m.view.Name = m.o.Name
	}
	trouble := m.o.Trouble
	if msg.err != nil {
		trouble = msg.err.Error()
	}
	if trouble != "" {
		m.say(toneFailure, trouble)
		m.notice.until = time.Time{} // stays
	}
	m.opened, m.follower, m.player = true, msg.follower, msg.player
	if m.player != nil {
		m.progress = &progress{at: msg.page.Last, speed: m.o.Replay.Speed}
	}
	m.remember(msg.page.Entries)
	m.win = window{first: msg.page.First, start: msg.page.Start || msg.page.First == 0, live: true}
	m.conv.Replace(msg.page.Entries)
	commands := []tea.Cmd{m.side.load(m), m.print(msg.page.Entries)}
	if m.follower == nil {
		m.over, m.died = true, m.view.Ended == nil
		return tea.Batch(append(commands, m.more())...)
	}
	m.asked, m.noticed = m.needsPerson(), lastQuestion(m.view)
	return tea.Batch(append(commands, m.follower.next, m.more())...)
}

// changes takes in what came since the last frame.
func (m *model) changes(msg changesMsg) tea.Cmd {
	if msg.view.Name != "" || msg.view.Seq > 0 {
		m.view = msg.view
	}
	if m.use = msg.use; msg.skipped && m.win.live {
		m.recent = nil
		m.conv.Replace(nil)
		m.win = window{first: firstOf(msg.entries), live: true}
	}
	if m.progress = msg.progress; msg.page != nil {
		m.notice = notice{}
		m.replaced(*msg.page)
	}
	m.side.sum(m)
	if msg.saying != "" {
		m.say(toneWarning, msg.saying)
	}
	m.show(msg.entries)
	for _, e := range msg.entries {
		m.settle(e)
		m.side.note(m, e)
	}
	commands := []tea.Cmd{m.print(msg.entries), m.announce(msg.over)}
	if msg.err != nil {
		m.say(toneFailure, "cannot follow the loop: "+msg.err.Error())
		m.notice.until = time.Time{}
	}
	if !msg.over {
		return tea.Batch(append(commands, m.follower.next)...)
	}
	m.over, m.died, m.dialog = true, msg.died, nil
	all := m.sent
	m.sent = nil
	return tea.Batch(append(commands, func() tea.Msg { return unsentMsg{unsent(m.o.Dir, all)} })...)
}

func firstOf(entries []transcript.Entry) event.Seq {
	if len(entries) == 0 {
		return 0
	}
	return entries[0].Seq
}

// announce notifies the person once when the loop ends or needs a person.
func (m *model) announce(over bool) tea.Cmd {
	if m.player != nil {
		return nil
	}
	needs := m.needsPerson()
	notify := needs && !m.asked
	m.asked = needs
	last := lastQuestion(m.view)
	question := last > m.noticed
	m.noticed = last
	switch {
	case over && m.view.Ended != nil:
		return terminal.Notify("ralph: "+m.o.Name, m.endText())
	case over:
		return terminal.Notify("ralph: "+m.o.Name, "the runner died")
	case notify:
		return terminal.Notify("ralph: "+m.o.Name, m.question())
	case question:
		return terminal.Notify("ralph: "+m.o.Name, m.newQuestion())
	}
	return nil
}

// lastQuestion is the number of the last question of the agent; 0 if there is none.
func lastQuestion(v projector.View) int {
	if len(v.Questions) == 0 {
		return 0
	}
	return v.Questions[len(v.Questions)-1].Number
}

// newQuestion is the last question in one line.
func (m *model) newQuestion() string {
	return render.Clean(units.FirstLine(m.view.Questions[len(m.view.Questions)-1].Text))
}

// unsentMsg has the messages that the loop did not take before it ended.
type unsentMsg struct{ texts []string }

// keepUnsent puts them into the line, from where they can resume the loop.
func (m *model) keepUnsent(msg unsentMsg) {
	for i := len(msg.texts) - 1; i >= 0; i-- {
		text := msg.texts[i]
		if !m.line.empty() {
			text += "\n" + m.line.String()
		}
		m.line.set(text)
	}
}

// outcome is what is left when the person has left.
func (m *model) outcome() Outcome {
	o := Outcome{Died: m.died, Resume: m.resume}
	if m.resume != "" {
		o.Raise = m.view.Raise
	}
	if m.over && !m.died {
		o.Ended = m.view.Ended
	}
	if text := m.line.String(); text != "" && m.resume == "" {
		o.Unsent = append(o.Unsent, text)
	}
	for _, c := range m.sent {
		if c.command.Kind.IsMessage() && (c.failed || c.state == "") && c.command.Text != m.line.String() {
			o.Unsent = append(o.Unsent, c.command.Text)
		}
	}
	return o
}
