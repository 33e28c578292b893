//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/client"

	"github.com/creack/pty"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

func TestAttachShowsEndedLoop(t *testing.T) {
	for name, c := range map[string]struct {
		reason event.Reason
		code   int
	}{
		"completed":       {event.ReasonPromise, event.ExitCompleted},
		"at a limit":      {event.ReasonIterations, event.ExitLimit},
		"needs a person":  {event.ReasonAuth, event.ExitPerson},
		"stopped":         {event.ReasonStop, event.ExitInterrupted},
		"without reasons": {"", event.ExitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, "night")
			r.iterate(1, "I look at the tests first.")
			r.next(2)
			r.iterate(2, "Now I mend them.")
			r.end(c.reason, "so it was")
			r.register()
			if got := codeOf((&attachVerb{Name: "night"}).Run(r.env)); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			lines := strings.Split(strings.TrimSpace(beforeHash(t, r.out.String())), "\n")
			status := c.reason.Status().String()
			if got, want := lines[0], "loop night · "+status+" · iteration 2 of 10 · 15s · pi · $0.50"; c.reason != "" && got != want {
				t.Errorf("first line %q, want %q", got, want)
			}
			if got, want := lines[len(lines)-1], "2 tools · 2.0k tokens in · 200 out"; got != want || !strings.Contains(r.out.String(), "\n2 iterations, $0.50, 15s\n") {
				t.Errorf("last line %q, want %q, after the result:\n%s", got, want, r.out)
			}
			if !strings.Contains(r.out.String(), "Now I mend them.") {
				t.Errorf("the past is not shown:\n%s", r.out)
			}
		})
	}
}

func TestAttachReportsDeadRunner(t *testing.T) {
	r := record(t, "night")
	r.iterate(1, "I look at the tests first.")
	r.register()
	err := (&attachVerb{Name: "night"}).Run(r.env)
	if codeOf(err) != event.ExitFailed || !strings.Contains(err.Error(), "the runner of loop night died") {
		t.Errorf("error %v, code %d", err, codeOf(err))
	}
	if f, ok := errors.AsType[*cli.Failure](err); !ok || !strings.Contains(f.NextStep, "'ralph start night --resume'") {
		t.Errorf("hint of %v", err)
	}
	if got := r.out.String(); !strings.HasPrefix(got, "loop night · died · iteration 1 of 10") {
		t.Errorf("header %q", got)
	}
}

// attachedTo runs the plain attach until it returns.
func attachedTo(r *recorded, o attach.Options) <-chan error {
	o.Plain = true
	done := make(chan error, 1)
	go func() { done <- attach.Run(r.env, r.name, r.dir, o) }()
	return done
}

func TestAttachFollowsUntilEnd(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.iterate(1, "I look at the tests first.")
	done := attachedTo(r, attach.Options{})
	r.out.await(t, "I look at the tests first.")
	r.next(2)
	r.iterate(2, "Now I mend them.")
	r.out.await(t, "Now I mend them.")
	r.append(event.CommandReceived{ID: "01JDC", Kind: "stop", From: "cli:ada@mill"})
	r.out.await(t, "> stop (cli:ada@mill)")
	r.end(event.ReasonStop, "a person asked it to stop")
	if got := codeOf(returned(t, done)); got != event.ExitInterrupted {
		t.Errorf("exit code %d, want %d", got, event.ExitInterrupted)
	}
	if got := beforeHash(t, r.out.String()); !strings.HasSuffix(got, "2 iterations, $0.50, 16s\nstop: a person asked it to stop\n2 tools · 2.0k tokens in · 200 out\n") {
		t.Errorf("it ends with\n%s", got)
	}
}

func TestSeveralAttachAtOnce(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.iterate(1, "I look at the tests first.")
	var outs []*output
	var all []<-chan error
	for range 5 {
		one := *r
		e := *r.env
		one.env, one.out = &e, newOutput()
		e.Stdout = one.out
		outs = append(outs, one.out)
		all = append(all, attachedTo(&one, attach.Options{}))
	}
	for _, out := range outs {
		out.await(t, "I look at the tests first.")
	}
	r.end(event.ReasonPromise, "done")
	for i, done := range all {
		if err := returned(t, done); err != nil {
			t.Error(err)
		}
		if got := outs[i].String(); got != outs[0].String() {
			t.Errorf("one sees\n%s\nand another\n%s", outs[0], got)
		}
	}
}

