//go:build !ralph_core

package main

import (
	"maps"

	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/board"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/fullscreen"
	"github.com/ralph-loop/ralph/internal/front/remote"
	"github.com/ralph-loop/ralph/registry"
)

// This is the only list of what the complete program has and its core has not: the screens, and the
// verbs whose files have this build tag.
func init() {
	features.fullScreen = fullscreen.Run
	features.board = func(e *cli.Env, o boardOptions) error {
		return board.Run(e, board.Options{Here: o.here, Running: o.running, Sources: elsewhere(e), Attach: func(e *cli.Env, s registry.Status) error {
			if l, ok := remote.Of(s); ok {
				return l.Attach(e)
			}
			return attachTo(e, s.Name, s.Dir, attach.Options{Head: s.Head})
		}})
	}
	features.onHost, features.elsewhere = onHost, listElsewhere
	features.verbs = cli.Commands{
		{Name: "why", Help: "Explain why a loop ended, waits or goes on, or why one event happened.", Group: cli.Daily,
			Verb: func() any { return new(whyVerb) }},
		{Name: "report", Help: "Write what a loop came to as one page: outcome, cost, iterations, what needs you.",
			Group: cli.Daily, Verb: func() any { return new(reportVerb) }},
		{Name: "prove", Help: "Try whether the guardrails can fail, on small changes of what a loop changed.",
			Group: cli.Sometimes, Verb: func() any { return new(proveVerb) }},
		{Name: "blame", Help: "Say which iteration, or which person, wrote the lines of a file.", Group: cli.Daily,
			Verb: func() any { return new(blameVerb) }},
		{Name: "review", Help: "Go through what a loop made, and approve it, send it back or put files back.",
			Group: cli.Daily, Verb: func() any { return new(reviewVerb) }},
		{Name: "init", Help: "Ask for the settings of this project and write them.", Group: cli.Sometimes, Verb: func() any { return new(initVerb) }},
		{Name: "doctor", Help: "Show what will work here and what will not.", Group: cli.Sometimes, Verb: func() any { return new(doctorVerb) }},
		{Name: "holdout", Help: "Keep guardrails that the agent cannot read, for when it says that it is done.", Group: cli.Sometimes,
			Verb: func() any { return new(holdoutVerb) }},
		{Name: "plan", Help: "Write a plan, the stories of ralph/tasks.json, in a conversation with your agent, or check it.",
			Group: cli.Sometimes, Verb: func() any { return new(planVerb) }},
		{Name: "replay", Help: "Play a loop again from its journal, offline.", Group: cli.Sometimes, Verb: func() any { return new(replayVerb) }},
		{Name: "fleet", Help: "Let several loops work through tasks at once, each in a worktree, and merge what they did.",
			Group: cli.Sometimes, Verb: func() any { return new(fleetVerb) }},
		{Name: "fork", Help: "Begin another loop as one was before an iteration, in a worktree of its own.",
			Group: cli.Sometimes, Verb: func() any { return new(forkVerb) }},
		{Name: "archive", Help: "Move the plan, with a summary of what it came to, to ralph-archive/, and begin a new one.",
			Group: cli.Sometimes, Verb: func() any { return new(archiveVerb) }},
		{Name: "export", Help: "Write a loop and its repository to one file, to continue it on another machine.",
			Group: cli.Sometimes, Verb: func() any { return new(exportVerb) }},
		{Name: "import", Help: "Bring a loop from a file of ralph export, and its repository.", Group: cli.Sometimes,
			Verb: func() any { return new(importVerb) }},
		{Name: "notify", Help: "Send a test message to each channel of the settings.", Group: cli.Sometimes, Verb: func() any { return new(notifyVerb) }},
		{Name: "service", Help: "Let loops continue after the machine was switched off.", Group: cli.Sometimes, Verb: func() any { return new(serviceVerb) }},
		{Name: "every", Help: "Start a loop again and again, at the times of a schedule.", Group: cli.Sometimes, Verb: func() any { return new(everyVerb) }},
		{Name: "plugin", Help: "Install ralph's commands, skills and hooks in an agent.", Group: cli.Sometimes, Verb: func() any { return new(pluginVerb) }},
		{Name: "pool", Help: "Share loops with other hosts: serve, join, mirror, submit, work.", Group: cli.Sometimes,
			Verb: func() any { return new(poolVerb) }},
		{Name: "web", Help: "Serve the loops of this machine to a browser or a phone.", Group: cli.Sometimes, Verb: func() any { return new(webVerb) }},
		{Name: "guard", Help: "Judge a command as the hook pre-tool-use does, without running it.",
			Group: cli.Sometimes, Verb: func() any { return new(guardVerb) }},
		{Name: "mcp", Help: "For a client of the Model Context Protocol: serve the loops of this machine on stdin and stdout.",
			Group: cli.Machines, Verb: func() any { return new(mcpVerb) }},
		{Name: "acp", Help: "For an editor: start, watch and steer loops over the Agent Client Protocol.",
			Group: cli.Machines, Verb: func() any { return new(acpVerb) }},
		{Name: "completion", Help: "Print the script that completes command lines in bash, zsh or fish.",
			Group: cli.Machines, Verb: func() any { return new(completionVerb) }},
		{Name: "man", Help: "Print a page of the manual, or write all of them.", Group: cli.Machines, Verb: func() any { return new(manVerb) }},
		{Name: "hook", Help: "For an agent's settings: answer its hooks.", Group: cli.Agents, Verb: func() any { return new(hookVerb) }},
		{Name: "session", Help: "Hold a session of an interactive agent until its task is done.", Group: cli.Agents,
			Verb: func() any { return new(sessionVerb) }},
		{Name: "complete", Help: "Print what may come next on a command line, for the scripts of 'ralph completion'.",
			Verb: func() any { return new(completeVerb) }, Tag: cli.Hidden},
		{Name: "fleet-agent", Help: "The agent of a fleet; started by 'ralph fleet'.", Verb: func() any { return new(fleetAgentVerb) }, Tag: cli.Hidden},
	}
}

