package review

import (
	"context"
	"errors"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/display"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/reading"
	"github.com/ralph-loop/ralph/render/terminal"
)

// show lets a person review a loop on the terminal until they leave.
func show(e *cli.Env, s registry.Status) error {
	silent := *e // what a resume says would be in the middle of the screen
	silent.Stdin, silent.Stderr = strings.NewReader(""), new(strings.Builder)
	p := &program{desk: New(&silent), loop: s, model: model{name: e.NameToType(s)}}
	options := display.Options(e)
	err := terminal.Run(p, options)
	if signal, ok := errors.AsType[*terminal.SignalError](err); ok && signal.Signal != os.Interrupt || errors.Is(err, terminal.ErrGone) {
		return cli.Exit(event.ExitInterrupted)
	}
	if err == nil && p.failed != nil {
		err = p.failed
	}
	if err == nil && p.known {
		cli.Tell(e.Stderr, "loop %s: %s", s.Name, p.list.Reviewed)
	}
	return err
}

// program joins the model with a terminal.
type program struct {
	model

	desk   Desk
	loop   registry.Status
	failed error // why there is no list
}

// Messages.
type (
	loadedMsg struct {
		loaded
		advance bool // to the next open item
		err     error
	}
	doneMsg struct {
		act  reading.Act
		said string
		err  error
	}
)

func (p *program) Init() tea.Cmd { return p.load(false) }

// load reads the loop, which may have another runner since.
func (p *program) load(advance bool) tea.Cmd {
	return func() tea.Msg {
		s, err := now(p.loop)
		if err != nil {
			return loadedMsg{err: err}
		}
		list, err := p.desk.List(context.Background(), s)
		if err != nil {
			return loadedMsg{err: err}
		}
		v, err := cli.View(s)
		if err != nil {
			return loadedMsg{err: err}
		}
		return loadedMsg{loaded: loaded{list: list, alive: s.Live.Alive, more: v.More}, advance: advance}
	}
}

// now returns the loop as it is now: it may have another runner, or none.
func now(s registry.Status) (registry.Status, error) {
	live, err := registry.Probe(s.Dir)
	s.Live = live
	return s, err
}

func (p *program) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case terminal.ThemeMsg:
		p.theme = msg.Theme
	case tea.WindowSizeMsg:
		p.width, p.height = msg.Width, msg.Height
	case loadedMsg:
		switch {
		case msg.err == nil:
			p.show(msg.loaded, msg.advance)
		case p.known:
			p.say(explain(msg.err), true)
		default:
			p.failed = msg.err
			return tea.Quit
		}
	case doneMsg:
		p.done(msg.act, msg.said, msg.err)
		return p.load(msg.err == nil)
	case tea.PasteMsg:
		if p.mode == typing {
			p.press("", msg.Content)
		}
	case tea.KeyPressMsg:
		return p.key(msg)
	}
	return nil
}

func (p *program) key(msg tea.KeyPressMsg) tea.Cmd {
	name, text := msg.Keystroke(), msg.Text
	if p.mode != typing && text != "" {
		name = text
		if text == " " {
			name = "space"
		}
	}
	act, leave := p.press(name, text)
	switch {
	case leave:
		return tea.Quit
	case act == nil:
		return nil
	}
	return func() tea.Msg {
		s, err := now(p.loop)
		if err != nil {
			return doneMsg{*act, "", err}
		}
		said, err := p.desk.Act(context.Background(), s, *act)
		return doneMsg{*act, said, err}
	}
}

// View draws the screen.
func (p *program) View() tea.View {
	lines, row, column := p.screen()
	view := tea.NewView(strings.Join(lines, "\n"))
	if row >= 0 {
		view.Cursor = tea.NewCursor(column, row)
	}
	return view
}

// State is what the terminal shows of the review outside of its screen.
func (p *program) State() terminal.State {
	s := terminal.State{Title: "ralph: review of " + p.name, Status: terminal.StatusIdle, Done: p.list.Decided, Total: p.list.Total}
	if p.busy {
		s.Status = terminal.StatusWorking
	}
	return s
}
