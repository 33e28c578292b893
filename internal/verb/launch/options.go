package launch

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/render"
)

// Options are the flags of run and start. Most set one setting each; --set sets those
// without a flag.
type Options struct {
	Prompt              string            `often:"" short:"p" type:"filled" placeholder:"TEXT" help:"The prompt of every iteration; - reads it from stdin."`
	PromptFile          string            `often:"" short:"f" type:"filled" placeholder:"FILE" help:"Read the prompt from this file, again for each iteration."`
	MaximumIterations   *int              `often:"" short:"m" placeholder:"N" help:"Stop after this many iterations."`
	CompletionResponse  *string           `short:"c" placeholder:"TEXT" help:"As --promise, but in <response>…</response>, in capital letters or not."`
	Promise             string            `placeholder:"TEXT" help:"What the agent says in <promise>…</promise> when the work is done."`
	StreamAgentOutput   *bool             `negatable:"" help:"Show what the agent prints."`
	Agent               string            `often:"" short:"a" complete:"agent" placeholder:"AGENT" help:"The agent: a name in the settings, a command, or a list of them in JSON, in order of preference."`
	Protocol            string            `placeholder:"NAME" help:"How the agent speaks: pi, claude, codex, amp, acp, text or rehearsal; inferred from its name."`
	Model               string            `placeholder:"NAME" help:"The model, in the agent's own spelling."`
	HostAgent           map[string]string `hidden:"" mapsep:"none" help:"The settings of the agent that a start takes if no others name one: the agent in whose session it is typed."`
	Set                 map[string]string `often:"" complete:"setting" placeholder:"KEY=VALUE" mapsep:"none" help:"Any other setting, such as limits.idle=5m; --limits.idle 5m is the same."`
	Tasks               bool              `often:"" help:"Work through the stories of ralph/tasks.json; so does a start without a prompt where that file is."`
	SkipReview          bool              `help:"With --tasks: review nothing; the iteration that implements a story also says that it is done."`
	ReviewCap           *int              `placeholder:"N" help:"With --tasks: review a story at most this many times."`
	AllowSharedWorktree bool              `help:"Start even if another loop works in the same work tree."`
	Trust               bool              `help:"Trust the settings of this project this once, whatever they run."`
	Worktree            *string           `often:"" placeholder:"BRANCH" help:"Work in a git worktree of the loop's own, in .ralph/NAME/worktree; without a branch on a new one, ralph/NAME."`
	Sandbox             *string           `often:"" xor:"sandbox" placeholder:"MODE" help:"Run the agent in a sandbox of this mode; without a mode in docker-sandbox for Claude Code, else in the strongest that works here, if one does."`
	NoSandbox           bool              `xor:"sandbox" help:"Run the agent in no sandbox, whatever the settings say."`
	NoGuard             bool              `help:"Do not give Claude Code and Codex ralph's hooks: the guard, warnings of a full context window, checks before a stop."`
	Anyway              bool              `help:"Skip the trial run of the guardrails, which refuses one that cannot run at all."`
	FollowPR            bool              `help:"Read the review comments on the branch's pull request, as follow-ups; the same as --scm.followPR."`
	ReflectEvery        *int              `hidden:"" help:"The same as --reflect.every."`
	HelpAll             cli.AllFlags      `often:"" help:"Show all flags."`
	Verbose             bool              `short:"V" help:"Print on stderr what ralph does."`
}

// flags returns the settings that were given on the command line. Their values follow the rules of
// a file: 0 iterations is an error, not a default.
func (p *Plan) flags() map[string]string {
	flags := map[string]string{}
	maps.Copy(flags, p.given)
	maps.Copy(flags, p.Set)
	for key, value := range map[string]string{
		"maximumIterations": flagText(p.MaximumIterations), "review.cap": flagText(p.ReviewCap),
		"reflect.every": flagText(p.ReflectEvery), "streamAgentOutput": flagText(p.StreamAgentOutput),
		"completion.promise": p.Promise, "agent": p.Agent,
	} {
		if value != "" {
			flags[key] = value
		}
	}
	if p.CompletionResponse != nil { // also an empty one, which is an error
		flags["completionResponse"] = *p.CompletionResponse
	}
	switch {
	case p.NoSandbox:
		flags["sandbox.mode"] = string(sandbox.None)
	case p.Sandbox == nil:
	case *p.Sandbox == "":
		mode := sandbox.DockerSandbox
		if !p.machine {
			mode = sandbox.Strongest(p.Worktree != nil || p.worktree != nil)
		}
		flags["sandbox.mode"] = string(mode)
	case strings.HasPrefix(*p.Sandbox, "{"):
		flags["sandbox"] = *p.Sandbox
	default:
		flags["sandbox.mode"] = *p.Sandbox
	}
	if p.NoGuard {
		flags["guard.hooks"] = "false"
	}
	if p.FollowPR {
		flags["scm.followPR"] = "true"
	}
	if p.SkipReview {
		flags["review.skip"] = "true"
	}
	if p.AllowSharedWorktree {
		flags["allowSharedWorktree"] = "true"
	}
	return flags
}

