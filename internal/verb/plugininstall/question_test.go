//go:build unix

package plugininstall

import (
	"strings"
	"testing"

	"github.com/creack/pty"
)

// The person reads what will be done, and answers.
func TestPersonIsAsked(t *testing.T) {
	for _, test := range []struct {
		answer    string
		installed bool
	}{{"y\n", true}, {"n\n", false}, {"\n", false}} {
		w := newWorld(t)
		person, terminal, err := pty.Open()
		if err != nil {
			t.Skipf("no terminal: %v", err)
		}
		w.e.Stdin, w.e.Stderr = terminal, terminal
		shown := make(chan string)
		go func() {
			var text strings.Builder
			buf := make([]byte, 4096)
			for !strings.Contains(text.String(), "(y/N)") {
				n, err := person.Read(buf)
				if text.Write(buf[:n]); err != nil {
					break
				}
			}
			_, _ = person.WriteString(test.answer)
			shown <- text.String()
			for err == nil { // or the terminal fills up
				_, err = person.Read(buf)
			}
		}()
		if err := (Request{Agent: "claude"}).Install(w.e); err != nil {
			t.Error(err)
		}
		if text := <-shown; !strings.Contains(text, "write  ") || !strings.Contains(text, "run    claude plugin install ralph@ralph-loop --scope user") || !strings.Contains(text, "Do it?") {
			t.Errorf("the person reads %s", text)
		}
		if got := w.state("claude").Installed[scopeUser] != ""; got != test.installed {
			t.Errorf("after %q it is installed: %t", test.answer, got)
		}
		terminal.Close()
		person.Close()
	}
}
