package terminal

import (
	"context"
	"io"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// program adds to a model what all programs need.
type program struct {
	Options

	model    Model
	colors   Colors
	dark     bool
	reported string // the last report of the status
	// suspends is set from the suspension by a key until the program runs again
	suspends bool
	// panicked is set once the model has panicked: it is not called again
	panicked *PanicError
	quit     func() // ends the program; does not block
}

// Messages of this package.
type (
	continuedMsg struct{} // SIGCONT came
	settledMsg   struct{} // the signals of a suspension have come
	retakenMsg   struct{} // the terminal was released and taken again
	notifyMsg    struct{ title, text string }
	copyMsg      struct{ text string }
)

// CopiedMsg says what became of a text that was copied.
type CopiedMsg struct {
	Bytes int
	// Buffer says that tmux has it in a buffer. A terminal does not say whether it took it.
	Buffer bool
}

// Copy returns the command that puts a text on the clipboard of the terminal (OSC 52), also through
// tmux and over ssh. The model gets a CopiedMsg.
func Copy(text string) tea.Cmd { return func() tea.Msg { return copyMsg{text} } }

// Notify returns the command that shows a notification, unless that is off.
func Notify(title, text string) tea.Cmd {
	return func() tea.Msg { return notifyMsg{title, text} }
}

// capabilities asks the terminal for what Bubble Tea does not ask for over ssh: whether frames can
// be marked (2026), and how it counts the columns of composed characters (2027).
const capabilities = ansi.RequestModeSynchronizedOutput + ansi.RequestModeUnicodeCore

// alternateScroll makes the wheel send arrow keys on the alternate screen, so that the mouse need
// not be captured and text can be selected as usual.
const (
	alternateScroll   = "\x1b[?1007h"
	noAlternateScroll = "\x1b[?1007l"
)

func (p *program) Init() tea.Cmd {
	defer p.catch()
	return guard(tea.Batch(p.ask(), p.theme(), p.model.Init()))
}

// ask asks the terminal what it can do and how it looks.
func (p *program) ask() tea.Cmd {
	queries := capabilities
	if !p.Inline {
		queries += alternateScroll
	}
	return tea.Sequence(tea.Raw(queries), tea.RequestBackgroundColor)
}

func (p *program) theme() tea.Cmd {
	theme := NewTheme(p.dark, p.colors)
	return func() tea.Msg { return ThemeMsg{theme} }
}

func (p *program) Update(msg tea.Msg) (self tea.Model, command tea.Cmd) {
	self = p // after a panic too
	if p.panicked == nil {
		defer p.catch()
		command = guard(p.handle(msg))
	}
	return self, command
}

func (p *program) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case *PanicError:
		p.panicked = msg
		return tea.Quit
	case tea.BackgroundColorMsg:
		if msg.Color != nil && msg.IsDark() != p.dark {
			p.dark = msg.IsDark()
			return p.theme()
		}
		return nil
	case tea.ColorProfileMsg:
		return nil // known from the environment
	case tea.KeyPressMsg:
		if msg.Keystroke() == "ctrl+z" && canSuspend {
			return p.suspend()
		}
	case tea.ResumeMsg:
		return tea.Batch(p.ask(), tea.Tick(time.Second, func(time.Time) tea.Msg { return settledMsg{} }))
	case settledMsg:
		p.suspends = false
		return nil
	case continuedMsg:
		return p.retake()
	case retakenMsg:
		return tea.Batch(p.ask(), tea.ClearScreen)
	case tea.FocusMsg:
		// another terminal may have been connected to the multiplexer
		return tea.Batch(tea.Raw(capabilities), p.update(msg))
	case notifyMsg:
		return p.notify(msg)
	case copyMsg:
		set := ansi.SetSystemClipboard(msg.text)
		if variable(p.Environ, "TMUX") != "" {
			set += toOuter(p.Environ, set)
		}
		environ := p.Environ
		return tea.Batch(tea.Raw(set), func() tea.Msg { return CopiedMsg{len(msg.text), toBuffer(environ, msg.text)} })
	}
	return p.update(msg)
}

