package planning

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
	"github.com/ralph-loop/ralph/journal/event"
)

// agent returns how the person's agent is started in a terminal with a first prompt, and its
// environment. A program that ralph does not know gets the prompt as its last argument.
func (i *Interview) agent(e *cli.Env) (argv func(prompt string) ([]string, error), env []string, err error) {
	e.WarnSkippedFolder()
	flags := map[string]string{}
	if i.Agent != "" {
		flags["agent"] = cli.RootedAgents(i.Agent, e.Cwd)
	}
	loaded, err := e.Settings(flags, e.Root())
	if err != nil {
		return nil, nil, err
	}
	if err := launch.CheckTrust(e, loaded, i.Trust); err != nil {
		return nil, nil, err
	}
	candidates := loaded.Settings.Candidates()
	if i.Agent != "" {
		candidates = candidates[:1]
	}
	if len(candidates) == 0 {
		command, err := launch.ChooseAgent(e)
		if err != nil {
			return nil, nil, err
		}
		candidates = []config.Agent{{Command: command}}
	}
	agent := candidates[0]
	for name, value := range agent.Env {
		env = append(env, name+"="+value)
	}
	return func(prompt string) ([]string, error) { return i.words(agent, prompt) }, process.Environment(e.Environ, nil, env), nil
}

// words is the command line of a conversation. Arguments of the settings are those of a loop, which
// no person watches; a person who names the agent on the command line means all of it.
func (i *Interview) words(agent config.Agent, prompt string) ([]string, error) {
	whole := config.Agent{Command: agent.Command}
	known, ok := config.KnownProgram(agent.Program())
	if !ok {
		argv, err := whole.Argv()
		return append(argv, prompt), err
	}
	arguments, ok := known.Converse(prompt)
	if !ok {
		return nil, cli.Refuse("name another agent with --agent, or give yours what 'ralph plan --print-prompt' prints",
			"%s cannot begin a conversation in a terminal with a prompt", known.Program)
	}
	argv, err := agent.Start()
	if i.Agent != "" {
		argv, err = whole.Argv()
	}
	return append(argv, arguments...), err
}

// converse runs an agent on the person's terminal until the person leaves it. How it ends does not
// matter: what it wrote is checked. The error is that of a program that cannot be started, or
// cli.Exit if the terminal was closed or ralph was asked to end; the agent has ended then, too.
func converse(e *cli.Env, argv, env []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = e.Root(), env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.Stdin, e.Stdout, e.Stderr
	defer keepTerminal(e.Stdin)()
	received := make(chan os.Signal, 1)
	signal.Notify(received, os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(received)
	if err := cmd.Start(); err != nil {
		return &cli.Failure{Err: err, Code: event.ExitUsage, NextStep: preflight.AgentHint()}
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	gone := false
	for {
		select {
		case s := <-received:
			// The terminal sends the others to the agent, too, which decides what ctrl-c means.
			if s == syscall.SIGTERM || s == syscall.SIGHUP {
				gone = true
				_ = cmd.Process.Signal(s) // it may have ended
			}
		case err := <-ended:
			if gone {
				return cli.Exit(event.ExitInterrupted)
			}
			return reported(e, argv, err)
		}
	}
}

// reported says how an agent ended, if that is unusual.
func reported(e *cli.Env, argv []string, err error) error {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		cli.Tell(e.Stderr, "%s ended with %s", argv[0], ended)
		return nil
	}
	return err
}

// keepTerminal returns a function that gives a terminal the mode back that it has now: an agent
// that was killed leaves it without echo.
func keepTerminal(stdin any) (restore func()) {
	f, ok := stdin.(*os.File)
	if !ok {
		return func() {}
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), state) }
}
