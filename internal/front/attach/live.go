package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render/plain"
)

// Why following ended before the loop did, besides client.ErrNoRunner.
var (
	errLeft   = errors.New("the person left")
	errSignal = errors.New("a signal came")
)

// follow shows events as they come until the loop ends, its runner dies or the person leaves.
func (a *session) follow(from journal.Position) error {
	ctx, leave := context.WithCancelCause(context.Background())
	defer leave(nil)
	defer a.screen.restore()
	defer a.screen.close()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	alive := client.Alive(ctx, a.dir, &a.heard)
	go func() {
		select {
		case <-alive.Done():
		case <-signals:
			leave(errSignal)
		}
		a.screen.close() // output may wait for the end of a suspension
	}()
	if a.interactive() {
		if err := a.screen.keyboard(a.Stdin.(*os.File)); err != nil {
			return err
		}
	}
	if a.listens() {
		a.input = newInput()
		// Ends with the process: a read of a terminal cannot be canceled.
		go a.restoreOnPanic(func() { a.listen(leave) })
	}
	if a.screen.draws {
		ticks, stop := context.WithCancel(alive)
		var ticking sync.WaitGroup
		ticking.Go(func() { a.restoreOnPanic(func() { a.tick(ticks) }) })
		defer ticking.Wait()
		defer stop()
	}
	if err := showLive(alive, a.dir, from, a.show, a.flush); err != nil {
		return err
	}
	a.screen.close()
	switch why := context.Cause(alive); {
	case errors.Is(why, errLeft):
		a.say(fmt.Sprintf("ralph: left loop %s, which goes on; 'ralph attach %s' comes back, 'ralph stop %s' ends it", a.name, a.name, a.name))
		return nil
	case errors.Is(why, errSignal):
		a.say(fmt.Sprintf("ralph: left loop %s, which goes on", a.name))
		return cli.Exit(event.ExitInterrupted)
	case errors.Is(why, client.ErrNoRunner):
		if err := showRest(a.dir, a.seq, a.show); err != nil { // written before the lock was released
			return err
		}
	}
	leave(nil)
	if a.status != nil {
		a.status.end()
		a.drawStatus()
	}
	ended := a.finish()
	client.AwaitExit(a.dir)
	if text := a.unsent(); text != "" {
		return a.offer(text, signals, ended)
	}
	return ended
}

// restoreOnPanic restores the terminal if run panics in a goroutine of its own: the deferred calls
// of other goroutines do not run then.
func (a *session) restoreOnPanic(run func()) {
	defer func() {
		if p := recover(); p != nil {
			a.screen.restore()
			panic(p)
		}
	}()
	run()
}

// say prints a line that is not the loop's.
func (a *session) say(text string) {
	if a.input != nil {
		a.screen.say(text)
		return
	}
	fmt.Fprintln(a.Stderr, text)
}

// flush completes the output when no event waits, and lets tick draw the status.
func (a *session) flush() error {
	if text, ok := a.view.(*plain.Text); ok && a.IsTerminal() {
		columns, rows := a.Size()
		text.SetWidth(columns)
		a.screen.size(columns, rows)
	}
	select {
	case a.stale <- struct{}{}:
	default:
	}
	return a.view.Flush()
}

// enableFooter lets the screen draw a footer below the output.
func (a *session) enableFooter(loop *projector.Loop) {
	a.screen.draws, a.screen.color = true, a.RenderOptions().Color
	a.screen.columns, a.screen.rows = a.Size()
	if !a.NoStatus {
		a.screen.prompt, a.status = true, NewLiveStatus(loop)
	}
}

// drawStatus updates the status in the footer.
func (a *session) drawStatus() {
	if a.status == nil {
		return
	}
	columns, _ := a.Size()
	status, tail := a.status.Line(a.Now(), columns-1)
	if a.Verbose {
		tail = nil // it is part of the output
	}
	a.screen.footer(status, tail)
}

// frameEvery is the shortest time between two updates of the footer.
const frameEvery = 100 * time.Millisecond

// tick updates the footer every second, after events, and when the terminal changes.
func (a *session) tick(ctx context.Context) {
	changes := make(chan os.Signal, 1)
	notifyTerminal(changes)
	defer signal.Stop(changes)
	seconds := time.NewTicker(time.Second)
	defer seconds.Stop()
	var drawn time.Time
	var soon <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.stale:
			if soon == nil {
				soon = time.After(frameEvery - time.Since(drawn))
			}
			continue
		case <-soon:
			soon = nil
		case <-seconds.C:
		case s := <-changes:
			if continued(s) {
				a.screen.continued()
			}
		}
		a.screen.size(a.Size())
		a.drawStatus()
		a.screen.refresh()
		drawn = time.Now()
	}
}
