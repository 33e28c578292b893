package terminal

import (
	"fmt"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
)

// A PanicError is a panic of a model or of one of its commands. The program has quit as usual.
//
// Bubble Tea 2.0 catches a panic too, but does not wait for the goroutine that reads the terminal,
// and prints the stack before the screen is restored.
type PanicError struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Hint is the next step of the person.
func (*PanicError) Hint() string {
	return "this is a fault of ralph's own, please report it; loops continue, and --plain shows one as text"
}

// catch is deferred: it quits the program after a panic. It is called in the goroutine of Update.
func (p *program) catch() {
	if value := recover(); value != nil {
		p.panicked = &PanicError{value, debug.Stack()}
		p.quit()
	}
}

// guard returns a command whose panic quits the program, as do those of the commands of a batch.
// Bubble Tea catches those of a sequence.
func guard(command tea.Cmd) tea.Cmd {
	if command == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if value := recover(); value != nil {
				msg = &PanicError{value, debug.Stack()}
			}
		}()
		msg = command()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = guard(batch[i])
			}
		}
		return msg
	}
}