// toBuffer puts a text into a buffer of tmux, and reports whether tmux has it.
func toBuffer(environ []string, text string) bool {
	if variable(environ, "TMUX") == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), bufferPatience)
	defer cancel()
	load := exec.CommandContext(ctx, "tmux", "load-buffer", "-")
	load.Env, load.Stdin = environ, strings.NewReader(text)
	return load.Run() == nil
}

// bufferPatience is how long tmux may take to store a text.
const bufferPatience = 5 * time.Second

// update passes a message to the model, and reports its state if that has changed.
func (p *program) update(msg tea.Msg) tea.Cmd {
	command := p.model.Update(msg)
	if !p.Show.Status || !p.hasOSC() {
		return command
	}
	state := p.model.State()
	report := statusReport(state)
	if report == p.reported || p.reported == "" && state.Status == "" {
		return command
	}
	p.reported = report
	return tea.Batch(tea.Raw(toOuter(p.Environ, report)), command)
}

// suspend gives the terminal to the shell. Where no shell stops this process no SIGCONT comes, for
// which Bubble Tea waits: wakeUnstopped sends it.
func (p *program) suspend() tea.Cmd {
	p.suspends = true
	wakeUnstopped()
	if p.Inline {
		return tea.Suspend
	}
	return tea.Sequence(tea.Raw(noAlternateScroll), tea.Suspend)
}

// retake takes the terminal again after another process stopped this one: the shell has changed its
// modes and written on it.
func (p *program) retake() tea.Cmd {
	if p.suspends {
		return nil
	}
	return tea.Exec(nothing{}, func(error) tea.Msg { return retakenMsg{} })
}

// nothing is a program that does nothing: to run it releases the terminal and takes it again.
type nothing struct{}

// drawerStops is how long the goroutine that draws may take to stop. Bubble Tea 2.0 does not wait
// for it: if the next one is started before, the old one stops the clock of both, and nothing is
// drawn any more.
const drawerStops = 20 * time.Millisecond

func (nothing) Run() error {
	time.Sleep(drawerStops)
	return nil
}

func (nothing) SetStdin(io.Reader)  {}
func (nothing) SetStdout(io.Writer) {}
func (nothing) SetStderr(io.Writer) {}

func (p *program) notify(n notifyMsg) tea.Cmd {
	if !p.Show.Notify || !p.hasOSC() {
		return nil
	}
	return tea.Raw(toOuter(p.Environ, notification(p.Environ, n.title, n.text)))
}

func (p *program) View() tea.View {
	if p.panicked != nil {
		return tea.View{}
	}
	defer p.catch()
	view, state := p.model.View(), p.model.State()
	view.AltScreen = !p.Inline
	view.ReportFocus = true
	if p.Show.Title && p.hasOSC() {
		view.WindowTitle = oneLine(state.Title)
	}
	if p.Show.Progress && p.hasOSC() {
		view.ProgressBar = state.progress()
	}
	return view
}

// hasOSC reports whether the terminal ignores the sequences that it does not know. The console of
// Linux shows some of them.
func (p *program) hasOSC() bool {
	term := variable(p.Environ, "TERM")
	return term != "linux" && term != "dumb" && term != ""
}

// opening saves the window's title, which closing restores.
func (p *program) opening() string {
	if !p.Show.Title || !p.hasOSC() {
		return ""
	}
	return "\x1b[22;2t"
}

// leavesStatus reports whether the terminal goes on showing the status, which says how the work
// ended.
func (p *program) leavesStatus() bool {
	if p.panicked != nil {
		return false
	}
	status := p.model.State().Status
	return status == StatusDone || status == StatusError
}

// closing clears what the terminal shows of a program that has left, except for how it ended.
func (p *program) closing() string {
	var out strings.Builder
	if p.reported != "" && !p.leavesStatus() {
		out.WriteString(toOuter(p.Environ, statusReport(State{})))
	}
	if !p.Inline {
		out.WriteString(noAlternateScroll)
	}
	if p.Show.Title && p.hasOSC() {
		out.WriteString("\x1b[23;2t")
	}
	return out.String()
}

// darkBy returns what the environment says about the background, before the terminal has answered.
// Most are dark.
func darkBy(environ []string) bool {
	_, background, ok := strings.Cut(variable(environ, "COLORFGBG"), ";")
	if i := strings.LastIndexByte(background, ';'); i >= 0 {
		background = background[i+1:]
	}
	return !ok || (background != "7" && background != "15")
}
