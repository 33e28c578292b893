package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Attach attaches to a loop there. On the full screen ralph there draws it, and draws it again on
// the next connection; as text it is printed here, of the lines of its journal. args are the
// command line for ralph there.
func (h *Host) Attach(loop string, args []string, o attach.Options, weak attach.Weak) error {
	ctx, stop := Interruptible()
	defer stop()
	view, err := h.view(ctx, loop, false)
	if err != nil {
		return left(err)
	}
	if o.Fills(h.env) {
		return h.screen(ctx, args, !o.Inline)
	}
	f := &follower{host: h, loop: loop, here: h.Name + ":" + loop, id: view.ID}
	err = attach.Show(h.env, attach.Distant{Name: f.here, View: view, Past: f.past(ctx, o.PastEvents()), Follow: f.news(ctx)}, o)
	if err != nil || weak.ExitWeak == 0 {
		return err
	}
	if view, err = h.view(ctx, loop, false); err != nil {
		return err
	}
	return weak.ExitOf(view.Strength)
}

// view is what is true of a loop there. With batch, ssh asks nothing.
func (h *Host) view(ctx context.Context, loop string, batch bool) (*projector.View, error) {
	text, err := h.output(ctx, batch, "status", loop, "--json")
	if err != nil {
		return nil, h.explained(ctx, err)
	}
	view := new(projector.View)
	if text, err = cleaned(text); err == nil {
		err = json.Unmarshal(text, view)
	}
	if err != nil {
		return nil, h.unreadable(ctx, err)
	}
	return view, nil
}

// left is the exit code of a person who left before anything was shown.
func left(err error) error {
	if errors.Is(err, attach.ErrSignal) {
		return cli.Exit(event.ExitInterrupted)
	}
	return err
}

// screen lets ralph there draw on the terminal, again on each new connection. Without the alternate
// screen, what was printed would be printed again.
func (h *Host) screen(ctx context.Context, args []string, again bool) error {
	for delay := time.Duration(0); ; delay = longer(delay) {
		err := h.run(ctx, args, true, h.env.Stdout)
		lost, ok := errors.AsType[*fault](err)
		if !ok {
			return err
		}
		_, _ = io.WriteString(h.env.Stdout, leaveScreen) // the person sees why on the next line
		if !lost.passing || !again {
			return err
		}
		cli.Tell(h.env.Stderr, "%v; trying again, ctrl-c ends that", lost)
		if !pause(ctx, delay) {
			return cli.Exit(event.ExitInterrupted)
		}
	}
}

// Follow prints the events of a loop there as 'ralph logs --follow' does.
func (h *Host) Follow(loop string, o logs.Options) error {
	ctx, stop := Interruptible()
	defer stop()
	view, err := h.view(ctx, loop, false) // ssh may ask, and says what is wrong
	if err != nil {
		return left(err)
	}
	f := &follower{host: h, loop: loop, here: h.Name + ":" + loop, id: view.ID}
	if o.From > 0 {
		f.seq = o.From - 1
	}
	last := 0
	if o.Options.All() && o.Grep == "" && o.From == 0 {
		last = o.Lines
	}
	return left(logs.Follow(h.env, f.here, o, f.past(ctx, last), f.news(ctx)))
}

// A follower reads a journal there, and continues after the last event that it has.
type follower struct {
	host       *Host
	loop, here string
	id         string    // of the loop that has that name
	seq        event.Seq // of the last event; 0 before the first

	show   func(event.Event) error
	flush  func() error
	rest   []byte // of a line that is not complete
	err    error  // why reading cannot go on
	giveUp context.CancelFunc
	heard  bool // something came on this connection
}

// past reads the last so many events, 0 for all.
func (f *follower) past(ctx context.Context, last int) logs.Feed {
	if last == 0 {
		return f.feed(ctx, false)
	}
	return f.feed(ctx, false, "--lines", strconv.Itoa(last))
}

// news reads what comes after that, until the loop has ended or its runner died.
func (f *follower) news(ctx context.Context) logs.Feed { return f.feed(ctx, true) }

