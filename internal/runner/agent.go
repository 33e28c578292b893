package runner

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/acp"
	"github.com/ralph-loop/ralph/internal/agent/claude"
	"github.com/ralph-loop/ralph/internal/agent/codex"
	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/agent/fleetagent"
	"github.com/ralph-loop/ralph/internal/agent/pi"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
	"github.com/ralph-loop/ralph/internal/agent/text"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/otlp"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal/event"
)

// dialects are the agents that this ralph speaks with.
var dialects = map[string]func() agent.Dialect{
	"amp":       func() agent.Dialect { return claude.NewAmp() },
	"pi":        func() agent.Dialect { return pi.New() },
	"rehearsal": func() agent.Dialect { return rehearsal.New(OwnProgram(), player.Check) },
}

// Ask asks an agent's program what it can do: see [agent.Ask].
type Ask = agent.Ask

// Dialect returns a new conversation in the protocol of the settings' agent. It does not probe the
// agent's program.
func Dialect(a config.Agent) (agent.Dialect, error) { return dialect(a, nil) }

func dialect(a config.Agent, ask Ask) (agent.Dialect, error) {
	protocol := a.ResolvedProtocol()
	switch program := a.Program(); {
	case protocol == config.ProtocolCodex:
		return codex.New(codex.Native, ask), nil
	case protocol == config.ProtocolText:
		return plain(a, ask), nil
	case protocol == config.ProtocolACP:
		return acp.New(program), nil
	case protocol == config.ProtocolClaude && (program == "qwen" || program == "qwen-code"):
		return claude.NewQwen(), nil
	case protocol == config.ProtocolClaude:
		if known, _ := config.KnownProgram(program); known.Program != "claude" {
			ask = noAnswer // other programs with this protocol may take the probe for a prompt
		}
		return claude.New(ask), nil
	}
	create, ok := dialects[protocol]
	if !ok {
		return nil, fmt.Errorf("this ralph does not support %s.protocol %q", a.Key(), protocol)
	}
	return create(), nil
}

// noAnswer is the Ask of a program that must not be probed.
func noAnswer([]string) (said string, code int, ok bool) { return "", 0, false }

// plain runs an agent as a program that prints. Known agents get the flags that keep them from
// starting an interactive session.
func plain(a config.Agent, ask Ask) agent.Dialect {
	if argv, err := a.Argv(); err == nil && len(argv) > 1 && argv[1] == fleetagent.Verb && filepath.Base(argv[0]) == filepath.Base(OwnProgram()) {
		return fleetagent.New()
	}
	switch known, _ := a.Known(); known.Program {
	case "claude":
		return text.NewKnown(claude.TextCommand)
	case "amp":
		return text.NewKnown(claude.AmpTextCommand)
	case "codex":
		return text.NewKnown(func(spec agent.Spec) (agent.Command, error) { return codex.TextCommand(spec, codex.Native, ask) })
	}
	return text.New()
}

// Prepared returns a conversation with the settings' command and flags, and the command that would
// be started in dir, an absolute path. The error names the setting that cannot be used. With a nil
// ask it assumes a current version of the program.
func Prepared(a config.Agent, dir string, ask Ask) (agent.Dialect, agent.Command, error) {
	dialect, err := dialect(a, ask)
	if err != nil {
		return nil, agent.Command{}, err
	}
	spec, err := specOf(a)
	if err != nil {
		return nil, agent.Command{}, err
	}
	spec.Dir = dir
	command, err := dialect.Command(spec)
	if err != nil {
		return nil, agent.Command{}, err
	}
	return dialect, command, nil
}

