//go:build unix

package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/client"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
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