func TestAttachNoticesDyingRunner(t *testing.T) {
	client.RunnerCheck = 20 * time.Millisecond
	t.Cleanup(func() { client.RunnerCheck = 2 * time.Second })
	for name, last := range map[string]struct {
		ended bool
		code  int
	}{"in the middle": {false, event.ExitFailed}, "after its last word, before the seal": {true, event.ExitCompleted}} {
		t.Run(name, func(t *testing.T) {
			r := record(t, "night")
			r.live()
			r.iterate(1, "I look at the tests first.")
			done := attachedTo(r, attach.Options{})
			r.out.await(t, "I look at the tests first.")
			if last.ended {
				r.append(event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise})
			} else {
				r.append(event.AgentSaid{Block: "9.0", Text: event.Plain("the last word\n")})
			}
			r.must(r.lock.Release())
			if got := codeOf(returned(t, done)); got != last.code {
				t.Errorf("exit code %d, want %d", got, last.code)
			}
			if got := r.out.String(); !last.ended && !strings.Contains(got, "the last word") {
				t.Errorf("what it wrote last is not shown:\n%s", got)
			}
		})
	}
}

func TestAttachPrintsJournalLines(t *testing.T) {
	r := record(t, "night")
	r.iterate(1, "I look at the tests first.")
	r.end(event.ReasonPromise, "done")
	r.register()
	r.must((&attachVerb{Name: "night", JSON: true}).Run(r.env))
	segment, err := os.ReadFile(r.dir + "/journal/000001-i0001.jsonl")
	r.must(err)
	if got := r.out.String(); got != string(segment) {
		t.Errorf("printed\n%s\nthe journal has\n%s", got, segment)
	}
}

func TestAttachRefusesUnbegunLoop(t *testing.T) {
	r := record(t, "night")
	if err := attach.Run(r.env, "other", t.TempDir(), attach.Options{}); codeOf(err) != event.ExitUsage {
		t.Errorf("error %v", err)
	}
}

// At a terminal, a typed line becomes a command, its outcome is shown, and leaving does not end the
// loop.
func TestAttachAtATerminal(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.iterate(1, "I look at the tests first.")
	master, tty, err := pty.Open()
	r.must(err)
	t.Cleanup(func() { _ = tty.Close(); _ = master.Close() })
	r.must(pty.Setsize(master, &pty.Winsize{Cols: 60, Rows: 20}))
	screen := newOutput()
	go func() { _, _ = io.Copy(screen, master) }()
	r.env.Stdin, r.env.Stdout, r.env.Stderr = tty, tty, tty
	r.env.Environ = []string{"NO_COLOR=1"}
	box, err := inbox.Open(r.dir)
	r.must(err)
	done := attachedTo(r, attach.Options{})
	screen.await(t, "\x1b[?2004h") // the keyboard is ours
	for _, c := range []struct {
		typed string
		want  inbox.Command
	}{
		{"leave the schemx\x7fa alone\r", inbox.Command{Kind: inbox.Steer, Text: "leave the schema alone"}},
		{"\x1b[200~two\rlines\x1b[201~\r", inbox.Command{Kind: inbox.Steer, Text: "two\nlines"}},
		{"/set maximumIterations=30\r", inbox.Command{Kind: inbox.Set, Key: "maximumIterations", Value: "30"}},
	} {
		_, err := master.WriteString(c.typed)
		r.must(err)
		got := claimed(t, box)
		if got.Kind != c.want.Kind || got.Text != c.want.Text || got.Key != c.want.Key || got.Value != c.want.Value || !strings.HasPrefix(got.From, "cli:") {
			t.Errorf("%q became %+v, want %+v", c.typed, got, c.want)
		}
		r.append(event.CommandReceived{ID: got.ID, Kind: got.Kind, Text: got.Text, From: "cli:me", Key: got.Key, Val: got.Value})
		screen.await(t, "> "+string(got.Kind))
		screen.reset()
	}
	_, err = master.WriteString("/nonsense\r")
	r.must(err)
	screen.await(t, "there is no /nonsense; /help shows what there is")
	_, err = master.WriteString("\x04")
	r.must(err)
	if err := returned(t, done); err != nil {
		t.Errorf("leaving returns %v", err)
	}
	screen.await(t, "ralph: left loop night, which goes on")
	if live, err := registry.Probe(r.dir); err != nil || !live.Alive {
		t.Errorf("the loop does not go on: %+v, %v", live, err)
	}
	if strings.Contains(strings.ReplaceAll(screen.String(), "\r\n", ""), "\n") {
		t.Errorf("a newline without a return in raw mode: %q", screen)
	}
}

// claimed waits for the next command.
func claimed(t *testing.T, box *inbox.Box) inbox.Command {
	t.Helper()
	for range box.Watch(t.Context()) {
		items, err := box.Pending()
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			if item.Command != nil {
				if err := box.Done(item.Command.ID); err != nil {
					t.Fatal(err)
				}
				return *item.Command
			}
		}
	}
	t.Fatal("no command came")
	return inbox.Command{}
}

// The header says the same whether it comes from the registry or from the journal.
func TestHeaderOfBothSources(t *testing.T) {
	r := record(t, "night")
	r.iterate(1, "x")
	r.register()
	s, err := r.env.Find("night")
	r.must(err)
	state, err := loopstate.Open(r.dir)
	r.must(err)
	for _, alive := range []bool{true, false} {
		if got, want := attach.Header(r.env, "night", s.Head, alive), attach.Header(r.env, "night", state.Summary(), alive); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
