package main

import (
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/launch"
)

// commands are all verbs, in the order of the help.
func commands() cli.Commands {
	return cli.Commands{
		{Name: "init", Help: "Ask for the settings of this project and write them.", Verb: func() any { return new(initVerb) }},
		{Name: "plan", Help: "Write a plan, the stories of ralph/tasks.json, in a conversation with your agent, or check it.", Verb: func() any { return new(planVerb) }},
		{Name: "trust", Help: "Show what the settings of this project would run, and trust them.", Verb: func() any { return new(trustVerb) }},
		{Name: "run", Help: "Run a loop in the foreground, for scripts and CI.", Verb: func() any { return new(runVerb) }, Tag: `default:"withargs"`},
		{Name: "start", Help: "Start a detached loop and attach to it.", Verb: func() any { return new(startVerb) }},
		{Name: "attach", Help: "Show a loop's status, then follow and steer it; leaving does not stop it.", Verb: func() any { return new(attachVerb) }},
		{Name: "steer", Help: "Send the agent a message now, in the middle of its turn if its protocol allows it.", Verb: func() any { return new(steerVerb) }},
		{Name: "follow-up", Help: "Send the agent a message with its next prompt.", Verb: func() any { return new(followUpVerb) }},
		{Name: "answer", Help: "Answer a question of the agent, or list those that are open.", Verb: func() any { return new(answerVerb) }},
		{Name: "stop", Help: "Stop a loop after its iteration, or now.", Verb: func() any { return new(stopVerb) }},
		{Name: "pause", Help: "Pause a loop after its iteration.", Verb: func() any { return new(pauseVerb) }},
		{Name: "resume", Help: "Let a paused loop go on.", Verb: func() any { return new(resumeVerb) }},
		{Name: "wait", Help: "For an agent: have the loop wait for a person after this iteration.", Verb: func() any { return new(waitVerb) }},
		{Name: "blocked", Help: "For an agent: end the loop after this iteration, because only a person can help.", Verb: func() any { return new(blockedVerb) }},
		{Name: "ask", Help: "For an agent: ask a person a question, and work on.", Verb: func() any { return new(askVerb) }},
		{Name: "set", Help: "Change a setting of a running loop.", Verb: func() any { return new(setVerb) }},
		{Name: "kill", Help: "End a loop and its agent at once.", Verb: func() any { return new(killVerb) }},
		{Name: "list", Help: "List the loops of this project, or all on this machine.", Verb: func() any { return new(listVerb) }},
		{Name: "diff", Help: "Show what the iterations of a loop changed in the work tree.", Verb: func() any { return new(diffVerb) }},
		{Name: "fleet", Help: "Let several loops work through tasks at once, each in a worktree, and merge what they did.", Verb: func() any { return new(fleetVerb) }},
		{Name: "fork", Help: "Begin another loop as one was before an iteration, in a worktree of its own.", Verb: func() any { return new(forkVerb) }},
		{Name: "merge", Help: "Merge the branch of a loop's worktree, once its guardrails pass on the result.", Verb: func() any { return new(mergeVerb) }},
		{Name: "rollback", Help: "Put the files of the work tree back to how they were before an iteration.", Verb: func() any { return new(rollbackVerb) }},
		{Name: "export", Help: "Write a loop and its repository to one file, to continue it on another machine.", Verb: func() any { return new(exportVerb) }},
		{Name: "import", Help: "Bring a loop from a file of ralph export, and its repository.", Verb: func() any { return new(importVerb) }},
		{Name: "clean", Help: "Remove loops that have ended, by name, age, size or status.", Verb: func() any { return new(cleanVerb) }},
		{Name: "archive", Help: "Move the plan, with a summary of what it came to, to ralph-archive/, and begin a new one.", Verb: func() any { return new(archiveVerb) }},
		{Name: "web", Help: "Serve the loops of this machine to a browser or a phone.", Verb: func() any { return new(webVerb) }},
		{Name: "acp", Help: "For an editor: start, watch and steer loops over the Agent Client Protocol.", Verb: func() any { return new(acpVerb) }},
		{Name: "mcp", Help: "For a client of the Model Context Protocol: serve the loops of this machine on stdin and stdout.", Verb: func() any { return new(mcpVerb) }},
		{Name: "status", Help: "Show the status of one loop.", Verb: func() any { return new(statusVerb) }},
		{Name: "why", Help: "Explain why a loop ended, waits or goes on, or why one event happened.", Verb: func() any { return new(whyVerb) }},
		{Name: "report", Help: "Write what a loop came to as one page: outcome, cost, iterations, what needs you.", Verb: func() any { return new(reportVerb) }},
		{Name: "logs", Help: "Print the events of a loop.", Verb: func() any { return new(logsVerb) }},
		{Name: "replay", Help: "Play a loop again from its journal, offline.", Verb: func() any { return new(replayVerb) }},
		{Name: "journal", Help: "Verify, repair or rebuild what a journal holds.", Verb: func() any { return new(journalVerb) }},
		{Name: "doctor", Help: "Show what will work here and what will not.", Verb: func() any { return new(doctorVerb) }},
		{Name: "rehearse", Help: "For a loop: an agent without a model, to rehearse a configuration with.", Verb: func() any { return new(rehearseVerb) }},
		{Name: "hook", Help: "For an agent's settings: answer its hooks.", Verb: func() any { return new(hookVerb) }},
		{Name: "session", Help: "Hold a session of an interactive agent until its task is done.", Verb: func() any { return new(sessionVerb) }},
		{Name: "notify", Help: "Send a test message to each channel of the settings.", Verb: func() any { return new(notifyVerb) }},
		{Name: "service", Help: "Let loops continue after the machine was switched off.", Verb: func() any { return new(serviceVerb) }},
		{Name: "plugin", Help: "Install ralph's commands, skills and hooks in an agent.", Verb: func() any { return new(pluginVerb) }},
		{Name: "guard", Help: "Judge a command as the hook pre-tool-use does, without running it.", Verb: func() any { return new(guardVerb) }},
		{Name: "completion", Help: "Print the script that completes command lines in bash, zsh or fish.", Verb: func() any { return new(completionVerb) }},
		{Name: "man", Help: "Print a page of the manual, or write all of them.", Verb: func() any { return new(manVerb) }},
		{Name: "version", Help: "Print the version.", Verb: func() any { return new(versionVerb) }},
		{Name: "help", Help: "Show the help of all verbs, or of one.", Verb: func() any { return new(helpVerb) }},
		{Name: "complete", Help: "Print what may come next on a command line, for the scripts of 'ralph completion'.", Verb: func() any { return new(completeVerb) }, Tag: cli.Hidden},
		{Name: "fleet-agent", Help: "The agent of a fleet; started by 'ralph fleet'.", Verb: func() any { return new(fleetAgentVerb) }, Tag: cli.Hidden},
		{Name: "inside", Help: "What ralph starts in a sandbox.", Verb: func() any { return new(insideVerb) }, Tag: cli.Hidden},
		{Name: "runner", Help: "The detached runner; started by 'ralph start'.", Verb: func() any { return new(launch.RunnerVerb) }, Tag: cli.Hidden},
	}
}
