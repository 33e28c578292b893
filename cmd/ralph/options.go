package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/runner"
	tasks "github.com/ralph-loop/ralph/internal/task"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// loopOptions are what a loop can be told on the command line: the same for run
// and start. Each stands for a setting; --set reaches the ones without a flag.
type loopOptions struct {
	Prompt             string            `short:"p" placeholder:"TEXT" help:"The prompt of every iteration; - reads it from stdin."`
	PromptFile         string            `short:"f" placeholder:"FILE" help:"A file that is read anew for each iteration's prompt."`
	MaximumIterations  *int              `short:"m" placeholder:"N" help:"Stop after so many iterations."`
	CompletionResponse *string           `short:"c" placeholder:"TEXT" help:"What the agent says in <response>…</response> when the work is done."`
	Promise            string            `placeholder:"TEXT" help:"What the agent says in <promise>…</promise> when the work is done."`
	StreamAgentOutput  *bool             `negatable:"" help:"Show what the agent prints."`
	Agent              string            `short:"a" placeholder:"COMMAND" help:"The agent's command."`
	Protocol           string            `placeholder:"NAME" help:"How the agent speaks: pi, claude, codex, amp, acp, text or rehearsal; inferred from its name."`
	Model              string            `placeholder:"NAME" help:"The model, in the agent's own spelling."`
	Set                map[string]string `placeholder:"KEY=VALUE" mapsep:"none" help:"Any other setting, such as limits.idle=5m; --limits.idle 5m is the same."`
	Share              bool              `help:"Work in a work tree in which another loop is at work."`
	Trust              bool              `help:"Let the settings of this project count this once, whatever they run."`
	ReflectEvery       *int              `hidden:"" help:"Another name of --reflect.every."`
	Verbose            bool              `short:"V" help:"Say on stderr what ralph does."`

	before  map[string]string // settings that the loop which is resumed was given
	workDir string            // the agent's
}

// flags returns the settings that were given on the command line.
func (o *loopOptions) flags() map[string]string {
	flags := map[string]string{}
	maps.Copy(flags, o.before)
	for key, value := range o.Set {
		flags[key] = value
	}
	give := func(key, value string) {
		if value != "" {
			flags[key] = value
		}
	}
	// What was given is held to the same rules as a file: 0 iterations is an error, not a
	// default.
	if o.MaximumIterations != nil {
		flags["maximumIterations"] = fmt.Sprint(*o.MaximumIterations)
	}
	if o.ReflectEvery != nil {
		flags["reflect.every"] = fmt.Sprint(*o.ReflectEvery)
	}
	if o.CompletionResponse != nil {
		flags["completionResponse"] = *o.CompletionResponse
	}
	if o.StreamAgentOutput != nil {
		flags["streamAgentOutput"] = fmt.Sprint(*o.StreamAgentOutput)
	}
	if o.Share {
		flags["share"] = "true"
	}
	give("completion.promise", o.Promise)
	give("agent.command", o.Agent)
	give("agent.protocol", o.Protocol)
	give("agent.model", o.Model)
	return flags
}

// remember lets a resumed loop keep the settings that it was given on the command line, where none
// is given again. Where config.json cannot be read that is said: limits and guardrails may be among what is lost. Secrets are not
// in it: they are taken from the environment and the settings, and one that is in neither is an error.
func (o *loopOptions) remember(e *env, dir string) error {
	_, before, err := runner.Frozen(dir)
	if err != nil {
		if _, missing := os.Lstat(dir); missing == nil { // else there is no loop, which is said soon
			tell(e.stderr, "what loop %s was given on the command line is not known any more: %v", filepath.Base(dir), err)
			tell(e.stderr, "hint: only the project's settings hold now; give again what was meant for this loop alone")
		}
		return nil
	}
	now := o.flags()
	if now["agent.command"] != "" || now["agents"] != "" {
		// Another agent: what was said of the one before does not hold for it.
		maps.DeleteFunc(before, func(key, _ string) bool { return key == "agents" || strings.HasPrefix(key, "agent.") })
	}
	if err := e.recall(before, now); err != nil {
		return err
	}
	o.before = before
	return nil
}

// recall puts the secrets back into settings that a loop was given, but for those that are given again.
func (e *env) recall(before, now map[string]string) error {
	entries := e.environ
	if loaded, err := config.Load(config.Source{HomeDir: e.home, ProjectDir: e.root(), Env: e.environ}); err == nil { // else it is refused soon
		entries = slices.Concat(runner.Secrets(loaded.Settings), entries)
	}
	for _, key := range sortedKeys(before) {
		if _, again := now[key]; again {
			continue
		}
		value, err := runner.Recall(key, before[key], entries)
		if withheld, ok := errors.AsType[*runner.WithheldError](err); ok {
			return &failure{err: err, code: event.ExitUsage, hint: withheld.Hint()}
		}
		before[key] = value
	}
	return nil
}

