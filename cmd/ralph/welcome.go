package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// frontDoor is what 'ralph' alone says: the loops of this project. Where there are none, the loops that run elsewhere on this
// machine, and what to do next.
func frontDoor(e *env) error {
	v := listVerb{}
	here, err := v.survey(e)
	if err != nil {
		return err
	}
	if len(here) > 0 {
		if _, err := e.stdout.Write(v.table(e, here)); err != nil {
			return err
		}
		tell(e.stderr, "'ralph attach' shows one, 'ralph help' the verbs")
		return nil
	}
	elsewhere := listVerb{All: true}
	all, err := registry.Survey(e.home, nil)
	if err != nil {
		return err
	}
	page := ""
	running := slices.DeleteFunc(all, func(s registry.Status) bool { return !s.Live.Alive })
	if len(running) > 0 {
		page = "Running on this machine:\n\n" + string(elsewhere.table(e, running)) + "\n"
	}
	_, err = fmt.Fprint(e.stdout, page+welcome(firstAgent(), e.look().Width))
	return err
}

// firstAgent is the first agent that is installed, to name it where one is needed; claude where none is.
func firstAgent() string {
	for _, known := range agentsKnown() {
		if _, err := exec.LookPath(known.Program); err == nil {
			return known.Program
		}
	}
	return config.KnownAgents()[0].Program
}

// welcome is what somebody is told who has no loop here, in lines of so many columns; 0 for any.
func welcome(agent string, width int) string {
	steps := [][2]string{
		{"ralph doctor", "see which agents are here, and what works"},
		{"ralph init", "write the settings of this project"},
		{"ralph start -a " + agent + " -p 'TASK'", "start a loop; ctrl-d leaves it running"},
	}
	left := 0
	for _, step := range steps {
		left = max(left, render.Columns(step[0]))
	}
	var b strings.Builder
	paragraph := func(text string) {
		room := width
		if width <= 0 {
			room = 80
		}
		for _, row := range wrapped(text, room) {
			b.WriteString(row + "\n")
		}
	}
	paragraph("ralph runs a coding agent again and again, each time with a fresh context, until the work is proved done.")
	b.WriteString("\n")
	paragraph("There is no loop here yet. Three steps to the first:")
	b.WriteString("\n")
	for i, step := range steps {
		const margin, gap = 3, 2 // "1. "
		beside := width <= 0 || margin+left+gap+render.Columns(step[1]) <= width
		if beside {
			fmt.Fprintf(&b, "%d. %-*s  %s\n", i+1, left, step[0], step[1])
			continue
		}
		fmt.Fprintf(&b, "%d. %s\n", i+1, step[0])
		for _, row := range wrapped(step[1], width-margin-gap) {
			b.WriteString(strings.Repeat(" ", margin+gap) + row + "\n")
		}
	}
	b.WriteString("\n")
	paragraph("'ralph help' shows all verbs, 'ralph help start' one of them.")
	return b.String()
}
