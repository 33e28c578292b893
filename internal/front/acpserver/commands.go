package acpserver

import (
	"strings"

	"github.com/ralph-loop/ralph/inbox"
)

// A slashCommand is offered to the client's person.
type slashCommand struct{ name, about, hint string }

var slashCommands = []slashCommand{
	{"steer", "Send the agent a message in the middle of its turn, where it can take it; so does a prompt without a command.", "message"},
	{"follow-up", "Send the agent a message with its next prompt.", "message"},
	{"answer", "Answer a question of the agent.", "number and answer"},
	{"status", "Show what the loop does.", ""},
	{"stop", "Stop the loop after its iteration.", ""},
	{"pause", "Pause the loop after its iteration.", ""},
	{"resume", "Let a loop that was paused, waits or has ended go on.", ""},
	{"tasks", "As the first prompt: work through the stories of ralph/tasks.json.", ""},
}

// kinds are the commands that go to the inbox as they are.
var kinds = map[string]inbox.Kind{
	"steer": inbox.Steer, "follow-up": inbox.FollowUp, "stop": inbox.Stop, "pause": inbox.Pause, "resume": inbox.Resume,
}

// commandOf splits a slash command from what follows it. The name is empty if a prompt has none of
// ralph's commands: it may be one of the agent's.
func commandOf(text string) (name, rest string) {
	word, after, _ := strings.Cut(text, " ")
	if line, more, cut := strings.Cut(word, "\n"); cut {
		word, after = line, more+" "+after
	}
	for _, c := range slashCommands {
		if word == "/"+c.name {
			return c.name, strings.TrimSpace(after)
		}
	}
	return "", text
}

// commandList is the list of commands for a version of the protocol.
func commandList(version int) []object {
	list := make([]object, 0, len(slashCommands))
	for _, c := range slashCommands {
		o := object{"name": c.name, "description": c.about}
		if version == draft {
			o["type"] = "command"
		}
		switch {
		case c.hint != "" && version == draft:
			o["input"] = object{"type": "text", "hint": c.hint}
		case c.hint != "":
			o["input"] = object{"hint": c.hint}
		}
		list = append(list, o)
	}
	return list
}
