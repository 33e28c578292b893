package terminal

import (
	"bytes"
	"os"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// DrawnMsg says that the first frame of an inline program is on the terminal. What tea.Println
// prints before that overwrites what the terminal shows, and is overwritten.
type DrawnMsg struct{}

// output notices the first frame. Bubble Tea writes the modes of a terminal with it.
type output struct {
	*os.File

	drawn func()
	once  sync.Once
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.File.Write(p)
	if bytes.Contains(p, []byte(ansi.SetModeBracketedPaste)) {
		o.once.Do(o.drawn)
	}
	return n, err
}
