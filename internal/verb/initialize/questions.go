package initialize

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
	"github.com/ralph-loop/ralph/render"
)

// nothingWord removes a value that an empty answer would keep.
const nothingWord = "none"

// until asks until an answer is accepted, and prints why one is not.
func (d *questions) until(ask func(label, value string) (string, error), label, value string, accept func(text string) error) error {
	for {
		text, err := ask(label, value)
		if err != nil {
			return err
		}
		if err = accept(text); err == nil {
			return nil
		}
		d.Say("%v", err)
	}
}

// askList asks for entries with commas between them. An empty answer keeps the value.
func (d *questions) askList(what, optional string, was []string, check func([]string) error) (items []string, err error) {
	if len(was) > 0 {
		name := what[strings.LastIndexByte(what, ' ')+1:]
		optional = nothingWord + " for no " + name
	}
	err = d.until(d.AskOver, fmt.Sprintf("%s (comma-separated, %s)", what, optional), strings.Join(was, ","), func(text string) (err error) {
		switch text {
		case "":
			items = was
		case nothingWord:
			items = nil
		default:
			if items, err = list(text); err != nil {
				return err
			}
		}
		return check(items)
	})
	return items, err
}

// list splits a text at commas; or it reads a list in JSON, for entries that contain a comma.
func list(text string) ([]string, error) {
	var items []string
	if strings.HasPrefix(text, "[") {
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			return nil, errors.New("that begins as a list in JSON, but is not one: write A,B or [\"A\",\"B\"]")
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

// offer lists what can be chosen by its number, if there is anything.
func (d *questions) offer(what string, choices [][2]string) {
	if len(choices) == 0 {
		return
	}
	width := 0
	for _, choice := range choices {
		width = max(width, render.Columns(choice[0]))
	}
	d.Say("%s:", what)
	for i, choice := range choices {
		fmt.Fprintln(d.Out, strings.TrimRight(fmt.Sprintf("  %d  %-*s  %s", i+1, width, choice[0], choice[1]), " "))
	}
}

// chosen returns the index that an answer chooses by its number; -1 if it is no number of the list.
func chosen(answer string, of int) int {
	n, err := strconv.Atoi(answer)
	if err != nil || n < 1 || n > of {
		return -1
	}
	return n - 1
}

// validWith checks the default settings with a change.
func validWith(change func(*config.Settings)) error {
	s := config.Defaults()
	change(&s)
	return config.Validate(s)
}

// askAgent asks for the agent. If the settings name several, it asks for the first.
func (d *questions) askAgent() error {
	words, was := slices.Clone(d.was.Agent), config.Agent{}
	if len(words) > 1 {
		d.Say("the settings name %d agents in order of preference; this is about the first", len(words))
	}
	settings := config.Settings{Agent: words, Agents: d.was.Agents}
	if len(words) > 0 {
		was = settings.Candidates()[0]
	} else {
		words = config.AgentNames{""}
	}
	command, err := d.askAgentHere(was)
	if err != nil {
		return err
	}
	var entry document
	if d.was.Agents[was.Name].Command != "" { // the name may be that of another program
		entry.set("command", command)
	} else {
		words[0] = command
	}
	d.agent = settings.NameOf(words[0])
	flags, err := d.askList("Agent flags", "optional", was.Flags, func(flags []string) error {
		return validWith(func(s *config.Settings) {
			s.Agents = map[string]config.Agent{d.agent: {Command: command, Flags: flags}}
		})
	})
	if err != nil {
		return err
	}
	d.doc.set("agent", words)
	return d.setAgent(entry, flags)
}

// setAgent writes the entry of the agent, which stays as it is otherwise. It leaves out one that
// says nothing.
func (d *questions) setAgent(changed document, flags []string) error {
	agents, err := d.doc.object("agents")
	if err != nil {
		return err
	}
	entry, err := agents.object(d.agent)
	if err != nil {
		return err
	}
	entry = overlay(entry, changed)
	if entry.setList("flags", flags); len(entry) > 0 {
		agents.setObject(d.agent, entry)
		d.doc.setObject("agents", agents)
	}
	return nil
}

// askAgentHere asks for an agent that works here. If its program is not found, a person has to
// confirm it: the settings are the team's, and other machines may have it. An agent that is in the
// settings already needs no confirmation.
func (d *questions) askAgentHere(was config.Agent) (string, error) {
	for {
		command, err := d.askCommand(was.Command)
		if err != nil {
			return "", err
		}
		agent := config.Agent{Command: command}
		if named := d.was.Agents[was.Name].Command != ""; named || agent.Key() == was.Key() {
			agent.Protocol = was.Protocol
		}
		if agent.Protocol != "" && command != was.Command {
			d.Say("%s.protocol stays %s: see that this agent speaks it", was.Key(), was.Protocol)
		}
		f := preflight.Program(d.Env, "agent", agent, false, preflight.Asks(d.Env))
		if f.State != preflight.Works {
			d.Say("%s", render.Clean(f.Says))
			if f.Hint != "" {
				d.Say("hint: %s", render.Clean(f.Hint))
			}
		}
		if command == was.Command || preflight.Present(agent) {
			return command, nil
		}
		answer, err := d.Confirm("Use it anyway? (y/N): ")
		if err != nil || answer == cli.Yes {
			return command, err
		}
	}
}

// askCommand asks until there is an agent. From the second time on, an empty answer chooses the
// first one on PATH, so that a first empty answer chooses nothing by accident.
func (d *questions) askCommand(was string) (command string, err error) {
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
	ask := func(label, _ string) (string, error) { return d.Ask(label, was) }
	err = d.until(ask, "Agent command ("+about+")", "", func(text string) error {
		if command = text; command == "" {
			if len(here) > 0 {
				was = here[0]
			}
			return errors.New("a loop needs an agent: the name of a program, or its path")
		}
		if at := chosen(command, len(here)); at >= 0 {
			command = here[at]
		}
		return validWith(func(s *config.Settings) { s.Agent = config.AgentNames{command} })
	})
	return command, err
}

// installed returns the known agents on PATH, those whose protocol is supported first.
func installed() []string {
	unsupported := func(name string) int {
		if _, err := runner.Dialect(config.Agent{Command: name}); err != nil {
			return 1
		}
		return 0
	}
	here := preflight.Installed()
	slices.SortStableFunc(here, func(a, b string) int { return unsupported(a) - unsupported(b) })
	return here
}

// askLoop asks when a loop is over.
func (d *questions) askLoop() error {
	defaults := config.Defaults()
	most := strconv.Itoa(cmp.Or(d.was.MaximumIterations, defaults.MaximumIterations))
	err := d.until(d.Ask, "Maximum iterations", most, func(text string) error {
		most, err := strconv.Atoi(text)
		if err != nil || most <= 0 {
			return fmt.Errorf("%q is not a whole number above 0", text)
		}
		d.doc.set("maximumIterations", most)
		return nil
	})
	if err != nil {
		return err
	}
	return d.until(d.Ask, "Completion response", cmp.Or(d.was.CompletionResponse, defaults.CompletionResponse), func(text string) error {
		d.doc.set("completionResponse", text)
		return validWith(func(s *config.Settings) { s.CompletionResponse = text })
	})
}

// askGuardrails adds to the guardrails that there are. The command of one that exists changes it.
func (d *questions) askGuardrails() error {
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
		d.Say("guardrails so far: %s; they stay; %q removes them all, and the command of one changes it",
			render.Clean(strings.Join(commands, ", ")), nothingWord)
	}
	seen := slices.DeleteFunc(seenChecks(d.Cwd), func(c check) bool {
		return slices.ContainsFunc(was, func(rail config.Guardrail) bool { return rail.Command == c.command })
	})
	choices := make([][2]string, len(seen))
	for i, c := range seen {
		choices[i] = [2]string{c.command, c.from}
	}
	d.offer("this project has these checks; a number adds one", choices)
	for {
		command, err := d.Ask("Add guardrail command (leave blank to finish)", "")
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
			d.Say("guardrail %s", command)
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

func (d *questions) askGuardrail(rail *document, was *config.Guardrail) error {
	actions := []string{config.FailAppend, config.FailPrepend, config.FailReplace}
	err := d.until(d.Ask, "  Fail action ("+strings.Join(actions, "|")+")", cmp.Or(was.FailAction, config.FailAppend), func(text string) error {
		if was.FailAction = strings.ToUpper(text); !slices.Contains(actions, was.FailAction) {
			return fmt.Errorf("%q is none of %s", text, strings.Join(actions, ", "))
		}
		return nil
	})
	if err != nil {
		return err
	}
	label := "  Hint (optional, guidance for agent on failure)"
	if was.Hint != "" {
		label = "  Hint (guidance for agent on failure, " + nothingWord + " for no hint)"
	}
	hint, err := d.AskOver(label, was.Hint)
	if err != nil {
		return err
	}
	if hint == nothingWord && was.Hint != "" {
		was.Hint = ""
	} else {
		was.Hint = cmp.Or(hint, was.Hint)
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
func (d *questions) askSCM() error {
	was := d.was.SCM
	label := "Configure SCM? (y/N): "
	if was.Command != "" {
		label = fmt.Sprintf("Configure SCM? (y/N, blank keeps %s): ", render.Clean(strings.TrimSpace(was.Command+" "+strings.Join(was.Tasks, ", "))))
	}
	answer, err := d.Confirm(label)
	if err != nil || answer == cli.Unsaid {
		return err
	}
	if answer == cli.No {
		d.doc.drop("scm")
		return nil
	}
	scm, err := d.doc.object("scm")
	if err != nil {
		return err
	}
	command, err := d.Ask("  SCM command (e.g., git)", cmp.Or(was.Command, "git"))
	if err != nil {
		return err
	}
	tasks, err := d.askList("  SCM tasks", "e.g., commit,push", was.Tasks, func([]string) error { return nil })
	if err != nil {
		return err
	}
	if len(tasks) == 0 {
		d.Say("without a task nothing is done in version control")
	}
	scm.set("command", command)
	scm.setList("tasks", tasks)
	d.doc.setObject("scm", scm)
	return nil
}
