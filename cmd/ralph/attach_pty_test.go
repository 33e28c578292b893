//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/journal/event"
)

// Without colours, text has no escape sequence. Ctrl-c leaves.
func TestPlainAttachWithoutColours(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	cmd := p.command("attach", "one", "--plain")
	cmd.Env = append(cmd.Env, "NO_COLOR=1")
	attach := p.terminal(cmd)
	attach.sees("── iteration 1")
	p.fine("steer", "one", "mend \x1b[31mit")
	attach.sees("I heard you: mend")
	attach.types(ctrlC)
	attach.sees("left loop one, which goes on")
	attach.leaves(event.ExitInterrupted)
	if strings.Contains(attach.text(), "\x1b") {
		t.Errorf("an escape sequence: %q", attach.text())
	}
	if got := p.status("one"); got != "running" {
		t.Errorf("the loop is %s", got)
	}
	p.fine("stop", "one", "--now")
}

// Output to a file or a pipe has no running tools.
func TestAttachToPipePrintsText(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.iterate(1, "I look at the tests first.")
	r.append(event.IterationStarted{N: 2}, event.AgentStarted{PID: 7}, event.ToolCalled{ID: "a", Name: "Edit", Input: []byte(`{"file_path":"x.go","old_string":"a\nb","new_string":"a\nc"}`)},
		event.ToolProgressed{ID: "a", Text: event.Plain("ok a\n")}, event.ToolReturned{ID: "a", OK: true, Output: event.Plain("done")})
	r.end(event.ReasonPromise, "done")
	r.must(r.lock.Release())
	err := attach.Run(r.env, r.name, r.dir, attach.Options{Plain: true})
	r.must(err)
	const want = `- Edit  x.go  -2 +2
  done
`
	if got := r.out.String(); !strings.Contains(got, want) || strings.ContainsAny(got, "\x1b\r") {
		t.Errorf("%s\ndoes not contain\n%s", got, want)
	}
}