// flagText spells the value of a flag; it is empty if the flag was not given.
func flagText[T any](value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(*value)
}

// remember keeps the flags of a resumed loop that are not given again. If config.json cannot be
// read, it warns: limits and guardrails may be lost. config.json holds no secrets: they are taken
// from the environment and the settings, and one that is in neither is an error.
func (p *Plan) remember(e *cli.Env) error {
	_, before, err := runner.Frozen(p.Dir)
	if err != nil {
		if cli.Exists(p.Dir) { // if there is no loop, check reports it
			cli.Tell(e.Stderr, "the settings that loop %s was given on the command line are lost: %v", p.Name, err)
			cli.Tell(e.Stderr, "hint: only the project's settings apply now; repeat those of this loop alone")
		}
		return nil
	}
	now := p.flags()
	if now["agent"] != "" {
		// What was given of the agent before does not apply to another one.
		if was, err := config.Load(config.Source{Flags: before}); err == nil {
			for _, agent := range was.Settings.Candidates() {
				maps.DeleteFunc(before, func(key, _ string) bool { return strings.HasPrefix(key, agent.Key()+".") })
			}
		}
	}
	secrets := e.Environ
	if loaded, err := config.Load(config.Source{HomeDir: e.Home, ProjectDir: e.Root(), Env: e.Environ}); err == nil { // if not, load reports it
		secrets = slices.Concat(credentials.Secrets(loaded.Settings), secrets)
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, again := now[key]; again {
			continue
		}
		before[key], err = credentials.RestoreSecrets(key, before[key], secrets)
		if withheld, ok := errors.AsType[*credentials.WithheldError](err); ok {
			return cli.RefuseHinted(withheld)
		}
	}
	p.given = before
	return nil
}

// load merges all layers of settings.
func (p *Plan) load(e *cli.Env) (config.Loaded, error) {
	e.WarnSkippedFolder()
	away, workDir := p.Worktree != nil || p.workDir != e.Cwd, p.workDir
	if p.Worktree != nil {
		workDir = "" // it is not there yet
	}
	if away { // paths on the command line are relative to the current folder
		p.Agent = cli.RootedAgents(p.Agent, e.Cwd)
		for key, command := range p.Set {
			if row, _ := config.KeyOf(key); row.Name == "agent" || row.Name == "review.agent" || row.Name == "agents.NAME.command" {
				p.set(key, cli.RootedAgents(command, e.Cwd))
			}
		}
	}
	loaded, err := p.settings(e, workDir)
	if err != nil {
		return config.Loaded{}, err
	}
	for _, warning := range loaded.Warnings {
		cli.Tell(e.Stderr, "%s", warning)
	}
	if err := p.checkTrust(e, loaded); err != nil {
		return config.Loaded{}, err
	}
	if len(loaded.Settings.Candidates()) == 0 {
		if loaded, err = p.chooseAgent(e, workDir); err != nil {
			return config.Loaded{}, err
		}
	}
	if p.Sandbox != nil && *p.Sandbox == "" && !p.NoSandbox && !p.machine && runner.ServedByVM(loaded.Settings) == nil && sandbox.DockerSandbox.Check() == nil {
		p.machine = true
		var err error
		if loaded, err = p.settings(e, workDir); err != nil {
			return config.Loaded{}, err
		}
	}
	if err := p.addStories(e, &loaded); err != nil {
		return config.Loaded{}, err
	}
	if p.Verbose {
		if err := printLoaded(e, loaded); err != nil {
			return config.Loaded{}, err
		}
	}
	return loaded, nil
}

// chooseAgent adds an agent to settings that name none, as if a person had given it.
func (p *Plan) chooseAgent(e *cli.Env, workDir string) (config.Loaded, error) {
	if p.HostAgent["command"] == "" {
		var err error
		if p.Agent, err = ChooseAgent(e); err != nil {
			return config.Loaded{}, err
		}
		return p.settings(e, workDir)
	}
	p.Agent = p.HostAgent["command"]
	name := config.Settings{}.NameOf(p.Agent)
	for key, value := range p.HostAgent {
		if key != "command" && p.Set["agents."+name+"."+key] == "" && value != "" {
			p.set("agents."+name+"."+key, value)
		}
	}
	return p.settings(e, workDir)
}