// specOf returns how the settings start their agent.
func specOf(a config.Agent) (agent.Spec, error) {
	command, err := config.Agent{Command: a.Command}.Argv()
	if err != nil {
		return agent.Spec{}, err
	}
	flags, err := config.SplitFlags(a.Flags)
	if err != nil {
		return agent.Spec{}, err
	}
	if a.ResolvedProtocol() != config.ProtocolPi {
		for _, only := range []struct {
			key   string
			given bool
		}{{"extensions", len(a.Extensions) > 0}, {"skills", len(a.Skills) > 0}, {"sessionDir", a.SessionDir != ""}} {
			if only.given {
				return agent.Spec{}, fmt.Errorf("%s.%s is of pi, and %s uses protocol %s: leave it out", a.Key(), only.key, a.Command, a.ResolvedProtocol())
			}
		}
	}
	if a.Session != "" && !resumable(a) {
		return agent.Spec{}, fmt.Errorf("%s.session: an agent of protocol %s cannot go on from an earlier session: leave it out", a.Key(), a.ResolvedProtocol())
	}
	return agent.Spec{
		SessionDir: a.SessionDir, Extensions: a.Extensions, Skills: a.Skills,
		Command: command, Flags: flags, Model: a.Model, Provider: a.Provider, Thinking: a.Thinking, Root: os.Geteuid() == 0, Permissions: a.Permissions,
	}, nil
}

// GetsHooks reports whether an agent is given ralph's hooks: Claude Code and Codex are, if their
// program is known by its name.
func GetsHooks(s config.Settings, a config.Agent) bool {
	known, ok := config.KnownProgram(a.Program())
	return ok && s.Guard.Hooks && filepath.Base(OwnProgram()) == "ralph" && (known.Program == "claude" || known.Program == "codex") &&
		(a.ResolvedProtocol() == known.Protocol || a.ResolvedProtocol() == config.ProtocolText)
}

// resumable reports whether the agent can continue an earlier session.
func resumable(a config.Agent) bool {
	switch a.ResolvedProtocol() {
	case config.ProtocolPi:
		return true
	case config.ProtocolClaude:
		known, _ := config.KnownProgram(a.Program())
		return known.Program != "qwen"
	}
	return false
}

// resumed returns the session that an iteration continues: only the first iteration does, or the
// one that replaces it after a refund.
func (r *runner) resumed(a config.Agent, p agent.Prompt) (string, error) {
	if a.Session == "" || p.Purpose != "" {
		return "", nil
	}
	if p.Iteration > 1 {
		// The decision for this iteration is on the disk.
		state, err := loopstate.Rebuild(r.Dir)
		if err != nil || state.Budget.Counted > 1 {
			return "", err
		}
	}
	return a.Session, nil
}

// OwnProgram returns the program that plays rehearsals: ralph itself, or ralph on PATH if its own
// path is unknown.
func OwnProgram() string {
	if self, err := os.Executable(); err == nil {
		return self
	}
	return "ralph"
}

// about describes each agent that the loop may run, for the journal.
func (r *runner) about() []event.Agent {
	var agents []event.Agent
	names := config.Names(r.Settings.AllAgents())
	for i, a := range r.Settings.AllAgents() {
		known, _ := a.Known()
		keys := r.keys[i]
		agents = append(agents, event.Agent{
			Protocol: a.ResolvedProtocol(), Command: append([]string{a.Command}, a.Flags...), Login: keys.Hint(known.Login), Keys: keys.Event(),
		})
		if len(names) > 1 {
			agents[i].Name = names[i]
		}
	}
	return agents
}

// agent returns what a session needs for an iteration. The settings were checked
// before the loop began.
func (r *runner) agent(place int, p agent.Prompt) (agent.Config, error) {
	candidates := r.Settings.AllAgents()
	if place >= len(candidates) {
		return agent.Config{}, fmt.Errorf("the settings have no agent %d", place+1)
	}
	a, about := candidates[place], r.about()[place]
	dialect, err := dialect(a, r.prober(place))
	if err != nil {
		return agent.Config{}, err
	}
	spec, err := specOf(a)
	if err != nil {
		return agent.Config{}, err
	}
	if spec.Resume, err = r.resumed(a, p); err != nil {
		return agent.Config{}, fmt.Errorf("look for the first iteration: %w", err)
	}
	spec.Dir, spec.LoopDir = r.WorkDir, r.Dir
	spec.Root = spec.Root && r.sandbox.LoopDir() == "" // a machine has a user of its own for the agent
	if GetsHooks(r.Settings, a) && p.Purpose != agent.PurposeMessage {
		spec.Hooks = r.sandbox.Program(OwnProgram())
	}
	spec.Iteration, spec.Prompt, spec.Purpose = p.Iteration, p.Text, p.Purpose
	quiet := slices.Contains(r.started, place)
	if p.Purpose == "" && !quiet {
		r.started = append(r.started, place)
	}
	return agent.Config{
		Quiet:   quiet,
		Name:    cmp.Or(about.Name, about.Protocol),
		Dialect: dialect,
		Spec:    spec,
		Env:     r.environment(place, p.Iteration),
		Own:     credentials.AgentEnv(a),
		Mark:    process.AgentMark(r.Home, r.id),
		KeepRaw: r.Settings.Journal.Raw,
		Now:     r.clock,

		Secrets: r.redactor, Linger: r.linger, Wrap: r.wrap, Hides: r.sandbox.Hides(),
	}, nil
}

