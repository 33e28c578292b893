package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
	"github.com/ralph-loop/ralph/journal/event"
)

// The guardrails of a new loop run once before anything is spent: no agent is needed to see that
// one of them cannot run. A loop that is resumed has run them.

// trialTime bounds the trial of all guardrails together. One that takes longer can run.
var trialTime = 20 * time.Second

// trialChars is how much of an output is looked at and shown.
const trialChars = 2000

// tryGuardrails refuses a start with a guardrail that cannot run at all. One that fails is no
// reason: the work is not done yet.
func (p *Plan) tryGuardrails(e *cli.Env) error {
	settings := p.loaded.Settings
	if p.Trial != nil {
		settings.Guardrails = p.Trial
	}
	// Beside another loop that works in the tree, they would say nothing of this one.
	if p.Resume || p.Anyway || p.After != "" || len(settings.Guardrails) == 0 {
		return nil
	}
	// What an agent left there could read held-out guardrails, which a sandbox will hide.
	if hidden, err := preflight.HidesHeldOut(e.Home, e.Root(), settings.Sandbox.Mode); hidden || err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	results, err := p.runTrial(ctx, e, settings)
	if ctx.Err() != nil {
		return cli.Exit(event.ExitInterrupted)
	}
	if err != nil {
		return cli.Refuse("put that right, or start with --anyway", "try the guardrails: %w", err)
	}
	return judgeTrial(e, results)
}

// Guardrails returns how a verb runs the guardrails of a loop: as its runner does. masker hides the
// secrets in what they print.
func Guardrails(e *cli.Env, name, dir string, ports int, s config.Settings) (cfg guardrail.Config, masker *redact.Redactor) {
	masker = redact.New(slices.Concat(e.Environ, credentials.Secrets(s)))
	return guardrail.Config{
		LoopDir: dir, Guardrails: runner.Guards(s), TruncateChars: s.OutputTruncateChars,
		Env:    process.Environment(e.Environ, nil, runner.LoopVariables(name, dir, ports)),
		Redact: func() guardrail.Redactor { return masker.Stream() },
	}, masker
}

// A tried guardrail and what it came to. Its command has no secrets.
type tried struct {
	guardrail.Result
	command string
	ended   bool // because it ran for its part of the time
}

// runTrial runs the guardrails as the runner will, each for its part of the time, and says so if
// that takes long.
func (p *Plan) runTrial(ctx context.Context, e *cli.Env, settings config.Settings) (all []tried, err error) {
	logs, err := os.MkdirTemp("", "ralph-trial-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(logs)) }()
	ports := 0
	if p.worktree != nil {
		ports = p.worktree.PortBase
	}
	cfg, masker := Guardrails(e, p.Name, p.Dir, ports, settings)
	cfg.Dir, cfg.LoopDir, cfg.TruncateChars = p.tree(e), logs, trialChars
	part := trialTime / time.Duration(len(cfg.Guardrails))
	for i, g := range cfg.Guardrails {
		if g.Timeout == 0 || g.Timeout > part {
			cfg.Guardrails[i].Timeout = part
		}
	}
	var results []guardrail.Result
	done := make(chan struct{})
	go func() {
		defer close(done)
		results, err = guardrail.Run(ctx, cfg)
	}()
	select {
	case <-done:
	case <-time.After(time.Second):
		cli.Tell(e.Stderr, "trying the guardrails once, for %s at most; --anyway starts without that", units.Plain(trialTime))
		<-done
	}
	for _, r := range results {
		command, _ := masker.Text([]byte(r.Guardrail.Command))
		all = append(all, tried{r, string(command), r.TimedOut && r.Guardrail.Timeout == part})
	}
	return all, err
}

// judgeTrial refuses guardrails that cannot run, and says in a line what the others came to.
func judgeTrial(e *cli.Env, all []tried) error {
	var unable, failing, running []string
	for _, r := range all {
		name := fmt.Sprintf("%q", r.command)
		_, output, _ := strings.Cut(r.Message, event.OutputFollows)
		output = strings.TrimSpace(output)
		switch {
		case r.ended:
			running = append(running, name)
		case r.Unable != "":
			text := fmt.Sprintf("the guardrail %s cannot run: %s", name, r.Unable)
			if output != "" && output != r.Unable {
				text += "\n" + output
			}
			unable = append(unable, cli.Clean(text))
		case !r.OK:
			failing = append(failing, name+" ("+briefly(r.Result, output)+")")
		}
	}
	switch {
	case len(unable) > 0:
		return cli.Refuse("correct the command, or start with --anyway if the work is to make it run", "%s", strings.Join(unable, "\n"))
	case len(failing) > 0:
		cli.Tell(e.Stderr, "guardrails that fail now, as they may before the work is done: %s", strings.Join(failing, ", "))
	case len(running) == 0:
		cli.Tell(e.Stderr, "all guardrails pass already: the work is done, or they do not check it")
	}
	if len(running) > 0 {
		cli.Tell(e.Stderr, "guardrails that can run, and were ended since they take longer: %s", strings.Join(running, ", "))
	}
	return nil
}

// briefly says how a guardrail failed. A long output says it nowhere in particular.
func briefly(r guardrail.Result, output string) string {
	switch {
	case r.TimedOut:
		return "timed out after " + units.Plain(r.Guardrail.Timeout)
	case r.Signal != "":
		return r.Signal
	case output == "" || strings.Count(output, "\n") > 2:
		return fmt.Sprintf("exit code %d", r.Code)
	}
	return units.Cut(units.FirstLine(output), 120)
}