// feed reads the journal there, from the words that a past begins with. After a lost connection it
// continues with the event after the last one; ssh asks the person nothing then.
func (f *follower) feed(ctx context.Context, follow bool, begin ...string) logs.Feed {
	return func(show func(event.Event) error, flush func() error) error {
		f.show, f.flush = show, flush
		said, again := "", false
		for delay := time.Duration(0); ; {
			words := []string{"logs", f.loop, "--json"}
			if f.seq > 0 && (again || follow) {
				words = append(words, "--from", strconv.FormatUint(uint64(f.seq)+1, 10))
			} else {
				words = append(words, begin...)
			}
			if follow {
				words = append(words, "--follow")
			}
			f.heard = false
			var err error
			if again {
				err = f.same(ctx)
			}
			if err == nil {
				err = f.read(ctx, follow || again, words)
			}
			lost, ok := errors.AsType[*fault](err)
			if !ok || !lost.passing {
				return err
			}
			if again = true; f.heard {
				delay, said = 0, ""
			}
			if said != lost.cause {
				cli.Tell(f.host.env.Stderr, "%v; trying again", lost)
				said = lost.cause
			}
			if !pause(ctx, delay) {
				return context.Cause(ctx)
			}
			delay = longer(delay)
		}
	}
}

// same refuses to continue with another loop, which took the name while the connection was lost.
func (f *follower) same(ctx context.Context) error {
	view, err := f.host.view(ctx, f.loop, true)
	if err == nil && view.ID != f.id {
		err = cli.Failed("attach to the new one by the same name", "loop %s is another one now: it took the name while the connection was lost", f.here)
	}
	return err
}

// read passes on the lines that a command there prints.
func (f *follower) read(ctx context.Context, batch bool, args []string) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	f.rest, f.heard, f.giveUp = nil, false, cancel
	var messages limited
	code, err := f.host.do(inner, call{args: args, batch: batch, stdout: f, stderr: &messages})
	switch {
	case f.err != nil:
		return f.err
	case err != nil:
		return err
	case code >= signaled:
		return faultOf(f.host.Name, sshFailed, "ralph there was ended")
	case code != 0:
		return f.host.explained(ctx, &refused{host: f.host.Name, code: code, text: messages.kept.String()})
	}
	return nil
}

// signaled is the first exit code of a shell for a program that a signal ended.
const signaled = 128

// mostLine is the longest line of a journal that is read from a host.
const mostLine = 256 << 20

// Write takes what ralph there prints. A line whose end is lost comes again on the next connection.
func (f *follower) Write(text []byte) (int, error) {
	f.heard = true
	f.rest = append(f.rest, text...)
	for f.err == nil {
		line, rest, found := bytes.Cut(f.rest, []byte{'\n'})
		if !found {
			break
		}
		f.err = f.line(line)
		f.rest = rest
	}
	switch {
	case f.err == nil && len(f.rest) > mostLine:
		f.err = fmt.Errorf("%s sends a line of more than %d bytes", f.host.Name, mostLine)
	case f.err == nil:
		f.err = f.flush()
	}
	if f.err != nil {
		f.giveUp()
	}
	return len(text), f.err
}

// line shows an event, unless it was shown before.
func (f *follower) line(line []byte) error {
	ev, err := event.Parse(line)
	switch {
	case err != nil:
		return fmt.Errorf("loop %s: what its host sends is no event: %w", f.here, err)
	case ev.Seq <= f.seq:
		return nil
	case f.seq > 0 && ev.Seq != f.seq+1:
		return cli.Failed("attach again", "loop %s: events %d to %d are missing: its host sends event %d", f.here, f.seq+1, ev.Seq-1, ev.Seq)
	}
	f.seq = ev.Seq
	return f.show(ev)
}

// Connections are tried again at once, then after a second, and at most this time later.
const longestPause = 30 * time.Second

func longer(delay time.Duration) time.Duration { return min(max(2*delay, time.Second), longestPause) }

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
