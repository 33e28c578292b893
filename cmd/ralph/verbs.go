package main

import (
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/launch"
)

// commands are all verbs, in the order of the help.
func commands() cli.Commands {
	return cli.Commands{
		{Name: "start", Help: "Start a detached loop and attach to it.", Group: cli.Daily, Verb: func() any { return new(startVerb) }},
		{Name: "attach", Help: "Show a loop's status, then follow and steer it; leaving does not stop it.", Group: cli.Daily, Verb: func() any { return new(attachVerb) }},
		{Name: "list", Help: "List the loops of this project, or all on this machine.", Group: cli.Daily, Verb: func() any { return new(listVerb) }},
		{Name: "steer", Help: "Send the agent a message now, in the middle of its turn if its protocol allows it.", Group: cli.Daily, Verb: func() any { return new(steerVerb) }},
		{Name: "answer", Help: "Answer a question of the agent, or list those that are open.", Group: cli.Daily, Verb: func() any { return new(answerVerb) }},
		{Name: "stop", Help: "Stop a loop after its iteration, or now.", Group: cli.Daily, Verb: func() any { return new(stopVerb) }},
		{Name: "status", Help: "Show the status of one loop.", Group: cli.Daily, Verb: func() any { return new(statusVerb) }},
		{Name: "why", Help: "Explain why a loop ended, waits or goes on, or why one event happened.", Group: cli.Daily, Verb: func() any { return new(whyVerb) }},
		{Name: "report", Help: "Write what a loop came to as one page: outcome, cost, iterations, what needs you.", Group: cli.Daily, Verb: func() any { return new(reportVerb) }},
		{Name: "diff", Help: "Show what the iterations of a loop changed in the work tree.", Group: cli.Daily, Verb: func() any { return new(diffVerb) }},
		{Name: "init", Help: "Ask for the settings of this project and write them.", Group: cli.Sometimes, Verb: func() any { return new(initVerb) }},
		{Name: "doctor", Help: "Show what will work here and what will not.", Group: cli.Sometimes, Verb: func() any { return new(doctorVerb) }},
		{Name: "plan", Help: "Write a plan, the stories of ralph/tasks.json, in a conversation with your agent, or check it.", Group: cli.Sometimes, Verb: func() any { return new(planVerb) }},
		{Name: "trust", Help: "Show what the settings of this project would run, and trust them.", Group: cli.Sometimes, Verb: func() any { return new(trustVerb) }},
		{Name: "run", Help: "Run a loop in the foreground, for scripts and CI.", Group: cli.Sometimes, Verb: func() any { return new(runVerb) }, Tag: `default:"withargs"`},
		{Name: "follow-up", Help: "Send the agent a message with its next prompt.", Group: cli.Sometimes, Verb: func() any { return new(followUpVerb) }},
		{Name: "pause", Help: "Pause a loop after its iteration.", Group: cli.Sometimes, Verb: func() any { return new(pauseVerb) }},
		{Name: "resume", Help: "Let a paused loop go on.", Group: cli.Sometimes, Verb: func() any { return new(resumeVerb) }},
		{Name: "set", Help: "Change a setting of a running loop.", Group: cli.Sometimes, Verb: func() any { return new(setVerb) }},
		{Name: "kill", Help: "End a loop and its agent at once.", Group: cli.Sometimes, Verb: func() any { return new(killVerb) }},
		{Name: "logs", Help: "Print the events of a loop.", Group: cli.Sometimes, Verb: func() any { return new(logsVerb) }},
		{Name: "replay", Help: "Play a loop again from its journal, offline.", Group: cli.Sometimes, Verb: func() any { return new(replayVerb) }},
		{Name: "merge", Help: "Merge the branch of a loop's worktree, once its guardrails pass on the result.", Group: cli.Sometimes, Verb: func() any { return new(mergeVerb) }},
		{Name: "fleet", Help: "Let several loops work through tasks at once, each in a worktree, and merge what they did.", Group: cli.Sometimes, Verb: func() any { return new(fleetVerb) }},
		{Name: "fork", Help: "Begin another loop as one was before an iteration, in a worktree of its own.", Group: cli.Sometimes, Verb: func() any { return new(forkVerb) }},
		{Name: "rollback", Help: "Put the files of the work tree back to how they were before an iteration.", Group: cli.Sometimes, Verb: func() any { return new(rollbackVerb) }},
		{Name: "clean", Help: "Remove loops that have ended, by name, age, size or status.", Group: cli.Sometimes, Verb: func() any { return new(cleanVerb) }},
		{Name: "archive", Help: "Move the plan, with a summary of what it came to, to ralph-archive/, and begin a new one.", Group: cli.Sometimes, Verb: func() any { return new(archiveVerb) }},
		{Name: "export", Help: "Write a loop and its repository to one file, to continue it on another machine.", Group: cli.Sometimes, Verb: func() any { return new(exportVerb) }},
		{Name: "import", Help: "Bring a loop from a file of ralph export, and its repository.", Group: cli.Sometimes, Verb: func() any { return new(importVerb) }},
		{Name: "notify", Help: "Send a test message to each channel of the settings.", Group: cli.Sometimes, Verb: func() any { return new(notifyVerb) }},
		{Name: "service", Help: "Let loops continue after the machine was switched off.", Group: cli.Sometimes, Verb: func() any { return new(serviceVerb) }},
		{Name: "plugin", Help: "Install ralph's commands, skills and hooks in an agent.", Group: cli.Sometimes, Verb: func() any { return new(pluginVerb) }},
		{Name: "web", Help: "Serve the loops of this machine to a browser or a phone.", Group: cli.Sometimes, Verb: func() any { return new(webVerb) }},
		{Name: "guard", Help: "Judge a command as the hook pre-tool-use does, without running it.", Group: cli.Sometimes, Verb: func() any { return new(guardVerb) }},
		{Name: "help", Help: "Show the help of all verbs, or of one.", Group: cli.Sometimes, Verb: func() any { return new(helpVerb) }},
		{Name: "journal", Help: "Verify, repair or rebuild what a journal holds.", Group: cli.Machines, Verb: func() any { return new(journalVerb) }},
		{Name: "mcp", Help: "For a client of the Model Context Protocol: serve the loops of this machine on stdin and stdout.", Group: cli.Machines, Verb: func() any { return new(mcpVerb) }},
		{Name: "acp", Help: "For an editor: start, watch and steer loops over the Agent Client Protocol.", Group: cli.Machines, Verb: func() any { return new(acpVerb) }},
		{Name: "completion", Help: "Print the script that completes command lines in bash, zsh or fish.", Group: cli.Machines, Verb: func() any { return new(completionVerb) }},
		{Name: "man", Help: "Print a page of the manual, or write all of them.", Group: cli.Machines, Verb: func() any { return new(manVerb) }},
		{Name: "rehearse", Help: "For a loop: an agent without a model, to rehearse a configuration with.", Group: cli.Machines, Verb: func() any { return new(rehearseVerb) }},
		{Name: "version", Help: "Print the version.", Group: cli.Machines, Verb: func() any { return new(versionVerb) }},
		{Name: "ask", Help: "For an agent: ask a person a question, and work on.", Group: cli.Agents, Verb: func() any { return new(askVerb) }},
		{Name: "wait", Help: "For an agent: have the loop wait for a person after this iteration.", Group: cli.Agents, Verb: func() any { return new(waitVerb) }},
		{Name: "blocked", Help: "For an agent: end the loop after this iteration, because only a person can help.", Group: cli.Agents, Verb: func() any { return new(blockedVerb) }},
		{Name: "hook", Help: "For an agent's settings: answer its hooks.", Group: cli.Agents, Verb: func() any { return new(hookVerb) }},
		{Name: "session", Help: "Hold a session of an interactive agent until its task is done.", Group: cli.Agents, Verb: func() any { return new(sessionVerb) }},
		{Name: "complete", Help: "Print what may come next on a command line, for the scripts of 'ralph completion'.", Verb: func() any { return new(completeVerb) }, Tag: cli.Hidden},
		{Name: "fleet-agent", Help: "The agent of a fleet; started by 'ralph fleet'.", Verb: func() any { return new(fleetAgentVerb) }, Tag: cli.Hidden},
		{Name: "inside", Help: "What ralph starts in a sandbox.", Verb: func() any { return new(insideVerb) }, Tag: cli.Hidden},
		{Name: "runner", Help: "The detached runner; started by 'ralph start'.", Verb: func() any { return new(launch.RunnerVerb) }, Tag: cli.Hidden},
	}
}
