package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render"
)

// RenderOptions is how text is shown on this stdout: with color and line breaks on a terminal,
// unchanged elsewhere.
func (e *Env) RenderOptions() render.Options {
	if !e.IsTerminal() {
		return render.Options{}
	}
	columns, _ := e.Size()
	return render.Options{Width: columns, Color: e.Variable("NO_COLOR") == "" && e.Variable("TERM") != "dumb"}
}

// Drawable reports whether stdout is a terminal on which something can be drawn in its place.
func (e *Env) Drawable() bool { return e.IsTerminal() && e.Variable("TERM") != "dumb" }

// IsTerminal reports whether stdout is one.
func (e *Env) IsTerminal() bool { return OnTerminal(e.Stdout) }

// StdinIsTerminal reports whether stdin is a terminal.
func (e *Env) StdinIsTerminal() bool { return OnTerminal(e.Stdin) }

// OnTerminal reports whether one of the program's streams is a terminal.
func OnTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Busy says on a terminal what takes longer than a second, such as "reading loop big", and for how
// long. The function that it returns removes the line: it is called before anything is printed.
func (e *Env) Busy(what string) (done func()) {
	if !OnTerminal(e.Stderr) {
		return func() {}
	}
	columns, _ := e.Size()
	return busy(e.Stderr, Clean(what), columns)
}

func busy(w io.Writer, what string, columns int) (done func()) {
	begun, stop, stopped := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		each := time.NewTicker(time.Second)
		defer each.Stop()
		for said := ""; ; {
			select {
			case <-stop:
				fmt.Fprint(w, said)
				return
			case now := <-each.C:
				fmt.Fprint(w, "\r\x1b[K"+units.Cut("ralph: "+what+", "+units.Plain(now.Sub(begun).Truncate(time.Second)), columns-1))
				said = "\r\x1b[K"
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-stopped
	})
}

// Size returns the columns and rows of the terminal that stdout is; 80 and 24 if they are unknown.
func (e *Env) Size() (columns, rows int) {
	if f, ok := e.Stdout.(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}

// SharedTerminal reports whether stdout and stderr are both read on a terminal.
func (e *Env) SharedTerminal() bool { return OnTerminal(e.Stderr) && e.IsTerminal() }
