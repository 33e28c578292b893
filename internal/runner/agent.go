package runner

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/acp"
	"github.com/ralph-loop/ralph/internal/agent/claude"
	"github.com/ralph-loop/ralph/internal/agent/codex"
	"github.com/ralph-loop/ralph/internal/agent/pi"
	"github.com/ralph-loop/ralph/internal/agent/process"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal"
	"github.com/ralph-loop/ralph/internal/agent/text"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/journal/event"
)

// dialects are the agents that this ralph speaks with.
var dialects = map[string]func() agent.Dialect{
	"amp":       func() agent.Dialect { return claude.NewAmp() },
	"claude":    func() agent.Dialect { return claude.New() },
	"codex":     func() agent.Dialect { return codex.New(codex.Native) },
	"pi":        func() agent.Dialect { return pi.New() },
	"rehearsal": func() agent.Dialect { return rehearsal.New(ownProgram()) },
	"text":      func() agent.Dialect { return text.New() },
}

// Dialect returns a new conversation in the protocol of the settings' agent.
func Dialect(a config.Agent) (agent.Dialect, error) {
	protocol := a.ResolvedProtocol()
	switch program := a.Program(); {
	case protocol == config.ProtocolACP:
		return acp.New(program), nil
	case protocol == config.ProtocolClaude && (program == "qwen" || program == "qwen-code"):
		return claude.NewQwen(), nil
	}
	create, ok := dialects[protocol]
	if !ok {
		return nil, fmt.Errorf("agent.protocol %q is not spoken by this ralph", protocol)
	}
	return create(), nil
}

// Prepared returns a conversation that has the settings' command and flags, on which it may depend what its
// agent can do, and what would be started. The error says which of them cannot be.
func Prepared(a config.Agent) (agent.Dialect, agent.Command, error) {
	dialect, err := Dialect(a)
	if err != nil {
		return nil, agent.Command{}, err
	}
	spec, err := specOf(a)
	if err != nil {
		return nil, agent.Command{}, err
	}
	command, err := dialect.Command(spec)
	if err != nil {
		return nil, agent.Command{}, err
	}
	return dialect, command, nil
}

// specOf is what the settings say about how to start their agent.
func specOf(a config.Agent) (agent.Spec, error) {
	command, err := config.Agent{Command: a.Command}.Argv()
	if err != nil {
		return agent.Spec{}, err
	}
	flags, err := config.SplitFlags(a.Flags)
	if err != nil {
		return agent.Spec{}, err
	}
	return agent.Spec{
		Command: command, Flags: flags, Model: a.Model, Provider: a.Provider, Thinking: a.Thinking, Root: os.Geteuid() == 0,
	}, nil
}

// ownProgram is what plays rehearsals. A program that cannot find itself is looked
// for on PATH.
func ownProgram() string {
	if self, err := os.Executable(); err == nil {
		return self
	}
	return "ralph"
}

// about says of each agent that the loop may run which it is, for the journal.
func (r *runner) about() []event.Agent {
	var agents []event.Agent
	names := config.Names(r.Settings.Candidates())
	for i, a := range r.Settings.Candidates() {
		protocol, command := a.ResolvedProtocol(), append([]string{a.Command}, a.Flags...)
		agents = append(agents, event.Agent{Protocol: protocol, Command: command, Login: config.Login(protocol, command)})
		if len(names) > 1 {
			agents[i].Name = names[i]
		}
	}
	return agents
}

// agent returns what a session needs for an iteration. The settings were checked
// before the loop began.
func (r *runner) agent(place int, p agent.Prompt) (agent.Config, error) {
	candidates := r.Settings.Candidates()
	if place >= len(candidates) {
		return agent.Config{}, fmt.Errorf("the settings have no agent %d", place+1)
	}
	a, about := candidates[place], r.about()[place]
	dialect, err := Dialect(a)
	if err != nil {
		return agent.Config{}, err
	}
	spec, err := specOf(a)
	if err != nil {
		return agent.Config{}, err
	}
	spec.Dir, spec.LoopDir = r.Project, r.Dir
	spec.Iteration, spec.Prompt, spec.Purpose = p.Iteration, p.Text, p.Purpose
	return agent.Config{
		Name:    cmp.Or(about.Name, about.Protocol),
		Dialect: dialect,
		Spec:    spec,
		Env:     r.environment(a, p.Iteration),
		Mark:    r.id,
		KeepRaw: r.Settings.Journal.Raw,

		HoldBack: r.masker.HoldBack, Linger: r.linger,
	}, nil
}

// keys are the variables that make an agent with a login of its own pay by the
// request instead. They reach it only where agent.passKeys says so.
var keys = map[string][]string{
	"claude": {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"},
	"codex":  {"OPENAI_API_KEY", "CODEX_API_KEY"},
}

// environment is the user's, with what tells the agent where it is. An agent whose
// process serves several iterations is told the first one's number.
func (r *runner) environment(a config.Agent, iteration int) []string {
	var withheld []string
	if !a.PassKeys {
		withheld = keys[a.ResolvedProtocol()]
	}
	env := process.Environment(r.Env, withheld, []string{
		"RALPH_LOOP=" + r.Name,
		"RALPH_LOOP_DIR=" + r.Dir,
		fmt.Sprintf("RALPH_ITERATION=%d", iteration),
		"TASK_FOLDER=" + filepath.Clean(r.Dir),
	})
	for name, value := range a.Env {
		env = append(env, name+"="+value)
	}
	return env
}
