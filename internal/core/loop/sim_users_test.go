package loop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	inboxDir    = loopDir + "/inbox"
	rejectedDir = inboxDir + "/rejected"
	dropped     = ".json"
	claimed     = ".claimed"
)

// users drop files into the inbox: commands of every kind, and some garbage.
type users struct {
	w        *world
	commands []userCommand
	acts     int
	garbage  int
	waits    int // hours without a command
}

// userCommand is a command that was dropped.
type userCommand struct {
	event.CommandReceived
	withdrawn bool
}

func (p *users) begin() {
	p.w.after(p.w.span(0, p.w.scenario.pace), p.act)
	p.w.after(6*time.Hour, p.loseTime)
}

// act does one thing that people do.
func (p *users) act() {
	if p.acts++; p.acts > p.w.scenario.commands {
		return
	}
	switch roll := p.w.rng.IntN(100); {
	case roll < 5:
		p.litter()
	case roll < 9 && len(p.commands) > 0:
		p.withdraw(&p.commands[p.w.rng.IntN(len(p.commands))])
	case roll < 11:
		p.signal()
	case roll < 12:
		p.fault()
	default:
		for range 1 + p.w.rng.IntN(2)*p.w.rng.IntN(3) {
			p.drop(p.choose())
		}
	}
	p.w.after(p.w.span(0, p.w.scenario.pace), p.act)
}

// loseTime resumes a loop that was paused for long.
func (p *users) loseTime() {
	if p.w.scenario.patient {
		if r := p.w.runner; r != nil && r.opened && r.driver.Engine.State().NeedsResume() {
			p.drop(event.CommandReceived{Kind: event.CommandResume})
		}
		p.w.after(time.Hour, p.loseTime)
		return
	}
	p.waits++
	kinds := []event.CommandKind{event.CommandResume, event.CommandResume, event.CommandStop, event.CommandStopNow, event.CommandKill}
	p.drop(event.CommandReceived{Kind: kinds[min(p.waits, len(kinds))-1]})
	p.w.after(time.Hour, p.loseTime)
}

func (p *users) choose() event.CommandReceived {
	r := p.w.rng
	if p.w.scenario.fences > 0 && p.w.chance(p.w.scenario.fences) {
		return p.fence()
	}
	if p.w.scenario.replies > 0 && p.w.chance(p.w.scenario.replies) {
		return p.reply()
	}
	if p.w.scenario.regrets > 0 && p.w.chance(p.w.scenario.regrets) {
		return p.regret()
	}
	switch roll := r.IntN(100); {
	case roll < 45:
		return event.CommandReceived{Kind: event.CommandSteer, Text: fmt.Sprintf("mind the gap %d", len(p.commands))}
	case roll < 57:
		return event.CommandReceived{Kind: event.CommandFollowUp, Text: fmt.Sprintf("and then rest %d", len(p.commands))}
	case roll < 67:
		return event.CommandReceived{Kind: event.CommandPause}
	case roll < 79:
		return event.CommandReceived{Kind: event.CommandResume}
	case roll < 92:
		keys := [][2]string{
			{"maximumIterations", fmt.Sprint(1 + r.IntN(8))}, {"maximumIterations", "none"},
			{"restart.max", fmt.Sprint(1 + r.IntN(4))}, {"restart.delay", "2s"}, {"limits.idle", "3m"},
			{"limits.cost", "0.5"}, {"limits.tokens", "1000"}, {"limits.duration", "90m"}, {"colour", "red"},
		}
		k := keys[r.IntN(len(keys))]
		return event.CommandReceived{Kind: event.CommandSet, Key: k[0], Val: k[1]}
	case roll < 95:
		return event.CommandReceived{Kind: event.CommandStop}
	case roll < 97:
		return event.CommandReceived{Kind: event.CommandStopNow}
	case roll < 98:
		return event.CommandReceived{Kind: "dance"}
	}
	return event.CommandReceived{Kind: event.CommandKill}
}

// regret takes a message back: the last one, or any command.
func (p *users) regret() event.CommandReceived {
	c := event.CommandReceived{Kind: event.CommandWithdraw}
	if n := len(p.commands); n > 0 && p.w.rng.IntN(2) == 0 {
		c.Key = p.commands[p.w.rng.IntN(n)].ID
	}
	return c
}

// drop puts a command's complete file into the inbox, and wakes its reader.
func (p *users) drop(c event.CommandReceived) {
	if p.w.scenario.fences > 0 && c.Epoch == 0 && p.w.chance(20) {
		if epoch := 1 + uint64(p.w.rng.IntN(2)); !c.Kind.IsAgents() {
			c.Epoch = epoch
		}
	}
	id := p.w.id(p.w.now)
	if c.ID = string(id[:]); c.From == "" {
		c.From = "sim"
	}
	content, err := json.Marshal(c)
	if err == nil {
		err = p.w.disk.Drop(inboxDir+"/"+c.ID+dropped, content)
	}
	if err != nil {
		panic(err)
	}
	p.w.note("a person wishes: %s %s (%s)", c.Kind, c.Key, c.ID[20:])
	p.commands = append(p.commands, userCommand{CommandReceived: c})
	p.ring()
}

