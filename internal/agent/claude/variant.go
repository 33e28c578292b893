package claude

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// variant is another program that prints Claude Code's stream-json, and what it does differently.
// None can be steered or interrupted by a line, and each iteration gets a process of its own.
type variant struct {
	name  string
	flags [][]string // added, each with its value, unless the user gave it
	// the flag that stops its questions, and the others by which a person decides that
	yes []string
	// waits says that it waits without end for an answer to what it asks, so that it can only be
	// started if it asks nothing.
	waits bool
	model []string // the flags that take the model; the first is added

	// prompt is the flag in front of the prompt if that is the last argument; empty if it is
	// written to stdin.
	prompt string
	// each says that each message reports what it used, and the result nothing.
	each bool
}

// amp is Amp, as its documentation and the strings in version 0.0.1790142911-g7618fb describe it:
// it cannot be run without its service, so nothing of this was tried on the real program.
var amp = variant{
	name:   "amp",
	flags:  [][]string{{"--stream-json"}},
	yes:    []string{"--dangerously-allow-all"},
	model:  []string{"-m", "--mode"}, // low, medium, high or ultra: Amp chooses the model itself
	prompt: "-x", each: true,
}

// qwen is Qwen Code 0.24.4, for which package acp is better: there it can be steered.
var qwen = variant{
	name:  "qwen",
	flags: [][]string{{"--input-format", "stream-json"}, {"--output-format", "stream-json"}},
	yes:   []string{"--yolo", "-y", "--approval-mode"},
	waits: true,
	model: []string{"--model", "-m"},
}

// NewAmp returns the dialect for a process of Amp that has not been started yet.
func NewAmp() *Dialect { return newVariant(&amp) }

// NewQwen returns the dialect for a process of Qwen Code that has not been started yet.
func NewQwen() *Dialect { return newVariant(&qwen) }

func newVariant(v *variant) *Dialect {
	d := New(nil)
	d.variant = v
	return d
}

// AmpTextCommand is Amp as a plain program that prints its answer: protocol text.
func AmpTextCommand(spec agent.Spec) (agent.Command, error) {
	plain := amp
	plain.flags = nil
	return plain.command(spec)
}

// longestArgument is what Linux takes as one argument, less some room.
const longestArgument = 128<<10 - 64

// command returns the argv: <command> <flags> -x <prompt> for Amp, which wants these two together
// and last.
func (v *variant) command(spec agent.Spec) (agent.Command, error) {
	argv, err := spec.Argv(nil)
	if err != nil {
		return agent.Command{}, fmt.Errorf("%s: %w", v.name, err)
	}
	for _, flag := range v.flags {
		argv.Add(flag[0], flag[1:]...)
	}
	command := agent.Command{ParentDeath: true, CloseStdin: v.prompt != "", May: agent.ByItsFlags}
	if !argv.Has(v.yes...) {
		if err := v.permit(spec, argv, &command); err != nil {
			return agent.Command{}, err
		}
	}
	if spec.Provider != "" {
		return agent.Command{}, fmt.Errorf("%s: it takes no provider: choose it in its own settings", v.name)
	}
	if !argv.Has(v.model...) {
		argv.AddValue(v.model[0], spec.Model)
	}
	if command.Argv = argv.End(); v.prompt == "" {
		return command, nil
	}
	if argv.Has(v.prompt, "--execute") {
		return agent.Command{}, fmt.Errorf("%s: ralph sets %s itself: leave it out", v.name, v.prompt)
	}
	prompt := strings.ReplaceAll(spec.Prompt, "\x00", "") // which no argument can hold
	if strings.HasPrefix(prompt, "-") {
		prompt = " " + prompt // else it would be taken for a flag
	}
	if len(prompt) > longestArgument {
		return agent.Command{}, fmt.Errorf("%s: a prompt of %d bytes is too long: it is an argument of the program", v.name, len(prompt))
	}
	command.Argv = append(command.Argv, v.prompt, prompt)
	return command, nil
}

// permit adds flags for what the agent may do, and reports it. There is no flag for less than
// everything: its own settings decide then.
func (v *variant) permit(spec agent.Spec, argv *agent.Argv, command *agent.Command) error {
	switch {
	case !spec.Confined():
		argv.Add(v.yes[0])
		command.May = "everything (" + v.yes[0] + ")"
	case v.waits:
		return fmt.Errorf("%s: with permissions %s it would wait for a person without end: leave its protocol out, so that ralph uses ACP",
			v.name, spec.Permissions)
	default:
		command.May, command.Lax = "what its own settings allow", true
	}
	return nil
}

// usedByMessage reads what one message used. Amp gives messages no id, and prints each once.
func (d *Dialect) usedByMessage(message jsonscan.Value, out *agent.Decoded) {
	usage := message.Get("usage")
	if !usage.IsObject() {
		return
	}
	d.spent.byMessage = true
	u := readUse(usage)
	u.Model, u.known = message.Get("model").Text(), false
	out.Add(u.fact())
	if !u.Complete {
		out.UnreadUsage()
	}
}

// nextMessage names a message that has no id of its own.
func (d *Dialect) nextMessage() []byte {
	d.unnamed++
	return strconv.AppendInt(nil, int64(d.unnamed), 10)
}