// load merges all layers of settings.
func (o *loopOptions) load(e *env) (config.Loaded, error) {
	e.tellForeign()
	if o.workDir != e.cwd { // what is said here is about the current folder
		o.Agent = rooted(o.Agent, e.cwd)
		if command := o.Set["agent.command"]; command != "" {
			o.Set["agent.command"] = rooted(command, e.cwd)
		}
	}
	loaded, err := e.settings(o.flags(), o.workDir)
	if err != nil {
		return config.Loaded{}, err
	}
	for _, warning := range loaded.Warnings {
		tell(e.stderr, "%s", warning)
	}
	if err := o.trusts(e, loaded); err != nil {
		return config.Loaded{}, err
	}
	if err := warnIdle(e, loaded); err != nil {
		return config.Loaded{}, err
	}
	if o.Verbose {
		if err := sayLoaded(e, loaded); err != nil {
			return config.Loaded{}, err
		}
	}
	if len(loaded.Settings.Candidates()) == 0 {
		return config.Loaded{}, refuse(agentHint(), "no agent is chosen")
	}
	if err := suits(e, loaded.Settings); err != nil {
		return config.Loaded{}, err
	}
	return loaded, nil
}

// agentHint says how to choose an agent, of those that are installed.
func agentHint() string {
	var installed []string
	for _, known := range config.KnownAgents() {
		if _, err := exec.LookPath(known.Program); err == nil && !known.Bridge {
			installed = append(installed, known.Program)
		}
	}
	choose := "give one with --agent, or let 'ralph init' ask for it"
	if len(installed) == 0 {
		return choose + "; of those that ralph knows, none is on PATH"
	}
	return choose + "; installed here: " + commas(installed)
}

// warnIdle says which settings were given that nothing acts on. Whoever locks an agent in, or gives
// it a work tree of its own, relies on it: without that no agent is started.
func warnIdle(e *env, loaded config.Loaded) error {
	const hint = "take it out to run the agent with your own rights in this folder, or start ralph itself where the agent may do no harm"
	switch s := loaded.Settings; {
	case s.Sandbox.Mode != config.SandboxNone:
		return refuse(hint, "sandbox.mode is %s (%s), and this version cannot lock an agent in", s.Sandbox.Mode, loaded.Origins["sandbox.mode"])
	case s.Worktree != "":
		return refuse(hint, "worktree is %s (%s), and this version has no work trees", s.Worktree, loaded.Origins["worktree"])
	}
	var idle []string
	for _, key := range sortedKeys(loaded.Origins) {
		if idleSetting(key) {
			idle = append(idle, key)
		}
	}
	if len(idle) > 0 {
		tell(e.stderr, "this version does not act on %s yet", strings.Join(idle, ", "))
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// task says where the prompt of a new loop comes from.
type task struct {
	text string
	file string // absolute
}

// source returns the prompt's source: -p, -f, or the loop's own task.md, which is made from the task file where one is given.
func (o *loopOptions) source(e *env, loopDir, taskFile string) (task, error) {
	if taskFile != "" {
		given, err := readable(e, taskFile)
		if err == nil {
			err = adopt(given.file, filepath.Join(loopDir, taskName))
		}
		if err != nil {
			return task{}, err
		}
	}
	switch {
	case o.Prompt != "" && o.PromptFile != "":
		return task{}, refuse("give one of them", "--prompt and --prompt-file are both given")
	case o.Prompt != "":
		return task{text: o.Prompt}, nil
	case o.PromptFile != "":
		return readable(e, o.PromptFile)
	}
	return e.ownTask(loopDir)
}

// ownTask takes the loop's own task.md for its prompt. Where there is none it is made from the template, for a person to fill in:
// an agent would be paid for reading an empty one.
func (e *env) ownTask(loopDir string) (task, error) {
	own := filepath.Join(loopDir, taskName)
	hint := fmt.Sprintf("write in it what is to be done, then 'ralph start %s'; or give the task with -p TEXT, -f FILE or --task FILE", filepath.Base(loopDir))
	if err := e.prepare(loopDir); err != nil {
		return task{}, err
	}
	made, err := tasks.Create(loopDir, tasks.Template(""))
	blank := false
	if err == nil && !made {
		blank, err = tasks.IsBlank(loopDir)
	}
	switch {
	case err != nil:
		return task{}, refuse("put a file of words in its place", "%w", err)
	case made:
		return task{}, refuse(hint, "there is no task yet: %s is made from the template", e.short(own))
	case blank:
		return task{}, refuse(hint, "there is no task yet: %s is the template as it was made", e.short(own))
	}
	return task{file: own}, nil
}

const taskName = "task.md"

// readable checks a prompt file before anything is begun.
func readable(e *env, name string) (task, error) {
	path := e.abs(name)
	text, err := os.ReadFile(path)
	if err != nil {
		return task{}, refuse("write the file, or name another", "read the prompt: %w", err)
	}
	if strings.TrimSpace(string(text)) == "" {
		return task{}, refuse("say in it what is to be done", "read the prompt: %s is empty", name)
	}
	return task{file: path}, nil
}

// adopt copies a task into the loop's folder and never over another.
func adopt(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("make the loop's folder: %w", err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return refuse("leave --task out to go on with it, or use --fresh", "the loop has a %s already", taskName)
	}
	if err != nil {
		return fmt.Errorf("write the task: %w", err)
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// short returns a path as a person in the current folder would write it.
func (e *env) short(path string) string {
	if rel, err := filepath.Rel(e.cwd, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// usageError says whether a person has to change something to get further.
func usageError(err error) bool {
	if _, ok := errors.AsType[*config.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*registry.NameError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*registry.HomeError](err); ok {
		return true
	}
	_, ok := errors.AsType[*registry.HeldError](err)
	return ok
}