func (r *runner) decideKeys() {
	for _, a := range r.Settings.AllAgents() {
		r.keys = append(r.keys, credentials.DecideKeys(a, r.Env))
	}
}

// environment returns the user's environment with variables that describe the loop. A process that
// serves several iterations has the number, and the span, of its first one.
func (r *runner) environment(place, iteration int) []string {
	a := r.Settings.AllAgents()[place]
	dropped := append(r.keys[place].Dropped(a), OutliveVariable, "TRACEPARENT", "TRACESTATE")
	env := process.Environment(r.Env, dropped,
		append(r.loopVariables(), fmt.Sprintf("RALPH_ITERATION=%d", iteration), "TRACEPARENT="+otlp.TraceParent(r.id, r.traceParent, iteration)))
	if a.Outlive {
		env = append(env, OutliveVariable+"=1")
	}
	return append(WithProgram(env, OwnProgram()), credentials.AgentEnv(a)...)
}

// ralphFor returns what the agent at that place types for ralph. Codex 0.169.0 runs commands in a
// login shell, whose profile may set another PATH than the one of the environment.
func (r *runner) ralphFor(place int) string {
	self := OwnProgram()
	if a := r.Settings.AllAgents()[place]; a.ResolvedProtocol() != config.ProtocolCodex || filepath.Base(self) != "ralph" || r.sandbox.Program(self) != self {
		return ""
	}
	if strings.ContainsFunc(self, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("/._-+", c)
	}) {
		return "'" + strings.ReplaceAll(self, "'", `'\''`) + "'"
	}
	return self
}

// WithProgram lets the agent's shell find the program that the prompt names: unless PATH has a
// ralph, the folder of this one comes last in it.
func WithProgram(env []string, self string) []string {
	if filepath.Base(self) != "ralph" {
		return env
	}
	folders := lastOf(env, "PATH")
	for _, folder := range filepath.SplitList(folders) {
		if _, err := exec.LookPath(filepath.Join(folder, "ralph")); folder != "" && err == nil {
			return env
		}
	}
	return append(env, "PATH="+strings.TrimPrefix(folders+string(filepath.ListSeparator)+filepath.Dir(self), string(filepath.ListSeparator)))
}

func (r *runner) loopVariables() []string { return LoopVariables(r.Name, r.Dir, r.PortBase) }

// LoopVariables returns the variables that describe a loop to its processes. portBase is the first
// of its ports; 0 for none.
func LoopVariables(name, dir string, portBase int) []string {
	variables := []string{"RALPH_LOOP=" + name, "RALPH_LOOP_DIR=" + dir, "TASK_FOLDER=" + filepath.Clean(dir)}
	if portBase > 0 {
		variables = append(variables, fmt.Sprintf("RALPH_PORT_BASE=%d", portBase))
	}
	return variables
}

// OutliveVariable is set for an agent's processes if loops that they start may outlive the
// iteration: see agents.NAME.outlive.
const OutliveVariable = "RALPH_OUTLIVE"

// LetOutlive lets loops that the agents of the loop with that id started outlive it, if its
// settings say so.
func LetOutlive(home, id string, s config.Settings) {
	if slices.ContainsFunc(s.AllAgents(), func(a config.Agent) bool { return a.Outlive }) {
		process.LetOutlive(process.AgentMark(home, id))
	}
}
