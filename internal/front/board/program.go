package board

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/display"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/front/remote"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/terminal"
)

// Options say what the board shows.
type Options struct {
	Here    bool // only loops of this project, until the person wants all
	Running bool // only loops that have a runner
	// Sources are those of loops of other machines that are shown as well.
	Sources []string
	// Attach shows a loop until the person leaves it. It has the terminal for itself.
	Attach func(e *cli.Env, s registry.Status) error
}

// Run shows the board until the person leaves it.
func Run(e *cli.Env, o Options) error {
	loader := listing.NewLoader(e)
	distant := remote.NewWatch(e, o.Sources)
	defer distant.Close()
	loader.Distant = func() []*projector.View {
		loops, _ := distant.Loops()
		return loops
	}
	model := &Model{Here: o.Here, Running: o.Running, Project: listing.Tilde(e.Root(), e.Variable("HOME"))}
	for {
		p := &program{env: e, loader: loader, distant: distant, Model: model}
		options := display.Options(e)
		options.Show.Progress = false // a list has none
		err := terminal.Run(p, options)
		if signal, ok := errors.AsType[*terminal.SignalError](err); ok && signal.Signal != os.Interrupt {
			return cli.Exit(event.ExitInterrupted)
		}
		switch {
		case errors.Is(err, terminal.ErrGone):
			return cli.Exit(event.ExitInterrupted)
		case err != nil:
			return err
		case p.failed != nil:
			return p.failed
		case p.attach == nil:
			return nil
		}
		model.Say(attached(e, o, *p.attach))
	}
}

// attached shows a loop until the person leaves it, and returns what is to be said then. How the
// loop ended is on the board.
func attached(e *cli.Env, o Options, s registry.Status) (text string, bad bool) {
	var messages bytes.Buffer
	inner := *e
	inner.Stderr = &messages
	err := o.Attach(&inner, s)
	if _, ended := errors.AsType[cli.Exit](err); err != nil && !ended {
		return explain(err), true
	}
	return strings.Join(spoken(&messages), "\n"), false
}

// program joins the model with a terminal.
type program struct {
	*Model

	env    *cli.Env
	loader *listing.Loader

	distant *remote.Watch
	trouble string // why sources do not answer, as it was said last
	loading bool   // a load is running
	again   bool   // another one has to follow at once
	round   int    // of loading; the timers of earlier ones count no more
	attach  *registry.Status
	failed  error // why the board cannot go on
}

// Messages.
type (
	loadedMsg struct {
		snapshot listing.Snapshot
		err      error
		took     time.Duration
	}
	loadMsg   struct{ round int } // it is time to load again
	peekedMsg struct {
		file  string
		lines []string
	}
	doneMsg struct {
		effect  Effect
		outcome string
		bad     bool
	}
)

// firstFacts is how many loops have their facts on the first screen. Others follow at once.
const firstFacts = 16

// Loops are read once a second, or less often where that takes long.
const (
	loadEvery = time.Second
	loadShare = 10 // the time between two loads is so many times that of one, at least
)

func (p *program) Init() tea.Cmd { return p.load() }

// load reads the loops, unless they are being read.
func (p *program) load() tea.Cmd {
	if p.loading {
		p.again = true
		return nil
	}
	p.loading, p.again = true, false
	files := p.Visible()
	read := func() (listing.Snapshot, error) { return p.loader.Load(files) }
	if !p.Model.loaded {
		read = func() (listing.Snapshot, error) { return p.loader.LoadFirst(firstFacts) }
	}
	return func() tea.Msg {
		began := time.Now()
		snapshot, err := read()
		return loadedMsg{snapshot, err, time.Since(began)}
	}
}

func (p *program) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case terminal.ThemeMsg:
		p.Theme = msg.Theme
	case tea.WindowSizeMsg:
		p.Resize(msg.Width, msg.Height)
		return p.complete()
	case loadMsg:
		if msg.round == p.round {
			return p.load()
		}
	case loadedMsg:
		return p.arrived(msg)
	case doneMsg:
		if msg.bad {
			p.GiveBack(msg.effect)
		}
		p.Say(msg.outcome, msg.bad)
		return p.load()
	case peekedMsg:
		p.Peeked(msg.file, msg.lines)
	case tea.PasteMsg:
		p.Paste(msg.Content)
	case tea.KeyPressMsg:
		return p.press(msg)
	}
	return nil
}

// arrived shows the loops, and reads them again after a while; at once if something on the screen
// is still missing.
func (p *program) arrived(msg loadedMsg) tea.Cmd {
	p.loading = false
	if msg.err != nil {
		p.failed = msg.err
		return tea.Quit
	}
	p.sayTrouble()
	var calls []tea.Cmd
	for _, l := range p.Show(msg.snapshot) {
		calls = append(calls, terminal.Notify("ralph: "+nameOf(l)+" needs you", callOf(l)))
	}
	calls = append(calls, p.look(p.Model.peek()))
	if p.again || p.Lacking() {
		return tea.Batch(append(calls, p.load())...)
	}
	p.round++
	round := p.round
	return tea.Batch(append(calls, tea.Tick(max(loadEvery, loadShare*msg.took), func(time.Time) tea.Msg { return loadMsg{round} }))...)
}

// sayTrouble says why sources do not answer, when that changes.
func (p *program) sayTrouble() {
	_, errs := p.distant.Loops()
	trouble := ""
	if err := errors.Join(errs...); err != nil {
		trouble = explain(err)
	}
	if trouble != p.trouble && trouble != "" {
		p.Say(trouble, true)
	}
	p.trouble = trouble
}

// complete reads what is missing on the screen.
func (p *program) complete() tea.Cmd {
	if !p.Model.loaded || !p.Lacking() {
		return nil
	}
	return p.load()
}

func (p *program) press(msg tea.KeyPressMsg) tea.Cmd {
	effect := p.Press(Key{Name: msg.Keystroke(), Text: msg.Text})
	switch effect.Do {
	case Leave:
		return tea.Quit
	case Attach:
		p.attach = &effect.Loop
		return tea.Quit
	case Peek:
		return tea.Batch(p.complete(), p.look(effect))
	case Send, Resume, Begin, Dismiss:
		e := p.env
		return tea.Batch(p.complete(), func() tea.Msg {
			outcome, bad := carryOut(e, effect)
			return doneMsg{effect, outcome, bad}
		})
	}
	return p.complete()
}

// look reads what a peek shows.
func (p *program) look(effect Effect) tea.Cmd {
	if effect.Do != Peek {
		return nil
	}
	e, width := p.env, p.Width
	return func() tea.Msg { return peekedMsg{effect.Loop.File, peek(e, effect.Loop, width)} }
}

// View draws the screen.
func (p *program) View() tea.View {
	screen := p.Model.View()
	view := tea.NewView(strings.Join(screen.Lines, "\n"))
	if screen.Row >= 0 {
		view.Cursor = tea.NewCursor(screen.Column, screen.Row)
	}
	return view
}

// State is what the terminal shows of the board outside of its screen.
func (p *program) State() terminal.State {
	need, working := len(p.needed), p.counts[projector.Working]
	s := terminal.State{Title: "ralph", Status: terminal.StatusIdle}
	switch {
	case need > 0:
		s.Status, s.Kind = terminal.StatusBlocked, terminal.KindQuestion
		s.Title = fmt.Sprintf("ralph: %s", needing(need))
		s.Message = needing(need)
	case working > 0:
		s.Status = terminal.StatusWorking
		s.Title = fmt.Sprintf("ralph: %d working", working)
	}
	return s
}