// settings merges the layers. --protocol and --model are settings of the first agent.
func (p *Plan) settings(e *cli.Env, workDir string) (config.Loaded, error) {
	loaded, err := e.Settings(p.flags(), workDir)
	if err != nil || len(loaded.Settings.Agent) == 0 || p.Protocol == "" && p.Model == "" {
		return loaded, err
	}
	agent := loaded.Settings.Candidates()[0].Key()
	if p.Protocol != "" {
		p.set(agent+".protocol", p.Protocol)
	}
	if p.Model != "" {
		p.set(agent+".model", p.Model)
	}
	p.Protocol, p.Model = "", ""
	return e.Settings(p.flags(), workDir)
}

// set adds to --set. Other starts may share the map.
func (o *Options) set(key, value string) {
	given := map[string]string{}
	maps.Copy(given, o.Set)
	given[key] = value
	o.Set = given
}

// branch returns the folder whose branch the loop works on; "" for one on a branch of its own.
func (p *Plan) branch(e *cli.Env) string {
	switch {
	case p.worktree != nil:
		return p.worktree.Path
	case p.Worktree != nil:
		return ""
	}
	return e.Root()
}

// checkTrust refuses settings of the project that no person trusts. It asks, if it can.
func (p *Plan) checkTrust(e *cli.Env, loaded config.Loaded) error {
	if len(loaded.Asked()) == 0 {
		return nil
	}
	return p.confirmTrust(e, e.ReviewTrust(loaded), "the settings of this project")
}

// CheckTrust refuses settings of the project that no person trusts, before a verb other than start
// runs an agent. It asks, if it can. once lets them count this once.
func CheckTrust(e *cli.Env, loaded config.Loaded, once bool) error {
	return (&Plan{Start: Start{Options: Options{Trust: once}}}).checkTrust(e, loaded)
}

// CheckCommands refuses commands of ralph/tasks.json that no person trusts. It asks, if it can.
func CheckCommands(e *cli.Env, commands []string, once bool) error {
	return (&Plan{Start: Start{Options: Options{Trust: once}}}).confirmTrust(e, e.ReviewCommands(commands), "the verifyCommands of ralph/tasks.json")
}

// confirmTrust asks a person for trust, unless it is given. what is the thing to trust.
func (p *Plan) confirmTrust(e *cli.Env, c cli.TrustReview, what string) error {
	once, err := p.trustsOnce(e, c.Fingerprint())
	if err != nil || once {
		p.once = append(p.once, c.Fingerprint())
		return err
	}
	if c.Status() == cli.TrustGiven {
		return nil
	}
	if c.Err != nil {
		cli.Tell(e.Stderr, "%v", c.Err)
	}
	// Show all, also those that a flag overrides: only shown settings may be trusted.
	trusted, err := e.ConfirmTrust(c.About(), c.Lines(c.Parts), "look at them, then 'ralph trust'; "+cli.CountOnce)
	if err != nil {
		return err
	}
	if !trusted {
		return cli.Refuse("nothing was started; 'ralph trust' asks again", "%s are not trusted", what)
	}
	return c.Grant(e)
}

// trustsOnce reports whether a flag or the environment trusts settings with this fingerprint this
// once.
func (p *Plan) trustsOnce(e *cli.Env, fingerprint string) (bool, error) {
	if p.Trust {
		return true, nil
	}
	return e.TrustsOnce(fingerprint)
}

// printLoaded prints which files the settings come from, and the merged settings.
func printLoaded(e *cli.Env, loaded config.Loaded) error {
	for _, file := range loaded.Files {
		fmt.Fprintf(e.Stderr, "[ralph] Loading settings from %s\n", cli.Clean(file))
	}
	frozen, err := config.Freeze(loaded.Settings, nil)
	if err != nil {
		return err
	}
	masker := redact.New(slices.Concat(e.Environ, credentials.Secrets(loaded.Settings)))
	masked, _ := masker.Mask(frozen)
	fmt.Fprintln(e.Stderr, "[ralph] Merged configuration:")
	for line := range strings.Lines(string(masked)) {
		fmt.Fprintf(e.Stderr, "[ralph]   %s\n", render.Clean(strings.TrimSuffix(line, "\n")))
	}
	return nil
}
