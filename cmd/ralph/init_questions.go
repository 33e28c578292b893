package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/render"
)

// nothingWord takes away what an empty answer would keep.
const nothingWord = "none"

// askAgent asks for the agent. Where the settings name several, for the first of them.
func (d *dialogue) askAgent() error {
	name, was := "agent", d.was.Agent
	if len(d.was.Agents) > 0 {
		name, was = "agents", d.was.Agents[0]
		d.say("the settings name %d agents in order of preference; this is about the first", len(d.was.Agents))
	}
	agent, err := d.doc.first(name)
	if err != nil {
		return err
	}
	command, err := d.askAgentHere(was)
	if err != nil {
		return err
	}
	agent.set("command", command)
	flags, err := d.askFlags(command, was.Flags)
	if err != nil {
		return err
	}
	agent.setList("flags", flags)
	return d.doc.setFirst(name, agent)
}

// askAgentHere asks for an agent that works here. One that is not found is asked about, and may be meant all the same: the
// settings are the team's, and this machine is one of many. One that stands in them already is only said.
func (d *dialogue) askAgentHere(was askedAgent) (string, error) {
	for {
		command, err := d.askCommand(was.Command)
		if err != nil {
			return "", err
		}
		if was.Protocol != "" && command != was.Command {
			d.say("agent.protocol stays %s: see that this agent speaks it", was.Protocol)
		}
		agent := config.Agent{Command: command, Protocol: was.Protocol}
		f := candidateFinding(d.env, agent, false, asks(d.env))
		if f.State != works {
			d.say("%s", render.Clean(f.Says))
			if f.Hint != "" {
				d.say("hint: %s", render.Clean(f.Hint))
			}
		}
		if command == was.Command || present(agent) {
			return command, nil
		}
		answer, err := d.confirm("Use it anyway? (y/N): ")
		if err != nil || answer == yes {
			return command, err
		}
	}
}

// askCommand asks until there is an agent. What is found on PATH is taken from the second
// time on, so that a first empty answer chooses nothing by accident.
func (d *dialogue) askCommand(was string) (string, error) {
	here := installed()
	about := "e.g., claude, codex, amp, or other LLM CLI"
	if len(here) > 0 {
		about = "a number, or another program"
		choices := make([][2]string, len(here))
		for i, name := range here {
			choices[i][0] = name
		}
		d.offer("agents found here; a number chooses one", choices)
	}
	fallback := was
	for {
		command, err := d.ask("Agent command ("+about+")", fallback)
		if err != nil {
			return "", err
		}
		if command == "" {
			d.say("a loop needs an agent: the name of a program, or its path")
			if len(here) > 0 {
				fallback = here[0]
			}
			continue
		}
		if at := chosen(command, len(here)); at >= 0 {
			command = here[at]
		}
		s := config.Defaults()
		s.Agent.Command = command
		if d.accepts(s) {
			return command, nil
		}
	}
}

// installed returns the known agents that are on PATH, those that this ralph speaks with
// first.
func installed() []string {
	var spoken, others []string
	for _, known := range agentsKnown() {
		name := known.Program
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		if _, err := runner.Dialect(config.Agent{Command: name}); err == nil {
			spoken = append(spoken, name)
		} else {
			others = append(others, name)
		}
	}
	return append(spoken, others...)
}

func (d *dialogue) askFlags(command string, was []string) ([]string, error) {
	for {
		label := "Agent flags (comma-separated, optional)"
		if len(was) > 0 {
			label = "Agent flags (comma-separated, " + nothingWord + " for no flags)"
		}
		text, err := d.askOver(label, strings.Join(was, ","))
		if err != nil {
			return nil, err
		}
		flags := was
		switch text {
		case "":
		case nothingWord:
			flags = nil
		default:
			if flags, err = list(text); err != nil {
				d.say("%v", err)
				continue
			}
		}
		s := config.Defaults()
		s.Agent.Command, s.Agent.Flags = command, flags
		if d.accepts(s) {
			return flags, nil
		}
	}
}

// list reads what stands between commas; or a list in JSON, for those who need a comma in
// an entry.
func list(text string) ([]string, error) {
	var items []string
	if strings.HasPrefix(text, "[") {
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			return nil, errors.New("that begins as a list in JSON and is none: write A,B or [\"A\",\"B\"]")
		}
		return items, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items, nil
}

// askLoop asks when a loop is over.
func (d *dialogue) askLoop() error {
	defaults := config.Defaults()
	most := cmp.Or(d.was.MaximumIterations, defaults.MaximumIterations)
	for {
		text, err := d.ask("Maximum iterations", strconv.Itoa(most))
		if err != nil {
			return err
		}
		if most, err := strconv.Atoi(text); err == nil && most > 0 {
			d.doc.set("maximumIterations", most)
			break
		}
		d.say("%q is not a whole number above 0", text)
	}
	for {
		text, err := d.ask("Completion response", cmp.Or(d.was.CompletionResponse, defaults.CompletionResponse))
		if err != nil {
			return err
		}
		s := defaults
		if s.CompletionResponse = text; d.accepts(s) {
			d.doc.set("completionResponse", text)
			return nil
		}
	}
}