// init says which of them are not for everyone.
func init() {
	maps.Copy(deeds, map[string]func(v verb) deed{
		"init":              func(verb) deed { return deed{what: "init"} },
		"fork":              func(verb) deed { return deed{what: "fork"} },
		"export":            func(verb) deed { return deed{what: "export"} },
		"import":            func(verb) deed { return deed{what: "import"} },
		"archive":           func(verb) deed { return deed{what: "archive"} },
		"holdout add":       func(verb) deed { return deed{what: "holdout add"} },
		"holdout list":      func(verb) deed { return deed{what: "holdout list"} },
		"holdout remove":    func(verb) deed { return deed{what: "holdout remove"} },
		"plugin install":    func(verb) deed { return deed{what: "plugin install"} },
		"plugin uninstall":  func(verb) deed { return deed{what: "plugin uninstall"} },
		"service install":   func(verb) deed { return deed{what: "service install"} },
		"service uninstall": func(verb) deed { return deed{what: "service uninstall"} },
		"service resume":    func(verb) deed { return deed{what: "service resume"} },
		"every add":         func(v verb) deed { return person("every", !v.(*everyAddVerb).Print) },
		"every run":         func(verb) deed { return deed{what: "every run"} },
		"every remove":      func(verb) deed { return deed{what: "every remove"} },
		"pool":              func(v verb) deed { return person("pool", !v.(*poolVerb).looks()) },
		"review":            func(v verb) deed { return person("review", v.(*reviewVerb).acts()) },
		"fleet":             func(v verb) deed { return person("--trust", v.(*fleetVerb).Trust) },
		"plan":              func(v verb) deed { return person("--trust", v.(*planVerb).Trust) },
		"prove":             func(v verb) deed { return person("--trust", v.(*proveVerb).Trust) },
		"acp":               func(v verb) deed { return person("--trust", v.(*acpVerb).Trust) },
	})
}
