package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
)

// Model is a program that draws on a terminal. All methods are called from one goroutine; none of
// them does I/O, which belongs in commands.
type Model interface {
	// Init returns the first command. A [ThemeMsg] and a tea.WindowSizeMsg come before anything
	// is typed.
	Init() tea.Cmd
	Update(msg tea.Msg) tea.Cmd
	// View returns the screen. Run sets its title, progress bar and alternate screen.
	View() tea.View
	// State is what the terminal shows outside of the screen.
	State() State
}

// ThemeMsg says how the terminal's background and colours are. It comes at the beginning, and again
// when they are known better.
type ThemeMsg struct{ Theme Theme }

// Options say where a program runs.
type Options struct {
	In      io.Reader
	Out     io.Writer
	Environ []string
	Show    Show
	// Inline keeps the terminal's own scrollback: the program draws below it, and tea.Println
	// prints into it.
	Inline bool
	// Context ends the program when it ends; nil never does.
	Context context.Context
}

// A SignalError says which signal ended the program.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return "interrupted by a signal: " + e.Signal.String() }

// ErrGone means that the terminal was closed, or the connection to it was lost.
var ErrGone = errors.New("the terminal is gone")

// framesPerSecond is how often the screen is compared with what the terminal shows.
const framesPerSecond = 60

// Run runs a program until it quits (tea.Quit), and then gives the terminal its former modes. The
// error is a *[SignalError] after a signal, a *[PanicError] after a panic, [ErrGone] if the
// terminal went away, and that of the context if it ended.
func Run(m Model, o Options) error {
	if o.Context == nil {
		o.Context = context.Background()
	}
	var p *tea.Program
	drawn := func() { go p.Send(DrawnMsg{}) }
	file, isFile := o.Out.(*os.File)
	if o.Inline && isFile {
		o.Out = &output{File: file, drawn: drawn}
	}
	runs := &program{model: m, Options: o, colors: ColorsOf(o.Environ), dark: darkBy(o.Environ)}
	p = tea.NewProgram(runs, tea.WithContext(o.Context), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ),
		tea.WithFPS(framesPerSecond), tea.WithColorProfile(runs.colors), tea.WithoutSignalHandler())
	runs.quit = func() { go p.Send(tea.QuitMsg{}) }
	if o.Inline && !isFile { // it shows nothing that could be overwritten
		drawn()
	}
	var received atomic.Pointer[os.Signal]
	stop := handleSignals(p, &received)
	defer stop()
	_, _ = io.WriteString(o.Out, runs.opening())
	_, err := p.Run()
	_, _ = io.WriteString(o.Out, runs.closing())
	switch s := received.Load(); {
	case runs.panicked != nil:
		return fmt.Errorf("draw on the terminal: %w", runs.panicked)
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("draw on the terminal: %w", err)
	case s != nil:
		return &SignalError{*s}
	case o.Context.Err() != nil:
		return context.Cause(o.Context)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}

// handleSignals ends the program on a signal. A second signal ends the process: the first has no
// effect while the terminal takes no output.
func handleSignals(p *tea.Program, received *atomic.Pointer[os.Signal]) (stop func()) {
	ends, continued, done := make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(ends, endingSignals...)
	notifyContinued(continued)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-continued:
				p.Send(continuedMsg{})
			case s := <-ends:
				received.Store(&s)
				signal.Stop(ends)
				p.Send(tea.QuitMsg{})
			}
		}
	}()
	return func() {
		signal.Stop(ends)
		signal.Stop(continued)
		close(done)
	}
}