// askGuardrails adds to the guardrails that there are. One whose command is given again
// is changed.
func (d *dialogue) askGuardrails() error {
	rails, err := d.doc.objects("guardrails")
	if err != nil {
		return err
	}
	was := d.was.Guardrails
	if len(was) > 0 {
		commands := make([]string, len(was))
		for i, rail := range was {
			commands[i] = rail.Command
		}
		d.say("guardrails so far: %s; they stay, %q drops them all, and the command of one changes it", render.Clean(commas(commands)), nothingWord)
	}
	seen := slices.DeleteFunc(seenChecks(d.cwd), func(c check) bool {
		return slices.ContainsFunc(was, func(rail config.Guardrail) bool { return rail.Command == c.command })
	})
	choices := make([][2]string, len(seen))
	for i, c := range seen {
		choices[i] = [2]string{c.command, c.from}
	}
	d.offer("this project has these checks; a number adds one", choices)
	for {
		command, err := d.ask("Add guardrail command (leave blank to finish)", "")
		switch {
		case err != nil:
			return err
		case command == "":
			d.doc.setObjects("guardrails", rails)
			return nil
		case command == nothingWord && len(was) > 0:
			rails, was = nil, nil
			continue
		}
		if at := chosen(command, len(seen)); at >= 0 {
			command = seen[at].command
			d.say("guardrail %s", command)
		}
		at := slices.IndexFunc(was, func(rail config.Guardrail) bool { return rail.Command == command })
		if at < 0 {
			at = len(was)
			was, rails = append(was, config.Guardrail{Command: command}), append(rails, document{})
		}
		if err := d.askGuardrail(&rails[at], &was[at]); err != nil {
			return err
		}
	}
}

func (d *dialogue) askGuardrail(rail *document, was *config.Guardrail) error {
	actions := []string{config.FailAppend, config.FailPrepend, config.FailReplace}
	for {
		text, err := d.ask("  Fail action ("+strings.Join(actions, "|")+")", cmp.Or(was.FailAction, config.FailAppend))
		if err != nil {
			return err
		}
		if action := strings.ToUpper(text); slices.Contains(actions, action) {
			was.FailAction = action
			break
		}
		d.say("%q is none of %s", text, commas(actions))
	}
	label := "  Hint (optional, guidance for agent on failure)"
	if was.Hint != "" {
		label = "  Hint (guidance for agent on failure, " + nothingWord + " for no hint)"
	}
	hint, err := d.askOver(label, was.Hint)
	switch {
	case err != nil:
		return err
	case hint == nothingWord && was.Hint != "":
		was.Hint = ""
	case hint != "":
		was.Hint = hint
	}
	rail.set("command", was.Command)
	rail.set("failAction", was.FailAction)
	if was.Hint == "" {
		rail.drop("hint")
	} else {
		rail.set("hint", was.Hint)
	}
	return nil
}

// askSCM asks what happens in version control when all guardrails pass.
func (d *dialogue) askSCM() error {
	was := d.was.SCM
	label := "Configure SCM? (y/N): "
	if was.Command != "" {
		label = fmt.Sprintf("Configure SCM? (y/N, blank keeps %s): ", render.Clean(strings.TrimSpace(was.Command+" "+commas(was.Tasks))))
	}
	answer, err := d.confirm(label)
	if err != nil || answer == unsaid {
		return err
	}
	if answer == no {
		d.doc.drop("scm")
		return nil
	}
	scm, err := d.doc.first("scm")
	if err != nil {
		return err
	}
	command, err := d.ask("  SCM command (e.g., git)", cmp.Or(was.Command, "git"))
	if err != nil {
		return err
	}
	label = "  SCM tasks (comma-separated, e.g., commit,push)"
	if len(was.Tasks) > 0 {
		label = "  SCM tasks (comma-separated, " + nothingWord + " for no tasks)"
	}
	tasks, err := d.askTasks(label, was.Tasks)
	if err != nil {
		return err
	}
	if len(tasks) == 0 {
		d.say("without a task nothing is done in version control")
	}
	scm.set("command", command)
	scm.setList("tasks", tasks)
	return d.doc.setFirst("scm", scm)
}

func (d *dialogue) askTasks(label string, was []string) ([]string, error) {
	for {
		text, err := d.askOver(label, strings.Join(was, ","))
		switch {
		case err != nil:
			return nil, err
		case text == "":
			return was, nil
		case text == nothingWord:
			return nil, nil
		}
		tasks, err := list(text)
		if err == nil {
			return tasks, nil
		}
		d.say("%v", err)
	}
}

// accepts says whether settings are valid, and if not, why.
func (d *dialogue) accepts(s config.Settings) bool {
	err := config.Validate(s)
	if err != nil {
		d.say("%v", err)
	}
	return err == nil
}
