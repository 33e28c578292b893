package player

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Options say what is played and for whom. Scenario, In, Out and Err are required.
type Options struct {
	Scenario *Scenario
	Dir      string // where files are written and commands run; by default the working directory
	LoopDir  string // the folder that {loop} means; by default Dir
	In       io.Reader
	Out, Err io.Writer
	// Speed divides each pause of the scenario; 0 means 1.
	Speed float64
	// Now is the clock that 'until +2s' counts from; by default time.Now.
	Now func() time.Time
}

// Exit codes beside those that a scenario names.
const (
	exitDone    = 0
	exitUsage   = 2
	exitStopped = 143 // ctx ended: as of a program that leaves on TERM
)

// Run plays until the scenario ends the process, In ends, Out cannot be written or ctx is done, and
// returns the exit code. The reader of In is left waiting if In has not ended, and commands of
// 'orphan' continue: the caller is expected to exit.
func Run(ctx context.Context, opt Options) int {
	p := &player{Options: opt, ctx: ctx, in: make(chan input)}
	if err := p.open(); err != nil {
		fmt.Fprintln(opt.Err, "rehearsal:", err)
		return exitUsage
	}
	defer p.close()
	done := make(chan struct{})
	defer close(done)
	go listen(opt.In, p.in, done)

	err := p.serve()
	if left, ok := errors.AsType[*exitError](err); ok {
		return left.code
	}
	if errors.Is(err, errStopped) {
		return exitStopped
	}
	return exitDone
}

// player is one run of Run.
type player struct {
	Options
	ctx  context.Context
	in   chan input
	next *input // received while the steps after a finish were played

	project *os.Root
	loop    *os.Root

	messages int  // said so far
	calls    int  // tools used so far
	stale    bool // the next reset is refused

	turn
}

// turn is what one 'begin' asked for.
type turn struct {
	iteration int
	section   section
	running   bool    // begun and not finished
	queue     []input // steers that wait for the end of a step
	steer     string  // the one that is reacted to
}

// Reasons to stop before the end of a section.
var (
	errQuit    = errors.New("the input has ended")
	errStopped = errors.New("asked to stop by the system")
	errAborted = errors.New("the turn was aborted")
	errNext    = errors.New("the next turn was requested")
)

type exitError struct{ code int }

func (e *exitError) Error() string { return "exit " + strconv.Itoa(e.code) }

func (p *player) open() (err error) {
	if p.Speed <= 0 {
		p.Speed = 1
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	p.Dir = cmp.Or(p.Dir, ".")
	if p.project, err = os.OpenRoot(p.Dir); err != nil {
		return fmt.Errorf("open the working directory: %w", err)
	}
	if p.loop, err = os.OpenRoot(cmp.Or(p.LoopDir, p.Dir)); err != nil {
		p.project.Close()
		return fmt.Errorf("open the loop's folder: %w", err)
	}
	return nil
}

func (p *player) close() {
	p.project.Close()
	p.loop.Close()
}

// serve handles inputs until an error.
func (p *player) serve() error {
	if err := p.print("ready", field{"scenario", p.Scenario.Name}, field{"version", Version}); err != nil {
		return err
	}
	for {
		in, err := p.receive()
		if err != nil {
			return err
		}
		switch in.Do {
		case "begin":
			err = p.playTurn(in)
		case "reset":
			err = p.reset()
		default:
			err = p.decline(in)
		}
		if err != nil {
			return err
		}
	}
}

func (p *player) receive() (input, error) {
	if p.next != nil {
		in := *p.next
		p.next = nil
		return in, nil
	}
	select {
	case in, ok := <-p.in:
		if !ok {
			return in, errQuit
		}
		return in, nil
	case <-p.ctx.Done():
		return input{}, errStopped
	}
}

func (p *player) reset() error {
	if p.stale {
		p.stale = false
		return p.print("stale", field{"why", "the scenario says so"})
	}
	return p.print("fresh")
}

// decline answers an input that has no effect now.
func (p *player) decline(in input) error {
	switch in.Do {
	case "steer":
		return p.notice("late", "no turn is running: "+in.ID)
	case "abort":
		return p.notice("late", "no turn is running")
	case "begin":
		return p.notice("refused", "a turn is running")
	case "reset":
		return p.print("stale", field{"why", "a turn is running"})
	}
	return p.notice("unread", cmp.Or(in.Text, in.Do))
}

// playTurn plays a section, and ends the turn if the section did not.
func (p *player) playTurn(begin input) error {
	p.turn = turn{iteration: begin.Iteration, section: p.Scenario.asked(begin), running: true}
	err := p.print("begun", field{"iteration", begin.Iteration})
	if err == nil {
		err = p.playSection()
	}
	switch {
	case errors.Is(err, errAborted):
		return p.finish("aborted", "", "")
	case errors.Is(err, errNext):
		return nil
	case err != nil:
		return err
	case p.running:
		return p.finish("ok", "", "")
	}
	return nil
}

func (p *player) playSection() error {
	for _, s := range p.section.steps {
		if err := s.kind.play(p, s); err != nil {
			return err
		}
		if err := p.hear(); err != nil {
			return err
		}
	}
	return nil
}

// hear takes pending inputs and delivers queued steers.
func (p *player) hear() error {
	for {
		select {
		case in, ok := <-p.in:
			if err := p.take(in, ok); err != nil {
				return err
			}
			continue
		case <-p.ctx.Done():
			return errStopped
		default:
		}
		return p.deliver()
	}
}

// take handles an input while a section is played.
func (p *player) take(in input, ok bool) error {
	switch {
	case !ok:
		return errQuit
	case p.running && in.Do == "steer":
		p.queue = append(p.queue, in)
	case p.running && in.Do == "abort":
		return errAborted
	case !p.running && (in.Do == "begin" || in.Do == "reset"):
		p.next = &in
		return errNext
	default:
		return p.decline(in)
	}
	return nil
}

// deliver plays the reactions to queued steers. The end of the turn drops the rest.
func (p *player) deliver() error {
	for p.running && len(p.queue) > 0 {
		in := p.queue[0]
		p.queue = p.queue[1:]
		if err := p.print("steered", field{"id", in.ID}); err != nil {
			return err
		}
		p.steer = in.Text
		for _, s := range p.reactions() {
			if err := s.kind.play(p, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *player) reactions() []step {
	if len(p.section.steered) > 0 {
		return p.section.steered
	}
	return []step{say("I heard you: {steer}")}
}

func (p *player) finish(outcome, kind, text string) error {
	if !p.running {
		return nil
	}
	p.running, p.queue = false, nil
	return p.print("finished", field{"outcome", outcome}, given("kind", kind), given("error", text))
}

// pause waits for d of the scenario's time, and handles inputs meanwhile.
func (p *player) pause(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(time.Duration(float64(d) / p.Speed))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return nil
		case in, ok := <-p.in:
			if err := p.take(in, ok); err != nil {
				return err
			}
		case <-p.ctx.Done():
			return errStopped
		}
	}
}

// fill replaces the placeholders of a text.
func (p *player) fill(text string) string {
	return strings.NewReplacer(
		"{steer}", p.steer, "{iteration}", strconv.Itoa(p.iteration), "{loop}", cmp.Or(p.LoopDir, "."),
	).Replace(text)
}
