package runner

import (
	"os"
	"slices"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// received is the receipt of a command, with what the kernel says of the process that dropped it.
// Policies decide from that whether the command is carried out.
func (r *runner) received(c *inbox.Command) event.CommandReceived {
	p := event.CommandReceived{
		ID: c.ID, Kind: c.Kind, From: policy.Sender(c.From), Text: c.Text, Key: c.Key, Val: c.Value,
		Choices: c.Choices, Blocks: c.Blocks, Question: c.Question,
		Host: c.Host, Epoch: c.Epoch,
	}
	line, doubt := lineOf(c.Process)
	p.Origin, p.Loop = r.origin(line)
	switch {
	case p.Origin != event.OriginPerson || doubt == "":
	case c.Kind.IsAgents(): // a sandbox hides where it comes from, and its agent may give it
		p.Origin = ""
	default:
		p.Origin, p.Doubt = event.OriginUnknown, doubt
	}
	return p
}

// lineOf returns the process that dropped a command and those that it descends from: as the kernel
// names them now, else as the command's file did. doubt says why that may lack a process.
func lineOf(named []inbox.Process) (line []process.ID, doubt string) {
	for _, p := range named {
		line = append(line, process.ID(p))
	}
	if len(line) == 0 {
		return nil, "its file does not say which process wrote it"
	}
	now, complete := process.Lineage(line[0].PID)
	switch {
	case len(now) == 0 || now[0] != line[0]:
		return line, "the process that gave it has ended"
	case !complete:
		return append(now, line...), "the kernel does not say what its process descends from"
	}
	return now, ""
}

// origin says whose the first of these processes is. All that an agent starts descends from its
// loop's runner, to which the kernel gives orphans too. The runner itself speaks for the person who
// answered a notification.
func (r *runner) origin(line []process.ID) (origin event.Origin, loop string) {
	pid := os.Getpid()
	start, _ := process.StartTime(pid) // it lives
	switch at := slices.Index(line, process.ID{PID: pid, Start: start}); {
	case at > 0:
		return event.OriginAgent, ""
	case at == 0:
		line = line[1:]
	}
	of, found, err := registration.RunnerAmong(r.Home, line)
	if err != nil {
		r.warn(err) // the loops of the machine cannot be listed: only its own agent is known
	}
	switch {
	case !found:
		return event.OriginPerson, ""
	case slices.ContainsFunc(r.nested.outer, func(s registry.Status) bool { return s.Dir == of.Dir }):
		return event.OriginOuter, of.Name
	}
	return event.OriginOther, of.Name
}
