package main

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/process"
	"github.com/ralph-loop/ralph/internal/runner"
)

// A loop that an agent starts is a process that it leaves behind, and ends with the iteration, unless the settings of the
// outer loop let it live on. See docs/ending.md.

// around returns the loop by whose iteration or guardrail this program was started, and the mark of its processes; an empty mark
// where it was started by none.
func (e *env) around() (name, mark string) {
	return e.variable("RALPH_LOOP"), e.variable(process.MarkVariable)
}

// outlives says what becomes of a loop that is started within another, and refuses to promise that it lives on where it would not.
func (v *startVerb) outlives(e *env) error {
	name, mark := e.around()
	allowed := e.variable(runner.OutliveVariable) != ""
	switch {
	case mark == "":
		return nil
	case v.Outlive && !allowed:
		return refuse("leave --outlive out, or have a person set agent.outlive for loop "+name,
			"the settings of loop %s let no loop outlive the iteration that starts it", name)
	case v.Outlive:
		return nil
	case allowed:
		tell(e.stderr, "loop %s ends with the iteration of loop %s that starts it; --outlive lets it live on", v.Name, name)
	default:
		tell(e.stderr, "loop %s ends with the iteration of loop %s that starts it", v.Name, name)
	}
	return nil
}

// apart is the world of a runner: that of its starter, but for the mark where it is to outlive the loop around it.
func (v *startVerb) apart(e *env) *env {
	_, mark := e.around()
	if mark == "" || !v.Outlive {
		return e
	}
	own := *e
	own.environ = nil
	for _, entry := range e.environ {
		if !strings.HasPrefix(entry, process.MarkVariable+"=") {
			own.environ = append(own.environ, entry)
		}
	}
	own.environ = append(own.environ, process.MarkVariable+"="+process.Outliving(mark))
	return &own
}
