package main

import (
	"slices"
	"strings"
	"testing"
)

// free are the verbs that anyone may use, also an agent: they look, begin a loop within limits, or
// drop a command, which the loop's runner judges.
var free = []string{
	"attach", "steer", "follow-up", "withdraw", "answer", "pause", "resume", "wait", "blocked", "ask", "set", "list", "diff", "blame", "web", "mcp", "status",
	"why", "report", "logs", "replay", "journal verify", "journal rebuild", "journal export", "journal redecode", "journal conformance", "doctor",
	"rehearse", "hook post-tool-use", "hook pre-tool-use", "hook session-start", "hook stop", "hook user-prompt-submit", "session start", "session cancel", "session status", "notify", "service status", "every list", "every next", "plugin show", "guard", "completion", "man",
	"version", "help", "complete", "fleet-agent", "inside", "runner",
}

func TestEveryVerbHasRights(t *testing.T) {
	var names []string
	for _, c := range commands() {
		parser, err := commands().Parser([]string{c.Name}, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		for _, leaf := range parser.Model.Leaves(false) {
			names = append(names, strings.TrimPrefix(leaf.FullPath(), "ralph "))
		}
	}
	for _, name := range names {
		_, limited := deeds[name]
		if isFree := slices.Contains(free, name); isFree == limited {
			t.Errorf("%s is limited: %v, and free: %v; say in one of the lists who may use it", name, limited, isFree)
		}
	}
	for name := range deeds {
		if !slices.Contains(names, name) {
			t.Errorf("%s is no verb", name)
		}
	}
	for _, name := range slices.Concat(free, trusting) {
		if !slices.Contains(names, name) {
			t.Errorf("%s is no verb", name)
		}
	}
}