// ring wakes the runner's watch of the inbox, soon or by its slow poll.
func (p *users) ring() {
	if r := p.w.runner; r != nil && r.opened {
		r.soon(2*time.Second, r.receive)
	}
}

func (p *users) litter() {
	p.garbage++
	name := []string{"notes.txt", "x" + dropped, fmt.Sprintf("garbage%d%s", p.garbage, dropped), fmt.Sprintf("%026d%s", p.garbage, dropped)}[p.w.rng.IntN(4)]
	if err := p.w.disk.Drop(inboxDir+"/"+name, []byte(`{"half":`)); err != nil {
		panic(err)
	}
	p.w.note("a person leaves %s in the inbox", name)
	p.ring()
}

// withdraw removes a command, if no runner has claimed it.
func (p *users) withdraw(c *userCommand) {
	file := inboxDir + "/" + c.ID + dropped
	if _, err := p.w.disk.ReadFile(file); err != nil || p.w.disk.Crashed() {
		return
	}
	_ = p.w.disk.Remove(file) // whether it was claimed shows in the file
	if _, err := p.w.disk.ReadFile(file); err != nil {
		c.withdrawn = true
		p.w.note("a person withdraws %s", c.ID[20:])
	}
}

// signal interrupts a runner in the foreground.
func (p *users) signal() {
	r := p.w.runner
	if r == nil || !r.opened || r.signals == 3 {
		return
	}
	id := p.w.id(p.w.now)
	kind := []event.CommandKind{event.CommandStop, event.CommandStopNow, event.CommandKill}[r.signals]
	r.signals++
	p.w.note("a signal: %s", kind)
	r.send(input{Input: loop.Input{Drafts: []event.Draft{event.Encode(event.CommandReceived{
		ID: string(id[:]), Kind: kind, From: policy.FromSignal,
	}, "loop")}}})
}

// fault is an error of ralph's own, such as a folder that vanishes.
func (p *users) fault() {
	if r := p.w.runner; r != nil && r.opened {
		p.w.note("a fault")
		r.send(input{Input: loop.Input{Drafts: []event.Draft{event.Encode(event.FaultRaised{
			Where: "the loop's folder", Error: "it is gone", Class: event.ClassMissing,
		}, "loop")}}})
	}
}

// receive wakes what reads the inbox, as runner.receive does.
func (r *runner) receive() {
	if r.looking {
		r.woken = true
		return
	}
	r.looking = true
	r.soon(3*time.Millisecond, r.pass)
}

func (r *runner) pass() {
	r.woken = false
	if r.closing {
		return
	}
	found, rejects, err := r.pending()
	switch {
	case r.w.disk.Crashed():
	case err != nil:
		r.send(input{Input: loop.Input{Drafts: []event.Draft{event.Encode(event.FaultRaised{
			Where: "inbox", Error: err.Error(), Class: executor.Classify(err),
		}, "loop")}}})
	case len(found)+len(rejects) == 0:
		if r.looking = false; r.woken {
			r.receive()
		}
	default:
		r.claim(found, rejects)
	}
}

// pending claims what was dropped.
func (r *runner) pending() (found []event.CommandReceived, rejects []string, err error) {
	names, err := r.w.disk.List(inboxDir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		id, isDropped := strings.CutSuffix(name, dropped)
		if !isDropped {
			id = strings.TrimSuffix(name, claimed)
		}
		if inboxDir+"/"+name == rejectedDir {
			continue
		}
		var c event.CommandReceived
		content, err := r.w.disk.ReadFile(inboxDir + "/" + name)
		if err != nil {
			continue // withdrawn since
		}
		if json.Unmarshal(content, &c) != nil || c.ID != id {
			rejects = append(rejects, name)
			continue
		}
		if isDropped {
			if err := r.w.disk.Rename(inboxDir+"/"+name, inboxDir+"/"+id+claimed); err != nil {
				return found, rejects, err
			}
		}
		found = append(found, c)
	}
	return found, rejects, nil
}

// claim records commands and removes their files when the record is durable.
func (r *runner) claim(found []event.CommandReceived, rejects []string) {
	in := loop.Input{Commands: found}
	for _, name := range rejects {
		in.Drafts = append(in.Drafts, event.Encode(event.CommandRefused{ID: name, Why: "it is no command"}, "inbox"))
	}
	tidy := func() {
		for _, c := range found {
			// A file that cannot be removed is found again and known again.
			_ = r.w.disk.Remove(inboxDir + "/" + c.ID + claimed)
		}
		for _, name := range rejects {
			_ = r.w.disk.Rename(inboxDir+"/"+name, rejectedDir+"/"+name)
		}
	}
	again := func() {
		if r.looking = false; r.woken {
			r.receive()
		}
	}
	in.Synced = func() {
		r.soon(2*time.Millisecond, func() {
			tidy()
			again()
		})
	}
	if r.w.broken.early {
		tidy()
		in.Synced = again
	}
	if r.w.broken.forgetful {
		for _, c := range found {
			in.Drafts = append(in.Drafts, event.Encode(c, "inbox:"+c.ID))
		}
		in.Commands = nil
	}
	r.send(input{Input: in})
}
