package main

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/projector"
)

// order has the verbs as the help lists them.
const order = "start attach list steer answer stop status why report review diff blame init doctor plan holdout " +
	"trust run follow-up withdraw pause resume set kill logs replay merge fleet fork rollback prove " +
	"dismiss clean archive export " +
	"import fence notify service every pool plugin web guard help journal mcp acp completion man rehearse version ask wait " +
	"blocked hook session complete fleet-agent inside runner"

// features are the parts of the complete program that its core, built with the tag ralph_core, does
// not link: features.go fills them in. The core shows loops as plain text.
var features struct {
	verbs      cli.Commands
	fullScreen func(e *cli.Env, name, dir string, o attach.Options) error
	board      func(e *cli.Env, o boardOptions) error
	onHost     func(e *cli.Env, v verb, args []string) (bool, error)
	elsewhere  func(e *cli.Env, v *listVerb) ([]*projector.View, error)
}

// boardOptions say which loops the board of all loops shows.
type boardOptions struct{ here, running bool }

// commands are all verbs, in the order of the help.
func commands() cli.Commands {
	all := slices.Concat(core(), features.verbs)
	place := map[string]int{}
	for i, name := range strings.Fields(order) {
		place[name] = i
	}
	slices.SortFunc(all, func(a, b cli.Command) int { return place[a.Name] - place[b.Name] })
	return all
}

// core are the verbs that every program has.
func core() cli.Commands {
	return cli.Commands{
		{Name: "start", Help: "Start a detached loop and attach to it.", Group: cli.Daily, Verb: func() any { return new(startVerb) }},
		{Name: "attach", Help: "Show a loop's status, then follow and steer it; leaving does not stop it.",
			Group: cli.Daily, Verb: func() any { return new(attachVerb) }},
		{Name: "list", Help: "List the loops of this project, or all on this machine.", Group: cli.Daily, Verb: func() any { return new(listVerb) }},
		{Name: "steer", Help: "Send the agent a message now, in the middle of its turn if its protocol allows it.",
			Group: cli.Daily, Verb: func() any { return new(steerVerb) }},
		{Name: "answer", Help: "Answer a question of the agent, or list those that are open.", Group: cli.Daily, Verb: func() any { return new(answerVerb) }},
		{Name: "stop", Help: "Stop a loop after its iteration, or now.", Group: cli.Daily, Verb: func() any { return new(stopVerb) }},
		{Name: "status", Help: "Show the status of one loop.", Group: cli.Daily, Verb: func() any { return new(statusVerb) }},
		{Name: "diff", Help: "Show what the iterations of a loop changed in the work tree.", Group: cli.Daily, Verb: func() any { return new(diffVerb) }},
		{Name: "trust", Help: "Show what the settings of this project would run, and trust them.", Group: cli.Sometimes,
			Verb: func() any { return new(trustVerb) }},
		{Name: "run", Help: "Run a loop in the foreground, for scripts and CI.", Group: cli.Sometimes,
			Verb: func() any { return new(runVerb) }, Tag: `default:"withargs"`},
		{Name: "follow-up", Help: "Send the agent a message with its next prompt.", Group: cli.Sometimes, Verb: func() any { return new(followUpVerb) }},
		{Name: "withdraw", Help: "Take back a message that the agent does not have yet.", Group: cli.Sometimes, Verb: func() any { return new(withdrawVerb) }},
		{Name: "pause", Help: "Pause a loop after its iteration.", Group: cli.Sometimes, Verb: func() any { return new(pauseVerb) }},
		{Name: "resume", Help: "Let a paused loop continue.", Group: cli.Sometimes, Verb: func() any { return new(resumeVerb) }},
		{Name: "set", Help: "Change a setting of a running loop.", Group: cli.Sometimes, Verb: func() any { return new(setVerb) }},
		{Name: "kill", Help: "End a loop and its agent at once.", Group: cli.Sometimes, Verb: func() any { return new(killVerb) }},
		{Name: "fence", Help: "For a pool: end a loop that another host has, and keep it from being resumed here.", Group: cli.Machines,
			Verb: func() any { return new(fenceVerb) }},
		{Name: "logs", Help: "Print the events of a loop.", Group: cli.Sometimes, Verb: func() any { return new(logsVerb) }},
		{Name: "merge", Help: "Merge the branch of a loop's worktree, once its guardrails pass on the result.",
			Group: cli.Sometimes, Verb: func() any { return new(mergeVerb) }},
		{Name: "rollback", Help: "Put the files of the work tree back to how they were before an iteration.",
			Group: cli.Sometimes, Verb: func() any { return new(rollbackVerb) }},
		{Name: "dismiss", Help: "Take a loop out of those that need you, until it has worked again.",
			Group: cli.Sometimes, Verb: func() any { return new(dismissVerb) }},
		{Name: "clean", Help: "Remove loops that have ended, by name, age, size or status.", Group: cli.Sometimes, Verb: func() any { return new(cleanVerb) }},
		{Name: "help", Help: "Show the help of all verbs, or of one.", Group: cli.Sometimes, Verb: func() any { return new(helpVerb) }},
		{Name: "journal", Help: "Verify, repair or rebuild what a journal holds.", Group: cli.Machines, Verb: func() any { return new(journalVerb) }},
		{Name: "rehearse", Help: "For a loop: an agent without a model, to rehearse a configuration with.",
			Group: cli.Machines, Verb: func() any { return new(rehearseVerb) }},
		{Name: "version", Help: "Print the version.", Group: cli.Machines, Verb: func() any { return new(versionVerb) }},
		{Name: "ask", Help: "For an agent: ask a person a question, and work on.", Group: cli.Agents, Verb: func() any { return new(askVerb) }},
		{Name: "wait", Help: "For an agent: have the loop wait for a person after this iteration.", Group: cli.Agents,
			Verb: func() any { return new(waitVerb) }},
		{Name: "blocked", Help: "For an agent: end the loop after this iteration, because only a person can help.",
			Group: cli.Agents, Verb: func() any { return new(blockedVerb) }},
		{Name: "inside", Help: "What ralph starts in a sandbox.", Verb: func() any { return new(insideVerb) }, Tag: cli.Hidden},
		{Name: "runner", Help: "The detached runner; started by 'ralph start'.", Verb: func() any { return new(launch.RunnerVerb) }, Tag: cli.Hidden},
	}
}

// attachTo shows a loop, on the full screen where that is possible.
func attachTo(e *cli.Env, name, dir string, o attach.Options) error {
	o.Screen, o.Resume = features.fullScreen, resumeLoop
	return attach.Run(e, name, dir, o)
}
